//! A ring file that a running program writes, as a source: its rings are read again and again. The file is never written to, and
//! the program does not notice.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use qs_core::record::{Numbers, Statement};

use super::merge::merge;
use super::records::{Records, SharedRecords};
use super::ring_events::RingEvents;
use super::ring_notes::{report_damage, report_dropped};
use super::source::{EventSource, Progress, Step, TakeStep};
use super::survey::survey;
use super::threads::{described, is_lane_of, name_threads, parents, with_lanes};
use crate::events::context::Context;
use crate::model::{Gap, Opening, Ring, What};
use crate::options::ReadOptions;
use crate::ring::{self, Clock, Findings, Placed, RingFollower};
use crate::source;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The rings of a file that a running program writes.
pub struct GrowingRings<'f> {
    file: &'f File,
    /// Where it was found.
    path: &'f Path,
    followers: Vec<RingFollower>,
    /// The rings that are not lanes, as they were found.
    threads: Vec<Ring>,
    /// Names in records.
    records: SharedRecords,
    /// Set when the user wants to end.
    pub stop: Arc<AtomicBool>,
    is_first: bool,
    /// The file is still the one at the path.
    is_there: bool,
    /// The user knows that the file was emptied.
    is_emptied: bool,
}

impl<'f> GrowingRings<'f> {
    /// The rings that are in the file now, and all that is found in it.
    pub fn find(file: &'f File, path: &'f Path, options: &ReadOptions) -> (GrowingRings<'f>, Findings) {
        let records = Records::new(options).shared();
        let (followers, threads) = (Vec::new(), Vec::new());
        let mut growing = GrowingRings {
            file,
            path,
            followers,
            threads,
            records,
            stop: Arc::default(),
            is_first: true,
            is_there: true,
            is_emptied: false,
        };
        let findings = growing.find_new();
        let rings = growing.rings();
        let is_thread = |(index, _): &(usize, Ring)| !growing.is_lane(*index);
        growing.threads = rings.into_iter().enumerate().filter(is_thread).map(|(_, ring)| ring).collect();
        (growing, findings)
    }

    /// The rings, with the clock rate that any of them knows.
    pub fn rings(&self) -> Vec<Ring> {
        let placed: Vec<_> = self.placed().collect();
        described(&placed, &[(0..placed.len()).collect()])
    }

    /// The rings and their headers.
    pub fn placed(&self) -> impl Iterator<Item = &Placed> {
        self.followers.iter().map(|follower| &follower.placed)
    }

    /// Searches the part of the file that was not searched yet.
    fn find_new(&mut self) -> Findings {
        let len = self.file.metadata().map_or(0, |metadata| metadata.len() as usize);
        let mut findings = Findings::default();
        // A file grows before the new ring in it has a header.
        let end = self
            .placed()
            .last()
            .map_or(0, |placed| placed.ring.offset + placed.header.header_len + placed.header.size);
        if len > end
            && let Ok(image) = source::Image::of_file(self.file, &self.path.display().to_string())
        {
            let unscanned = end..image.len();
            findings = ring::find(&image, Some(&[unscanned]), &mut |_| {});
            for mut placed in std::mem::take(&mut findings.rings) {
                placed.ring.number = self.followers.len() + 1;
                let present = image.len() - placed.ring.offset;
                self.followers.push(RingFollower::new(placed, present));
            }
            self.name_threads();
        }
        findings
    }

    /// Gives rings that are new in the file.
    fn give_rings(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        let known = self.followers.len();
        self.find_new();
        for (index, ring) in self.rings().iter().enumerate().skip(known) {
            context.maps.add(ring, context.options, context.notes);
            if !self.is_lane(index) {
                take(Step::Ring(ring), context)?;
            }
        }
        Ok(())
    }

