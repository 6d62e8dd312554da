//! Changes the sequence number of a frame, when it goes from a thread's ring to a link that all threads share.

use super::encode::escaped;
use super::{ESCAPE, ESCAPE_XOR};

/// Sequence number of a whole frame, flag included. `None` if the frame is too short.
pub fn sequence_number(frame: &[u8]) -> Option<u8> {
    match *frame {
        [ESCAPE, seq, ..] => Some(seq ^ ESCAPE_XOR),
        [seq, ..] => Some(seq),
        [] => None,
    }
}

/// Writes a whole valid frame, flag included, into `sink` with this sequence number.
///
/// ```
/// # use qs_core::frame::{FrameWriter, renumber};
/// let (mut frame, mut again) = (Vec::new(), Vec::new());
/// FrameWriter::new(0x7E, 100, |byte| frame.push(byte)).u32(1).finish();
/// renumber(&frame, 7, |byte| again.push(byte));
/// FrameWriter::new(7, 100, |byte| frame.push(byte)).u32(1).finish();
/// assert!(frame.ends_with(&again));
/// ```
pub fn renumber(frame: &[u8], seq: u8, mut sink: impl FnMut(u8)) {
    let (Some(old), Some(sum)) = (sequence_number(frame), checksum(frame)) else { return };
    let start = if frame[0] == ESCAPE { 2 } else { 1 };
    let end = frame.len() - if frame[frame.len() - 3] == ESCAPE { 3 } else { 2 };
    escaped(seq, &mut sink);
    frame.get(start..end).unwrap_or_default().iter().for_each(|byte| sink(*byte));
    // The checksum is the inverted sum.
    escaped(sum.wrapping_add(old).wrapping_sub(seq), &mut sink);
    sink(super::FLAG);
}

/// Checksum byte of a whole frame.
fn checksum(frame: &[u8]) -> Option<u8> {
    match *frame {
        [.., ESCAPE, sum, _flag] => Some(sum ^ ESCAPE_XOR),
        [.., _, sum, _flag] => Some(sum),
        _ => None,
    }
}
