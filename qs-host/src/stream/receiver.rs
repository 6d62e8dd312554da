//! Receives frames: bytes to records and transmission errors, byte for byte as QSPY does.
//!
//! An error names the byte at the place of the id. If too few bytes arrived, that is the id of an earlier record.

use std::fmt;

use memchr::memchr2;
use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, MAX_RECORD};

/// Sum of all bytes of a good record, its checksum included.
const GOOD_SUM: u8 = 0xFF;
/// Shortest record: sequence number, id and checksum.
const LEAST: usize = 3;
/// Bytes that are stored at once where none is special.
const WORD: usize = size_of::<u64>();

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The checksum is wrong.
    Checksum,
    /// The checksum is right, but the frame is too short for sequence number, id and checksum.
    TooShort,
    /// The frame is longer than any record.
    TooLong {
        /// Whether the first byte beyond the limit was escaped.
        escaped: bool,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Checksum => "bad checksum",
            Fault::TooShort => "frame too short",
            Fault::TooLong { .. } => "no frame end within 512 bytes",
        })
    }
}

/// A frame that is not a good record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadFrame {
    /// What is wrong.
    pub fault: Fault,
    /// Sequence number of the last good record.
    pub last: u8,
    /// Where the id would be.
    pub id: u8,
    /// Bytes of the frame.
    pub bytes: u64,
}

/// A jump of the sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceJump {
    /// The number before, as QSPY computes it: 4294967295 means 255.
    pub from: u32,
    /// The number that arrived.
    pub to: u8,
    /// Records missing, modulo 256.
    pub missing: u8,
}

/// The outcome of received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A good record (see [`Receiver::record`]) and the jump before it.
    Record(Option<SequenceJump>),
    /// A bad frame.
    Trouble(BadFrame),
}

/// The bytes of a good record, and older bytes behind it in the buffer: QSPY reads those where a record claims to be longer.
#[derive(Clone, Copy, Debug)]
pub struct RawRecord<'a> {
    /// Sequence number, id, payload, checksum, and older bytes.
    pub buffer: &'a [u8; MAX_RECORD],
    /// Bytes of the record.
    pub len: usize,
}

impl<'a> RawRecord<'a> {
    /// Sequence number.
    pub fn seq(&self) -> u8 {
        self.buffer[0]
    }

    /// Record id.
    pub fn id(&self) -> u8 {
        self.buffer[1]
    }

    /// The bytes between id and checksum.
    pub fn payload(&self) -> &'a [u8] {
        &self.buffer[2..self.len - 1]
    }

    /// Sequence number, id and payload, as front-ends get them.
    pub fn unframed(&self) -> &'a [u8] {
        &self.buffer[..self.len - 1]
    }
}

/// Receives a stream, in pieces of any size.
#[derive(Clone, Debug)]
pub struct Receiver {
    buffer: [u8; MAX_RECORD],
    len: usize,
    /// Bytes taken since the last flag.
    taken: u64,
    /// Length of the last record.
    record_len: usize,
    sum: u8,
    escape: bool,
    last: u8,
    started: bool,
    /// Bytes before the first good record that no error was shown for.
    lead: u64,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            buffer: [0; MAX_RECORD],
            len: 0,
            taken: 0,
            record_len: LEAST,
            sum: 0,
            escape: false,
            last: 0,
            started: false,
            lead: 0,
        }
    }
}

impl Receiver {
    /// Takes bytes up to the next outcome. Returns how many bytes it took.
    #[inline(always)]
    pub fn take(&mut self, bytes: &[u8]) -> (usize, Option<Received>) {
        let (mut at, mut counted) = (0, 0);
        while at < bytes.len() {
            if self.escape {
                self.escape = false;
                let escaped = [bytes[at] ^ ESCAPE_XOR];
                at += 1;
                if self.store(&escaped).is_some() {
                    self.taken += (at - counted) as u64;
                    return (at, Some(self.too_long(true)));
                }
                continue;
            }
            at += self.store_plain(&bytes[at..]);
            match bytes.get(at) {
                Some(&FLAG) => {
                    at += 1;
                    self.taken += (at - counted) as u64;
                    counted = at;
                    if let Some(received) = self.end() {
                        return (at, Some(received));
                    }
                }
                Some(&ESCAPE) => {
                    self.escape = true;
                    at += 1;
                }
                // Less than a word is left, in the bytes or in the buffer.
                Some(_) => {
                    let rest = &bytes[at..];
                    let run = memchr2(FLAG, ESCAPE, rest).unwrap_or(rest.len());
                    if let Some(stored) = self.store(&rest[..run]) {
                        self.taken += (at + stored + 1 - counted) as u64;
                        return (at + stored + 1, Some(self.too_long(false)));
                    }
                    at += run;
                }
                None => break,
            }
        }
        self.taken += (bytes.len() - counted) as u64;
        (bytes.len(), None)
    }

