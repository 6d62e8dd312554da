//! The writer of one ring: opens and closes chunks, and takes the turn when one is full.

use core::ptr::null_mut;

use qs_core::frame::FLAG;
use qs_core::record::EventKind;
use qs_core::record::words::{AGAIN, Again, MAX_HEAD, MAX_TIMES, TAIL, UNIT};
use qs_core::ring::State;

use super::fold::{self, Tail};
use super::frame;
use super::header::HostedHeader;
use super::memory::{Memory, publish, step};
use super::single::Single;
use crate::ring::Ever;

/// Room for the end of a chunk and the head of the next.
pub(super) const MARGIN: u64 = (TAIL + MAX_HEAD + 8) as u64;

/// Chunks in a row without a loop at their ends after which only one of [`EACH`] is looked at.
const MISSES: u32 = 2;
const EACH: u32 = 4;

/// Where the thread's code goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Address of the next word.
    pub(crate) cursor: *mut u8,
    /// The next check that finds the cursor here or behind calls [`Writer::turn`].
    pub(crate) limit: *mut u8,
}

/// Asks before words are folded or moved, with the position at which they go on then. False: a handler has come, and its
/// position in the open chunk has to stay. After true, handlers that come in take that position for theirs.
pub(crate) type MayMove<'a> = &'a dyn Fn(u64) -> bool;

/// The chunk directly before the open one.
#[derive(Clone, Copy)]
pub(super) struct Before {
    /// Position behind its last word.
    pub(super) end: u64,
    /// Units of its words; 0 = there is another frame before the open chunk.
    pub(super) units: usize,
}

impl Before {
    pub(super) const NONE: Before = Before { end: 0, units: 0 };
}

/// Writes one ring. It lies in memory of its own, where no reader looks.
///
/// A cursor that a method takes is the one that the method before gave, or lies behind it in one of the two mappings,
/// and complete words fill the bytes between the two.
pub(crate) struct Writer {
    pub(super) memory: Memory,
    pub(super) header: *mut HostedHeader,
    /// Position of the open chunk, and of its first word.
    pub(super) head: u64,
    pub(super) words: u64,
    /// The address of that word while the chunk has nothing and records may be appended at once; else null.
    pub(super) ready: *mut u8,
    /// They may not.
    pub(super) is_slow: bool,
    /// Where each statement has a chunk.
    pub(super) single: Single,
    /// As in the header; and without the slack.
    pub(super) cleared: u64,
    pub(super) soon: u64,
    /// What came again between the chunk before and the first word.
    pub(super) again: Again,
    /// The newest stamp of a frame, and that of the open chunk, which may stay empty; 0 = not known.
    pub(super) stamp: u64,
    pub(super) open_time: u64,
    pub(super) before: Before,
    /// The newest frame's sequence number.
    pub(super) seq: u8,
    pub(super) ever: Option<Ever>,
    /// Statements since [`Writer::mark`], up to unit `seen` of the open chunk.
    pub(super) counted: Option<u64>,
    pub(super) seen: usize,
    /// Chunks in a row in which no loop was found that ends them, and how many of them were not looked at.
    pub(super) misses: u32,
    /// A sum of the newest words that had a pause among them, and how often they came again; see
    /// [`Writer::is_round_again`].
    pub(super) round: (u64, u32),
}

impl Writer {
    /// Begins the ring that the header lays out, and opens its first chunk. `stamp` is the clock in full, 0 without one.
    ///
    /// # Safety
    /// `header` was laid out by [`HostedHeader::init`] for `size` bytes and has no frames. `size` is a power of two, at
    /// least 4,096. At `data`, which is aligned to 8 bytes, there are `2 * size` bytes, and the second half maps the memory
    /// of the first. Header and bytes are valid for as long as the writer is used, and only its thread writes them.
    pub(crate) unsafe fn init(
        header: *mut HostedHeader,
        data: *mut u8,
        size: usize,
        stamp: u64,
        ever: Option<Ever>,
    ) -> (Writer, Place) {
        let mut writer = Writer {
            // SAFETY: the caller's contract.
            memory: unsafe { Memory::new(data, size) },
            header,
            head: 0,
            words: 0,
            ready: null_mut(),
            is_slow: false,
            single: Single::new(),
            cleared: 0,
            soon: 0,
            again: Again::default(),
            stamp,
            open_time: 0,
            before: Before::NONE,
            seq: 0,
            ever,
            counted: None,
            seen: 0,
            misses: 0,
            round: (0, 0),
        };
        writer.clear(0, MARGIN + writer.chunk() + writer.slack());
        writer.open(stamp);
        let place = writer.place(writer.words);
        (writer, place)
    }

