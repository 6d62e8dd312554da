//! Spectra: for each thread that has ended, the statements that it ever ran. A file beside the ring file has one spectrum
//! after the other. All numbers are in the byte order of the target.
//!
//! | offset | field | |
//! |---|---|---|
//! | 0 | magic | 8 bytes, [`MAGIC`] |
//! | 8 | byte-order mark | u32, as in a ring |
//! | 12 | version, panicked, reserved | u8, u8 (1 = the thread panicked), 2 x u8 |
//! | 16 | slots | u32 |
//! | 20 | thread id | u32 |
//! | 24 | map hash | u64, 0 = not known |
//! | 32 | lost | u32: number of statements without a slot |
//! | 36 | check | u32, [`check_word`] of bytes 8..24 |
//! | 40 | process id | u32 |
//! | 44 | number | u32: number of the thread in its process, from 1 |
//! | 48 | parent | u32: number of the thread that started it; 0 = not known, or it has no spectrum |
//! | 52 | reserved | 12 bytes |
//! | 64 | name | [`NAME_LEN`] bytes, zeros behind it |
//! | 192 | slots | as in an [executed bitmap](super::executed), but only those in use |

use byteorder::{ByteOrder as _, NativeEndian};

use super::executed::{SLOT_LEN, checked_header, statements_of};
use super::find::offsets;
use super::header::{BYTE_ORDER_MARK, HeaderError, NAME_LEN};
use super::raw::{Order, check_word};
use crate::record::Statement;

/// First bytes of every spectrum. Not text, like those of a ring.
pub const MAGIC: [u8; 8] = [0x7E, b'x', b'H', b's', b'p', b'e', b'c', 0xA7];
/// Version of this layout.
pub const VERSION: u8 = 1;
/// Length of the header in bytes.
pub const HEADER_LEN: usize = NAME_AT + NAME_LEN;
/// Offset of the name.
const NAME_AT: usize = 64;
/// Largest number of slots.
pub const MAX_SLOTS: u32 = 1 << 20;

/// What a spectrum says of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpectrumHeader {
    /// Hash of the map of this build; 0 = not known.
    pub map_hash: u64,
    /// Process id.
    pub pid: u32,
    /// Thread id, as in the header of its ring.
    pub tid: u32,
    /// Number of the thread in its process, from 1.
    pub number: u32,
    /// Number of the thread that started it; 0 = not known.
    pub parent: u32,
    /// Number of executions of statements without a slot.
    pub lost: u32,
    /// Whether the thread panicked.
    pub has_panicked: bool,
    /// The thread's name, zeros behind it.
    pub name: [u8; NAME_LEN],
}

/// A spectrum in an image.
#[derive(Clone, Copy, Debug)]
pub struct Spectrum<'a> {
    /// What it says of its thread.
    pub header: SpectrumHeader,
    /// Number of slots.
    pub slots: u32,
    /// The slots that the image contains.
    bytes: &'a [u8],
    order: Order,
}

impl<'a> Spectrum<'a> {
    /// Reads the spectrum at the start of `image`.
    ///
    /// # Errors
    /// [`HeaderError`] says why the bytes are not a spectrum.
    pub fn parse(image: &'a [u8]) -> Result<Spectrum<'a>, HeaderError> {
        let (raw, slots) = checked_header(image, HEADER_LEN, VERSION)?;
        let count = raw.u32(16);
        if count > MAX_SLOTS {
            return Err(HeaderError::Size { header_len: HEADER_LEN, size: count });
        }
        let mut name = [0; NAME_LEN];
        name.copy_from_slice(&raw.bytes[NAME_AT..]);
        let header = SpectrumHeader {
            map_hash: raw.u64(24),
            pid: raw.u32(40),
            tid: raw.u32(20),
            number: raw.u32(44),
            parent: raw.u32(48),
            lost: raw.u32(32),
            has_panicked: raw.bytes[13] == 1,
            name,
        };
        let slots = &slots[..slots.len().min(count as usize * SLOT_LEN)];
        Ok(Spectrum { header, slots: count, bytes: slots, order: raw.order })
    }

    /// Number of slots that the image does not contain.
    pub const fn missing(&self) -> usize {
        self.slots as usize - self.bytes.len() / SLOT_LEN
    }

    /// Length of the spectrum in the image.
    pub const fn len(&self) -> usize {
        HEADER_LEN + self.bytes.len()
    }

    /// Whether the thread ran no statement.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The thread's name, without the bytes that are not UTF-8 at its end.
    pub fn name(&self) -> &str {
        let name = &self.header.name;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME_LEN);
        match core::str::from_utf8(&name[..end]) {
            Ok(name) => name,
            Err(error) => core::str::from_utf8(&name[..error.valid_up_to()]).unwrap_or_default(),
        }
    }

