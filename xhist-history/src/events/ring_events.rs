//! The items of one thread, oldest first, with what is missing between them: the items of its ring, and in their places the
//! items of the lanes in which its signal handlers recorded.

use qs_core::frame::Frame;
use qs_core::record::Statement;
use qs_core::record::value::RecordedValue;
use qs_core::record::words::head_len;
use qs_core::ring::{self, Flags, Header, Reader, Shown};

use super::frame_kind::{FrameKind, frame_kind, next_time};
use super::records::{BuiltRecord, SharedRecords};
use super::repetition::Expander;
use crate::model::{Gap, Item, What};
use crate::ring::{Clock, RingSnapshot, add_missing};

/// Statements that a repetition in a ring goes back, if it is written out.
const WINDOW: usize = 4096;

/// One ring, being read.
pub struct RingEvents<'a> {
    reader: Reader<'a>,
    expander: Expander,
    header: Header,
    clock: Clock,
    /// The newest stamp, if only a value had it.
    late: Option<u64>,
    /// Time stamps read so far.
    stamps: u64,
    /// The first stamp of the newest item.
    first_stamp: Option<u64>,
    /// The same ring, read as far as the next stamp.
    ahead: Option<Box<RingEvents<'a>>>,
    /// What is missing before the next item.
    gap: Gap,
    /// Entries read.
    entries: u64,
    /// Time stamps read when the newest item was given.
    given_stamps: u64,
    /// The caller's number of the ring.
    index: usize,
    /// What its own reader gives next, if that was read already.
    own: Option<NextItem>,
    /// What comes next of the ring and its lanes, if that was read already.
    next: Option<NextItem>,
    lanes: Vec<RingEvents<'a>>,
    handler: LaneHandler,
    /// Builds records; a reader that only looks ahead needs none.
    records: Option<SharedRecords>,
}

/// An item that is not given yet, or the beginning of a handler in its lane.
struct NextItem {
    gap: Gap,
    item: Option<Item>,
    is_beginning: bool,
    /// Its position in its ring.
    position: u64,
    /// Its place in the ring that its handler interrupted.
    anchor: u64,
    stamps: u64,
}

/// The handlers of a lane.
#[derive(Clone, Copy)]
struct LaneHandler {
    /// The position in the interrupted ring at which the newest handler came.
    anchor: u64,
    /// Handlers that came behind this position are left for the next look.
    limit: u64,
    /// The position in the lane of the first handler that was left.
    left: Option<u64>,
}

/// Where the first word of a chunk would be in the place of this frame. A handler that came before the frame recorded this
/// position as the end of the words.
const fn first_word(frame: &Frame<'_>) -> u64 {
    frame.offset + head_len(frame.offset, frame.seq) as u64
}

impl LaneHandler {
    const NONE: LaneHandler = LaneHandler { anchor: 0, limit: u64::MAX, left: None };
}

impl<'a> RingEvents<'a> {
    /// The items from the oldest one on. `gap` is missing before the first; `clock` is the time before it. Repetitions of up
    /// to `longest` statements are written out. `index` is the caller's number of the ring.
    pub fn new(
        (index, ring): (usize, &RingSnapshot<'a>),
        clock: Clock,
        gap: Gap,
        longest: u64,
        records: &SharedRecords,
    ) -> RingEvents<'a> {
        let records = Some(SharedRecords::clone(records));
        let events = RingEvents::of(ring.reader(), ring.header, clock, records);
        RingEvents { gap, index, expander: ring_expander(longest), ..events }
    }

