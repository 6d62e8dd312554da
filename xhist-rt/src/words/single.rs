//! The short way through a turn where each statement has a chunk of its own: the chunk of one word is closed, and the
//! next one opened, without what only longer chunks need.

use core::ptr::null_mut;

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, needs_escape};
use qs_core::record::words::{AGAIN, BASE, HEAD, TIME, UNIT, byte_of, digits};
use qs_core::ring::State;

use super::frame::{self, ID};
use super::memory::{publish, step};
use super::writer::{MARGIN, Writer};

/// Most bytes of a word.
const LONGEST: usize = 2 * UNIT;
/// Bytes from the first word of such a chunk to that of the next: word, checksum, flag, and the head, which is padded.
const STRIDE: u64 = 24;
/// Bytes of the head without padding, where the sequence number needs no escape.
const PLAIN_HEAD: usize = HEAD + 1;

/// In [`Single::base`]: larger than any time.
const UNKNOWN: u64 = 1 << 40;

/// Where the stamps of statements come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamps {
    /// The processor's counter.
    Counter,
    /// One count of all threads.
    Count,
    /// A slower clock, or none. Words may be looked at, too.
    Other,
}

/// The short way of one ring.
pub(super) struct Single {
    /// Address of the open chunk's first word while this way may be taken; else null.
    first: *mut u8,
    /// `None` where many statements share a chunk.
    stamps: Option<Stamps>,
    /// Sum of the time's digits in `bytes`.
    sum: u8,
    /// The last time whose digits but the last were computed, without its last; or [`UNKNOWN`].
    base: u64,
    /// The eight bytes before `again` in the head of a chunk with that time.
    bytes: u64,
}

impl Single {
    pub(super) const fn new() -> Single {
        Single { first: null_mut(), stamps: None, base: UNKNOWN, bytes: 0, sum: 0 }
    }

    /// A chunk is open, whose first word is at this address, behind a head of that length.
    #[inline(always)]
    pub(super) const fn open(&mut self, first: *mut u8, head_len: usize) {
        // As behind another chunk of one word.
        let is_usual = head_len > PLAIN_HEAD && head_len <= PLAIN_HEAD + 4;
        self.first = if self.stamps.is_some() && is_usual { first } else { null_mut() };
    }

    /// Has the open chunk be closed at length.
    #[inline(always)]
    pub(super) const fn close(&mut self) {
        self.first = null_mut();
    }

    /// Computes all digits of a time but the last. Most chunks behind it have the same.
    fn compute_digits(&mut self, time: u32) {
        let [a, b, c, d, _] = digits::<TIME>(time.into());
        // No time at all is among the first times.
        self.base = if time < BASE { UNKNOWN } else { u64::from(time - time % BASE) };
        self.bytes = u64::from_le_bytes([byte_of(0), byte_of(0), byte_of(0), a, b, c, d, 0]);
        self.sum = a.wrapping_add(b).wrapping_add(c).wrapping_add(d);
    }
}

impl Writer {
    /// From now on each statement gets a chunk of its own, and records are appended at length.
    pub(crate) fn be_single(&mut self, stamps: Stamps) {
        self.be_slow();
        self.single.stamps = Some(stamps);
        self.single.open(self.memory.at(self.words), (self.words - self.head) as usize);
    }

    /// Where stamps come from.
    #[inline(always)]
    pub(crate) const fn stamps(&self) -> Option<Stamps> {
        self.single.stamps
    }

    /// Bytes of the one word in the open chunk, which ends at the cursor. `None` where [`Writer::turn_at_once`] cannot be
    /// taken.
    #[inline(always)]
    pub(crate) fn single_to(&self, cursor: *mut u8) -> Option<usize> {
        let len = cursor.addr().wrapping_sub(self.single.first.addr());
        matches!(len, UNIT | LONGEST).then_some(len)
    }

    /// Whether all digits of the open chunk's time but the last are known.
    #[inline(always)]
    pub(crate) fn has_digits(&self) -> bool {
        u64::from(self.open_time as u32).wrapping_sub(self.single.base) < u64::from(BASE)
    }

    /// Computes them; they may not be known then.
    #[inline(never)]
    pub(crate) fn compute_digits(&mut self) {
        self.single.compute_digits(self.open_time as u32);
    }