    /// Looks at every ring: which have something new, behind which gap. Gives rings that belong to another thread now.
    fn look(
        &mut self,
        is_last: bool,
        take: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> io::Result<BTreeMap<usize, Gap>> {
        let file = self.file;
        let read = |offset: usize, bytes: &mut [u8]| source::read_at(file, offset, bytes);
        let (mut new, mut given) = (BTreeMap::new(), Vec::new());
        // A lane after the ring that its handlers interrupted, so that their places are known.
        let mut order: Vec<usize> = (0..self.followers.len()).collect();
        order.sort_by_key(|index| self.followers[*index].placed.header.words.level);
        for index in order {
            let follower = &mut self.followers[index];
            let owner = (follower.placed.ring.tid, follower.placed.ring.pid);
            let gap = follower.look(&read, is_last);
            // While a program runs, that may be so for a moment only.
            if is_last && gap.is_none() {
                context.notes.loss(format_args!(
                    "{}: it is no longer in the file, so what it got since it was last read is not known",
                    follower.placed.ring
                ));
            }
            follower.refresh();
            if owner != (follower.placed.ring.tid, follower.placed.ring.pid) {
                given.push(index);
            }
            new.extend(gap.map(|gap| (index, gap)));
        }
        self.name_threads();
        given.retain(|index| !self.is_lane(*index));
        given.iter().try_for_each(|index| take(Step::Ring(&self.followers[*index].placed.ring), context))?;
        Ok(new)
    }

    /// Gives what is new in all rings, by time.
    fn give_new(
        &mut self,
        is_last: bool,
        take: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> io::Result<()> {
        let new = self.look(is_last, take, context)?;
        let rings = self.rings();
        let tables: Vec<_> = rings.iter().map(|ring| Arc::clone(context.maps.of(ring).1.numbers())).collect();
        if self.is_first
            && let Some(last) = context.options.last_at_source()
        {
            // What is only counted teaches no names.
            let records = self.records.borrow().clone().shared();
            let shows = |what: &What| context.options.shows(what);
            let events = self.events(&new, &tables, &records, is_last).into_iter();
            let total: u64 = events.map(|events| events.count(&shows)).sum();
            take(Step::Skip(total.saturating_sub(last)), context)?;
        }
        let events = self.events(&new, &tables, &self.records, is_last);
        let of: Vec<usize> = events.iter().map(RingEvents::index).collect();
        let mut merge = merge(events);
        for merged in merge.by_ref() {
            take(Step::Event(&rings[of[merged.stream]], &merged), context)?;
        }
        let mut done = Vec::new();
        for events in merge.into_streams() {
            events.finish(&mut |index, place, clock, entries| done.push((index, place, clock, entries)));
        }
        for (index, place, clock, entries) in done {
            self.followers[index].go_on(place, clock, entries);
        }
        // What comes after the first look is new, even if there were fewer entries than wanted.
        take(Step::Skip(0), context)?;
        take(Step::UpToDate, context)
    }

    /// The new events of these rings, and of the rings that lanes among them belong to.
    fn events<'s>(
        &'s self,
        new: &BTreeMap<usize, Gap>,
        tables: &'s [Arc<[Option<Statement>]>],
        records: &SharedRecords,
        is_last: bool,
    ) -> Vec<RingEvents<'s>> {
        let mut gaps = new.clone();
        let placed: Vec<_> = self.placed().collect();
        let parents = parents(&placed);
        for mut ring in new.keys().copied() {
            while let Some(parent) = parents[ring] {
                gaps.entry(parent).or_default();
                ring = parent;
            }
        }
        // A lane in which nothing is new has no part in it.
        let has_part = |(ring, parent): (usize, &Option<usize>)| parent.filter(|_| gaps.contains_key(&ring));
        let parents: Vec<_> = parents.iter().enumerate().map(has_part).collect();
        let snapshot =
            |ring: usize| self.followers[ring].snapshot().with_numbers(Numbers::new(&tables[ring]));
        let events = &|ring: usize| {
            let snapshot = snapshot(ring);
            let start = || Clock::starting_at(survey(&snapshot, 0).first_time);
            let clock = self.followers[ring].clock.unwrap_or_else(start);
            RingEvents::new((ring, &snapshot), clock, gaps[&ring].clone(), 0, records)
        };
        let limit = &|ring: usize| if is_last { u64::MAX } else { snapshot(ring).frontier() };
        let threads = gaps.keys().filter(|ring| parents[**ring].is_none());
        threads.map(|ring| with_lanes(*ring, &parents, events, limit)).collect()
    }

    /// Reports losses that are certain only at the end: earlier, threads still come and go.
    fn report_losses(&self, context: &mut Context<'_, '_>) {
        self.placed().for_each(|placed| report_dropped(&placed.ring, context.notes));
        let Ok(image) = source::Image::of_file(self.file, &self.path.display().to_string()) else { return };
        let mut findings = ring::find(&image, None, &mut |_| {});
        ring::check(&mut findings, &image, &source::is_running);
        report_damage(&findings, context.notes);
    }

    fn name_threads(&mut self) {
        name_threads(self.followers.iter_mut().map(|follower| &mut follower.placed));
    }

    /// Whether a ring belongs to a thread that has another one.
    fn is_lane(&self, ring: usize) -> bool {
        let placed = &self.followers[ring].placed;
        self.placed().any(|other| is_lane_of(placed, other))
    }

    /// Whether the program may record more.
    fn is_alive(&self) -> bool {
        self.placed().any(|placed| {
            !matches!(placed.ring.status, "ended" | "exited") && source::is_running(placed.ring.pid)
        })
    }

    /// Reports once that the file was emptied. What threads recorded between the last look and that moment was never read.
    fn check_emptied(&mut self, context: &mut Context<'_, '_>) {
        if !self.is_emptied && self.placed().any(|placed| placed.header.words.begin.is_some()) {
            self.is_emptied = true;
            context.notes.note(format_args!(
                "the ring file was emptied while the program ran: what was recorded just before may be missing"
            ));
        }
    }

    /// Reports once that the program has put the file aside and writes another, as one does that executes itself again.
    fn check_path(&mut self, context: &mut Context<'_, '_>) {
        if self.is_there && matches!(source::is_at(self.path, self.file), Ok(false)) {
            self.is_there = false;
            context.notes.note(format_args!(
                "{} is another file now, which is not followed; start a report for it",
                self.path.display()
            ));
        }
    }
}

impl EventSource for GrowingRings<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: &self.threads, entries: 0 }
    }

    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress> {
        self.check_path(context);
        // Checked before the look, which then reads all that an ended program left.
        let is_last = self.stop.load(Ordering::Relaxed) || !self.is_alive();
        self.give_rings(take, context)?;
        self.give_new(is_last, take, context)?;
        self.check_emptied(context);
        if let Some(builds) = self.records.borrow_mut().take_other_build() {
            context.notes.note(format_args!("{}: {builds}", self.path.display()));
        }
        self.is_first = false;
        if !is_last {
            return Ok(Progress::Wait(PAUSE));
        }
        context.out.flush()?;
        self.report_losses(context);
        Ok(Progress::End)
    }
}
