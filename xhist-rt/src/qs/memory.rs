//! Memory that a host may read and write, with the feature `memory`: only ranges that the program names.

use qs_core::record::PeekData;

use super::config::SIZES;
use super::send::{room, send};
use crate::shared::Shared;

/// Memory that a host may read, and perhaps write.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    start: usize,
    len: usize,
    is_writable: bool,
}

/// Length of an answer before the memory, in bytes.
const HEAD: usize = 2 + SIZES.time as usize + 4;

static ALLOWED: Shared<&'static [Range]> = Shared::new(&[]);

impl Range {
    /// Memory that a host may read.
    ///
    /// # Safety
    /// `len` bytes from `start` on can be read at any time, in pieces of 1, 2 or 4 bytes, while other code runs: plain memory
    /// without exclusive references to it, or registers whose reading has no effect.
    pub const unsafe fn readable(start: usize, len: usize) -> Range {
        Range { start, len, is_writable: false }
    }

    /// Memory that a host may read and write.
    ///
    /// # Safety
    /// The contract of [`Range::readable`]. In addition, any value can be written there at any time: atomics, or memory that the
    /// program accesses only as volatile.
    pub const unsafe fn writable(start: usize, len: usize) -> Range {
        Range { start, len, is_writable: true }
    }

    const fn holds(&self, address: usize, len: usize) -> bool {
        match address.checked_sub(self.start) {
            Some(offset) => offset <= self.len && len <= self.len - offset,
            None => false,
        }
    }
}

/// Names the memory that the host may access. Before this call it may access none.
pub fn allow_memory(ranges: &'static [Range]) {
    ALLOWED.with(|allowed| *allowed = ranges);
}

fn is_allowed(address: usize, size: u8, len: usize, to_write: bool) -> bool {
    let ranges = ALLOWED.with(|allowed| *allowed).unwrap_or(&[]);
    size != 0 && ranges.iter().any(|range| range.holds(address, len) && (range.is_writable || !to_write))
}

/// Accesses items whole, as registers require, or bytewise if they are not aligned.
fn piece(address: usize, size: usize) -> usize {
    if address.is_multiple_of(size.max(1)) { size.max(1) } else { 1 }
}

pub(super) fn peek(address: usize, answer: PeekData<'_>) -> bool {
    let (size, len) = (usize::from(answer.size), answer.len());
    let mut copy = [0; PeekData::MAX];
    let Some(copy) = copy.get_mut(..len) else { return false };
    let fits = HEAD + len <= room();
    if !fits || !is_allowed(address, answer.size, len, false) {
        return false;
    }
    let size = piece(address, size);
    for (index, item) in copy.chunks_exact_mut(size).enumerate() {
        let place = core::ptr::with_exposed_provenance::<u8>(address + index * size);
        // SAFETY: the item is aligned and in a range of `allow_memory`; `Range::readable` promises that it can be read.
        unsafe {
            match item {
                [byte] => *byte = place.read_volatile(),
                [a, b] => [*a, *b] = place.cast::<u16>().read_volatile().to_le_bytes(),
                [a, b, c, d] => [*a, *b, *c, *d] = place.cast::<u32>().read_volatile().to_le_bytes(),
                _ => return false,
            }
        }
    }
    send(&PeekData { data: copy, ..answer });
    true
}

pub(super) fn poke(address: usize, size: u8, data: &[u8], times: u8) -> bool {
    if !is_allowed(address, size, data.len() * usize::from(times), true) {
        return false;
    }
    let size = piece(address, size.into());
    for (index, item) in (0..times).flat_map(|_| data.chunks_exact(size)).enumerate() {
        let place = core::ptr::with_exposed_provenance_mut::<u8>(address + index * size);
        // SAFETY: the item is aligned and in a range of `allow_memory`; `Range::writable` promises that it can be written.
        unsafe {
            match *item {
                [byte] => place.write_volatile(byte),
                [a, b] => place.cast::<u16>().write_volatile(u16::from_le_bytes([a, b])),
                [a, b, c, d] => place.cast::<u32>().write_volatile(u32::from_le_bytes([a, b, c, d])),
                _ => return false,
            }
        }
    }
    true
}
