//! The rings of an image as a source: as a history by time, as they were recorded, frame by frame, or only their headers.

use std::io;

use super::merge::{Merged, merge};
use super::records::{Records, SharedRecords};
use super::ring_events::RingEvents;
use super::source::{EventSource, Progress, Step, TakeStep};
use super::survey::Survey;
use super::threads::{described, groups, parents, report_cores, report_processes, root, with_lanes};
use crate::events::context::Context;
use crate::model::{Gap, Item, Opening, Ring, What};
use crate::options::ReadOptions;
use crate::ring::{Clock, Executed, Placed, RingSnapshot, whole_frames};

/// The history of rings: the threads of a process by time, one process after another.
pub struct RingHistory<'r> {
    snapshots: &'r [RingSnapshot<'r>],
    surveys: &'r [Survey],
    options: &'r ReadOptions,
    rings: Vec<Ring>,
    /// The rings that are not lanes.
    threads: Vec<Ring>,
    parents: Vec<Option<usize>>,
    groups: Vec<Vec<usize>>,
    /// Entries in all.
    total: u64,
}

impl<'r> RingHistory<'r> {
    /// Of these rings.
    pub fn new(
        placed: &[&Placed],
        snapshots: &'r [RingSnapshot<'r>],
        surveys: &'r [Survey],
        options: &'r ReadOptions,
    ) -> RingHistory<'r> {
        let groups = groups(placed, surveys);
        let rings = described(placed, &groups);
        let parents = parents(placed);
        let threads = rings.iter().zip(&parents).filter(|(_, parent)| parent.is_none());
        let threads = threads.map(|(ring, _)| ring.clone()).collect();
        let mut history =
            RingHistory { snapshots, surveys, options, rings, threads, parents, groups, total: 0 };
        history.total = history.count();
        history
    }

    /// Entries that can be shown.
    fn count(&self) -> u64 {
        if self.options.chooses() {
            // Only a pass that decodes every record can count those that are chosen.
            let shows = |what: &What| self.options.shows(what);
            let events = self.groups.iter().flat_map(|group| self.events(group, &self.records(group)));
            return events.map(|events| events.count(&shows)).sum();
        }
        let marks = |survey: &Survey| if self.options.entries.marks { 0 } else { survey.marks };
        self.surveys.iter().map(|survey| survey.entries - marks(survey)).sum()
    }

    /// Entries that are shown.
    fn shown(&self) -> u64 {
        self.options.last_at_source().map_or(self.total, |last| last.min(self.total))
    }

    /// The events of the rings of a process, each with its lanes.
    fn events(&self, group: &[usize], records: &SharedRecords) -> Vec<RingEvents<'r>> {
        let written_out = self.options.entries.written_out;
        let events = &|ring: usize| {
            let clock = Clock::starting_at(self.surveys[ring].first_time);
            RingEvents::new((ring, &self.snapshots[ring]), clock, Gap::default(), written_out, records)
        };
        group.iter().map(|ring| with_lanes(*ring, &self.parents, events, &|_| u64::MAX)).collect()
    }

    /// Reads the names in the records of a process: a name holds for all threads, at any time.
    fn records(&self, group: &[usize]) -> SharedRecords {
        let is_of_group = |ring: &usize| group.contains(&root(*ring, &self.parents));
        let rings: Vec<usize> = (0..self.snapshots.len()).filter(is_of_group).collect();
        let mut records = Records::new(self.options).with_defmt(rings.iter().map(|ring| &self.rings[*ring]));
        for ring in rings.into_iter().filter(|ring| self.surveys[*ring].records > 0) {
            whole_frames(&self.snapshots[ring], &mut |frame| {
                records.learn(frame);
                true
            });
        }
        records.rewound().shared()
    }
}

impl EventSource for RingHistory<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: &self.threads, entries: self.shown() }
    }

    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress> {
        report_processes(&self.groups, &self.rings, context.notes);
        report_cores(&self.groups, &self.rings, context.notes);
        take(Step::Skip(self.total - self.shown()), context)?;
        for group in &self.groups {
            let records = self.records(group);
            if let Some(builds) = records.borrow_mut().take_other_build() {
                context.notes.note(format_args!("{}: {builds}", self.rings[group[0]]));
            }
            for merged in merge(self.events(group, &records)) {
                take(Step::Event(&self.rings[group[merged.stream]], &merged), context)?;
            }
        }
        Ok(Progress::End)
    }
}

/// The statements of rings as they were recorded, one ring after another: repetitions are not written out, and numbers are not
/// resolved.
pub struct RecordedStatements<'r> {
    rings: &'r [Ring],
    snapshots: &'r [RingSnapshot<'r>],
    executed: Option<Executed>,
}

