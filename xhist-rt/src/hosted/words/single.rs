//! The fast roll-over where each statement has a chunk of its own: it closes the chunk of one word and opens the next
//! one, and skips what only longer chunks need.

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, needs_escape};
use qs_core::record::words::{BASE, REPETITION, UNIT, byte_of};
use qs_core::ring::State;

use super::frame::{self, ID};
use super::memory::{publish, step};
use super::stamps::{PLAIN_HEAD, Stamps};
use super::writer::{MARGIN, WordsWriter};

/// Length of the longest word in bytes.
const LONGEST: usize = 2 * UNIT;
/// Distance in bytes from the first word of such a chunk to that of the next one: word, checksum, flag, and the
/// padded head.
const STRIDE: u64 = 24;
impl WordsWriter {
    /// From now on each statement gets a chunk of its own, and records are appended the slow way.
    pub(crate) fn use_single_chunks(&mut self, stamps: Stamps) {
        self.append_slowly();
        self.single.stamps = Some(stamps);
        self.single.open(self.memory.at(self.words), (self.words - self.head) as usize);
    }

    /// Where the stamps come from.
    #[inline(always)]
    pub(crate) const fn stamps(&self) -> Option<Stamps> {
        self.single.stamps
    }

    /// Length in bytes of the one word in the open chunk, which ends at the cursor. `None` if
    /// [`WordsWriter::try_roll_over`] cannot be used.
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

    /// Computes these digits. They may be unknown even then.
    #[inline(never)]
    pub(crate) fn compute_digits(&mut self) {
        self.single.compute_digits(self.open_time as u32);
    }

    /// [`WordsWriter::roll_over`] for a stamp if the open chunk has one word of `len` bytes, see
    /// [`WordsWriter::single_to`]. Returns the new cursor, or `None` if a rare case needs the slow way. With
    /// `IS_PATIENT` it does the more frequent of the rare cases itself; otherwise [`WordsWriter::has_digits`] is
    /// required.
    #[inline(always)]
    pub(crate) fn try_roll_over<const IS_PATIENT: bool>(
        &mut self,
        len: usize,
        stamp: impl FnOnce() -> Option<u64>,
    ) -> Option<*mut u8> {
        // Local copies, because for the compiler a store through a pointer might change the fields.
        let (memory, head, first, header) = (self.memory, self.head, self.words, self.header);
        // SAFETY: `init` got a header that stays valid. This reference does not borrow the writer.
        let header = unsafe { &*header };
        let seq = self.seq.wrapping_add(1);
        let (end, head_len) = (first + len as u64, (first - head) as usize);
        if end + 2 * MARGIN > self.cleared_for_words || !IS_PATIENT && needs_escape(seq) {
            return None;
        }
        let digit = match IS_PATIENT {
            true => {
                self.note_words(end);
                let time = frame::time(self.open_time);
                self.single.compute_digits(time);
                time % BASE
            }
            false => (self.open_time as u32).wrapping_sub(self.single.base as u32),
        };
        debug_assert!(digit < BASE);
        // Readers ignore all this until the chunk is closed, also if it is done twice.
        let (digit, mut pad) = (byte_of(digit), head_len - PLAIN_HEAD);
        let before_again = self.single.bytes | u64::from(digit) << 56;
        memory.copy_behind(head, head_len - 2 * REPETITION, &before_again.to_le_bytes());
        if IS_PATIENT && needs_escape(seq) {
            pad -= 1;
            memory.copy_behind(head, 0, &[ESCAPE, seq ^ ESCAPE_XOR, ID, byte_of(pad as u32)]);
        } else {
            const START: u32 = u32::from_le_bytes([0, ID, byte_of(0), byte_of(0)]);
            memory.copy_behind(head, 0, &(START + (u32::from(seq) | (pad as u32) << 16)).to_le_bytes());
        }
        memory.put_behind(head, head_len - REPETITION, [byte_of(0); REPETITION]);
        let word = sum_of_word(u32::from_le_bytes(memory.bytes_behind(head, head_len)));
        // Sequence number, id, pad length, padding, time, `again`, word.
        let sum = self.single.sum.wrapping_add(digit).wrapping_add(seq).wrapping_add(word);
        let check =
            !sum.wrapping_add((2 * pad) as u8).wrapping_add(const { ID.wrapping_add(1 + REPETITION as u8) });
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
        (self.seen, self.previous.units) = (0, 0);
        (self.stamp, self.open_time) = (self.open_time, stamp);
        // This comes first, because the last time is that of the newest closed frame, or less than 4 bytes of time
        // behind it.
        publish(&header.state, State::closed(next, seq).with_open(open).0);
        publish(&header.last_time, stamp);
        // Until this store the new chunk has an earlier time, but it is empty.
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