    /// The header of the ring.
    #[inline(always)]
    pub(crate) fn header(&self) -> &HostedHeader {
        // SAFETY: `init` got a valid header, and what changes in it is atomic.
        unsafe { &*self.header }
    }

    /// Bytes of words after which a chunk is full.
    #[inline(always)]
    pub(crate) const fn chunk(&self) -> u64 {
        let share = self.memory.size as u64 / 4;
        if share < 16 << 10 { share } else { 16 << 10 }
    }

    /// Bytes that may be written between two checks.
    #[inline(always)]
    pub(crate) const fn slack(&self) -> u64 {
        let share = self.memory.size as u64 / 8;
        if share < 16 << 10 { share } else { 16 << 10 }
    }

    /// The position that a cursor points to.
    #[inline(always)]
    pub(crate) fn position(&self, cursor: *mut u8) -> u64 {
        let (offset, first) = (self.memory.offset(cursor), self.memory.index(self.words));
        let offset = if offset < first { offset + self.memory.size } else { offset };
        self.words + (offset - first) as u64
    }

    /// Where the thread's code goes on when the open chunk's words end at this position.
    #[inline(always)]
    pub(super) fn place(&self, end: u64) -> Place {
        let first = self.memory.at(self.words);
        let limit = (self.words + self.chunk()).min(self.soon);
        Place {
            cursor: first.wrapping_add((end - self.words) as usize),
            // It may be before the first word, where the room that was cleared ends soon: the next check clears more.
            limit: first.wrapping_add(limit.wrapping_sub(self.words) as usize),
        }
    }

    /// Takes the turn at a check that found the cursor at the limit, or that has to take a new stamp (`is_stamp`).
    ///
    /// Folds loops where it may. Otherwise it closes the chunk and opens the next one with this stamp. `stamp` is the clock
    /// in full, 0 without one.
    pub(crate) fn turn(
        &mut self,
        cursor: *mut u8,
        stamp: u64,
        may_move: Option<MayMove<'_>>,
        is_stamp: bool,
    ) -> Place {
        let end = self.position(cursor);
        if self.is_overrun(end) {
            return self.drop_all(end, stamp);
        }
        self.reserve(end, 0);
        let is_full = end >= self.words + self.chunk();
        if !is_full && !is_stamp {
            // Frames before this chunk took the room, it is not full yet.
            self.clear(end, self.words + self.chunk() + self.slack());
            return self.place(end);
        }
        self.look(end);
        if let Some(may_move) = may_move
            && let Some(folded) = self.fold(end, is_full, may_move)
        {
            // What is left of a round keeps its time.
            if folded != end {
                self.refresh(stamp);
            }
            self.clear(folded, self.words + self.chunk() + self.slack());
            return self.place(folded);
        }
        let end = match may_move {
            Some(may_move) if !self.is_round_again(end) => self.date(end, may_move),
            _ => end,
        };
        self.close_chunk(end);
        // Not before: what is put together for the frame would wait until all zeros are stored.
        self.clear(self.head, self.head + MARGIN + self.chunk() + self.slack());
        self.declare_time(stamp);
        self.open(stamp);
        self.place(self.words)
    }

