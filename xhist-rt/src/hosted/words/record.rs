//! Appends records that are not statements, at their exact place among the statements.

use qs_core::frame::{ESCAPE, FLAG, escaped, needs_escape};
use qs_core::record::{EventKind, RECORD_BASE};
use qs_core::ring::State;

use super::frame;
use super::memory::{MirroredMemory, publish, step};
use super::scan::sum_and_find_escape;
use super::writer::{MARGIN, Place, PreviousChunk, WordsWriter};
use crate::qs::SIZES;
use crate::record_size::MEDIUM;

/// Bytes of a time stamp.
const TIME: usize = SIZES.time as usize;
const MASK: u32 = u32::MAX >> (32 - 8 * TIME);
/// Most bytes of the frame of an event.
const EVENT: usize = 40;

/// A frame before escapes. It is not assembled in memory: a wide load of bytes that were just stored in small steps
/// has to wait.
struct RecordFrame<'a, const LEN: usize> {
    bytes: &'a [u8; LEN],
    len: usize,
    timed: bool,
    seq: u8,
    time: [u8; TIME],
    check: u8,
    escapes: usize,
}

impl<'a, const LEN: usize> RecordFrame<'a, LEN> {
    #[inline(always)]
    fn new(bytes: &'a [u8; LEN], len: usize, timed: bool, seq: u8, time: u32) -> RecordFrame<'a, LEN> {
        let time = if timed { time & MASK } else { 0 };
        // The places of time and sequence number are zero there.
        let (sum, any) = sum_and_find_escape(bytes, u64::from(time) | u64::from(seq) << 32);
        let check = !sum;
        let any = any | needs_escape(check);
        let [t0, t1, t2, t3] = time.to_le_bytes();
        let time = core::array::from_fn(|index| [t0, t1, t2, t3][index]);
        let mut frame = RecordFrame { bytes, len, timed, seq, time, check, escapes: 0 };
        if any {
            frame.escapes = escapes(&frame.whole(), len + 1);
        }
        frame
    }

    /// Length in bytes of the whole frame.
    const fn total(&self) -> usize {
        self.len + 1 + self.escapes + 1
    }

    /// Its bytes before escapes, up to the checksum.
    fn whole(&self) -> [u8; LEN] {
        let mut bytes = *self.bytes;
        bytes[0] = self.seq;
        if self.timed {
            bytes.iter_mut().skip(2).zip(self.time).for_each(|(place, byte)| *place = byte);
        }
        if let Some(place) = bytes.get_mut(self.len) {
            *place = self.check;
        }
        bytes
    }

    /// Stores the frame.
    #[inline(always)]
    fn put(&self, memory: MirroredMemory, start: u64) {
        if self.escapes > 0 || self.len + 2 > LEN {
            return put_escaped(memory, start, &self.whole(), self.len + 1);
        }
        memory.copy_first(start, self.bytes, self.len + 2);
        memory.copy(start, &[self.seq]);
        if self.timed {
            memory.copy(start + 2, &self.time);
        }
        memory.copy(start + self.len as u64, &[self.check, FLAG]);
    }
}

/// Stores the first `len` bytes with their escapes, and the flag.
#[cold]
#[inline(never)]
fn put_escaped(memory: MirroredMemory, start: u64, bytes: &[u8], len: usize) {
    let mut at = start;
    let mut put = |byte| {
        memory.copy(at, &[byte]);
        at += 1;
    };
    for byte in bytes.iter().take(len) {
        escaped(*byte, &mut put);
    }
    put(FLAG);
}

#[cold]
#[inline(never)]
fn escapes(bytes: &[u8], len: usize) -> usize {
    bytes.iter().take(len).filter(|byte| needs_escape(**byte)).count()
}

impl WordsWriter {
    /// Whether the open chunk is empty, its words would start at this cursor, and [`WordsWriter::try_append_record`]
    /// may be called.
    #[inline(always)]
    pub(crate) fn is_ready_at(&self, cursor: *mut u8) -> bool {
        cursor == self.ready
    }

    /// Position of the first word of the open chunk.
    #[inline(always)]
    pub(crate) const fn first_word(&self) -> u64 {
        self.words
    }

    /// From now on each record and event is appended the slow way.
    pub(crate) const fn append_slowly(&mut self) {
        (self.must_append_slowly, self.ready) = (true, core::ptr::null_mut());
    }

