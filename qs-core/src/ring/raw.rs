//! Reads numbers in the byte order of a target, from headers of rings, bitmaps and spectra. Computes check words.

use byteorder::{BigEndian, ByteOrder as _, LittleEndian};

/// Offset of the byte-order mark in every header.
const MARK_AT: usize = 8;

/// The byte order of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// The byte order in which this header contains `mark`. `Err` is the word found instead, read as little-endian.
    pub(super) fn of(bytes: &[u8], mark: u32) -> Result<Order, u32> {
        let found = Order::Little.u32(bytes, MARK_AT);
        match found == mark {
            true => Ok(Order::Little),
            false if Order::Big.u32(bytes, MARK_AT) == mark => Ok(Order::Big),
            false => Err(found),
        }
    }

    /// Whether this order is not that of the machine that reads.
    pub(super) fn is_swapped(self) -> bool {
        (self == Order::Big) != cfg!(target_endian = "big")
    }

    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = array::<2>(bytes, at);
        match self {
            Order::Little => LittleEndian::read_u16(&bytes),
            Order::Big => BigEndian::read_u16(&bytes),
        }
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = array::<4>(bytes, at);
        match self {
            Order::Little => LittleEndian::read_u32(&bytes),
            Order::Big => BigEndian::read_u32(&bytes),
        }
    }

    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let bytes = array::<8>(bytes, at);
        match self {
            Order::Little => LittleEndian::read_u64(&bytes),
            Order::Big => BigEndian::read_u64(&bytes),
        }
    }
}

/// The bytes of a header, and their byte order. Numbers that the bytes do not contain in full are 0.
#[derive(Clone, Copy)]
pub(super) struct Raw<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) order: Order,
}

impl Raw<'_> {
    pub(super) fn u16(&self, at: usize) -> u16 {
        self.order.u16(self.bytes, at)
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        self.order.u32(self.bytes, at)
    }

    pub(super) fn u64(&self, at: usize) -> u64 {
        self.order.u64(self.bytes, at)
    }
}

/// `N` bytes at `at`. All zero if they are not all there, so this cannot panic.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

/// The check word of four words: like FNV-1a, but a word at a time, and mixed more.
#[inline]
pub const fn check_word([a, b, c, d]: [u32; 4]) -> u32 {
    const fn with(check: u32, word: u32) -> u32 {
        let check = (check ^ word).wrapping_mul(0x0100_0193);
        check ^ check >> 15
    }
    // No loop, so constant words are computed at compile time.
    with(with(with(with(0x811C_9DC5, a), b), c), d)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn numbers_are_read_in_either_order() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!((Order::Little.u16(&bytes, 0), Order::Big.u16(&bytes, 0)), (0x0201, 0x0102));
        assert_eq!((Order::Little.u32(&bytes, 1), Order::Big.u32(&bytes, 1)), (0x0504_0302, 0x0203_0405));
        assert_eq!(Order::Big.u64(&bytes, 1), Order::Little.u64(&bytes, 1).swap_bytes());
        assert_eq!(Order::Little.u64(&bytes, 2), 0);
    }

    #[test]
    fn the_mark_shows_the_order() {
        const MARK: u32 = 0x0102_0304;
        let header = |mark: [u8; 4]| [[0; 4], [0; 4], mark].concat();
        assert_eq!(Order::of(&header(MARK.to_le_bytes()), MARK), Ok(Order::Little));
        assert_eq!(Order::of(&header(MARK.to_be_bytes()), MARK), Ok(Order::Big));
        assert_eq!(Order::of(&header([7, 0, 0, 0]), MARK), Err(7));
    }
}