    /// Copies words behind the cursor. `None` when they are too many.
    pub(crate) fn bring(&mut self, cursor: *mut u8, words: &[u8]) -> Option<Place> {
        let end = self.position(cursor);
        if self.is_overrun(end) || words.len() as u64 > self.chunk() + self.slack() {
            return None;
        }
        let new_end = end + words.len() as u64;
        self.clear(end, new_end + MARGIN + self.chunk() + self.slack());
        self.memory.copy(end, words);
        Some(self.place(new_end))
    }

    /// The words up to the cursor get their times, before something is appended to them. No handler came since the chunk
    /// was opened, because positions in it change. Where the words go on.
    #[inline(never)]
    pub(crate) fn dated(&mut self, cursor: *mut u8, may_move: MayMove<'_>) -> *mut u8 {
        let end = self.position(cursor);
        if self.is_overrun(end) || !self.has_paused(end) {
            return cursor;
        }
        self.look(end);
        let end = self.date(end, may_move);
        self.place(end).cursor
    }

    /// Ends the open chunk, so that all words are in whole frames. A program's own clock may count its calls, so it is asked
    /// only where something is open.
    pub(crate) fn close(&mut self, cursor: *mut u8, now: impl FnOnce() -> u64) -> Place {
        let end = self.position(cursor);
        if self.is_overrun(end) {
            return self.drop_all(end, now());
        }
        if !self.has_something(end) {
            return self.place(end);
        }
        let stamp = now();
        self.look(end);
        self.clear(end, end + MARGIN + self.chunk() + self.slack());
        self.close_chunk(end);
        self.declare_time(stamp);
        self.open(stamp);
        self.place(self.words)
    }

    /// Whether the open chunk has anything to keep.
    #[inline(always)]
    pub(super) fn has_something(&self, end: u64) -> bool {
        end != self.words || self.again.times > 0
    }

    /// Units of the open chunk's words, which end there.
    #[inline(always)]
    pub(super) fn units_to(&self, end: u64) -> usize {
        (end - self.words) as usize / UNIT
    }

    /// Makes the next chunk the open one. The bytes from the head on are zero, and no chunk is open.
    #[inline(always)]
    pub(super) fn open(&mut self, stamp: u64) {
        let open = self.plan_open();
        let state = State::closed(self.head, self.seq).with_open(open).0;
        if stamp == 0 {
            return publish(&self.header().state, state);
        }
        let stamp = stamp.max(self.stamp).max(self.open_time);
        self.open_time = stamp;
        publish(&self.header().last_time, stamp);
        publish(&self.header().state, state);
        // Until then the new chunk has an earlier time, but nothing in it.
        publish(&self.header().open_time, stamp);
    }

    /// Sets where the next chunk's first word is; returns how far that is behind the head.
    #[inline(always)]
    pub(super) fn plan_open(&mut self) -> usize {
        let open = frame::head_len(self.head, self.seq.wrapping_add(1));
        self.words = self.head + open as u64;
        let first = self.memory.at(self.words);
        self.ready = if self.is_slow { null_mut() } else { first };
        match self.counted {
            None => self.single.open(first, open),
            Some(_) => self.single.close(),
        }
        self.again = Again::default();
        self.seen = 0;
        open
    }

    /// Gives the open chunk a later time, because what it has so far was folded. Its frame will be followed by that time
    /// in full, if need be.
    pub(super) fn refresh(&mut self, stamp: u64) {
        if stamp > 0 {
            self.single.close();
            self.open_time = stamp.max(self.open_time).max(self.stamp);
            publish(&self.header().last_time, self.open_time);
            publish(&self.header().open_time, self.open_time);
        }
    }

    /// Appends the time in full when 4 bytes of it do not show how much later than the newest stamp it is. No chunk is
    /// open, or nothing is in it.
    pub(super) fn declare_time(&mut self, stamp: u64) {
        if self.stamp > 0 && stamp.saturating_sub(self.stamp) > frame::FAR {
            self.stamp = stamp;
            self.put_event(EventKind::Time, stamp, stamp);
            publish(&self.header().state, State::closed(self.head, self.seq).0);
        }
    }

