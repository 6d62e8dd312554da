//! Builds the frame of a statement with a few word operations where no byte needs an escape
//! (95 of 100 frames), else through `qs_core`. It knows no ring.

use qs_core::frame::FLAG;
#[cfg(feature = "std")]
use qs_core::record::EventKind;
use qs_core::record::{RECORD_BASE, Statement, ids};

/// Longest frame built here: an event with every byte escaped.
pub(crate) const MAX_LEN: usize = 40;

/// A frame of 8 to 16 bytes as two little-endian words that may overlap: stored with two instructions.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) len: usize,
}

impl Words {
    /// The frame of a statement, with the low half of the clock when there is one; `None` when a
    /// byte needs an escape.
    #[inline(always)]
    pub(crate) fn statement(seq: u8, word: u32, time: Option<u32>) -> Option<Words> {
        match time {
            None => untimed(seq, word),
            Some(time) => timed(seq, word, time),
        }
    }
}

/// Any frame.
pub(crate) enum Frame {
    Words(Words),
    Bytes { bytes: [u8; MAX_LEN], len: usize },
}

impl Frame {
    /// The frame of a statement, with the low half of the clock when there is one.
    pub(crate) fn statement(seq: u8, word: u32, time: Option<u32>) -> Frame {
        Words::statement(seq, word, time).map_or_else(|| escaped(seq, word, time), Frame::Words)
    }

    /// The frame of an event.
    #[cfg(feature = "std")]
    pub(crate) fn event(seq: u8, kind: EventKind, time: u32, value: u64) -> Frame {
        collect(|sink| kind.emit(seq, RECORD_BASE, time, value, sink))
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Frame::Words(Words { len, .. }) | Frame::Bytes { len, .. } => *len,
        }
    }

    /// Its bytes; those behind the length are zero.
    pub(crate) fn bytes(&self) -> [u8; MAX_LEN] {
        match self {
            Frame::Bytes { bytes, .. } => *bytes,
            Frame::Words(Words { first, last, len }) => {
                let mut bytes = [0; MAX_LEN];
                bytes[..8].copy_from_slice(&first.to_le_bytes());
                bytes[len - 8..*len].copy_from_slice(&last.to_le_bytes());
                bytes
            }
        }
    }
}

/// `seq, id, line, line, file, file, checksum, flag`: one word.
#[inline(always)]
fn untimed(seq: u8, word: u32) -> Option<Words> {
    let body = u64::from(seq) | u64::from(RECORD_BASE + ids::STATEMENT) << 8 | u64::from(word) << 16;
    let body = body | u64::from(!sum(body)) << 48;
    if needs_escape(body) {
        return None;
    }
    let frame = body | u64::from(FLAG) << 56;
    Some(Words { first: frame, last: frame, len: 8 })
}

/// `seq, id, time x 4, 03, file | file, 03, line, line, checksum, flag`: 14 bytes.
#[inline(always)]
fn timed(seq: u8, word: u32, time: u32) -> Option<Words> {
    const FORMAT_U16: u64 = 0x03;
    let (file, line) = (u64::from(word >> 16), u64::from(word as u16));
    let first = u64::from(seq)
        | u64::from(RECORD_BASE + ids::STATEMENT_TIMED) << 8
        | u64::from(time) << 16
        | FORMAT_U16 << 48
        | file << 56;
    let rest = file >> 8 | FORMAT_U16 << 8 | line << 16;
    let rest = rest | u64::from(!sum(first).wrapping_add(sum(rest))) << 32;
    if needs_escape(first) || needs_escape(rest) {
        return None;
    }
    // The last word begins with the last two bytes of the first.
    let last = first >> 48 | (rest | u64::from(FLAG) << 40) << 16;
    Some(Words { first, last, len: 14 })
}

fn escaped(seq: u8, word: u32, time: Option<u32>) -> Frame {
    collect(|sink| Statement::from_word(word).emit(seq, RECORD_BASE, time, sink))
}

fn collect(emit: impl FnOnce(&mut dyn FnMut(u8))) -> Frame {
    let (mut bytes, mut len) = ([0; MAX_LEN], 0);
    emit(&mut |byte| {
        if let Some(slot) = bytes.get_mut(len) {
            *slot = byte;
            len += 1;
        }
    });
    Frame::Bytes { bytes, len }
}

/// Sum of the eight bytes, modulo 256.
#[inline(always)]
const fn sum(word: u64) -> u8 {
    const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
    let pairs = (word & EVEN) + (word >> 8 & EVEN);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u8
}

/// Whether any of the eight bytes is a flag or an escape.
#[inline(always)]
const fn needs_escape(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const fn has_zero(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & (ONES << 7)
    }
    has_zero(word ^ (ONES * 0x7D)) | has_zero(word ^ (ONES * 0x7E)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn word_frames_are_the_frames_of_qs_core(seq: u8, word: u32, time: Option<u32>) {
            let fast = Frame::statement(seq, word, time);
            let slow = escaped(seq, word, time);
            prop_assert_eq!((fast.len(), fast.bytes()), (slow.len(), slow.bytes()));
        }
    }

    #[cfg(feature = "std")]
    #[test]
    fn the_longest_frame_fits() {
        let frame = Frame::event(0x7E, EventKind::Unknown(0x7D), 0x7E7E_7E7E, u64::from_le_bytes([0x7D; 8]));
        assert!(frame.len() < MAX_LEN, "{}", frame.len());
        assert_eq!(frame.bytes()[frame.len() - 1], FLAG);
    }
}
