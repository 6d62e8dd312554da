//! The bytes of a ring. They are mapped twice, one mapping behind the other, so that each piece is contiguous.

use crate::sync::{Word, fence};

/// Ends a store that readers may see before the next store.
#[inline(always)]
pub(super) fn step() {
    fence();
    #[cfg(test)]
    super::tests::step();
}

/// Stores a word of the header.
#[inline(always)]
pub(super) fn publish(word: &Word, value: u64) {
    fence();
    word.store(value);
    step();
}

/// Start and size of a ring's bytes.
#[derive(Clone, Copy)]
pub(super) struct MirroredMemory {
    data: *mut u8,
    pub(super) size: usize,
}

impl MirroredMemory {
    /// The bytes of a ring.
    ///
    /// # Safety
    /// `size` is a power of two. At `data`, which is aligned to 8 bytes, there are `2 * size` valid bytes, and the
    /// second half maps the memory of the first. Only the thread that uses this value writes them, for as long as it
    /// or a copy is used.
    pub(super) const unsafe fn new(data: *mut u8, size: usize) -> MirroredMemory {
        MirroredMemory { data, size }
    }

    #[inline(always)]
    pub(super) const fn index(self, position: u64) -> usize {
        position as usize & (self.size - 1)
    }

    /// The address of a position, in the first of the two mappings.
    #[inline(always)]
    pub(super) const fn at(self, position: u64) -> *mut u8 {
        // SAFETY: a masked index lies inside the mapping.
        unsafe { self.data.add(self.index(position)) }
    }

    /// Distance of an address of this ring from the ring's start; less than twice the size.
    #[inline(always)]
    pub(super) fn offset(self, address: *mut u8) -> usize {
        address.addr().wrapping_sub(self.data.addr())
    }

    /// Stores one unit, or a whole `Again`. They are aligned, so this is a single store.
    #[inline(always)]
    pub(super) fn put<const LEN: usize>(self, position: u64, bytes: [u8; LEN]) {
        const { assert!(LEN <= 8 && LEN.is_power_of_two()) };
        debug_assert!(position.is_multiple_of(LEN as u64));
        let to = self.at(position);
        // SAFETY: an aligned piece does not cross the end of the mapping.
        unsafe {
            match LEN {
                8 => to.cast::<u64>().write_volatile(bytes.as_ptr().cast::<u64>().read_unaligned()),
                2 => to.cast::<u16>().write_volatile(bytes.as_ptr().cast::<u16>().read_unaligned()),
                _ => to.cast::<[u8; LEN]>().write_volatile(bytes),
            }
        }
        step();
    }

    /// Copies bytes there, in any order.
    #[inline(always)]
    pub(super) fn copy(self, position: u64, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.size);
        #[cfg(test)]
        if super::tests::is_watched() {
            return bytes.iter().enumerate().for_each(|(at, byte)| self.put(position + at as u64, [*byte]));
        }
        // SAFETY: the two mappings hold `size` bytes from any index on. `bytes` do not overlap them: they lie on the
        // stack, or at other positions of the ring.
        unsafe { self.at(position).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// Copies bytes to `offset` bytes behind a position. Offset and length are less than the size.
    #[inline(always)]
    pub(super) fn copy_behind<const LEN: usize>(self, position: u64, offset: usize, bytes: &[u8; LEN]) {
        debug_assert!(offset + LEN <= self.size);
        #[cfg(test)]
        if super::tests::is_watched() {
            return self.copy(position + offset as u64, bytes);
        }
        // SAFETY: the two mappings hold `size` bytes from any index on. `bytes` lie on the stack.
        unsafe { self.at(position).add(offset).copy_from_nonoverlapping(bytes.as_ptr(), LEN) };
    }

    /// Copies the first `len` bytes there, and no byte more. Most lengths take two pieces of constant length, which
    /// overlap.
    #[inline(always)]
    pub(super) fn copy_first<const LEN: usize>(self, position: u64, bytes: &[u8; LEN], len: usize) {
        #[cfg(test)]
        if super::tests::is_watched() {
            return self.copy(position, bytes.get(..len).unwrap_or(bytes));
        }
        match len {
            8..=16 if const { LEN >= 16 } => self.copy_ends::<8>(position, bytes, len),
            17..=32 if const { LEN >= 32 } => self.copy_ends::<16>(position, bytes, len),
            33..=64 if const { LEN >= 64 } => self.copy_ends::<32>(position, bytes, len),
            _ => self.copy(position, bytes.get(..len).unwrap_or(bytes)),
        }
    }

    /// Copies the first and the last `PIECE` of `len` bytes.
    #[inline(always)]
    fn copy_ends<const PIECE: usize>(self, position: u64, bytes: &[u8], len: usize) {
        debug_assert!(PIECE <= len && len <= bytes.len());
        let (from, to) = (bytes.as_ptr(), self.at(position));
        // SAFETY: `copy_first` matched `len` with a length of `bytes`; the mappings hold `len` bytes from there on.
        unsafe {
            to.copy_from_nonoverlapping(from, PIECE);
            to.add(len - PIECE).copy_from_nonoverlapping(from.add(len - PIECE), PIECE);
        }
    }

    /// Zeros the bytes from one position to another, in any order.
    pub(super) fn zero(self, from: u64, to: u64) {
        debug_assert!(to <= from + self.size as u64);
        let Some(len) = to.checked_sub(from).map(|len| (len as usize).min(self.size)) else { return };
        #[cfg(test)]
        if super::tests::is_watched() {
            return super::tests::zero(len, |at| self.put(from + at as u64, [0]));
        }
        // SAFETY: the two mappings hold `size` bytes from any index on.
        unsafe { self.at(from).write_bytes(0, len) };
        step();
    }

    /// Units from an even position on. The caller stores nothing there while it uses them.
    #[inline]
    pub(super) fn units<'a>(self, position: u64, units: usize) -> &'a [u16] {
        debug_assert!(position.is_multiple_of(2) && 2 * units <= self.size);
        // SAFETY: the two mappings hold `size` bytes from any index on, and an even index is aligned.
        unsafe { core::slice::from_raw_parts(self.at(position).cast(), units) }
    }

    /// Bytes from a position on. The caller stores nothing there while it uses them.
    #[inline]
    pub(super) fn bytes<'a>(self, position: u64, len: usize) -> &'a [u8] {
        debug_assert!(len <= self.size);
        // SAFETY: the two mappings hold `size` bytes from any index on.
        unsafe { core::slice::from_raw_parts(self.at(position), len) }
    }
}
