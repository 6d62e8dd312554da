//! The executed bitmap: one bit for each statement that ever ran, also after the ring has dropped it. All numbers are in the
//! byte order of the target.
//!
//! | offset | field | |
//! |---|---|---|
//! | 0 | magic | 8 bytes, [`MAGIC`] |
//! | 8 | byte-order mark | u32, as in a ring |
//! | 12 | version, reserved | u8, 3 x u8 |
//! | 16 | slots | u32, a power of two |
//! | 20 | reserved | u32 |
//! | 24 | map hash | u64, 0 = not known |
//! | 32 | lost | u32: number of statements without a slot |
//! | 36 | check | u32, [`check_word`] of bytes 8..24 |
//! | 40 | process id | u32, 0 = not known |
//! | 44 | reserved | 20 bytes |
//! | 64 | slots | each `key u32, bits 3 x u32`, one for each page with executed statements |
//!
//! A slot belongs to a page of packed frames; bit 0 of the first word is the page's first line. Writers search a page from
//! [`slot`] on, in up to [`PROBES`] slots, with wrap-around. They claim a slot by compare-and-swap of its key from 0, and
//! never free it. Readers scan all slots, so they do not depend on the search order.

use byteorder::{ByteOrder as _, NativeEndian};

use super::find::offsets;
use super::header::{BYTE_ORDER_MARK, HeaderError, byte_order};
use super::raw::{Order, Raw, check_word};
use crate::record::Statement;
use crate::record::packed::{Page, WINDOW};

/// First bytes of every bitmap. Not text, like those of a ring.
pub const MAGIC: [u8; 8] = [0x7E, b'x', b'H', b'e', b'v', b'e', b'r', 0xA7];
/// Version of this layout.
pub const VERSION: u8 = 1;
/// Length of the header in bytes.
pub const HEADER_LEN: usize = 64;
/// Offset of the map hash.
pub const MAP_HASH_AT: usize = 24;
/// Offset of the number of lost statements.
pub const LOST_AT: usize = 32;
/// Offset of the process id.
pub const PID_AT: usize = 40;
/// Size of a slot in bytes.
pub const SLOT_LEN: usize = 16;
/// Largest number of slots.
pub const MAX_SLOTS: u32 = 1 << 24;
/// Number of slots that a writer searches for a page.
pub const PROBES: u32 = 32;

/// The key of a page. Never 0.
#[inline]
pub const fn key(page: Page) -> u32 {
    1 + ((page.file as u32) << 16 | page.base as u32)
}

/// The slot where the search for a key starts. `slots`, their number, is a power of two.
#[inline]
pub const fn slot(key: u32, slots: u32) -> u32 {
    (key.wrapping_mul(0x9E37_79B1) >> 7) & (slots - 1)
}

/// The index of a line's word in its slot, from 0 to 2, and the bit in that word.
#[inline]
pub const fn bit(line: u16) -> (usize, u32) {
    let index = line % WINDOW;
    ((index / 32) as usize, 1 << (index % 32))
}

/// The header of a bitmap or a spectrum at the start of `image`, and the slots behind it.
pub(super) fn checked_header(image: &[u8], len: usize, version: u8) -> Result<(Raw<'_>, &[u8]), HeaderError> {
    let (bytes, slots) = image.split_at_checked(len).ok_or(HeaderError::Cut { present: image.len() })?;
    let raw = Raw { bytes, order: byte_order(bytes)? };
    if bytes[12] != version {
        return Err(HeaderError::Version(bytes[12]));
    }
    if raw.u32(36) != check_word([raw.u32(8), raw.u32(12), raw.u32(16), raw.u32(20)]) {
        return Err(HeaderError::Check);
    }
    Ok((raw, slots))
}

/// An executed bitmap in an image.
#[derive(Clone, Copy, Debug)]
pub struct ExecutedBitmap<'a> {
    /// Hash of the map of this build; 0 = not known.
    pub map_hash: u64,
    /// Number of executions of statements without a slot.
    pub lost: u32,
    /// Process id; 0 = not known.
    pub pid: u32,
    /// Number of slots.
    pub slots: u32,
    /// The slots that the image contains.
    bytes: &'a [u8],
    order: Order,
}

impl<'a> ExecutedBitmap<'a> {
    /// Reads the bitmap at the start of `image`.
    ///
    /// # Errors
    /// [`HeaderError`] says why the bytes are not a bitmap.
    pub fn parse(image: &'a [u8]) -> Result<ExecutedBitmap<'a>, HeaderError> {
        let (raw, slots) = checked_header(image, HEADER_LEN, VERSION)?;
        let count = raw.u32(16);
        if !count.is_power_of_two() || count > MAX_SLOTS {
            return Err(HeaderError::Size { header_len: HEADER_LEN, size: count });
        }
        let slots = &slots[..slots.len().min(count as usize * SLOT_LEN)];
        let (map_hash, lost, pid) = (raw.u64(MAP_HASH_AT), raw.u32(LOST_AT), raw.u32(PID_AT));
        Ok(ExecutedBitmap { map_hash, lost, pid, slots: count, bytes: slots, order: raw.order })
    }

    /// Number of slots that the image does not contain.
    pub const fn missing(&self) -> usize {
        self.slots as usize - self.bytes.len() / SLOT_LEN
    }

    /// Every executed statement, in no particular order.
    pub fn statements(&self) -> impl Iterator<Item = Statement> + use<'a> {
        statements_of(self.bytes, self.order)
    }
}