    /// Receives a record without a frame, like one in a frame. `None` if it is too long for a frame.
    pub fn take_unframed(&mut self, seq: u8, id: u8, payload: &[u8]) -> Option<Received> {
        let len = payload.len() + LEAST;
        let record = self.buffer.get_mut(..len)?;
        (record[0], record[1]) = (seq, id);
        record[2..len - 1].copy_from_slice(payload);
        let sum = record[..len - 1].iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        record[len - 1] = GOOD_SUM.wrapping_sub(sum);
        (self.len, self.sum) = (len, GOOD_SUM);
        self.end()
    }

    /// The record that was received last.
    pub fn record(&self) -> RawRecord<'_> {
        RawRecord { buffer: &self.buffer, len: self.record_len }
    }

    /// Drops an incomplete frame: another target is connected now.
    pub fn restart(&mut self) {
        self.take_rest();
        self.last = 0;
    }

    /// Whether a good record was received.
    pub fn has_started(&self) -> bool {
        self.started
    }

    /// Takes the count of bytes before the first good record: a frame whose start is not in the stream. QSPY does not show them.
    #[inline]
    pub fn take_lead(&mut self) -> u64 {
        std::mem::take(&mut self.lead)
    }

    /// Takes the count of bytes since the last flag: a frame without its end.
    pub fn take_rest(&mut self) -> u64 {
        let rest = self.taken;
        (self.len, self.taken, self.sum, self.escape) = (0, 0, 0, false);
        rest
    }

    /// Stores the bytes before the next flag or escape, while there are whole words and room for them. Returns how many bytes.
    /// Search, sum and copy in one pass make short records fast.
    #[inline]
    fn store_plain(&mut self, bytes: &[u8]) -> usize {
        let (words, _) = bytes.as_chunks();
        let (room, _) = self.buffer[self.len..].as_chunks_mut();
        let (mut stored, mut sums) = (0, 0);
        for (word, old) in words.iter().zip(room) {
            let word = u64::from_le_bytes(*word);
            let special = zero_bytes(word ^ every(FLAG)) | zero_bytes(word ^ every(ESCAPE));
            if special != 0 {
                // The old bytes behind the plain ones stay: a record that claims to be longer reads them.
                let plain = special.trailing_zeros() / 8;
                let mask = (1u64 << (8 * plain)) - 1;
                *old = (word & mask | u64::from_le_bytes(*old) & !mask).to_le_bytes();
                sums += sums_of_pairs(word & mask);
                stored += plain as usize;
                break;
            }
            *old = word.to_le_bytes();
            sums += sums_of_pairs(word);
            stored += WORD;
        }
        // Only the low bytes: the four sums of a long record together overflow 16 bits.
        self.sum = self.sum.wrapping_add(((sums & HALF).wrapping_mul(0x0001_0001_0001_0001) >> 48) as u8);
        self.len += stored;
        stored
    }

    /// Stores bytes. If they exceed the room, returns the room.
    #[inline(never)]
    fn store(&mut self, bytes: &[u8]) -> Option<usize> {
        let room = MAX_RECORD - self.len;
        let fitting = &bytes[..bytes.len().min(room)];
        self.buffer[self.len..self.len + fitting.len()].copy_from_slice(fitting);
        self.sum = fitting.iter().fold(self.sum, |sum, byte| sum.wrapping_add(*byte));
        self.len += fitting.len();
        (bytes.len() > room).then_some(room)
    }

    #[cold]
    fn too_long(&mut self, escaped: bool) -> Received {
        (self.len, self.sum) = (0, 0);
        self.trouble(Fault::TooLong { escaped })
    }

    #[cold]
    fn trouble(&mut self, fault: Fault) -> Received {
        let bytes = std::mem::take(&mut self.taken);
        Received::Trouble(BadFrame { fault, last: self.last, id: self.buffer[1], bytes })
    }

    #[inline]
    fn end(&mut self) -> Option<Received> {
        let (len, sum) = (self.len, self.sum);
        (self.len, self.sum) = (0, 0);
        if sum != GOOD_SUM {
            self.lead += if self.started { 0 } else { self.taken };
            let trouble = self.trouble(Fault::Checksum);
            return self.started.then_some(trouble);
        }
        if len < LEAST {
            return Some(self.trouble(Fault::TooShort));
        }
        (self.record_len, self.taken) = (len, 0);
        let (seq, id) = (self.buffer[0], self.buffer[1]);
        let expected = self.last.wrapping_add(1);
        // Before the first record of a session, nothing is missing.
        let jumps = self.started && seq != expected && id != 0;
        (self.started, self.last) = (true, seq);
        Some(Received::Record(jumps.then(|| SequenceJump {
            from: u32::from(expected).wrapping_sub(1),
            to: seq,
            missing: seq.wrapping_sub(expected),
        })))
    }
}

