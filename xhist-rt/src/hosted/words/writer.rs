//! The writer of one ring of words: opens and closes chunks, rolls over when a chunk is full, and folds loops.

use core::ptr::null_mut;
use core::sync::atomic::{Ordering, compiler_fence};

use qs_core::frame::{FLAG, needs_escape};
use qs_core::record::EventKind;
use qs_core::record::words::{
    FILLER_BYTES, HEAD, MAX_HEAD, MAX_TIMES, REPETITION, TAIL, UNIT, UnitRepetition,
};
use qs_core::ring::{CheckedPosition, State};

use super::fold::{self, Tail};
use super::frame;
use super::header::HostedHeader;
use super::memory::{MirroredMemory, publish, step};
use super::prologue::Prologue;
use crate::hosted::executed::ExecutedBitmap;

/// Room for the end of a chunk and the head of the next one.
pub(super) const MARGIN: u64 = (TAIL + MAX_HEAD + 8) as u64;

/// Bytes of the head before a first word at a multiple of eight: with the sequence number, and without padding.
const PLAIN_HEAD: u64 = (HEAD + 1) as u64;
const _: () = assert!(PLAIN_HEAD.is_multiple_of(8));

/// After this many consecutive chunks without a long loop at their ends, the writer searches only one of
/// [`SEARCH_INTERVAL`] chunks.
const MAX_MISSES: u32 = 2;
const SEARCH_INTERVAL: u32 = 4;

/// Where the thread continues to write words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Address of the next word.
    pub(crate) cursor: *mut u8,
    /// The next check that finds the cursor here or behind calls [`WordsWriter::roll_over`].
    pub(crate) limit: *mut u8,
}

/// Asks for permission to fold or move words, with the position at which they continue afterwards. False: a handler
/// has come, and its position in the open chunk has to stay. After true, handlers that come use that position.
pub(crate) type MayMove<'a> = &'a dyn Fn(u64) -> bool;

/// The chunk directly before the open one.
#[derive(Clone, Copy)]
pub(super) struct PreviousChunk {
    /// Position behind its last word.
    pub(super) end: u64,
    /// Number of units of its words; 0 = another frame lies before the open chunk.
    pub(super) units: usize,
}

impl PreviousChunk {
    pub(super) const NONE: PreviousChunk = PreviousChunk { end: 0, units: 0 };
}

/// Writes one ring. The writer is in memory of its own, where no reader looks.
///
/// A cursor parameter is the cursor that the previous method returned, or one behind it in one of the two mappings.
/// Complete words fill the bytes between the two.
pub(crate) struct WordsWriter {
    pub(super) memory: MirroredMemory,
    pub(super) header: *mut HostedHeader,
    /// Positions of the open chunk and of its first word.
    pub(super) head: u64,
    pub(super) words: u64,
    /// Address of that word while the chunk is empty and a record may be appended the fast way; otherwise null.
    pub(super) ready: *mut u8,
    /// Records must not be appended the fast way.
    pub(super) must_append_slowly: bool,
    /// Position behind the last byte that was cleared for words, as in the header; and the same without the slack.
    pub(super) cleared: u64,
    pub(super) cleared_for_words: u64,
    pub(super) prologue: Prologue,
    /// The repetition between the previous chunk and the first word.
    pub(super) repetition: UnitRepetition,
    /// The newest stamp of a frame, and that of the open chunk, which may stay empty; 0 = not known.
    pub(super) stamp: u64,
    pub(super) open_time: u64,
    pub(super) previous: PreviousChunk,
    /// The sequence number of the newest frame.
    pub(super) seq: u8,
    pub(super) executed: Option<ExecutedBitmap>,
    /// Number of statements since [`WordsWriter::mark`], up to unit `seen` of the open chunk.
    pub(super) counted: Option<u64>,
    pub(super) seen: usize,
    /// Number of consecutive chunks without a loop of half their length at their ends.
    pub(super) misses: u32,
    /// A sum of the newest words that had a pause among them, and the number of their repetitions; see
    /// [`WordsWriter::has_waiting_round`].
    pub(super) round: (u64, u32),
}