impl<'r> RecordedStatements<'r> {
    /// Of these rings.
    pub fn new(rings: &'r [Ring], snapshots: &'r [RingSnapshot<'r>]) -> RecordedStatements<'r> {
        RecordedStatements { rings, snapshots, executed: None }
    }

    /// The same, behind the contents of the executed bitmaps.
    pub fn with_executed(self, executed: Executed) -> RecordedStatements<'r> {
        RecordedStatements { executed: Some(executed), ..self }
    }
}

impl EventSource for RecordedStatements<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: self.rings, entries: 0 }
    }

    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress> {
        if let Some(executed) = self.executed.take() {
            take(Step::Executed(executed), context)?;
        }
        for (index, (ring, snapshot)) in self.rings.iter().zip(self.snapshots).enumerate() {
            give_all(ring, RingEvents::without_records((index, snapshot)), take, context)?;
        }
        Ok(Progress::End)
    }
}

/// Gives the events of one ring to the end; the last one has no item.
fn give_all(
    ring: &Ring,
    mut events: RingEvents<'_>,
    take: TakeStep<'_>,
    context: &mut Context<'_, '_>,
) -> io::Result<()> {
    loop {
        let (gap, item) = events.next();
        let event = Merged { stream: 0, gap, item, uncertain: false };
        take(Step::Event(ring, &event), context)?;
        if event.item.is_none() {
            return Ok(());
        }
    }
}

/// The items of the thread with this place among the rings as they were recorded, those of its handlers where they came. Each
/// comes with what is missing before it; at the end, what is missing there.
pub fn read_items(
    placed: &[&Placed],
    snapshots: &[RingSnapshot<'_>],
    thread: usize,
    take: &mut dyn FnMut(&Gap, Option<&Item>),
) {
    let events = |ring: usize| RingEvents::without_records((ring, &snapshots[ring]));
    let mut events = with_lanes(thread, &parents(placed), &events, &|_| u64::MAX);
    loop {
        let (gap, item) = events.next();
        take(&gap, item.as_ref());
        if item.is_none() {
            return;
        }
    }
}

/// The statements and marks of threads, those of handlers where they came, one thread after another: numbers are not resolved, short repetitions are written out.
pub struct ThreadStatements<'r> {
    rings: &'r [Ring],
    parents: Vec<Option<usize>>,
    snapshots: &'r [RingSnapshot<'r>],
    surveys: &'r [Survey],
    options: &'r ReadOptions,
}

impl<'r> ThreadStatements<'r> {
    /// Of these rings.
    pub fn new(
        (placed, rings): (&[&Placed], &'r [Ring]),
        snapshots: &'r [RingSnapshot<'r>],
        surveys: &'r [Survey],
        options: &'r ReadOptions,
    ) -> ThreadStatements<'r> {
        ThreadStatements { rings, parents: parents(placed), snapshots, surveys, options }
    }
}

impl EventSource for ThreadStatements<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: self.rings, entries: 0 }
    }

    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress> {
        let records = Records::new(self.options).with_defmt(self.rings.iter()).shared();
        let events = |ring: usize| {
            let clock = Clock::starting_at(self.surveys[ring].first_time);
            let written_out = self.options.entries.written_out;
            RingEvents::new((ring, &self.snapshots[ring]), clock, Gap::default(), written_out, &records)
        };
        for (index, ring) in self.rings.iter().enumerate().filter(|(index, _)| self.parents[*index].is_none())
        {
            give_all(ring, with_lanes(index, &self.parents, &events, &|_| u64::MAX), take, context)?;
        }
        Ok(Progress::End)
    }
}

/// The frames of rings, one ring after another.
pub struct RingFrames<'r> {
    rings: &'r [Ring],
    snapshots: &'r [RingSnapshot<'r>],
}

impl<'r> RingFrames<'r> {
    /// Of these rings.
    pub fn new(rings: &'r [Ring], snapshots: &'r [RingSnapshot<'r>]) -> RingFrames<'r> {
        RingFrames { rings, snapshots }
    }
}

impl EventSource for RingFrames<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: self.rings, entries: 0 }
    }

    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress> {
        for (ring, snapshot) in self.rings.iter().zip(self.snapshots) {
            take(Step::Frames, context)?;
            let mut result = Ok(());
            let gap = whole_frames(snapshot, &mut |frame| {
                result = take(Step::Frame(frame), context);
                result.is_ok()
            });
            result?;
            take(Step::Missing(ring, gap), context)?;
        }
        Ok(Progress::End)
    }
}

/// The headers of rings, without any event.
pub struct RingHeaders<'r> {
    /// The rings.
    pub rings: &'r [Ring],
}

impl EventSource for RingHeaders<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: self.rings, entries: 0 }
    }

    fn read(&mut self, _: TakeStep<'_>, _: &mut Context<'_, '_>) -> io::Result<Progress> {
        Ok(Progress::End)
    }
}
