//! The items of one ring, oldest first, with what is missing between them. It must not know other rings.

use qs_core::frame::Frame;
use qs_core::ring::{self, FLAG_EXACT, Header, Shown};

use super::clock::Clock;
use super::frame::{Kind, kind, marked};
use super::gap::add_missing;
use super::live::View;
use super::records::SharedRecords;
use super::rounds::Rounds;
use crate::model::{Gap, Item, What};

/// One ring, being read.
pub struct Stream<'a> {
    reader: Rounds<'a>,
    header: Header,
    clock: Clock,
    /// Time stamps read so far.
    stamps: u64,
    /// The same ring, read as far as the next stamp.
    ahead: Option<Box<Stream<'a>>>,
    /// What is missing before the next item.
    gap: Gap,
    /// Entries given.
    entries: u64,
    /// Makes records; a reader that only looks ahead needs none.
    records: Option<SharedRecords>,
}

impl<'a> Stream<'a> {
    /// A stream at the oldest entry, whose stamps go on from a clock; `gap` is missing before it.
    pub fn new(view: &View<'a>, clock: Clock, gap: Gap, records: &SharedRecords) -> Stream<'a> {
        Stream {
            reader: view.reader(),
            header: view.header,
            clock,
            stamps: 0,
            ahead: None,
            gap,
            entries: 0,
            records: Some(SharedRecords::clone(records)),
        }
    }

    /// Where to go on, with which clock, and how many entries it gave.
    pub fn finish(&self) -> ((u64, Shown), Clock, u64) {
        ((self.reader.resume_from(), self.reader.shown()), self.clock, self.entries)
    }

    /// Prepares for [`Stream::until`]; to be called before anything is read.
    pub fn look_ahead(&mut self) {
        let (reader, header, clock) = (self.reader.clone(), self.header, self.clock);
        self.ahead = Some(Box::new(Stream {
            reader,
            header,
            clock,
            stamps: 0,
            ahead: None,
            gap: Gap::default(),
            entries: 0,
            records: None,
        }));
    }

    /// A time at which the newest item has run for certain: that of a later stamp of this ring.
    pub fn until(&mut self) -> Option<u64> {
        let ahead = self.ahead.as_mut()?;
        while ahead.stamps <= self.stamps && ahead.next().1.is_some() {}
        if ahead.stamps > self.stamps { ahead.clock.now() } else { None }
    }

    /// Ticks of its clock a second; 0 = not known, or its stamps are no times.
    pub fn clock_hz(&self) -> u32 {
        if self.header.flags & FLAG_EXACT == 0 { self.header.clock_hz } else { 0 }
    }

    /// How many of its entries are told.
    pub fn count(mut self, is_told: &dyn Fn(&What) -> bool) -> u64 {
        let items = std::iter::from_fn(|| self.next().1);
        items.filter(|item| !matches!(item.what, What::Again(_)) && is_told(&item.what)).count() as u64
    }

    /// The next item, and what is missing before it (or, behind the last one, at the end).
    pub fn next(&mut self) -> (Gap, Option<Item>) {
        let mut gap = std::mem::take(&mut self.gap);
        let records = self.records.as_ref();
        let tell = |frame: &Frame<'_>| {
            records.map_or_else(Default::default, |records| records.borrow_mut().tell(frame))
        };
        loop {
            let mut interrupt = 0;
            let Some(item) = self.reader.next() else { return (gap, None) };
            add_missing(&mut gap, &item);
            let (what, stamp) = match item {
                ring::Item::Damaged(_)
                | ring::Item::Cut { .. }
                | ring::Item::Torn { .. }
                | ring::Item::Missing(_) => continue,
                ring::Item::Statement(statement, stamp) => {
                    interrupt = self.reader.interrupt();
                    (What::Statement { file: statement.file, line: statement.line }, stamp)
                }
                ring::Item::Again(again) => (What::Again(again), None),
                ring::Item::Frame(frame) => {
                    match kind(&frame, self.header.record_base, self.header.time_width > 0) {
                        Kind::Silent => continue,
                        Kind::Time(full) => {
                            self.clock.set(full);
                            self.stamps += 1;
                            continue;
                        }
                        Kind::Panic(stamp) => (What::Panic(tell(&frame).record), stamp),
                        Kind::Signal(signal, stamp) => (What::Signal(signal, tell(&frame).record), stamp),
                        Kind::Trace(stamp) => (tell(&frame).what(), stamp),
                        Kind::Mark(kind, value) => {
                            (What::Record(marked(tell(&frame).record, kind, value)), None)
                        }
                        Kind::Record => (tell(&frame).what(), None),
                    }
                }
            };
            let time = stamp.map(|stamp| self.clock.stamp(stamp));
            self.stamps += u64::from(time.is_some());
            self.entries += u64::from(!matches!(what, What::Again(_)));
            return (gap, Some(Item { what, time, interrupt }));
        }
    }
}
