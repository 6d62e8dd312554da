//! Bytes to records and transmission errors, byte for byte as QSPY receives them. It must not know what is in a record.
//!
//! Errors name the record by whatever byte stands where its id would: that of an earlier record, when too few came.

use std::fmt;

use memchr::memchr2;
use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, MAX_RECORD};

/// Sum of all bytes of a good record, its checksum among them.
const GOOD_SUM: u8 = 0xFF;
/// Sequence number, id and checksum.
const LEAST: usize = 3;
/// Bytes are taken by so many, as far as they are plain.
const WORD: usize = size_of::<u64>();

/// What is wrong with bytes that were no good record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The sum is not right.
    Checksum,
    /// The sum is right, but there are not even a sequence number, an id and a checksum.
    TooShort,
    /// No flag came in time; whether the byte that was too many was escaped.
    TooLong {
        /// It was.
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

/// Bytes that were no good record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub fault: Fault,
    /// Sequence number of the last good record.
    pub last: u8,
    /// Where the id would be.
    pub id: u8,
    /// How many bytes they were.
    pub bytes: u64,
}

/// A jump of the sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The number before, as QSPY computes it: 4294967295 stands for 255.
    pub from: u32,
    /// The number that came.
    pub to: u8,
    /// Records missing, modulo 256.
    pub missing: u8,
}

/// What bytes led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A good record, see [`Receiver::record`]; with the jump before it.
    Record(Option<Jump>),
    /// No good record.
    Trouble(Trouble),
}

/// The bytes of a good record, and what stands behind it in the buffer, for records that claim to be longer.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// Sequence number, id, payload, checksum, and older bytes.
    pub buffer: &'a [u8; MAX_RECORD],
    /// Bytes of the record.
    pub len: usize,
}

impl<'a> Raw<'a> {
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
    /// Length of the record that came last.
    record_len: usize,
    sum: u8,
    escape: bool,
    last: u8,
    started: bool,
    /// Bytes before the first good record, as far as no error of them is shown.
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
    /// Takes bytes until something comes of them, and says how many those were.
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
                // Few bytes are left, here or where they are stored.
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

    /// The record that was received last.
    pub fn record(&self) -> Raw<'_> {
        Raw { buffer: &self.buffer, len: self.record_len }
    }

    /// Starts anew in the stream: another target is at the other end now.
    pub fn restart(&mut self) {
        self.take_rest();
        self.last = 0;
    }

    /// Whether a good record came already.
    pub fn has_started(&self) -> bool {
        self.started
    }

    /// Bytes before the first good record: that of a frame whose start is not in the stream. QSPY shows nothing of them.
    #[inline]
    pub fn take_lead(&mut self) -> u64 {
        std::mem::take(&mut self.lead)
    }

    /// Bytes since the last flag, of a frame that does not go on.
    pub fn take_rest(&mut self) -> u64 {
        let rest = self.taken;
        (self.len, self.taken, self.sum, self.escape) = (0, 0, 0, false);
        rest
    }

    /// Stores the bytes before the next flag or escape, while there are whole words and there is room for them; how many those were.
    /// Searching, summing and copying at once is what makes short records fast.
    #[inline]
    fn store_plain(&mut self, bytes: &[u8]) -> usize {
        let (words, _) = bytes.as_chunks();
        let (room, _) = self.buffer[self.len..].as_chunks_mut();
        let (mut stored, mut sums) = (0, 0);
        for (word, old) in words.iter().zip(room) {
            let word = u64::from_le_bytes(*word);
            let special = zero_bytes(word ^ every(FLAG)) | zero_bytes(word ^ every(ESCAPE));
            if special != 0 {
                // What stands behind the plain bytes stays: old bytes count where a record claims to be longer than it is.
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
        // Their low bytes alone: there is no room for all four sums of a long record in one.
        self.sum = self.sum.wrapping_add(((sums & HALF).wrapping_mul(0x0001_0001_0001_0001) >> 48) as u8);
        self.len += stored;
        stored
    }

    /// Stores bytes; when one is too many, how many there was room for.
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
        Received::Trouble(Trouble { fault, last: self.last, id: self.buffer[1], bytes })
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
        // The first record of a session tells of nothing before it.
        let jumps = self.started && seq != expected && id != 0;
        (self.started, self.last) = (true, seq);
        Some(Received::Record(jumps.then(|| Jump {
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

/// The high bit of each byte that is zero; above the lowest of those, of others too.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(every(0x01)) & !word & every(0x80)
}

/// Every other byte.
const HALF: u64 = 0x00FF_00FF_00FF_00FF;

/// The sums of four pairs of bytes, in 16 bits each: there is room for those of a whole record.
const fn sums_of_pairs(word: u64) -> u64 {
    (word & HALF) + (word >> 8 & HALF)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// What was stored never ran over, and pieces make no difference.
    #[test]
    fn pieces_make_no_difference() {
        let mut stream = vec![0x01, 0x00, 0xFE, 0x7E];
        stream.extend((0..3000u32).map(|n| (n % 251) as u8));
        stream.extend([0x7D, 0x7E, 0x7E, 0x7E, 0x03, 0x46, 0xB6, 0x7E, 0x7D]);
        let whole = received(&stream, stream.len());
        assert!(whole.len() > 5);
        for piece in [1, 2, 3, 7, 512, 513] {
            assert_eq!(received(&stream, piece), whole, "{piece}");
        }
    }

    #[test]
    fn a_jump_after_255_is_told_as_qspy_does() {
        let frame = |seq: u8| [seq, 0x46, !seq.wrapping_add(0x46), 0x7E];
        let stream = [frame(254), frame(255), frame(1)].concat();
        let last = received(&stream, 99).pop().unwrap().0;
        assert_eq!(last, Received::Record(Some(Jump { from: u32::MAX, to: 1, missing: 1 })));
    }
}