    /// Writes what is around the words of the open chunk, which end there and then are a closed frame. No chunk is open
    /// then, and something is.
    pub(super) fn close_chunk(&mut self, end: u64) {
        if !self.has_something(end) {
            return publish(&self.header().state, State::closed(self.head, self.seq).0);
        }
        let next = self.put_frame(end);
        self.stand_at(next, Before { end, units: self.units_to(end) });
        publish(&self.header().state, State::closed(self.head, self.seq).0);
        let time = self.open_time;
        self.declare_time(time);
        self.stamp = self.stamp.max(time);
    }

    /// The frame before this position is closed.
    pub(super) fn stand_at(&mut self, head: u64, before: Before) {
        (self.head, self.before) = (head, before);
        self.seq = self.seq.wrapping_add(1);
    }

    /// Writes the frame around the open chunk's words up to `end`; returns the position behind it.
    pub(super) fn put_frame(&mut self, end: u64) -> u64 {
        let (head, tail, tail_len) = self.frame(end);
        self.put_head(&head, (self.words - self.head) as usize);
        self.memory.copy(end, &tail[..tail_len]);
        step();
        end + tail_len as u64
    }

    /// Head and tail of that frame, and how many bytes the tail has.
    #[inline]
    pub(super) fn frame(&self, end: u64) -> ([u8; 24], [u8; 3], usize) {
        let (seq, len) = (self.seq.wrapping_add(1), (self.words - self.head) as usize);
        let (head, sum) = frame::head(seq, len, frame::time(self.open_time), self.again);
        let words = self.memory.bytes(self.words, (end - self.words) as usize);
        let (tail, tail_len) = frame::tail(sum.wrapping_add(frame::sum(words)));
        (head, tail, tail_len)
    }

    /// Puts the head of the open chunk's frame, which has that length.
    pub(super) fn put_head(&self, head: &[u8; 24], len: usize) {
        self.memory.copy(self.head, &head[..len - AGAIN]);
        if self.again.times == 0 {
            self.put_again(false);
        }
    }

    /// Stores what came again.
    pub(super) fn put_again(&self, is_counted: bool) {
        let again = Again { is_counted, ..self.again };
        self.memory.put(self.words - AGAIN as u64, frame::again_bytes(again));
    }

    /// Zeros the bytes up to a position, unless they are already; `end` is where words end.
    #[inline(always)]
    pub(super) fn clear(&mut self, end: u64, to: u64) {
        if to > self.cleared {
            self.clear_to(end, to);
        }
    }

    #[inline(never)]
    fn clear_to(&mut self, end: u64, to: u64) {
        let from = self.cleared.max(end);
        publish(&self.header().cleared, to);
        self.memory.zero(from, to);
        self.set_cleared(to);
    }

    const fn set_cleared(&mut self, to: u64) {
        (self.cleared, self.soon) = (to, to.saturating_sub(self.slack()));
    }

    /// Sees to it that `bytes` more, the end of a chunk and the head of another, can be written from there on, and the
    /// slack behind them.
    #[inline(always)]
    pub(super) fn reserve(&mut self, end: u64, bytes: u64) {
        let need = end + bytes + MARGIN;
        if need + self.slack() > self.cleared && (bytes > 0 || need > self.cleared) {
            self.clear_to(end, need + self.chunk() + self.slack());
        }
    }

    /// Whether the words up to there have overwritten the chunk that they belong to.
    #[inline(always)]
    pub(super) fn is_overrun(&self, end: u64) -> bool {
        end + MARGIN > self.head + self.memory.size as u64
    }

    /// Begins the ring again behind the words, which have overwritten their own chunk.
    #[cold]
    pub(super) fn drop_all(&mut self, end: u64, stamp: u64) -> Place {
        let size = self.memory.size as u64;
        self.count_overrun(end);
        // The missing number shows that a frame is missing. A reader that starts there looks for the end of a frame.
        (self.head, self.seq) = (end + 1, self.seq.wrapping_add(1));
        self.before = Before::NONE;
        publish(&self.header().state, State::closed(self.head, self.seq).0);
        publish(&self.header().cleared, end + size);
        self.memory.zero(end, end + size);
        self.memory.put(end, [FLAG]);
        self.set_cleared(end + size);
        self.declare_time(stamp);
        self.open(stamp);
        self.place(self.words)
    }