    /// The items as they were recorded: repetitions are not written out, and records have no text.
    pub fn without_records((index, ring): (usize, &RingSnapshot<'a>)) -> RingEvents<'a> {
        RingEvents { index, ..RingEvents::of(ring.reader(), ring.header, Clock::default(), None) }
    }

    fn of(
        reader: Reader<'a>,
        header: Header,
        clock: Clock,
        records: Option<SharedRecords>,
    ) -> RingEvents<'a> {
        RingEvents {
            reader,
            expander: ring_expander(0),
            header,
            clock,
            late: None,
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
            handler: LaneHandler::NONE,
            records,
        }
    }

    /// The same, with the lanes of its handlers. Handlers that came behind `limit` in the ring are left.
    #[must_use]
    pub fn with_lanes(mut self, mut lanes: Vec<RingEvents<'a>>, limit: u64) -> RingEvents<'a> {
        lanes.iter_mut().for_each(|lane| lane.handler.limit = limit);
        self.lanes = lanes;
        self
    }

    /// The caller's number of the ring.
    pub fn index(&self) -> usize {
        self.index
    }

    /// For each of its rings: where to continue, with which clock, and how many entries were read.
    pub fn finish(&self, each: &mut dyn FnMut(usize, (u64, Shown), Clock, u64)) {
        let place = match self.handler.left {
            None => (self.reader.resume_from(), self.reader.shown()),
            Some(position) => (position, Shown { position, ..Shown::default() }),
        };
        each(self.index, place, self.clock, self.entries);
        self.lanes.iter().for_each(|lane| lane.finish(each));
    }

    /// Prepares for [`RingEvents::until`]; must be called before the first item is read.
    pub fn look_ahead(&mut self) {
        let reader = self.reader.clone();
        self.ahead = Some(Box::new(RingEvents::of(reader, self.header, self.clock, None)));
    }

    /// A time by which the newest item has certainly run: that of a later stamp of this ring.
    pub fn until(&mut self) -> Option<u64> {
        let ahead = self.ahead.as_mut()?;
        while ahead.stamps <= self.given_stamps && ahead.read().item.is_some() {}
        if ahead.stamps > self.given_stamps { ahead.first_stamp } else { None }
    }

    /// Ticks of its clock a second; 0 = not known, or its stamps are no times.
    pub fn clock_hz(&self) -> u32 {
        if !self.header.flags.has(Flags::EXACT) { self.header.clock_hz } else { 0 }
    }

    /// How many of its entries are shown.
    pub fn count(mut self, is_shown: &dyn Fn(&What) -> bool) -> u64 {
        let items = std::iter::from_fn(|| self.next().1);
        items.filter(|item| item.what.is_entry() && is_shown(&item.what)).count() as u64
    }

    /// The next item, and what is missing before it (or, behind the last one, at the end).
    pub fn next(&mut self) -> (Gap, Option<Item>) {
        let NextItem { gap, item, stamps, .. } = match self.lanes.is_empty() && self.next.is_none() {
            true => self.read(),
            false => self.choose(),
        };
        self.given_stamps = stamps;
        (gap, item)
    }

    /// What comes next of the ring and its lanes.
    fn choose(&mut self) -> NextItem {
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
                return NextItem { anchor: self.handler.anchor, stamps: self.given_stamps, ..next };
            }
            if own.is_beginning {
                // The next item interrupted this handler.
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

    /// The next item of the ring alone, with the values behind it.
    fn read(&mut self) -> NextItem {
        let mut next = self.read_alone();
        // Values behind the step of a task are those of the entry before it.
        if self.header.has_values()
            && self.expander.is_done()
            && let Some(item) = next.item.as_mut().filter(|item| !matches!(item.what, What::Task(_)))
        {
            self.add_values(&mut item.values);
        }
        next
    }

    /// The values that come next.
    fn add_values(&mut self, values: &mut Vec<RecordedValue>) {
        loop {
            let mut ahead = self.reader.clone();
            let Some(ring::Item::Value(value, stamp)) = ahead.next() else { return };
            self.reader = ahead;
            values.push(value);
            // That stamp is the time of the next entry, as far as the order of threads goes.
            self.late = self.stamp(stamp).or(self.late);
        }
    }

    /// The next item of the ring, values behind it not yet read.
    fn read_alone(&mut self) -> NextItem {
        let mut gap = std::mem::take(&mut self.gap);
        self.first_stamp = None;
        loop {
            if let Some((Statement { file, line }, interrupt)) = self.expander.next() {
                let what = What::Statement { file, line };
                let item = Item { interrupt, handlers: self.handlers(), ..Item::new(what, None) };
                return self.entry(gap, item, self.reader.item_position());
            }
            let item = if self.handler.left.is_none() { self.reader.next() } else { None };
            let Some(item) = item else {
                return self.at(gap, u64::MAX);
            };
            add_missing(&mut gap, &item);
            match item {
                ring::Item::Damaged(_)
                | ring::Item::Cut { .. }
                | ring::Item::Torn { .. }
                | ring::Item::Overrun
                | ring::Item::Missing(_) => {}
                ring::Item::Overwritten { .. } => {
                    self.clock = Clock::starting_at(next_time(self.reader.clone()));
                }
                ring::Item::Statement(statement, stamp) => {
                    let interrupt = self.reader.interrupt();
                    self.expander.push(statement, interrupt);
                    let time = self.stamp(stamp);
                    let what = What::Statement { file: statement.file, line: statement.line };
                    return self.entry(
                        gap,
                        Item { interrupt, handlers: self.handlers(), ..Item::new(what, time) },
                        self.reader.item_position(),
                    );
                }
                ring::Item::Task(mark, stamp) => {
                    let time = self.stamp(stamp);
                    let (interrupt, handlers) = (self.reader.interrupt(), self.handlers());
                    let item = Item { interrupt, handlers, ..Item::new(What::Task(mark), time) };
                    return self.entry(gap, item, self.reader.item_position());
                }
                // Behind an entry that is not here.
                ring::Item::Value(value, stamp) => {
                    let time = self.stamp(stamp);
                    let (handlers, values) = (self.handlers(), vec![value]);
                    let item = Item { handlers, values, ..Item::new(What::Values, time) };
                    return self.entry(gap, item, self.reader.item_position());
                }
                ring::Item::Repetition(again) => {
                    if !self.expander.expand(again.statements, again.times) {
                        let what = What::Again(again);
                        let item = Item { handlers: self.handlers(), ..Item::new(what, None) };
                        return self.entry(gap, item, self.reader.item_position());
                    }
                }
                ring::Item::Frame(frame) => {
                    let position = first_word(&frame);
                    match frame_kind(&frame, self.header.record_base, self.header.time_width > 0) {
                        FrameKind::Silent => {}
                        FrameKind::Handler(anchor) if anchor > self.handler.limit => {
                            self.handler.left = Some(frame.offset);
                        }
                        FrameKind::Handler(anchor) if self.lanes.is_empty() => self.handler.anchor = anchor,
                        FrameKind::Handler(anchor) => {
                            self.gap = gap;
                            let next = self.at(Gap::default(), position);
                            return NextItem { is_beginning: true, anchor, ..next };
                        }
                        FrameKind::Time(full) | FrameKind::Until(full) => {
                            self.clock.set(full);
                            self.first_stamp.get_or_insert(full);
                            self.stamps += 1;
                        }
                        kind => {
                            let build = |records: &SharedRecords| records.borrow_mut().build(&frame);
                            let unread = || BuiltRecord::unread(&frame, self.header.time_width.into());
                            let built = self.records.as_ref().map_or_else(unread, build);
                            let what = built.entry(kind, frame.payload);
                            let time = self.stamp(kind.stamp());
                            return self.entry(
                                gap,
                                Item { handlers: self.handlers(), ..Item::new(what, time) },
                                position,
                            );
                        }
                    }
                }
            }
        }
    }

    /// The time of a stamp in full.
    fn stamp(&mut self, stamp: Option<u32>) -> Option<u64> {
        let time = self.clock.stamp(stamp?);
        self.first_stamp.get_or_insert(time);
        self.stamps += 1;
        Some(time)
    }

    /// An item, at this position of the ring.
    fn entry(&mut self, gap: Gap, mut item: Item, position: u64) -> NextItem {
        item.time = item.time.or(self.late.take());
        self.entries += u64::from(item.what.is_entry());
        NextItem { item: Some(item), ..self.at(gap, position) }
    }

    /// How many signal handlers recorded in this ring, one inside the other.
    fn handlers(&self) -> u8 {
        u8::try_from(self.header.words.level).unwrap_or(u8::MAX)
    }

    /// No item, at this position of the ring.
    fn at(&self, gap: Gap, position: u64) -> NextItem {
        let (anchor, stamps) = (self.handler.anchor, self.stamps);
        NextItem { gap, item: None, is_beginning: false, position, anchor, stamps }
    }
}

/// Writes out repetitions of up to `longest` statements of a ring.
pub fn ring_expander(longest: u64) -> Expander {
    Expander::new(longest, if longest > 0 { WINDOW } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::tests::Recorder;

    #[test]
    fn entries_have_the_time_of_their_ring_and_are_counted() {
        let ring = Recorder::new(7, 0).events(0..3);
        let placed = crate::ring::find(&ring.image, None, &mut |_| {}).rings.remove(0);
        let snapshot = RingSnapshot::whole(&placed, &ring.image);
        let events = || {
            let events = RingEvents::without_records((5, &snapshot));
            RingEvents { clock: Clock::starting_at(Some(1 << 32)), ..events }
        };
        assert_eq!((events().count(&|_| true), events().count(&|_| false)), (3, 0));
        let mut ring = events();
        ring.look_ahead();
        for time in [10, 20, 30] {
            let (gap, item) = ring.next();
            assert_eq!((gap.is_empty(), item.and_then(|item| item.time)), (true, Some((1 << 32) + time)));
            assert_eq!(ring.until(), (time < 30).then_some((1 << 32) + time + 10));
        }
        assert!(ring.next().1.is_none());
        let mut finished = Vec::new();
        ring.finish(&mut |index, (from, _), clock, entries| {
            finished.push((index, from, clock.now(), entries))
        });
        assert_eq!(finished, [(5, placed.header.state.head(), Some((1 << 32) + 30), 3)]);
    }
}