    /// Every statement that the thread executed, in no particular order.
    pub fn statements(&self) -> impl Iterator<Item = Statement> + use<'a> {
        statements_of(self.bytes, self.order)
    }
}

/// Every place in `image` that starts with [`MAGIC`], in order, valid or not: offset and spectrum.
pub fn find(image: &[u8]) -> impl Iterator<Item = (usize, Result<Spectrum<'_>, HeaderError>)> {
    offsets(image, &MAGIC).map(|offset| (offset, Spectrum::parse(&image[offset..])))
}

/// The bytes of a header for this number of slots.
pub fn header(spectrum: &SpectrumHeader, slots: u32) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    let kind = NativeEndian::read_u32(&[VERSION, u8::from(spectrum.has_panicked), 0, 0]);
    bytes[..8].copy_from_slice(&MAGIC);
    let check = check_word([BYTE_ORDER_MARK, kind, slots, spectrum.tid]);
    let words = [
        (8, BYTE_ORDER_MARK),
        (12, kind),
        (16, slots),
        (20, spectrum.tid),
        (32, spectrum.lost),
        (36, check),
        (40, spectrum.pid),
        (44, spectrum.number),
        (48, spectrum.parent),
    ];
    for (at, word) in words {
        NativeEndian::write_u32(&mut bytes[at..at + 4], word);
    }
    NativeEndian::write_u64(&mut bytes[24..32], spectrum.map_hash);
    bytes[NAME_AT..].copy_from_slice(&spectrum.name);
    bytes
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::record::packed::Page;
    use crate::ring::executed::{bit, key};
    use std::vec::Vec;

    fn spectrum(name: &str, number: u32, ran: &[Statement]) -> Vec<u8> {
        let mut slots: Vec<[u32; 4]> = Vec::new();
        for statement in ran {
            let key = key(Page::of(*statement));
            let at = slots.iter().position(|slot| slot[0] == key).unwrap_or_else(|| {
                slots.push([key, 0, 0, 0]);
                slots.len() - 1
            });
            let (word, mask) = bit(statement.line);
            slots[at][1 + word] |= mask;
        }
        let mut bytes = [0; NAME_LEN];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        let about = SpectrumHeader {
            map_hash: 7,
            pid: 1,
            tid: 2,
            number,
            parent: 3,
            lost: 0,
            has_panicked: number == 2,
            name: bytes,
        };
        let mut image = Vec::from(header(&about, slots.len() as u32));
        image.extend(slots.iter().flatten().flat_map(|word| word.to_ne_bytes()));
        image
    }

    #[test]
    fn spectra_are_read_one_after_the_other() {
        let ran: Vec<_> = (0..200u16).map(|n| Statement { file: n % 3, line: n * 5 }).collect();
        let image = [spectrum("a::b", 1, &ran), spectrum("c", 2, &ran[..7])].concat();
        let read: Vec<_> = find(&image).map(|(_, spectrum)| spectrum.expect("a spectrum")).collect();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].name(), read[0].header.has_panicked, read[0].header.parent), ("a::b", false, 3));
        assert_eq!((read[1].name(), read[1].header.has_panicked), ("c", true));
        let mut of_first: Vec<_> = read[0].statements().collect();
        of_first.sort_unstable();
        let mut expected = ran.clone();
        expected.sort_unstable();
        assert_eq!(of_first, expected);
        assert_eq!(read[1].statements().count(), 7);
    }

    #[test]
    fn a_cut_spectrum_reports_what_is_missing() {
        let image = spectrum("t", 1, &(0..9).map(|file| Statement { file, line: 1 }).collect::<Vec<_>>());
        let cut = Spectrum::parse(&image[..HEADER_LEN + 3 * SLOT_LEN + 5]).expect("a header");
        assert_eq!((cut.missing(), cut.statements().count()), (6, 3));
        assert!(Spectrum::parse(&image[..100]).is_err());
        let mut wrong = image.clone();
        wrong[16] ^= 1;
        assert!(matches!(Spectrum::parse(&wrong), Err(HeaderError::Check)));
    }
}