    /// Folds what repeats; returns where the words end then. `None` when the chunk has to be closed.
    fn fold(&mut self, end: u64, is_full: bool, may_move: MayMove<'_>) -> Option<u64> {
        let units = self.units_to(end);
        if !self.has_something(end) {
            return None;
        }
        let period = self.again.period as usize;
        // What is left of a round gets a later time. Behind a pause that would not be true.
        let has_paused = self.has_paused(end);
        if self.again.times > 0 && self.goes_on(units, period) {
            return match units < period {
                true => (!is_full && !has_paused).then_some(end),
                false if has_paused && !units.is_multiple_of(period) => None,
                false => self.count_rounds(units, period, may_move),
            };
        }
        if self.again.times == 0 && !is_full {
            // A round between any two stamps.
            let periods = [units, self.before.units];
            let is_one = |period: &usize| {
                *period <= units
                    && (!has_paused || units.is_multiple_of(*period))
                    && self.goes_on(units, *period)
            };
            let one = periods.into_iter().find(is_one);
            if let Some(period) = one {
                return self.count_rounds(units, period, may_move);
            }
        }
        if has_paused {
            return None;
        }
        if !self.is_worth_a_look() {
            return None;
        }
        let words = self.memory.units(self.words, units);
        let longest = (units / 2).min(self.chunk() as usize / UNIT - fold::LEAST);
        let saves = |tail: &Tail| tail.folded(units) >= (fold::LEAST / 2).max(units / 8);
        let tail = fold::search(words, longest).filter(saves)?;
        let tail = fold::whole_words(words, tail).filter(saves)?;
        self.misses = 0;
        if tail.start == 0 && self.again.times == 0 && self.goes_on(units, tail.period) {
            return self.count_rounds(units, tail.period, may_move);
        }
        self.fold_tail(units, tail, may_move)
    }

    /// Whether to look for a loop at the end of this chunk. Where many chunks had none, only one of [`EACH`] is looked at, so
    /// a loop fills a few chunks before it is found. In a small ring these would be all there is.
    #[inline(always)]
    fn is_worth_a_look(&mut self) -> bool {
        self.misses = self.misses.wrapping_add(1);
        let is_patient =
            self.misses > MISSES && self.memory.size as u64 >= 4 * u64::from(EACH) * self.chunk();
        !is_patient || self.misses.is_multiple_of(EACH)
    }

    /// Whether the words so far go on with the last `period` units of the chunk before.
    fn goes_on(&self, units: usize, period: usize) -> bool {
        let start = self.before.end.wrapping_sub((UNIT * period) as u64);
        let kept = self.cleared.saturating_sub(self.memory.size as u64);
        if period == 0 || self.before.units < period || start < kept {
            return false;
        }
        let words = self.memory.units(self.words, units);
        let first = &words[..units.min(period)];
        fold::repeats(words, period) && self.memory.units(start, first.len()) == first
    }

    /// Counts the whole rounds in the open chunk and clears them.
    fn count_rounds(&mut self, units: usize, period: usize, may_move: MayMove<'_>) -> Option<u64> {
        let times = self.again.times + (units / period) as u64;
        let rest = units % period;
        let end = self.words + (UNIT * rest) as u64;
        if times > MAX_TIMES {
            return None;
        }
        let again =
            core::mem::replace(&mut self.again, Again { period: period as u32, times, is_counted: false });
        self.ready = null_mut();
        // Before handlers take that end for their position: readers would find words behind it.
        self.put_again(true);
        if !may_move(end) {
            self.again = again;
            self.put_again(false);
            return None;
        }
        // Words end at the first zero, so what is behind it may be cleared in any order.
        self.memory.put(end, [0; UNIT]);
        self.memory.zero(end, self.words + (UNIT * units) as u64);
        self.put_again(false);
        self.seen = rest;
        Some(end)
    }
}