/// Every executed statement in these slots, in no particular order.
pub(super) fn statements_of<'a>(slots: &'a [u8], order: Order) -> impl Iterator<Item = Statement> + use<'a> {
    slots.chunks_exact(SLOT_LEN).flat_map(move |slot| {
        let raw = Raw { bytes: slot, order };
        let bits = [raw.u32(4), raw.u32(8), raw.u32(12)];
        let page = raw.u32(0).checked_sub(1).map(Statement::from_word);
        page.into_iter().flat_map(move |Statement { file, line: base }| {
            (0..WINDOW).filter_map(move |line| {
                let (word, mask) = bit(line);
                let line = base.checked_add(line)?;
                (bits[word] & mask != 0).then_some(Statement { file, line })
            })
        })
    })
}

/// Every place in `image` that starts with [`MAGIC`], in order, valid or not: offset and bitmap.
pub fn find(image: &[u8]) -> impl Iterator<Item = (usize, Result<ExecutedBitmap<'_>, HeaderError>)> {
    offsets(image, &MAGIC).map(|offset| (offset, ExecutedBitmap::parse(&image[offset..])))
}

/// The header of a new bitmap. Its slots are zero.
pub fn header(slots: u32, map_hash: u64, pid: u32) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    let version = NativeEndian::read_u32(&[VERSION, 0, 0, 0]);
    bytes[..8].copy_from_slice(&MAGIC);
    let check = check_word([BYTE_ORDER_MARK, version, slots, 0]);
    for (at, word) in [(8, BYTE_ORDER_MARK), (12, version), (16, slots), (36, check), (PID_AT, pid)] {
        NativeEndian::write_u32(&mut bytes[at..at + 4], word);
    }
    NativeEndian::write_u64(&mut bytes[24..32], map_hash);
    bytes
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// Marks a statement as a recorder does. False without a slot.
    fn insert(slots: &mut [[u32; 4]], statement: Statement) -> bool {
        let key = key(Page::of(statement));
        let (len, (word, mask)) = (slots.len() as u32, bit(statement.line));
        let first = slot(key, len);
        for probe in 0..PROBES {
            let slot = &mut slots[((first + probe) & (len - 1)) as usize];
            if slot[0] == 0 || slot[0] == key {
                slot[0] = key;
                slot[1 + word] |= mask;
                return true;
            }
        }
        false
    }

    fn image(slots: &[[u32; 4]], swap: bool) -> Vec<u8> {
        let mut image = Vec::from(header(slots.len() as u32, 7, 9));
        image.extend(slots.iter().flatten().flat_map(|word| word.to_ne_bytes()));
        if swap {
            image[24..32].reverse();
            let words = image.chunks_exact_mut(4).enumerate();
            words.filter(|(index, _)| ![0, 1, 3, 6, 7].contains(index)).for_each(|(_, word)| word.reverse());
            // The version is a byte, so its word differs between byte orders.
            let word = |at: usize| u32::from_ne_bytes(image[at..at + 4].try_into().unwrap()).swap_bytes();
            let check = check_word([word(8), word(12), word(16), word(20)]);
            image[36..40].copy_from_slice(&check.swap_bytes().to_ne_bytes());
        }
        image
    }

    #[test]
    fn executed_statements_are_read_in_either_byte_order() {
        let mut slots = [[0; 4]; 64];
        let mut ran: Vec<_> = (0..300u16).map(|n| Statement { file: n % 5, line: n * 3 }).collect();
        ran.push(Statement { file: u16::MAX, line: u16::MAX });
        assert!(ran.iter().all(|statement| insert(&mut slots, *statement)));
        ran.sort_unstable();
        for swap in [false, true] {
            let image = [&[0x7E; 5][..], &image(&slots, swap)].concat();
            let (offset, ever) = find(&image).next().unwrap();
            let ever = ever.unwrap();
            let mut read: Vec<_> = ever.statements().collect();
            read.sort_unstable();
            assert_eq!((offset, ever.map_hash, ever.pid, ever.missing()), (5, 7, 9, 0));
            assert_eq!(read, ran);
        }
    }

    #[test]
    fn a_full_bitmap_refuses_and_a_cut_one_reports_missing_slots() {
        let mut slots = [[0; 4]; 32];
        let taken = (0..40).filter(|file| insert(&mut slots, Statement { file: *file, line: 1 })).count();
        assert_eq!(taken, 32);
        let image = image(&slots, false);
        let ever = ExecutedBitmap::parse(&image[..HEADER_LEN + 10 * SLOT_LEN + 3]).unwrap();
        assert_eq!((ever.missing(), ever.statements().count()), (22, 10));
        assert!(ExecutedBitmap::parse(&image[..60]).is_err());
    }
    #[test]
    fn a_size_that_no_recorder_makes_is_refused() {
        let size = |count| ExecutedBitmap::parse(&header(count, 7, 9)).map(|bitmap| bitmap.slots);
        assert_eq!(size(MAX_SLOTS), Ok(MAX_SLOTS));
        for count in [0, 3, MAX_SLOTS + 1, 2 * MAX_SLOTS] {
            assert_eq!(size(count), Err(HeaderError::Size { header_len: HEADER_LEN, size: count }));
        }
    }
}
