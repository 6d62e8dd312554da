//! Where the stamps of statements come from, and what the fast roll-over of `single` remembers between two chunks.

use core::ptr::null_mut;

use qs_core::record::words::{BASE, HEAD, TIME, byte_of, digits};

/// Length in bytes of the head without padding, if the sequence number needs no escape.
pub(super) const PLAIN_HEAD: usize = HEAD + 1;

/// In [`Single::base`]: larger than any time.
const UNKNOWN: u64 = 1 << 40;

/// Where the stamps of statements come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamps {
    /// The processor's counter.
    Counter,
    /// A counter that all threads share.
    Count,
    /// A slower clock, or none. The words may also be counted or marked in the executed bitmap.
    Other,
}

/// State of the fast roll-over of one ring.
pub(super) struct Single {
    /// Address of the open chunk's first word while the fast roll-over may be used; otherwise null.
    pub(super) first: *mut u8,
    /// `None` if many statements share a chunk.
    pub(super) stamps: Option<Stamps>,
    /// Sum of the time's digits in `bytes`.
    pub(super) sum: u8,
    /// The last time whose digits were computed, without its last digit; or [`UNKNOWN`].
    pub(super) base: u64,
    /// The eight bytes before `again` in the head of a chunk with that time.
    pub(super) bytes: u64,
}

impl Single {
    pub(super) const fn new() -> Single {
        Single { first: null_mut(), stamps: None, base: UNKNOWN, bytes: 0, sum: 0 }
    }

    /// A chunk is open. Its first word is at this address, behind a head of that length.
    #[inline(always)]
    pub(super) const fn open(&mut self, first: *mut u8, head_len: usize) {
        // As behind another chunk of one word.
        let is_usual = head_len > PLAIN_HEAD && head_len <= PLAIN_HEAD + 4;
        self.first = if self.stamps.is_some() && is_usual { first } else { null_mut() };
    }

    /// The open chunk has to be closed the slow way.
    #[inline(always)]
    pub(super) const fn close(&mut self) {
        self.first = null_mut();
    }

    /// Computes all digits of a time but the last one. Most of the following chunks have the same digits.
    pub(super) fn compute_digits(&mut self, time: u32) {
        let [a, b, c, d, _] = digits::<TIME>(time.into());
        // A missing time is among the first times.
        self.base = if time < BASE { UNKNOWN } else { u64::from(time - time % BASE) };
        self.bytes = u64::from_le_bytes([byte_of(0), byte_of(0), byte_of(0), a, b, c, d, 0]);
        self.sum = a.wrapping_add(b).wrapping_add(c).wrapping_add(d);
    }
}
