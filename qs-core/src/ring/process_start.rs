//! The start of a process: which thread of which process started it. These records are among the
//! [spectra](super::spectrum) of a file. All numbers are in the byte order of the target.
//!
//! | offset | field | |
//! |---|---|---|
//! | 0 | magic | 8 bytes, [`MAGIC`] |
//! | 8 | byte-order mark | u32, as in a ring |
//! | 12 | version, reserved | u8, 3 x u8 |
//! | 16 | process id | u32, of the started process |
//! | 20 | parent | u32, process id of the process that started it |
//! | 24 | thread | u32: number of the thread that started it, as in its spectrum; 0 = not known |
//! | 28 | check | u32, [`check_word`] of bytes 12..28 |

use byteorder::{ByteOrder as _, NativeEndian};

use super::header::{BYTE_ORDER_MARK, HeaderError, byte_order};
use super::raw::{Raw, check_word};

/// First bytes of every record. Not text, like those of a ring.
pub const MAGIC: [u8; 8] = [0x7E, b'x', b'H', b's', b't', b'a', b'r', 0xA7];
/// Version of this layout.
pub const VERSION: u8 = 1;
/// Length of a record in bytes.
pub const LEN: usize = 32;

/// Which thread started a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStart {
    /// Process id of the started process.
    pub pid: u32,
    /// Process id of the process that started it.
    pub parent: u32,
    /// Number of the thread that started it, as in its spectrum; 0 = not known.
    pub thread: u32,
}

impl ProcessStart {
    /// Reads the record at the start of `image`.
    ///
    /// # Errors
    /// [`HeaderError`] says why the bytes are not such a record.
    pub fn parse(image: &[u8]) -> Result<ProcessStart, HeaderError> {
        let bytes = image.get(..LEN).ok_or(HeaderError::Cut { present: image.len() })?;
        if !bytes.starts_with(&MAGIC) {
            return Err(HeaderError::Check);
        }
        let raw = Raw { bytes, order: byte_order(bytes)? };
        if bytes[12] != VERSION {
            return Err(HeaderError::Version(bytes[12]));
        }
        if raw.u32(28) != check_word([raw.u32(12), raw.u32(16), raw.u32(20), raw.u32(24)]) {
            return Err(HeaderError::Check);
        }
        Ok(ProcessStart { pid: raw.u32(16), parent: raw.u32(20), thread: raw.u32(24) })
    }

    /// The bytes of the record.
    pub fn bytes(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let version = NativeEndian::read_u32(&[VERSION, 0, 0, 0]);
        bytes[..8].copy_from_slice(&MAGIC);
        let check = check_word([version, self.pid, self.parent, self.thread]);
        let words = [BYTE_ORDER_MARK, version, self.pid, self.parent, self.thread, check];
        for (place, word) in bytes[8..].chunks_exact_mut(4).zip(words) {
            NativeEndian::write_u32(place, word);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let start = ProcessStart { pid: 7, parent: 3, thread: 2 };
        assert_eq!(ProcessStart::parse(&start.bytes()), Ok(start));
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = ProcessStart { pid: 7, parent: 3, thread: 2 }.bytes();
        assert!(ProcessStart::parse(&bytes[..LEN - 1]).is_err());
        for at in 0..LEN {
            let mut wrong = bytes;
            wrong[at] ^= 1;
            assert!(ProcessStart::parse(&wrong).is_err(), "byte {at}");
        }
    }
}