    /// [`WordsWriter::append_record`] if the open chunk is empty, as behind another record. Returns the new cursor, or
    /// `None` if a rare case needs the slow way. The limit stays.
    #[inline(always)]
    pub(crate) fn try_append_record<const LEN: usize, const TIMED: bool>(
        &mut self,
        bytes: &[u8; LEN],
        len: usize,
        stamp: u64,
    ) -> Option<*mut u8> {
        // Local copies, because for the compiler a store through a pointer might change the fields.
        let (memory, head) = (self.memory, self.head);
        let seq = self.seq.wrapping_add(1);
        // Neither this number nor the next needs an escape.
        let is_plain = seq.wrapping_sub(ESCAPE - 1) > FLAG - (ESCAPE - 1);
        let is_soon = stamp.wrapping_sub(self.stamp) <= frame::FAR && stamp as u32 != 0;
        let time = stamp as u32 & MASK;
        let next = head + len as u64 + 2;
        let open = frame::plain_head_len(next);
        let first = memory.at(next + open as u64);
        // At the end of the memory the ring's start follows, where the limit is another one.
        let has_room = next + MARGIN <= self.cleared_for_words && first > self.ready;
        let (sum, may_any) = sum_and_find_escape(bytes, if TIMED { time.into() } else { 0 });
        let check = !sum.wrapping_add(seq);
        if !is_plain || TIMED && !is_soon || !has_room || may_any || needs_escape(check) {
            return None;
        }
        publish(&self.header().state, State::closed(head, self.seq).0);
        match LEN {
            // Behind the record these are zeros over zeros.
            ..=MEDIUM => memory.copy_behind(head, 0, bytes),
            _ => memory.copy_first(head, bytes, len),
        }
        memory.copy_behind(head, 0, &[seq]);
        if TIMED {
            let [t0, t1, t2, t3] = time.to_le_bytes();
            let time: [u8; TIME] = core::array::from_fn(|index| [t0, t1, t2, t3][index]);
            memory.copy_behind(head, 2, &time);
        }
        memory.copy_behind(head, len, &[check, FLAG]);
        step();
        (self.head, self.words, self.ready, self.seq) = (next, next + open as u64, first, seq);
        self.previous.units = 0;
        if TIMED {
            (self.stamp, self.open_time) = (stamp, stamp);
            publish(&self.header().last_time, stamp);
        }
        publish(&self.header().state, State::closed(next, seq).with_open(open).0);
        if TIMED {
            // Until this store the new chunk has an earlier time, but it is empty.
            publish(&self.header().open_time, stamp);
        }
        Some(first)
    }

    /// Appends a record behind the words up to the cursor. `bytes` are a place for the sequence number, the id, a
    /// place for the time if it is `TIMED`, the payload up to `len`, and at least two zeros. `stamp` is the full
    /// clock, 0 without one.
    #[inline]
    pub(crate) fn append_record<const LEN: usize, const TIMED: bool>(
        &mut self,
        cursor: *mut u8,
        bytes: &[u8; LEN],
        len: usize,
        stamp: u64,
    ) -> Place {
        let is_empty = cursor == self.memory.at(self.words) && self.repetition.times == 0;
        let stamp = if TIMED { stamp } else { 0 };
        let is_soon = stamp.saturating_sub(self.stamp) <= frame::FAR;
        if !is_empty || !is_soon {
            self.prepare_for_record(cursor, stamp);
        }
        // A program's own clock may step back. The record has the time that the clock gave.
        let frame = RecordFrame::new(bytes, len, TIMED, self.seq.wrapping_add(1), frame::time(stamp));
        self.reserve(self.head, frame.total() as u64);
        self.put_record(frame.total(), |memory, start| frame.put(memory, start));
        self.stamp = self.stamp.max(stamp);
        self.open(stamp);
        self.place(self.words)
    }

    /// Appends an event behind the words up to the cursor. `stamp` is the full clock, 0 without one.
    pub(crate) fn append_event(&mut self, cursor: *mut u8, kind: EventKind, value: u64, stamp: u64) -> Place {
        self.prepare_for_record(cursor, stamp);
        let stamp = if stamp > 0 { stamp.max(self.stamp) } else { 0 };
        self.put_event(kind, value, stamp);
        self.stamp = self.stamp.max(stamp);
        self.open(stamp);
        self.place(self.words)
    }

    /// Closes the open chunk if it is not empty; then appends the full time, if need be.
    #[inline(never)]
    fn prepare_for_record(&mut self, cursor: *mut u8, stamp: u64) {
        let end = self.position(cursor);
        if !self.keeps_newest(end) {
            self.restart_after_overrun(end, stamp);
            return;
        }
        self.note_words(end);
        self.reserve(end, MARGIN);
        self.close_chunk(end);
        self.declare_time(stamp);
        self.plan_open();
    }

    /// Stores the frame of an event. No chunk is open, or the open one is empty.
    pub(super) fn put_event(&mut self, kind: EventKind, value: u64, stamp: u64) {
        let (mut bytes, mut len) = ([0; EVENT], 0);
        kind.emit(self.seq.wrapping_add(1), RECORD_BASE, frame::time(stamp), value, |byte| {
            if let Some(place) = bytes.get_mut(len) {
                *place = byte;
            }
            len += 1;
        });
        self.reserve(self.head, len as u64);
        self.put_record(len, |memory, start| memory.copy(start, bytes.get(..len).unwrap_or(&bytes)));
    }

    /// Stores a frame of `total` bytes. Afterwards no chunk is open.
    #[inline(always)]
    fn put_record(&mut self, total: usize, put: impl FnOnce(MirroredMemory, u64)) {
        // In an open chunk the frame's bytes would look like words.
        publish(&self.header().state, State::closed(self.head, self.seq).0);
        put(self.memory, self.head);
        step();
        self.set_head(self.head + total as u64, PreviousChunk::NONE);
    }
}
