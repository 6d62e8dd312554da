//! Filters in front of a report: passes on the entries that `--only`, `--not` and `--thread` choose, and of them with `--last` the newest
//! of each thread or of all.
//!
//! A repetition of which only some statements are chosen counts those. Gaps are passed on, chosen or not: what is missing may have been
//! chosen.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;

use qs_core::record::Statement;
use qs_core::ring::Repetition;

use super::newest::NewestStatements;
use super::{Report, Summary};
use crate::events::context::Context;
use crate::events::{Merged, Step};
use crate::model::{Item, Opening, Ring, What};
use crate::notes::Notes;
use crate::options::ReadOptions;
use crate::options::selection::{SelectedPlaces, Selection};

/// A report behind filters.
pub struct Selected<'r> {
    report: Box<dyn Report + 'r>,
    selection: &'r Selection,
    /// Statements are chosen by their places here.
    has_places: bool,
    places: SelectedPlaces<'r>,
    newest: NewestStatements,
    /// Entries that were not chosen.
    left_out: u64,
    /// Entries that were chosen.
    chosen: u64,
    /// The newest entries, until it is known that no newer ones come.
    kept: Option<NewestEntries>,
}

impl<'r> Selected<'r> {
    /// The same report, behind the filters that the user asked for, if any.
    pub fn of(report: Box<dyn Report + 'r>, options: &'r ReadOptions) -> Box<dyn Report + 'r> {
        if !options.filters() {
            return report;
        }
        let kept = options.last.map(|last| NewestEntries::new(last, options.each));
        let selection = &options.selection;
        let has_places = selection.has_places() && !report.chooses_places();
        let places = SelectedPlaces::new(selection);
        Box::new(Selected {
            report,
            selection,
            has_places,
            places,
            newest: NewestStatements::default(),
            left_out: 0,
            chosen: 0,
            kept,
        })
    }

    fn event(&mut self, ring: &Ring, event: &Merged, context: &mut Context<'_, '_>) -> io::Result<()> {
        let choice = event.item.as_ref().map_or(SelectedPart::Whole, |item| self.choose(ring, item, context));
        let other = match choice {
            SelectedPart::Whole => None,
            SelectedPart::Nothing if event.gap.is_empty() => return Ok(()),
            SelectedPart::Nothing => Some(Merged { item: None, ..event.clone() }),
            SelectedPart::Part(item) => Some(Merged { item: Some(item), ..event.clone() }),
        };
        let event = other.as_ref().unwrap_or(event);
        let item = event.item.as_ref().map(|item| &item.what);
        // An entry that the format does not show is not one of the newest.
        let is_shown = item.is_some_and(|what| context.options.shows(what));
        let counts = is_shown && !item.is_some_and(What::is_beside);
        self.chosen += u64::from(counts);
        match &mut self.kept {
            None => return self.report.step(Step::Event(ring, event), context),
            Some(_) if item.is_some() && !is_shown && event.gap.is_empty() => {}
            Some(kept) => kept.add(ring, event.clone(), counts, context.notes),
        }
        Ok(())
    }

    /// What is chosen of an item.
    fn choose(&mut self, ring: &Ring, item: &Item, context: &Context<'_, '_>) -> SelectedPart {
        let is_thread = self.selection.takes_interrupt(ring, item.interrupt);
        let is_chosen = match &item.what {
            What::Statement { file, line } => {
                if self.has_places {
                    self.newest.push((ring.number, item.handlers), Statement { file: *file, line: *line });
                }
                is_thread && (!self.has_places || self.places.takes(context.maps.of(ring), *file, *line))
            }
            What::Again(again) if is_thread && self.has_places => {
                return match self.repetition(ring, item.handlers, again, context) {
                    Some(again) => SelectedPart::Part(Item { what: What::Again(again), ..item.clone() }),
                    None => SelectedPart::Nothing,
                };
            }
            // They have no place. A mark says how the history went on or ended.
            What::Trace(_) | What::Record(_) if !item.what.is_mark() => {
                is_thread && (!self.has_places || self.selection.only.is_empty())
            }
            // Whether their entry was chosen is not known.
            What::Values | What::Output(..) => is_thread && !self.selection.has_places(),
            What::Task(_)
            | What::Again(_)
            | What::Panic(..)
            | What::Signal(..)
            | What::Trace(_)
            | What::Record(_) => is_thread,
        };
        self.left_out += u64::from(!is_chosen && counts_as_entry(item, context.options));
        if is_chosen { SelectedPart::Whole } else { SelectedPart::Nothing }
    }

    /// The statements of a repetition that are chosen.
    fn repetition(
        &mut self,
        ring: &Ring,
        handlers: u8,
        again: &Repetition,
        context: &Context<'_, '_>,
    ) -> Option<Repetition> {
        let map = context.maps.of(ring);
        let Selected { newest, places, .. } = self;
        if let Some(all) = newest.repeated((ring.number, handlers), again) {
            let chosen: Vec<Statement> =
                all.filter(|statement| places.takes(map, statement.file, statement.line)).collect();
            return Repetition::new(chosen.iter().copied(), again.times);
        }
        let mut ends =
            again.places().iter().flat_map(|lines| [(lines.file, lines.first), (lines.file, lines.last)]);
        ends.any(|(file, line)| places.takes(map, file, line)).then_some(*again)
    }

    /// Passes on the newest entries, and from now on every entry.
    fn give_newest(&mut self, context: &mut Context<'_, '_>) -> io::Result<()> {
        let Some(kept) = self.kept.take() else { return Ok(()) };
        let (rings, entries) = kept.in_order();
        for (ring, event) in &entries {
            self.report.step(Step::Event(&rings[ring], event), context)?;
        }
        Ok(())
    }
}