    /// [`Writer::turn`] for a stamp where the open chunk has one word of `len` bytes, see [`Writer::single_to`]. `None` where
    /// something rare is to be done, of which it does the more frequent if it `IS_PATIENT`; otherwise where the words go on.
    /// If not, [`Writer::has_digits`].
    #[inline(always)]
    pub(crate) fn turn_at_once<const IS_PATIENT: bool>(
        &mut self,
        len: usize,
        stamp: impl FnOnce() -> Option<u64>,
    ) -> Option<*mut u8> {
        // Copies: what is stored through pointers might be one of these, as far as the compiler knows.
        let (memory, head, first, header) = (self.memory, self.head, self.words, self.header);
        // SAFETY: `init` got a valid header; a reference to it that does not borrow the writer.
        let header = unsafe { &*header };
        let seq = self.seq.wrapping_add(1);
        let (end, head_len) = (first + len as u64, (first - head) as usize);
        if end + 2 * MARGIN > self.soon || !IS_PATIENT && needs_escape(seq) {
            return None;
        }
        let digit = match IS_PATIENT {
            true => {
                self.look(end);
                let time = frame::time(self.open_time);
                self.single.compute_digits(time);
                time % BASE
            }
            false => (self.open_time as u32).wrapping_sub(self.single.base as u32),
        };
        debug_assert!(digit < BASE);
        // Readers take no notice of all this before the chunk is closed; nor do they when it is done once more.
        let (digit, mut pad) = (byte_of(digit), head_len - PLAIN_HEAD);
        let before_again = self.single.bytes | u64::from(digit) << 56;
        memory.copy_behind(head, head_len - 2 * AGAIN, &before_again.to_le_bytes());
        if IS_PATIENT && needs_escape(seq) {
            pad -= 1;
            memory.copy_behind(head, 0, &[ESCAPE, seq ^ ESCAPE_XOR, ID, byte_of(pad as u32)]);
        } else {
            const START: u32 = u32::from_le_bytes([0, ID, byte_of(0), byte_of(0)]);
            memory.copy_behind(head, 0, &(START + (u32::from(seq) | (pad as u32) << 16)).to_le_bytes());
        }
        memory.put_behind(head, head_len - AGAIN, [byte_of(0); AGAIN]);
        let word = sum_of_word(u32::from_le_bytes(memory.bytes_behind(head, head_len)));
        // Sequence number, id, pad length, padding, time, `again`, word.
        let sum = self.single.sum.wrapping_add(digit).wrapping_add(seq).wrapping_add(word);
        let check =
            !sum.wrapping_add((2 * pad) as u8).wrapping_add(const { ID.wrapping_add(1 + AGAIN as u8) });
        if !IS_PATIENT && needs_escape(check) {
            return None;
        }
        let stamp = stamp()?;
        if stamp.wrapping_sub(self.open_time) > frame::FAR {
            return None;
        }
        let mut next = end + 2;
        if IS_PATIENT && needs_escape(check) {
            next += 1;
            memory.copy_behind(head, head_len + len, &[ESCAPE, check ^ ESCAPE_XOR, FLAG]);
        } else {
            let tail = u16::from(check) | const { (FLAG as u16) << 8 };
            memory.copy_behind(head, head_len + len, &tail.to_le_bytes());
        }
        step();
        let open = (first + STRIDE - next) as usize;
        debug_assert_eq!(open, frame::head_len(next, seq.wrapping_add(1)));
        let cursor = memory.at(first + STRIDE);
        (self.head, self.words, self.seq, self.single.first) = (next, first + STRIDE, seq, cursor);
        (self.seen, self.before.units) = (0, 0);
        (self.stamp, self.open_time) = (self.open_time, stamp);
        // First, because the last time is that of the newest closed frame, or less than 4 bytes of time behind it.
        publish(&header.state, State::closed(next, seq).with_open(open).0);
        publish(&header.last_time, stamp);
        // Until then the new chunk has an earlier time, but nothing in it.
        publish(&header.open_time, stamp);
        Some(cursor)
    }
}

/// Sum of the bytes, modulo 256.
#[inline(always)]
const fn sum_of_word(word: u32) -> u8 {
    let pairs = (word & 0x00FF_00FF) + (word >> 8 & 0x00FF_00FF);
    (pairs + (pairs >> 16)) as u8
}
