//! Repairs a header with one flipped bit or an overwritten magic. The check word proves each guess, so the result is
//! certain.

use core::fmt;
use core::ops::Range;

use super::header::{HOSTED_HEADER_LEN, Header, MAGIC};

/// The bytes that the check word covers, and the check word.
const CHECKED: [Range<usize>; 3] = [8..18, 20..24, 36..40];

/// Damage of a header that can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderDamage {
    /// The first eight bytes are not the magic. All other bytes are correct.
    Magic,
    /// One bit is wrong.
    Bit {
        /// Offset of its byte in the header.
        offset: usize,
    },
}

impl fmt::Display for HeaderDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderDamage::Magic => f.write_str("its magic is damaged"),
            HeaderDamage::Bit { offset } => write!(f, "a bit of its byte {offset} is flipped"),
        }
    }
}

/// Reads the damaged header at the start of `image`. `None` if it is not a header, or has more damage.
///
/// A recorder clears the magic while it writes a header, so a magic of zeros does not count as damage.
pub fn repair(image: &[u8]) -> Option<(Header, HeaderDamage)> {
    let magic = image.get(..MAGIC.len())?;
    if magic != MAGIC {
        let is_being_made = magic.iter().all(|byte| *byte == 0);
        let header = Header::parse(image).ok().filter(|_| !is_being_made)?;
        return Some((header, HeaderDamage::Magic));
    }
    let mut bytes = [0; HOSTED_HEADER_LEN];
    let present = image.len().min(HOSTED_HEADER_LEN);
    bytes[..present].copy_from_slice(&image[..present]);
    for offset in CHECKED.into_iter().flatten() {
        for bit in 0..8 {
            bytes[offset] ^= 1 << bit;
            if let Ok(header) = Header::parse(&bytes[..present]) {
                return Some((header, HeaderDamage::Bit { offset }));
            }
            bytes[offset] ^= 1 << bit;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::{BARE_HEADER_LEN, BYTE_ORDER_MARK, LAYOUT_VERSION, check_word};

    fn header() -> [u8; BARE_HEADER_LEN] {
        let mut bytes = [0; BARE_HEADER_LEN];
        let facts = u32::from_ne_bytes([LAYOUT_VERSION, 4, 120, 2]);
        let mut lens = [0; 4];
        lens[..2].copy_from_slice(&64u16.to_ne_bytes());
        let words = [BYTE_ORDER_MARK, facts, u32::from_ne_bytes(lens), 4096];
        bytes[..8].copy_from_slice(&MAGIC);
        for (index, word) in words.into_iter().enumerate() {
            bytes[8 + 4 * index..][..4].copy_from_slice(&word.to_ne_bytes());
        }
        bytes[36..40].copy_from_slice(&check_word(words).to_ne_bytes());
        bytes
    }

    #[test]
    fn any_single_flipped_bit_is_repaired() {
        let whole = Header::parse(&header()).expect("a header");
        let places = (0..8).chain(CHECKED.into_iter().flatten());
        for (at, bit) in places.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut bytes = header();
            bytes[at] ^= 1 << bit;
            // Flags that are set at run time are not checked.
            if at >= 8 && Header::parse(&bytes).is_ok() {
                continue;
            }
            let (read, damage) = repair(&bytes).expect("it can be read");
            assert_eq!((read.size, read.time_width, read.flags), (whole.size, whole.time_width, whole.flags));
            let expected = if at < 8 { HeaderDamage::Magic } else { HeaderDamage::Bit { offset: at } };
            assert_eq!(damage, expected, "byte {at} bit {bit}");
        }
    }

    #[test]
    fn other_bytes_are_not_repaired() {
        assert!(repair(&[]).is_none() && repair(&MAGIC).is_none() && repair(&[0; 64]).is_none());
        let mut text = [0xAA; 64];
        text[..8].copy_from_slice(&MAGIC);
        assert!(repair(&text).is_none());
        let mut being_made = header();
        being_made[..8].fill(0);
        assert!(repair(&being_made).is_none());
        let mut twice = header();
        twice[9] ^= 1;
        twice[21] ^= 1;
        assert!(repair(&twice).is_none());
    }
}