impl Report for Selected<'_> {
    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        let rings = opening.rings.iter().filter(|ring| self.selection.takes_thread(ring));
        let rings: Vec<Ring> = rings.cloned().collect();
        // How many entries follow is known behind the last one only.
        self.report.start(&Opening { rings: &rings, entries: 0 }, context)
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        match step {
            Step::Ring(ring) if !self.selection.takes_thread(ring) => Ok(()),
            Step::Event(ring, event) if !self.selection.takes_thread(ring) => {
                let is_entry = event.item.as_ref().is_some_and(|item| counts_as_entry(item, context.options));
                self.left_out += u64::from(is_entry);
                ring.report_gap(event, "in a thread that is not shown", context.notes);
                Ok(())
            }
            Step::Event(ring, event) => self.event(ring, event, context),
            Step::Ring(ring) => {
                if let Some(kept) = &mut self.kept {
                    kept.rings.remove(&ring.number);
                }
                self.report.step(Step::Ring(ring), context)
            }
            Step::UpToDate => {
                self.give_newest(context)?;
                self.report.step(Step::UpToDate, context)
            }
            step => self.report.step(step, context),
        }
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        self.give_newest(context)?;
        if let Some(note) = self.selection.left_out(self.chosen, self.left_out, "entries") {
            context.notes.note(format_args!("{note}"));
        }
        let summary = self.report.finish(context)?;
        Ok(Summary { entries: summary.entries.max(self.chosen + self.left_out), ..summary })
    }
}

/// What is chosen of an item.
enum SelectedPart {
    Whole,
    Part(Item),
    Nothing,
}

/// Whether an item has a number in the report.
fn counts_as_entry(item: &Item, options: &ReadOptions) -> bool {
    !item.what.is_beside() && options.shows(&item.what)
}

/// The newest entries, of each ring or of all.
struct NewestEntries {
    last: u64,
    each: bool,
    rings: HashMap<usize, Ring>,
    /// By ring, or by 0. Each with its place among all entries.
    queues: BTreeMap<usize, NewestQueue>,
    events: u64,
}

#[derive(Default)]
struct NewestQueue {
    /// Each event with its place among all, its ring, and whether it counts.
    events: VecDeque<(u64, usize, Merged, bool)>,
    /// Those that count.
    entries: u64,
    /// Some were more than wanted.
    is_cut: bool,
}

impl NewestEntries {
    fn new(last: u64, each: bool) -> NewestEntries {
        NewestEntries { last, each, rings: HashMap::new(), queues: BTreeMap::new(), events: 0 }
    }

    fn add(&mut self, ring: &Ring, event: Merged, counts: bool, notes: &mut Notes<'_>) {
        let number = ring.number;
        self.rings.entry(number).or_insert_with(|| ring.clone());
        let queue = self.queues.entry(if self.each { number } else { 0 }).or_default();
        queue.events.push_back((self.events, number, event, counts));
        queue.entries += u64::from(counts);
        self.events += 1;
        while queue.entries > self.last {
            let Some((_, of, event, counts)) = queue.events.pop_front() else { break };
            queue.entries -= u64::from(counts);
            queue.is_cut = true;
            self.rings[&of].report_gap(&event, BEFORE, notes);
        }
        // A repetition is about the entries before it, which are gone.
        let is_repetition = |event: &Merged| event.item.as_ref().is_some_and(|item| item.what.is_beside());
        while let Some((_, of, event, _)) = queue.events.front()
            && queue.is_cut
            && is_repetition(event)
        {
            self.rings[of].report_gap(event, BEFORE, notes);
            queue.events.pop_front();
        }
    }

    /// The rings, and the entries of all by their places.
    fn in_order(self) -> (HashMap<usize, Ring>, Vec<(usize, Merged)>) {
        let mut all: Vec<_> = self.queues.into_values().flat_map(|queue| queue.events).collect();
        all.sort_by_key(|(place, ..)| *place);
        (self.rings, all.into_iter().map(|(_, ring, event, _)| (ring, event)).collect())
    }
}

/// Where a gap is that comes before the newest entries.
const BEFORE: &str = "before the entries shown";

impl Ring {
    /// Reports what is lost at a place that is not shown.
    fn report_gap(&self, event: &Merged, place: &str, notes: &mut Notes<'_>) {
        if event.gap.is_loss() {
            notes.loss(format_args!("{self}: {}, {place}", event.gap));
        }
    }
}