impl WordsWriter {
    /// Begins the ring that the header lays out, and opens its first chunk. `stamp` is the full clock, 0 without one.
    ///
    /// # Safety
    /// `header`, which has `header_len` bytes, was laid out by [`HostedHeader::init`] for `size` bytes and has no
    /// frames. `size` is a power of two, at least 4,096. At `data`, which is aligned to 8 bytes, there are `2 * size`
    /// bytes, and the second half maps the memory of the first. Header and bytes are valid for as long as the writer
    /// is used, and only its thread writes them.
    pub(crate) unsafe fn init(
        (header, header_len): (*mut HostedHeader, usize),
        data: *mut u8,
        size: usize,
        stamp: u64,
        executed: Option<ExecutedBitmap>,
    ) -> (WordsWriter, Place) {
        let mut writer = WordsWriter {
            // SAFETY: the caller gives `2 * size` bytes at `data` that are mapped as `Memory` needs.
            memory: unsafe { MirroredMemory::new(data, size) },
            header,
            head: 0,
            words: 0,
            ready: null_mut(),
            must_append_slowly: false,
            cleared: 0,
            cleared_for_words: 0,
            prologue: Prologue::new(header_len, size),
            repetition: UnitRepetition::default(),
            stamp,
            open_time: 0,
            previous: PreviousChunk::NONE,
            seq: 0,
            executed,
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

    /// From here on, executed statements are noted in this bitmap.
    pub(crate) fn set_executed(&mut self, executed: ExecutedBitmap) {
        self.executed = Some(executed);
    }

    /// The header of the ring.
    #[inline(always)]
    pub(crate) fn header(&self) -> &HostedHeader {
        // SAFETY: `init` got a header that stays valid, and what changes in it is atomic.
        unsafe { &*self.header }
    }

    /// Number of bytes of words that fill a chunk.
    #[inline(always)]
    pub(crate) const fn chunk(&self) -> u64 {
        let share = self.memory.size as u64 / 4;
        if share < 16 << 10 { share } else { 16 << 10 }
    }

    /// Number of bytes that a thread may write between two checks.
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

    /// Where the thread continues when the words of the open chunk end at this position.
    #[inline(always)]
    pub(super) fn place(&self, end: u64) -> Place {
        let first = self.memory.at(self.words);
        let limit = (self.words + self.chunk()).min(self.cleared_for_words);
        Place {
            cursor: first.wrapping_add((end - self.words) as usize),
            // The limit may be before the first word if the cleared room ends early. Then the next check
            // clears more.
            limit: first.wrapping_add(limit.wrapping_sub(self.words) as usize),
        }
    }

    /// Rolls over at a check that found the cursor at the limit, or that has to take a new stamp (`is_stamp`).
    ///
    /// Folds loops where it may. Otherwise it closes the chunk and opens the next one with this stamp. `stamp` is the
    /// full clock, 0 without one.
    pub(crate) fn roll_over(
        &mut self,
        cursor: *mut u8,
        stamp: u64,
        may_move: Option<MayMove<'_>>,
        is_stamp: bool,
    ) -> Place {
        let end = self.position(cursor);
        if !self.keeps_newest(end) {
            return self.restart_after_overrun(end, stamp);
        }
        self.reserve(end, 0);
        let is_full = end >= self.words + self.chunk();
        if !is_full && !is_stamp {
            // Frames before this chunk took the room. The chunk is not full yet.
            self.clear(end, self.words + self.chunk() + self.slack());
            return self.place(end);
        }
        self.note_words(end);
        if let Some(may_move) = may_move
            && let Some(folded) = self.fold(end, is_full, may_move)
        {
            // What is left of a round keeps its time.
            if folded != end {
                self.restamp(stamp);
            }
            self.clear(folded, self.words + self.chunk() + self.slack());
            return self.place(folded);
        }
        let end = match may_move {
            Some(may_move) if !self.has_waiting_round(end) => self.date(end, may_move),
            _ => end,
        };
        self.close_and_open(end, stamp)
    }

    /// Closes the chunk and opens the next one. A function of its own: unoptimised, its locals would otherwise be on the
    /// stack of all that `roll_over` calls, which small stacks have no room for.
    fn close_and_open(&mut self, end: u64, stamp: u64) -> Place {
        self.close_chunk(end);
        // The zeros come last. If they came earlier, the data of the frame would wait until all zeros are stored.
        self.clear(self.head, self.head + MARGIN + self.chunk() + self.slack());
        self.declare_time(stamp);
        self.open(stamp);
        self.place(self.words)
    }

    /// Copies words behind the cursor. Returns `None` if there are too many.
    pub(crate) fn take_over(&mut self, cursor: *mut u8, words: &[u8]) -> Option<Place> {
        let end = self.position(cursor);
        if self.is_overrun(end) || words.len() as u64 > self.chunk() + self.slack() {
            return None;
        }
        let new_end = end + words.len() as u64;
        self.clear(end, new_end + MARGIN + self.chunk() + self.slack());
        // In their order: a kill leaves the first of them, and no hole before others.
        for (unit, at) in words.chunks(UNIT).zip((end..).step_by(UNIT)) {
            self.memory.copy(at, unit);
            compiler_fence(Ordering::Release);
        }
        Some(self.place(new_end))
    }

    /// Gives the words up to the cursor their times, before something is appended behind them. Returns the new
    /// cursor. The positions in the chunk change, so no handler may have come since the chunk was opened.
    #[inline(never)]
    pub(crate) fn date_words(&mut self, cursor: *mut u8, may_move: MayMove<'_>) -> *mut u8 {
        let end = self.position(cursor);
        if self.is_overrun(end) || !self.has_paused(end) {
            return cursor;
        }
        self.note_words(end);
        let end = self.date(end, may_move);
        self.place(end).cursor
    }

    /// Closes the open chunk, so that all words are in whole frames. A program's own clock may count its calls, so
    /// this function reads it only if something is open.
    pub(crate) fn close(&mut self, cursor: *mut u8, now: impl FnOnce() -> u64) -> Place {
        let end = self.position(cursor);
        if !self.keeps_newest(end) {
            return self.restart_after_overrun(end, now());
        }
        if !self.has_something(end) {
            return self.place(end);
        }
        let stamp = now();
        self.note_words(end);
        self.clear(end, end + MARGIN + self.chunk() + self.slack());
        self.close_chunk(end);
        self.declare_time(stamp);
        self.open(stamp);
        self.place(self.words)
    }

    /// Whether the open chunk has anything to keep.
    #[inline(always)]
    pub(super) fn has_something(&self, end: u64) -> bool {
        end != self.words || self.repetition.times > 0
    }

    /// Number of units of the open chunk's words, which end there.
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
        // Until this store the new chunk has an earlier time, but it is empty.
        publish(&self.header().open_time, stamp);
    }

    /// Sets where the first word of the next chunk is. Returns its distance from the head.
    #[inline(always)]
    pub(super) fn plan_open(&mut self) -> usize {
        let open = frame::head_len(self.head, self.seq.wrapping_add(1));
        self.words = self.head + open as u64;
        let first = self.memory.at(self.words);
        self.ready = if self.must_append_slowly { null_mut() } else { first };
        self.repetition = UnitRepetition::default();
        self.seen = 0;
        open
    }

    /// Gives the open chunk a later time, because its words were folded. If 4 bytes cannot represent that time, an
    /// event with the full time follows the chunk's frame.
    pub(super) fn restamp(&mut self, stamp: u64) {
        if stamp > 0 {
            self.open_time = stamp.max(self.open_time).max(self.stamp);
            publish(&self.header().last_time, self.open_time);
            publish(&self.header().open_time, self.open_time);
        }
    }

    /// Appends the full time if 4 bytes cannot represent the distance to the newest stamp. No chunk is open, or the
    /// open one is empty.
    pub(super) fn declare_time(&mut self, stamp: u64) {
        if self.stamp > 0 && stamp.saturating_sub(self.stamp) > frame::FAR {
            self.stamp = stamp;
            self.put_event(EventKind::Time, stamp, stamp);
            publish(&self.header().state, State::closed(self.head, self.seq).0);
        }
    }

    /// Writes what surrounds the words of the open chunk, which end there. They are a closed frame then, and no chunk
    /// is open.
    pub(super) fn close_chunk(&mut self, end: u64) {
        if !self.has_something(end) {
            return publish(&self.header().state, State::closed(self.head, self.seq).0);
        }
        let next = self.put_frame(end);
        self.set_head(next, PreviousChunk { end, units: self.units_to(end) });
        publish(&self.header().state, State::closed(self.head, self.seq).0);
        let time = self.open_time;
        self.declare_time(time);
        self.stamp = self.stamp.max(time);
    }

    /// The frame before this position is closed.
    pub(super) fn set_head(&mut self, head: u64, previous: PreviousChunk) {
        (self.head, self.previous) = (head, previous);
        self.seq = self.seq.wrapping_add(1);
    }

    /// Writes the frame around the open chunk's words up to `end`. Returns the position behind the frame.
    pub(super) fn put_frame(&mut self, end: u64) -> u64 {
        let (head, tail, tail_len) = self.frame(end);
        self.put_head(&head, (self.words - self.head) as usize);
        self.memory.copy(end, &tail[..tail_len]);
        step();
        end + tail_len as u64
    }

    /// Head and tail of that frame, and the length of the tail.
    #[inline]
    pub(super) fn frame(&self, end: u64) -> ([u8; 24], [u8; 3], usize) {
        let (seq, len) = (self.seq.wrapping_add(1), (self.words - self.head) as usize);
        let (head, sum) = frame::head(seq, len, frame::time(self.open_time), self.repetition);
        let words = self.memory.bytes(self.words, (end - self.words) as usize);
        let (tail, tail_len) = frame::tail(sum.wrapping_add(frame::sum(words)));
        (head, tail, tail_len)
    }

    /// Stores the head of the open chunk's frame, which has that length.
    pub(super) fn put_head(&self, head: &[u8; 24], len: usize) {
        self.memory.copy(self.head, &head[..len - REPETITION]);
        if self.repetition.times == 0 {
            self.put_repetition(false);
        }
    }

    /// Stores the repetition before the open chunk's words.
    pub(super) fn put_repetition(&self, is_counted: bool) {
        let repetition = UnitRepetition { is_counted, ..self.repetition };
        self.memory.put(self.words - REPETITION as u64, frame::repetition_bytes(repetition));
    }

    /// Zeros the bytes up to a position, unless they are zero already. `end` is the end of the words.
    #[inline(always)]
    pub(super) fn clear(&mut self, end: u64, to: u64) {
        if to > self.cleared {
            self.clear_to(end, to);
        }
    }

    #[inline(never)]
    fn clear_to(&mut self, end: u64, to: u64) {
        let from = self.cleared.max(end);
        if self.prologue.is_due(to) {
            self.keep_prologue(from);
        }
        publish(&self.header().cleared, to);
        self.memory.zero(from, to);
        self.set_cleared(to);
    }

    /// Keeps the prologue, unless that was done. Bytes up to position `written` were written so far.
    pub(super) fn keep_prologue(&mut self, written: u64) {
        // SAFETY: `init` got a header of the length that the prologue got, which only this thread writes.
        unsafe { self.prologue.keep(self.memory, self.header, self.head, written) };
    }

    pub(super) const fn set_cleared(&mut self, to: u64) {
        (self.cleared, self.cleared_for_words) = (to, to.saturating_sub(self.slack()));
    }

    /// Reserves room behind `end` for `bytes` more bytes, the end of a chunk, the head of another one, and the slack
    /// behind them.
    #[inline(always)]
    pub(super) fn reserve(&mut self, end: u64, bytes: u64) {
        let need = end + bytes + MARGIN;
        if need + self.slack() > self.cleared && (bytes > 0 || need > self.cleared) {
            self.clear_to(end, need + self.chunk() + self.slack());
        }
    }

    /// Begins the history again, because the ring file was emptied: what was before is gone, and the header was laid out
    /// again. The last `kept` bytes before the cursor are words that were written since. They stay where they are, as
    /// events of handlers name their positions. Returns whether there was room for them.
    #[cold]
    pub(crate) fn begin_again(&mut self, cursor: *mut u8, kept: usize, stamp: u64) -> (Place, bool) {
        let end = self.position(cursor);
        // More words would be in the way of those that follow. A full chunk has room.
        let has_room = kept as u64 + PLAIN_HEAD + 8 + self.ahead() <= self.memory.size as u64;
        let kept = if has_room { kept as u64 } else { 0 };
        let (first, end) = match kept {
            0 => (end.next_multiple_of(8), end.next_multiple_of(8)),
            _ => ((end - kept) & !7, end),
        };
        publish(&self.header().begin, CheckedPosition::at(first - PLAIN_HEAD).0);
        self.prologue.begin_again(first - PLAIN_HEAD, self.memory.size);
        for at in (first..end - kept).step_by(UNIT) {
            self.memory.put(at, FILLER_BYTES);
        }
        self.set_cleared(end);
        self.clear(end, end + MARGIN + self.chunk() + self.slack());
        // The words that stay ran before this stamp.
        self.open_at(first, if kept > 0 { self.open_time } else { stamp });
        (self.place(end), has_room)
    }

    /// Opens a chunk whose words begin at a multiple of eight, and are there already. The bytes of its head may be
    /// overwritten.
    pub(super) fn open_at(&mut self, first: u64, stamp: u64) {
        let head = first - PLAIN_HEAD;
        // The missing number shows that a frame is missing.
        let mut seq = self.seq.wrapping_add(1);
        while needs_escape(seq.wrapping_add(1)) {
            seq = seq.wrapping_add(1);
        }
        publish(&self.header().state, State::closed(head, seq).0);
        self.memory.zero(head, first);
        if let Some(flag) = head.checked_sub(1) {
            self.memory.put(flag, [FLAG]);
        }
        (self.head, self.seq, self.previous) = (head, seq, PreviousChunk::NONE);
        self.open(stamp);
    }

    /// Folds repetitions. Returns the new end of the words, or `None` if the chunk has to be closed.
    fn fold(&mut self, end: u64, is_full: bool, may_move: MayMove<'_>) -> Option<u64> {
        let units = self.units_to(end);
        if !self.has_something(end) {
            return None;
        }
        let period = self.repetition.period as usize;
        // What is left of a round gets a later time. Behind a pause that would be wrong.
        let has_paused = self.has_paused(end);
        if self.repetition.times > 0 && self.continues_previous(units, period) {
            return match units < period {
                true => (!is_full && !has_paused).then_some(end),
                false if has_paused && !units.is_multiple_of(period) => None,
                false => self.count_rounds(units, period, may_move),
            };
        }
        if self.repetition.times == 0 && !is_full {
            // A round between any two stamps.
            let periods = [units, self.previous.units];
            let is_one = |period: &usize| {
                *period <= units
                    && (!has_paused || units.is_multiple_of(*period))
                    && self.continues_previous(units, *period)
            };
            let one = periods.into_iter().find(is_one);
            if let Some(period) = one {
                return self.count_rounds(units, period, may_move);
            }
        }
        if has_paused {
            return None;
        }
        if !self.is_worth_searching() {
            return None;
        }
        let words = self.memory.units(self.words, units);
        let longest = (units / 2).min(self.chunk() as usize / UNIT - fold::LEAST);
        let saves = |tail: &Tail| tail.folded(units) >= (fold::LEAST / 2).max(units / 8);
        let tail = fold::search(words, longest).filter(saves)?;
        let tail = fold::whole_words(words, tail).filter(saves)?;
        // A search that finds less does not pay for the searches that find nothing.
        if 2 * tail.folded(units) >= units {
            self.misses = 0;
        }
        if tail.start == 0 && self.repetition.times == 0 && self.continues_previous(units, tail.period) {
            return self.count_rounds(units, tail.period, may_move);
        }
        self.fold_tail(units, tail, may_move)
    }

    /// Whether to search a loop at the end of this chunk. After some chunks without a long loop, only one of
    /// [`SEARCH_INTERVAL`] is searched, so a loop fills a few chunks before it is found. A small ring has no room for more than these.
    #[inline(always)]
    fn is_worth_searching(&mut self) -> bool {
        self.misses = self.misses.wrapping_add(1);
        let is_patient = self.misses > MAX_MISSES
            && self.memory.size as u64 >= 4 * u64::from(SEARCH_INTERVAL) * self.chunk();
        !is_patient || self.misses.is_multiple_of(SEARCH_INTERVAL)
    }

    /// Whether the words so far continue the last `period` units of the previous chunk.
    fn continues_previous(&self, units: usize, period: usize) -> bool {
        let start = self.previous.end.wrapping_sub((UNIT * period) as u64);
        let kept = self.cleared.saturating_sub(self.memory.size as u64);
        if period == 0 || self.previous.units < period || start < kept {
            return false;
        }
        let words = self.memory.units(self.words, units);
        let first = &words[..units.min(period)];
        fold::repeats(words, period) && self.memory.units(start, first.len()) == first
    }

    /// Counts the whole rounds in the open chunk and clears them.
    fn count_rounds(&mut self, units: usize, period: usize, may_move: MayMove<'_>) -> Option<u64> {
        let times = self.repetition.times + (units / period) as u64;
        let rest = units % period;
        let end = self.words + (UNIT * rest) as u64;
        if times > MAX_TIMES {
            return None;
        }
        let repetition = core::mem::replace(
            &mut self.repetition,
            UnitRepetition { period: period as u32, times, is_counted: false },
        );
        self.ready = null_mut();
        // This comes before handlers use that end as their position, because readers would find words behind it.
        self.put_repetition(true);
        if !may_move(end) {
            self.repetition = repetition;
            self.put_repetition(false);
            return None;
        }
        // Words end at the first zero, so the bytes behind it may be cleared in any order.
        self.memory.put(end, [0; UNIT]);
        self.memory.zero(end, self.words + (UNIT * units) as u64);
        self.put_repetition(false);
        self.seen = rest;
        Some(end)
    }
}
