//! The entries of a report: chosen, named, numbered, and written in their format.

use std::io;

use crate::format::Format;
use crate::format::entries::{Entry, Subject, Totals};
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::ReadOptions;
use xhist_history::events::context::Context;
use xhist_history::events::{Merged, Step};
use xhist_history::model::{DescribedTrace, Gap, Item, Opening, Repetition, Ring, What};
use xhist_history::notes::{Misfits, Notes};
use xhist_history::program::text::SourceText;
use xhist_history::program::values::ValueReader;
use xhist_history::reading::report::{Report, Summary};
use xhist_history::tasks::TaskTracker;

/// Writes entries.
pub struct EntryWriter {
    format: Box<dyn Format>,
    /// Statements are shown with their source lines.
    with_source: bool,
    text: SourceText,
    /// Entries that are still not to be shown.
    skip: u64,
    /// Entries shown.
    number: u64,
    /// Entries that were not chosen.
    left_out: u64,
    /// Entries shown whose order is not certain.
    uncertain: u64,
    /// Records shown that are not as long as their layout.
    misfits: Misfits,
    /// The repetition that is being shown.
    repetition: Option<Repetition>,
    /// The trace event that is being shown.
    trace: DescribedTrace,
    /// Knows the types of values.
    values: ValueReader,
    /// Knows the async tasks, if the format shows them.
    tasks: Option<TaskTracker>,
}

impl EntryWriter {
    /// Writes in the format that was asked for.
    pub fn new(options: &Options) -> EntryWriter {
        EntryWriter {
            format: options.make_format(),
            with_source: options.layout.source,
            text: SourceText::new(&options.read),
            skip: 0,
            number: 0,
            left_out: 0,
            uncertain: 0,
            misfits: Misfits::default(),
            repetition: None,
            trace: DescribedTrace::default(),
            values: ValueReader::default(),
            tasks: options.shows_tasks().then(|| TaskTracker::new(&options.read)),
        }
    }

    /// Writes what comes next in a ring.
    fn event(&mut self, ring: &Ring, event: &Merged, context: &mut Context<'_, '_>) -> io::Result<()> {
        if !event.gap.is_empty() {
            self.report_gap(ring, &event.gap, event.item.is_some(), context.notes);
            if self.skip == 0 {
                self.format.gap(ring, &event.gap, context.out)?;
            }
        }
        let Some(item) = &event.item else { return Ok(()) };
        let task = self.tasks.as_mut().and_then(|tasks| {
            tasks.gap(ring, &event.gap);
            tasks.take(ring, item, context.maps)
        });
        if matches!(item.what, What::Task(_)) {
            let cancelled = self.tasks.as_mut().and_then(TaskTracker::take_cancelled);
            return match cancelled.filter(|_| self.skip == 0) {
                Some((task, function)) => self.format.cancelled((task, &function), context.out),
                None => Ok(()),
            };
        }
        // They are about entries before them.
        let is_repetition = item.what.is_beside();
        if self.skip == 0 && matches!(&item.what, What::Record(record) if record.is_misfit) {
            self.misfits.add(self.number + 1);
        }
        if !context.options.shows(&item.what) {
            self.left_out += u64::from(!is_repetition);
            return Ok(());
        }
        match is_repetition {
            // It is about entries that are not shown.
            true if self.number == 0 || self.skip > 0 => Ok(()),
            false if self.skip > 0 => {
                self.skip -= 1;
                Ok(())
            }
            _ => {
                self.number += u64::from(!is_repetition);
                self.uncertain += u64::from(event.uncertain);
                self.write(ring, item, (event.uncertain, task), context)
            }
        }
    }

