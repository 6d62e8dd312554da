//! The items of one thread, oldest first, with what is missing between them: those of its ring, and in their places those
//! of the lanes in which its signal handlers recorded. It must not know other threads.

use qs_core::frame::Frame;
use qs_core::record::words::head_len;
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
    /// The first of those that were read last.
    first_stamp: Option<u64>,
    /// The same ring, read as far as the next stamp.
    ahead: Option<Box<Stream<'a>>>,
    /// What is missing before the next item.
    gap: Gap,
    /// Entries read.
    entries: u64,
    /// Time stamps read when the newest item was given.
    given_stamps: u64,
    /// Which ring of the caller's it is.
    index: usize,
    /// What its own reader gives next, where that was looked at.
    own: Option<Next>,
    /// What comes next of it and its lanes, likewise.
    next: Option<Next>,
    lanes: Vec<Stream<'a>>,
    handler: Handler,
    /// Makes records; a reader that only looks ahead needs none.
    records: Option<SharedRecords>,
}

/// An item that is not given yet, or the beginning of a handler in its lane.
struct Next {
    gap: Gap,
    item: Option<Item>,
    is_beginning: bool,
    /// Where it is in its ring.
    position: u64,
    /// Where in the ring that its handler interrupted it belongs.
    anchor: u64,
    stamps: u64,
}

/// The handlers of a lane.
#[derive(Clone, Copy)]
struct Handler {
    /// Where the newest one came in the interrupted ring.
    anchor: u64,
    /// Handlers that came later than this are left for the next look.
    limit: u64,
    /// The first of those, by its position in the lane.
    left: Option<u64>,
}

/// Where the first word of a chunk would be in the place of this frame. A handler that came in before the frame found the words to
/// end there.
const fn first_word(frame: &Frame<'_>) -> u64 {
    frame.offset + head_len(frame.offset, frame.seq) as u64
}

impl Handler {
    const NONE: Handler = Handler { anchor: 0, limit: u64::MAX, left: None };
}

