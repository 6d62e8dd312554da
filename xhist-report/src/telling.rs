//! Names, numbers and tells entries one after another. It must not know where they come from.

use std::io::{self, Write};

use crate::console::{Misfits, Notes};
use crate::decode::Merged;
use crate::exit_code::ExitCode;
use crate::format::Format;
use crate::map::Maps;
use crate::model::{Entry, Gap, Item, Repetition, Ring, Subject, ToldTrace, Totals, What};
use crate::options::Options;
use crate::source_text::SourceText;

/// The entries of a report, one after another.
pub struct Telling<'o> {
    /// What was asked for.
    pub options: &'o Options,
    /// Names what is told.
    pub maps: Maps,
    text: SourceText,
    /// Entries to pass over before the first one shown.
    pub skip: u64,
    /// Entries told.
    pub number: u64,
    /// Entries that were not chosen.
    pub left_out: u64,
    /// Entries shown whose order is not certain.
    uncertain: u64,
    /// Records shown that are not as long as their layout.
    misfits: Misfits,
    /// The repetition that is being told.
    again: Option<Repetition>,
    /// The trace event that is being told.
    trace: ToldTrace,
}

impl<'o> Telling<'o> {
    /// Passes over the first `skip` entries.
    pub fn new(options: &'o Options, maps: Maps, skip: u64) -> Telling<'o> {
        let text = SourceText::new(options);
        Telling {
            options,
            maps,
            text,
            skip,
            number: 0,
            left_out: 0,
            uncertain: 0,
            misfits: Misfits::default(),
            again: None,
            trace: ToldTrace::default(),
        }
    }

    /// The writer of the format that was asked for.
    pub fn format(&self) -> Box<dyn Format> {
        (self.options.format.make)(self.options.layout)
    }

    /// Tells what comes next in a ring.
    pub fn tell(
        &mut self,
        ring: &Ring,
        merged: &Merged,
        format: &mut dyn Format,
        out: &mut dyn Write,
        notes: &mut Notes<'_>,
    ) -> io::Result<()> {
        if !merged.gap.is_empty() {
            self.tell_gap(ring, &merged.gap, merged.item.is_some(), notes);
            if self.skip == 0 {
                format.gap(ring, &merged.gap, out)?;
            }
        }
        let Some(item) = &merged.item else { return Ok(()) };
        let is_again = matches!(item.what, What::Again(_));
        if self.skip == 0 && matches!(&item.what, What::Record(record) if record.is_misfit) {
            self.misfits.add(self.number + 1);
        }
        if !self.options.tells(&item.what) {
            self.left_out += u64::from(!is_again);
            return Ok(());
        }
        match is_again {
            // It is about entries that are not shown.
            true if self.number == 0 => Ok(()),
            false if self.skip > 0 => {
                self.skip -= 1;
                Ok(())
            }
            _ => {
                self.number += u64::from(!is_again);
                self.uncertain += u64::from(merged.uncertain);
                let entry = Entry { uncertain: merged.uncertain, ..self.entry(ring, item, notes) };
                format.entry(&entry, out)
            }
        }
    }

    /// A target says how a file is called.
    pub fn name_file(&mut self, ring: &Ring, file: u16, path: &str, notes: &mut Notes<'_>) {
        self.maps.tell(ring, file, path);
        self.check_map(ring, notes);
    }

    /// Statements of a target come: its map is looked for, if it was not yet.
    pub fn need_map(&mut self, ring: &Ring, notes: &mut Notes<'_>) {
        if self.maps.add(ring, self.options, notes) {
            self.check_map(ring, notes);
        }
    }

    /// A target knows better than a map how its files are called.
    fn check_map(&mut self, ring: &Ring, notes: &mut Notes<'_>) {
        if let Some((file, path)) = self.maps.distrust(ring) {
            notes.incomplete();
            notes.error(format_args!(
                "the map is of another build: the target calls file {file} {path}; its own names are shown, without the map"
            ));
        }
    }

    /// Closes the report.
    pub fn finish(
        &self,
        format: &mut dyn Format,
        out: &mut dyn Write,
        notes: &mut Notes<'_>,
    ) -> io::Result<()> {
        let is_empty = self.number == 0 && self.left_out > 0 && self.options.last != Some(0);
        if is_empty && !self.options.format.only_traces {
            notes.note(format_args!(
                "nothing but marks of the recorder is here (a panic, a trigger); --format json shows them"
            ));
        } else if is_empty {
            let chosen = if self.options.trace.filter.is_all() { "" } else { " that was asked for" };
            notes.note(format_args!("no trace event{chosen} is among the {} entries", self.left_out));
        }
        self.tell_order(format, notes);
        notes.misfits(self.misfits, if self.options.format.only_traces { "before entry" } else { "entry" });
        let complete = notes.finish() == ExitCode::Complete;
        format.finish(&Totals { entries: self.number, complete }, out)?;
        out.flush()
    }

    fn entry<'a>(&'a mut self, ring: &'a Ring, item: &'a Item, notes: &mut Notes<'_>) -> Entry<'a> {
        let subject = match &item.what {
            What::Statement { file, line } => {
                let (map, names) = self.maps.of(ring);
                let place = names.place(*file, *line);
                let text = match self.options.layout.source {
                    true => self.text.line((map, names), place.file, place.line, notes),
                    false => None,
                };
                Subject::Statement(place, text)
            }
            What::Again(again) => Subject::Again(self.again.insert(self.maps.of(ring).1.repetition(again))),
            What::Panic(record) => Subject::Panic(record),
            What::Signal(signal, record) => Subject::Signal(*signal, record),
            What::Trace(event) => {
                self.trace = self.options.trace.formats.tell(event);
                Subject::Trace(event, &self.trace)
            }
            What::Record(record) => Subject::Record(record),
        };
        let Item { time, interrupt, .. } = *item;
        Entry { number: self.number, ring, time, uncertain: false, interrupt, subject }
    }

    fn tell_order(&self, format: &dyn Format, notes: &mut Notes<'_>) {
        let (uncertain, all) = (self.uncertain, self.number);
        match format.marks_order() {
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

    fn tell_gap(&self, ring: &Ring, gap: &Gap, has_entry: bool, notes: &mut Notes<'_>) {
        match (self.skip, has_entry) {
            (1.., _) => notes.loss(format_args!("{ring}: {gap}, before the entries shown")),
            (0, true) => notes.loss(format_args!("{ring}: {gap}, before entry {}", self.number + 1)),
            (0, false) => notes.loss(format_args!("{ring}: {gap}, after entry {}", self.number)),
        }
    }
}