    /// Names an item, and writes it.
    fn write(
        &mut self,
        ring: &Ring,
        item: &Item,
        (uncertain, task): (bool, Option<u32>),
        context: &mut Context<'_, '_>,
    ) -> io::Result<()> {
        let Context { options, maps, out, notes, .. } = context;
        let subject = match &item.what {
            What::Statement { file, line } => {
                let (map, names) = maps.of(ring);
                let place = names.place(*file, *line);
                let text = match self.with_source {
                    true => self.text.line((map, names), place.file, place.line, notes),
                    false => None,
                };
                Subject::Statement(place, text)
            }
            What::Task(_) => return Ok(()),
            What::Values => Subject::Values,
            What::Again(again) => Subject::Again(self.repetition.insert(maps.of(ring).1.repetition(again))),
            What::Panic(record, _) => Subject::Panic(record),
            What::Signal(signal, record) => Subject::Signal(*signal, record),
            What::Output(event, line) => {
                self.trace = options.trace.formats.describe(event);
                Subject::Output(&self.trace, *line)
            }
            What::Trace(event) => {
                self.trace = options.trace.formats.describe(event);
                Subject::Trace(event, &self.trace)
            }
            What::Record(record) => Subject::Record(record),
        };
        let values = match item.values.is_empty() {
            true => Vec::new(),
            false => {
                let at = match &subject {
                    Subject::Statement(place, _) => Some((place.file, place.line)),
                    _ => None,
                };
                self.values.show(ring, maps.of(ring), at, &item.values, (options, notes))
            }
        };
        let Item { time, interrupt, .. } = *item;
        let function = |task| self.tasks.as_ref().map_or("", |tasks| tasks.function(ring, task));
        let task = task.map(|task| (task, function(task)));
        let values = &values;
        let entry = Entry { number: self.number, ring, time, uncertain, interrupt, task, subject, values };
        self.format.entry(&entry, out)
    }

    /// Why there is no entry, though some were read.
    fn report_empty(&self, options: &ReadOptions, notes: &mut Notes<'_>) {
        if self.number > 0 || self.left_out == 0 || options.last == Some(0) {
            return;
        }
        if !options.entries.only_traces {
            notes.note(format_args!(
                "nothing but marks of the recorder is here (a panic, a trigger); --format json shows them"
            ));
            return;
        }
        let chosen = if options.trace.filter.is_all() { "" } else { " that was asked for" };
        notes.note(format_args!("no trace event{chosen} is among the {} entries", self.left_out));
    }

    fn report_order(&self, notes: &mut Notes<'_>) {
        let (uncertain, all) = (self.uncertain, self.number);
        match self.format.marks_order() {
            _ if uncertain == 0 => {}
            true => notes.note(format_args!(
                "{uncertain} of {all} entries are marked as of uncertain order: entries of other threads may have run \
                 between the time stamps around them. The order of the others is right to a millisecond"
            )),
            false => notes.note(format_args!(
                "the order among threads is not certain for {uncertain} of {all} entries; --time, --lanes and --format json \
                 mark them. The order of the others is right to a millisecond"
            )),
        }
    }

    fn report_gap(&self, ring: &Ring, gap: &Gap, has_entry: bool, notes: &mut Notes<'_>) {
        match (self.skip, has_entry) {
            (1.., _) if !gap.is_loss() => {}
            (1.., _) => notes.missing(gap, format_args!("{ring}: {gap}, before the entries shown")),
            (0, true) => notes.missing(gap, format_args!("{ring}: {gap}, before entry {}", self.number + 1)),
            (0, false) => notes.missing(gap, format_args!("{ring}: {gap}, after entry {}", self.number)),
        }
    }
}

impl Report for EntryWriter {
    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        if let Some(tasks) = self.tasks.as_mut().filter(|_| context.options.is_whole()) {
            tasks.count(opening.rings);
        }
        self.format.start(opening, context.out)
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        match step {
            Step::Event(ring, event) => self.event(ring, event, context),
            Step::Ring(ring) => self.format.ring(ring, context.out),
            Step::Skip(entries) => {
                self.skip = entries;
                Ok(())
            }
            Step::Executed(_)
            | Step::Frames
            | Step::Frame(_)
            | Step::Bytes(_)
            | Step::Missing(..)
            | Step::UpToDate
            | Step::StreamEnd => Ok(()),
        }
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        let only_traces = context.options.entries.only_traces;
        self.report_empty(context.options, context.notes);
        self.report_order(context.notes);
        self.text.report_changed(context.notes);
        context.notes.misfits(self.misfits, if only_traces { "before entry" } else { "entry" });
        let complete = context.notes.finish() == ExitCode::Complete;
        if let Some(tasks) = self.tasks.take() {
            self.format.tasks(&tasks.summary(context.maps), context.out)?;
        }
        self.format.finish(&Totals { entries: self.number, complete }, context.out)?;
        context.out.flush()?;
        Ok(Summary { code: context.notes.finish(), entries: self.number + self.left_out })
    }
}