impl<'a> Stream<'a> {
    /// A stream at the oldest entry, whose stamps go on from a clock; `gap` is missing before it. `index` says which ring it is.
    pub fn new(index: usize, view: &View<'a>, clock: Clock, gap: Gap, records: &SharedRecords) -> Stream<'a> {
        let reader = view.reader();
        Stream { gap, index, ..Stream::of(reader, view.header, clock, Some(SharedRecords::clone(records))) }
    }

    fn of(reader: Rounds<'a>, header: Header, clock: Clock, records: Option<SharedRecords>) -> Stream<'a> {
        Stream {
            reader,
            header,
            clock,
            stamps: 0,
            first_stamp: None,
            ahead: None,
            gap: Gap::default(),
            entries: 0,
            given_stamps: 0,
            index: 0,
            own: None,
            next: None,
            lanes: Vec::new(),
            handler: Handler::NONE,
            records,
        }
    }

    /// The same with the lanes of its handlers. Those that came behind `limit` in its ring are left.
    #[must_use]
    pub fn with_lanes(mut self, mut lanes: Vec<Stream<'a>>, limit: u64) -> Stream<'a> {
        lanes.iter_mut().for_each(|lane| lane.handler.limit = limit);
        self.lanes = lanes;
        self
    }

    /// Which ring of the caller's it is.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Where to go on in each of its rings, with which clock, and how many entries it gave.
    pub fn finish(&self, each: &mut dyn FnMut(usize, (u64, Shown), Clock, u64)) {
        let place = match self.handler.left {
            None => (self.reader.resume_from(), self.reader.shown()),
            Some(position) => (position, Shown { position, ..Shown::default() }),
        };
        each(self.index, place, self.clock, self.entries);
        self.lanes.iter().for_each(|lane| lane.finish(each));
    }

    /// Prepares for [`Stream::until`]; to be called before anything is read.
    pub fn look_ahead(&mut self) {
        let reader = self.reader.clone();
        self.ahead = Some(Box::new(Stream::of(reader, self.header, self.clock, None)));
    }

    /// A time at which the newest item has run for certain: that of a later stamp of this ring.
    pub fn until(&mut self) -> Option<u64> {
        let ahead = self.ahead.as_mut()?;
        while ahead.stamps <= self.given_stamps && ahead.read().item.is_some() {}
        if ahead.stamps > self.given_stamps { ahead.first_stamp } else { None }
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
        let Next { gap, item, stamps, .. } = match self.lanes.is_empty() && self.next.is_none() {
            true => self.read(),
            false => self.choose(),
        };
        self.given_stamps = stamps;
        (gap, item)
    }

    /// What comes next of the ring and its lanes.
    fn choose(&mut self) -> Next {
        if let Some(next) = self.next.take() {
            return next;
        }
        loop {
            let mut own = self.own.take().unwrap_or_else(|| self.read());
            let lane = self.lanes.iter_mut().filter_map(|lane| {
                let next = lane.choose();
                let anchor = next.anchor;
                let is_item = next.item.is_some();
                lane.next = Some(next);
                is_item.then_some((anchor, lane))
            });
            let lane = lane.min_by_key(|(anchor, _)| *anchor);
            if let Some((_, lane)) = lane.filter(|(anchor, _)| *anchor <= own.position) {
                let next = lane.choose();
                self.own = Some(own);
                return Next { anchor: self.handler.anchor, stamps: self.given_stamps, ..next };
            }
            if own.is_beginning {
                // What comes next interrupted this handler.
                self.handler.anchor = own.anchor;
                continue;
            }
            if own.item.is_none() {
                let ends = self.lanes.iter_mut().filter_map(|lane| lane.next.take());
                ends.for_each(|end| own.gap.add(end.gap));
            }
            return own;
        }
    }

    /// The next item of the ring alone.
    fn read(&mut self) -> Next {
        let mut gap = std::mem::take(&mut self.gap);
        self.first_stamp = None;
        let records = self.records.as_ref();
        let tell = |frame: &Frame<'_>| {
            records.map_or_else(Default::default, |records| records.borrow_mut().tell(frame))
        };
        loop {
            let (mut interrupt, mut behind) = (0, None);
            let item = if self.handler.left.is_none() { self.reader.next() } else { None };
            let Some(item) = item else {
                return self.at(gap, u64::MAX);
            };
            add_missing(&mut gap, &item);
            let (what, stamp) = match item {
                ring::Item::Damaged(_)
                | ring::Item::Cut { .. }
                | ring::Item::Torn { .. }
                | ring::Item::Overrun
                | ring::Item::Missing(_) => continue,
                ring::Item::Statement(statement, stamp) => {
                    interrupt = self.reader.interrupt();
                    (What::Statement { file: statement.file, line: statement.line }, stamp)
                }
                ring::Item::Again(again) => (What::Again(again), None),
                ring::Item::Frame(frame) => {
                    behind = Some(first_word(&frame));
                    match kind(&frame, self.header.record_base, self.header.time_width > 0) {
                        Kind::Silent => continue,
                        Kind::Handler(anchor) if anchor > self.handler.limit => {
                            self.handler.left = Some(frame.offset);
                            continue;
                        }
                        Kind::Handler(anchor) if self.lanes.is_empty() => {
                            self.handler.anchor = anchor;
                            continue;
                        }
                        Kind::Handler(anchor) => {
                            let position = first_word(&frame);
                            self.gap = gap;
                            let next = self.at(Gap::default(), position);
                            return Next { is_beginning: true, anchor, ..next };
                        }
                        Kind::Time(full) | Kind::Until(full) => {
                            self.clock.set(full);
                            self.first_stamp.get_or_insert(full);
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
            self.first_stamp = self.first_stamp.or(time);
            self.stamps += u64::from(time.is_some());
            self.entries += u64::from(!matches!(what, What::Again(_)));
            let next = self.at(gap, behind.unwrap_or(self.reader.item_position()));
            return Next { item: Some(Item { what, time, interrupt }), ..next };
        }
    }

    /// No item, at this position of the ring.
    fn at(&self, gap: Gap, position: u64) -> Next {
        let (anchor, stamps) = (self.handler.anchor, self.stamps);
        Next { gap, item: None, is_beginning: false, position, anchor, stamps }
    }
}
