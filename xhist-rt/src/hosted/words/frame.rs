//! The bytes around the words of a chunk.

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, needs_escape};
pub(super) use qs_core::record::words::head_len;
use qs_core::record::words::{HEAD, REPETITION, TIME, UnitRepetition, byte_of, digits};
use qs_core::record::{RECORD_BASE, ids};

/// The id of a chunk.
pub(super) const ID: u8 = RECORD_BASE + ids::PACKED;
const _: () = assert!(!needs_escape(ID));

/// The largest number of ticks from one frame's stamp to the next without the full time between them. Readers derive
/// the times before the first full time from the newest stamp, which may be half the range of 4 bytes away from the
/// stamp of the newest frame.
pub(super) const FAR: u64 = i32::MAX as u64;

/// [`head_len`] with a sequence number that needs no escape.
#[inline(always)]
pub(super) const fn plain_head_len(head: u64) -> usize {
    head_len(head, 0)
}

/// The first `head_len - REPETITION` bytes of a head, which precede `again`, and the sum of all bytes before the words.
pub(super) fn head(seq: u8, head_len: usize, time: u32, repetition: UnitRepetition) -> ([u8; 24], u8) {
    let mut bytes = [byte_of(0); 24];
    let (start, escapes) = match needs_escape(seq) {
        true => ([ESCAPE, seq ^ ESCAPE_XOR], 1),
        false => ([seq, 0], 0),
    };
    let pad = head_len - HEAD - 1 - escapes;
    bytes[..2].copy_from_slice(&start);
    bytes[1 + escapes] = ID;
    bytes[2 + escapes] = byte_of(pad as u32);
    let time = digits::<TIME>(time.into());
    let end = head_len - REPETITION;
    bytes[end - TIME..end].copy_from_slice(&time);
    let pads = byte_of(pad as u32).wrapping_add(byte_of(0).wrapping_mul(pad as u8));
    let digits =
        time.iter().chain(&repetition_bytes(repetition)).fold(pads, |sum, byte| sum.wrapping_add(*byte));
    (bytes, digits.wrapping_add(seq).wrapping_add(ID))
}

/// Checksum and flag behind bytes with this sum, and their length.
pub(super) const fn tail(sum: u8) -> ([u8; 3], usize) {
    match !sum {
        check if needs_escape(check) => ([ESCAPE, check ^ ESCAPE_XOR, FLAG], 3),
        check => ([check, FLAG, 0], 2),
    }
}

/// The sum of bytes, modulo 256. It adds sixteen sums at a time, which processors do at once.
pub(super) fn sum(bytes: &[u8]) -> u8 {
    let mut sums = [0u8; 16];
    let (blocks, rest) = bytes.as_chunks::<128>();
    for block in blocks {
        for at in 0..16 {
            let mut sum = sums[at];
            for part in block.as_chunks::<16>().0 {
                sum = sum.wrapping_add(part[at]);
            }
            sums[at] = sum;
        }
    }
    sums.iter().chain(rest).fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// The digits of a repetition, which is mostly empty.
pub(super) const fn repetition_bytes(repetition: UnitRepetition) -> [u8; REPETITION] {
    const NOTHING: [u8; REPETITION] = UnitRepetition { period: 0, times: 0, is_counted: false }.to_bytes();
    if repetition.times == 0 { NOTHING } else { repetition.to_bytes() }
}

/// The low four bytes of the clock, of which 0 means no time.
#[inline(always)]
pub(super) const fn time(stamp: u64) -> u32 {
    match (stamp, stamp as u32) {
        (0, _) => 0,
        (_, 0) => 1,
        (_, time) => time,
    }
}
