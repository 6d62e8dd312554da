//! The bytes of a ring, and places in it.

use qs_core::ring::State;

/// Where the bytes of a ring are.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    data: *mut u8,
    pub(super) size: usize,
}

impl Memory {
    /// The bytes of a ring.
    ///
    /// # Safety
    /// `size` bytes at `data`, a power of two, are valid for as long as the value and its copies are used.
    pub(crate) const unsafe fn new(data: *mut u8, size: usize) -> Memory {
        Memory { data, size }
    }

    pub(super) fn index(self, position: u64) -> usize {
        position as usize & (self.size - 1)
    }

    pub(super) fn at(self, position: u64) -> *mut u8 {
        // SAFETY: a masked index lies inside the ring.
        unsafe { self.data.add(self.index(position)) }
    }

    pub(super) fn put(self, position: u64, byte: u8) {
        // SAFETY: `at` is inside the ring.
        unsafe { self.at(position).write_volatile(byte) };
    }

    /// Where `len` bytes lie in one piece.
    #[inline(always)]
    pub(super) fn piece(self, position: u64, len: usize) -> Option<*mut u8> {
        (self.index(position) + len <= self.size).then(|| self.at(position))
    }

    pub(super) fn put_all(self, position: u64, bytes: &[u8]) {
        if self.index(position) + bytes.len() <= self.size {
            // SAFETY: they fit before the ring's end.
            return unsafe { self.at(position).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        for (index, byte) in bytes.iter().enumerate() {
            self.put(position + index as u64, *byte);
        }
    }
}

/// Copies the first `len` bytes, not one more: most in two pieces of constant length, which overlap.
///
/// # Safety
/// So many bytes may be read and written.
#[inline(always)]
pub(super) unsafe fn copy_first(from: &[u8], to: *mut u8, len: usize) {
    let from = from.as_ptr();
    // SAFETY: the caller's; `len` is at least that of a piece.
    unsafe {
        match len {
            8..=16 => copy_ends::<8>(from, to, len),
            17..=32 => copy_ends::<16>(from, to, len),
            33..=64 => copy_ends::<32>(from, to, len),
            _ => to.copy_from_nonoverlapping(from, len),
        }
    }
}

/// Copies the first and the last `PIECE` of `len` bytes.
///
/// # Safety
/// `len` bytes may be read and written, and `PIECE` is no more.
#[inline(always)]
unsafe fn copy_ends<const PIECE: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's.
    unsafe {
        to.copy_from_nonoverlapping(from, PIECE);
        to.add(len - PIECE).copy_from_nonoverlapping(from.add(len - PIECE), PIECE);
    }
}

/// Where a run may be continued by a signal handler that interrupts it, as one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reserve {
    pub(crate) head: u64,
    pub(crate) seq: u8,
}

impl Reserve {
    /// As a state word: no frame is open there.
    pub(crate) const fn word(self) -> u64 {
        State::closed(self.head, self.seq).0
    }
}

/// The first `len` bytes; without a way to panic.
#[inline(always)]
pub(super) fn first(bytes: &[u8], len: usize) -> &[u8] {
    bytes.get(..len).unwrap_or(bytes)
}

/// Bytes of the ring.
///
/// # Safety
/// They lie inside the ring, and nothing writes them while the slice is used.
pub(super) unsafe fn bytes<'a>(start: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { core::slice::from_raw_parts(start, len) }
}
