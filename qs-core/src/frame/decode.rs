//! Decoder: stuffed bytes in, frames and exact losses out. It owns its buffer and does no I/O.

use core::fmt;

use super::{Checksum, ESCAPE, ESCAPE_XOR, FLAG, MAX_RECORD};

/// A valid frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Offset of the frame's first byte in the stream.
    pub offset: u64,
    /// Sequence number.
    pub seq: u8,
    /// Record id.
    pub id: u8,
    /// The record's bytes, un-escaped.
    pub payload: &'a [u8],
    /// Number of frames missing before this one, modulo 256. 0 for the first frame.
    pub missing: u8,
}

/// A range of bytes that is not a valid frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the first damaged byte in the stream.
    pub offset: u64,
    /// Number of damaged bytes, including the flag that ends them.
    pub len: u64,
    /// What is wrong with them.
    pub cause: Cause,
}

/// Why the bytes between two flags are not a valid frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The bytes do not sum to 0xFF.
    Checksum {
        /// The sum found.
        sum: u8,
    },
    /// The checksum matches, but the frame is too short for sequence number, record id and checksum.
    TooShort,
    /// More than [`MAX_RECORD`] bytes without a flag.
    TooLong,
    /// A chunk of words with a wrong layout.
    Layout,
}

impl fmt::Display for Damage {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at offset {}: ", self.len, self.offset)?;
        match self.cause {
            Cause::Checksum { sum } => write!(f, "bad checksum (sum 0x{sum:02X}, expected 0xFF)"),
            Cause::TooShort => f.write_str("frame too short"),
            Cause::Layout => f.write_str("not the layout of a chunk of words"),
            Cause::TooLong => write!(f, "no frame end within {MAX_RECORD} bytes"),
        }
    }
}

/// The effect of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The frame continues.
    More,
    /// The byte was the flag of a valid frame.
    Frame(Frame<'a>),
    /// The byte was a flag, and the bytes before it are not a valid frame. The next byte starts a new frame.
    Damaged(Damage),
}

/// Splits a stream into frames, a byte or a slice at a time. Resynchronizes at every flag.
///
/// ```
/// # use qs_core::frame::{Decoder, Outcome};
/// let mut decoder = Decoder::new();
/// let stream = [0x7D, 0x5E, 0x7D, 0x5D, 0x7D, 0x5D, 0x08, 0x01, 0x7D, 0x5E, 0x7E];
/// let (used, outcome) = decoder.push_slice(&stream);
/// assert_eq!(used, stream.len());
/// let Outcome::Frame(frame) = outcome else { panic!("{outcome:?}") };
/// assert_eq!((frame.seq, frame.id, frame.payload), (0x7E, 0x7D, &[0x7D, 8, 1][..]));
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    record: [u8; MAX_RECORD],
    len: usize,
    sum: Checksum,
    escape: bool,
    overflow: bool,
    offset: u64,
    start: u64,
    last_seq: Option<u8>,
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder::new()
    }
}

impl Decoder {
    /// A decoder at offset 0 that expects no sequence number yet.
    pub const fn new() -> Decoder {
        Decoder {
            record: [0; MAX_RECORD],
            len: 0,
            sum: Checksum(0),
            escape: false,
            overflow: false,
            offset: 0,
            start: 0,
            last_seq: None,
        }
    }

    /// Takes one byte.
    #[inline]
    pub fn push(&mut self, byte: u8) -> Outcome<'_> {
        match self.take(byte) {
            None => Outcome::More,
            Some(ended) => self.outcome(ended),
        }
    }

    /// Takes bytes up to and including the next flag. Returns the number of bytes taken. The outcome is
    /// [`Outcome::More`] only if that is all of them.
    pub fn push_slice(&mut self, bytes: &[u8]) -> (usize, Outcome<'_>) {
        match self.take_slice(bytes) {
            (used, None) => (used, Outcome::More),
            (used, Some(ended)) => (used, self.outcome(ended)),
        }
    }

    /// The first step of [`Decoder::push_slice`]. The result borrows nothing, so a caller can loop over it and then ask
    /// for the frame.
    pub(crate) fn take_slice(&mut self, bytes: &[u8]) -> (usize, Option<Ended>) {
        for (index, byte) in bytes.iter().enumerate() {
            if let Some(ended) = self.take(*byte) {
                return (index + 1, Some(ended));
            }
        }
        (bytes.len(), None)
    }

    /// The frame that ended last, with its bytes.
    fn outcome(&self, ended: Ended) -> Outcome<'_> {
        match ended {
            Ended::Damaged(damage) => Outcome::Damaged(damage),
            Ended::Frame(end) => Outcome::Frame(self.frame(end)),
        }
    }

    pub(crate) fn frame(&self, end: FrameEnd) -> Frame<'_> {
        let FrameEnd { offset, missing, len } = end;
        let payload = self.record.get(2..len.saturating_sub(1)).unwrap_or(&[]);
        Frame { offset, seq: self.record[0], id: self.record[1], payload, missing }
    }

    /// The first step of [`Decoder::push`].
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> Option<Ended> {
        self.offset += 1;
        if self.escape {
            self.escape = false;
            self.store(byte ^ ESCAPE_XOR);
        } else if byte == ESCAPE {
            self.escape = true;
        } else if byte == FLAG {
            return Some(self.end());
        } else {
            self.store(byte);
        }
        None
    }

    /// Number of bytes since the last flag: those of an unfinished frame.
    pub const fn pending(&self) -> u64 {
        self.offset - self.start
    }

    /// Forgets the unfinished frame and the sequence number, after a known break in the stream. Offsets continue.
    pub fn restart(&mut self) {
        self.begin();
        self.last_seq = None;
    }

    /// Sets the offset of the next byte, and starts a new frame there.
    pub(crate) fn set_offset(&mut self, offset: u64) {
        self.offset = offset;
        self.begin();
    }

    fn begin(&mut self) {
        self.len = 0;
        self.sum = Checksum::default();
        self.escape = false;
        self.overflow = false;
        self.start = self.offset;
    }

    fn store(&mut self, byte: u8) {
        self.sum.add(byte);
        match self.record.get_mut(self.len) {
            Some(slot) => {
                *slot = byte;
                self.len += 1;
            }
            None => self.overflow = true,
        }
    }

    fn end(&mut self) -> Ended {
        let (len, sum, overflow, offset) = (self.len, self.sum, self.overflow, self.start);
        self.begin();
        let cause = if overflow {
            Cause::TooLong
        } else if !sum.is_good() {
            Cause::Checksum { sum: sum.0 }
        } else if len < 3 {
            Cause::TooShort
        } else {
            let seq = self.record[0];
            let missing = self.last_seq.map_or(0, |last| seq.wrapping_sub(last).wrapping_sub(1));
            self.last_seq = Some(seq);
            return Ended::Frame(FrameEnd { offset, missing, len });
        };
        Ended::Damaged(Damage { offset, len: self.offset - offset, cause })
    }
}

/// What a flag ended: a frame without its bytes, or damage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ended {
    Frame(FrameEnd),
    Damaged(Damage),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameEnd {
    offset: u64,
    missing: u8,
    len: usize,
}