/// This byte eight times.
const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; WORD])
}

/// The high bit of each zero byte. Above the lowest zero byte, other bits may be set.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(every(0x01)) & !word & every(0x80)
}

/// Every other byte.
const HALF: u64 = 0x00FF_00FF_00FF_00FF;

/// The sums of four pairs of bytes, in 16 bits each. The sums of a whole record do not overflow.
const fn sums_of_pairs(word: u64) -> u64 {
    (word & HALF) + (word >> 8 & HALF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection;
    use proptest::prelude::*;

    fn received(bytes: &[u8], piece: usize) -> Vec<(Received, Vec<u8>)> {
        let mut receiver = Receiver::default();
        let mut all = Vec::new();
        for piece in bytes.chunks(piece) {
            let mut at = 0;
            while at < piece.len() {
                let (used, received) = receiver.take(&piece[at..]);
                at += used;
                all.extend(received.map(|received| (received, receiver.record().payload().to_vec())));
            }
        }
        all
    }

    #[test]
    fn the_longest_record_of_the_largest_bytes_is_good() {
        for byte in [0xC3, 0xFF] {
            let mut stream = Vec::new();
            let payload = vec![byte; qs_core::frame::MAX_PAYLOAD];
            qs_core::frame::FrameWriter::new(1, 100, |byte| stream.push(byte)).bytes(&payload).finish();
            assert_eq!(received(&stream, stream.len()), [(Received::Record(None), payload)]);
        }
    }

    #[test]
    fn a_stream_in_pieces_gives_the_same_records() {
        let mut stream = vec![0x01, 0x00, 0xFE, 0x7E];
        stream.extend((0..3000u32).map(|n| (n % 251) as u8));
        stream.extend([0x7D, 0x7E, 0x7E, 0x7E, 0x03, 0x46, 0xB6, 0x7E, 0x7D]);
        let whole = received(&stream, stream.len());
        assert!(whole.len() > 5);
        for piece in [1, 2, 3, 7, 512, 513] {
            assert_eq!(received(&stream, piece), whole, "{piece}");
        }
    }

    proptest! {
        /// Records of all lengths one after another: the older bytes behind a record are the same, too.
        #[test]
        fn a_record_without_a_frame_is_received_like_a_framed_one(
            records in collection::vec((any::<u8>(), any::<u8>(), collection::vec(any::<u8>(), 0..520)), 1..8),
        ) {
            let (mut framed, mut unframed) = (Receiver::default(), Receiver::default());
            for (seq, id, payload) in &records {
                if payload.len() > qs_core::frame::MAX_PAYLOAD {
                    prop_assert_eq!(unframed.take_unframed(*seq, *id, payload), None);
                    continue;
                }
                let mut stream = Vec::new();
                qs_core::frame::FrameWriter::new(*seq, *id, |byte| stream.push(byte)).bytes(payload).finish();
                let (used, received) = framed.take(&stream);
                prop_assert_eq!((used, received), (stream.len(), unframed.take_unframed(*seq, *id, payload)));
                let (one, other) = (framed.record(), unframed.record());
                prop_assert_eq!((&one.buffer[..], one.len), (&other.buffer[..], other.len));
            }
        }
    }

    #[test]
    fn a_jump_after_255_has_the_numbers_of_qspy() {
        let frame = |seq: u8| [seq, 0x46, !seq.wrapping_add(0x46), 0x7E];
        let stream = [frame(254), frame(255), frame(1)].concat();
        let last = received(&stream, 99).pop().unwrap().0;
        assert_eq!(last, Received::Record(Some(SequenceJump { from: u32::MAX, to: 1, missing: 1 })));
    }
}
