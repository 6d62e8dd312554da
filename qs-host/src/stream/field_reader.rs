//! Reads fields of a record one after another, and reports the bytes that a short record lacks.
//!
//! In some places QSPY reads beyond the end of the record, where the checksum and older bytes are. So does this.

use byteorder::{ByteOrder as _, LittleEndian};

use super::receiver::RawRecord;

/// The bytes that a field lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingBytes {
    /// Bytes of a number.
    Number {
        /// How many it lacks.
        more: i32,
        /// Size of the number.
        len: u8,
        /// Whether the number is signed.
        signed: bool,
    },
    /// The zero that ends a text; the number of bytes left.
    Text(i32),
    /// The end of a block of memory; the number of bytes left.
    Memory(i32),
}

/// The fields of a record that are not read yet.
#[derive(Clone, Copy, Debug)]
pub struct FieldReader<'a> {
    buffer: &'a [u8],
    at: usize,
    left: i32,
}

impl<'a> FieldReader<'a> {
    /// Starts before the first field of a record.
    pub fn new(raw: RawRecord<'a>) -> FieldReader<'a> {
        FieldReader { buffer: raw.buffer, at: 2, left: raw.payload().len() as i32 }
    }

    /// Bytes left; below zero when a field was longer than the record.
    pub fn left(&self) -> i32 {
        self.left
    }

    /// The bytes that are left.
    pub fn rest(&self) -> &'a [u8] {
        let len = usize::try_from(self.left).unwrap_or(0);
        self.buffer.get(self.at..self.at + len).unwrap_or_default()
    }

    /// Reads a number of `len` bytes.
    pub fn uint(&mut self, len: u8) -> Result<u64, MissingBytes> {
        self.number(len, false)
    }

    /// Reads a signed number of `len` bytes.
    pub fn int(&mut self, len: u8) -> Result<i64, MissingBytes> {
        let unused = 64 - 8 * u32::from(len);
        self.number(len, true).map(|number| (number << unused) as i64 >> unused)
    }

    #[inline]
    fn number(&mut self, len: u8, signed: bool) -> Result<u64, MissingBytes> {
        if self.left < i32::from(len) {
            let more = i32::from(len) - self.left;
            self.left = -1;
            return Err(MissingBytes::Number { more, len, signed });
        }
        let number = little_endian(self.buffer, self.at, usize::from(len));
        self.at += usize::from(len);
        self.left -= i32::from(len);
        Ok(number)
    }

    /// Reads a text, without the zero behind it.
    pub fn text(&mut self) -> Result<&'a [u8], MissingBytes> {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let end = match rest.first() {
            None | Some(0) => Some(0),
            _ => memchr::memchr(0, &rest[..rest.len().min(self.left.max(0) as usize)]),
        };
        let Some(end) = end else {
            let short = MissingBytes::Text(self.left);
            self.left = -1;
            return Err(short);
        };
        self.at += end + 1;
        self.left -= end as i32 + 1;
        Ok(&rest[..end])
    }

    /// Reads a count of one byte, and that many items of `size` bytes.
    pub fn memory(&mut self, size: u64) -> Result<(u8, &'a [u8]), MissingBytes> {
        let count = self.buffer.get(self.at).copied().unwrap_or(0);
        if self.left < 1 || i32::from(count) > self.left {
            let short = MissingBytes::Memory(self.left);
            self.left = -1;
            return Err(short);
        }
        let data = self.buffer.get(self.at + 1..).unwrap_or_default();
        let len = usize::from(count) * size as usize;
        self.at += 1 + len;
        self.left -= 1 + len as i32;
        Ok((count, data))
    }
}

/// Masks of a word for a number of N bytes; all of the word from 8 on.
pub const MASKS: [u64; 16] = {
    let mut masks = [u64::MAX; 16];
    let mut len = 0;
    while len < 8 {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// A number of up to 8 bytes; missing bytes are zero.
#[inline]
pub fn little_endian(bytes: &[u8], at: usize, len: usize) -> u64 {
    if let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        return LittleEndian::read_u64(eight) & MASKS[len & 15];
    }
    (0..len)
        .rev()
        .fold(0, |number, index| number << 8 | u64::from(bytes.get(at + index).copied().unwrap_or(0)))
}
