//! Chunks of words: the head of one in a ring, and the records that it is cut into on a link.
//!
//! A stock host takes records of some 500 bytes, so a chunk in a stream is an event where something came again
//! ([`EventKind::Again`]) and then records `time u32, 0x09, length u8, words`, the time in the first of them alone.

use byteorder::{ByteOrder as _, LittleEndian};

use super::element::Data;
use super::words::{AGAIN, Again, LEAD, TIME, UNIT, digit_of, number};
use super::{EventKind, ids};
use crate::frame::{ESCAPE, ESCAPE_XOR, FrameWriter};

/// Most bytes of words in a record of a stream.
pub const MAX_CUT: usize = 250;
/// Bytes of such a record before its words.
pub const CUT_HEAD: usize = 6;
/// Most bytes before the first word of a chunk: the header's state has five bits for them.
pub const MAX_OPEN: usize = 31;
/// Fewest bytes before the first word of a chunk.
pub const MIN_OPEN: usize = 3 + TIME + AGAIN;
/// Most bytes of padding.
const MAX_PAD: usize = 8;
/// Format byte of the block of memory that holds words.
const FORMAT_MEM: u8 = Data::Memory.format(0);

/// What comes before the words of a closed chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Sequence number.
    pub seq: u8,
    /// Bytes before the first word.
    pub len: usize,
    /// Low 32 bits of the clock when it was opened; 0 = not known.
    pub time: u32,
    /// What came again before its words.
    pub again: Again,
}

impl Head {
    /// Reads the head at the start of `bytes`, of a chunk whose id is `id`; `None` when it is no such head.
    pub fn parse(bytes: &[u8], id: u8) -> Option<Head> {
        let (seq, at) = unescaped(bytes, 0)?;
        let (found, at) = unescaped(bytes, at)?;
        let pad = usize::from(bytes.get(at)?.checked_sub(1)?);
        if found != id || pad > MAX_PAD {
            return None;
        }
        let time_at = at + 1 + pad;
        let is_padding = |byte: &u8| digit_of(*byte) == Some(0);
        if !bytes.get(at + 1..time_at)?.iter().all(is_padding) {
            return None;
        }
        let time = number(bytes.get(time_at..time_at + TIME)?)?;
        let again_at = time_at + TIME;
        let again: [u8; AGAIN] = bytes.get(again_at..again_at + AGAIN)?.try_into().ok()?;
        Some(Head {
            seq,
            len: again_at + AGAIN,
            time: u32::try_from(time).ok()?,
            again: Again::from_bytes(again)?,
        })
    }
}

/// The byte at `at` as it was before escaping, and where the next one is.
pub(crate) fn unescaped(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    match *bytes.get(at)? {
        ESCAPE => Some((bytes.get(at + 1)? ^ ESCAPE_XOR, at + 2)),
        byte => Some((byte, at + 1)),
    }
}

/// A chunk without its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Low 32 bits of the clock when it was opened; 0 = not known.
    pub time: u32,
    /// What came again before its words.
    pub again: Again,
    /// Its words.
    pub words: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Reads a whole closed chunk of a ring, flag included, whose id is `id`; `None` when it is another frame. The checksum is not looked at.
    pub fn parse(frame: &'a [u8], id: u8) -> Option<Chunk<'a>> {
        let Head { len, time, again, .. } = Head::parse(frame, id)?;
        let tail = match frame {
            [.., ESCAPE, _sum, _flag] => 3,
            _ => 2,
        };
        let words = frame.get(len..frame.len().checked_sub(tail)?)?;
        Some(Chunk { time, again, words })
    }

    /// The records of a stream with the same content.
    pub fn cut(self) -> impl Iterator<Item = Cut<'a>> {
        let again = (self.again.times > 0).then_some(Cut::Again(self.again));
        let (mut time, mut rest) = (self.time, self.words);
        let words = core::iter::from_fn(move || {
            let (words, behind) = rest.split_at(whole_words(rest));
            rest = behind;
            (!words.is_empty()).then(|| Cut::Words(CutWords { time: core::mem::take(&mut time), words }))
        });
        again.into_iter().chain(words)
    }
}

/// Bytes of the whole words at the start that one record holds.
fn whole_words(words: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let len = match words.get(at).map(|byte| digit_of(*byte)) {
            Some(Some(digit)) if digit >= LEAD => 2 * UNIT,
            Some(Some(_)) => UNIT,
            _ => return at,
        };
        if at + len > words.len().min(MAX_CUT) {
            return at;
        }
        at += len;
    }
}

/// A part of a chunk in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut<'a> {
    /// What came again.
    Again(Again),
    /// Words.
    Words(CutWords<'a>),
}

impl Cut<'_> {
    /// Writes its frame.
    pub fn emit(self, seq: u8, base: u8, sink: impl FnMut(u8)) {
        match self {
            Cut::Again(again) => EventKind::Again.emit(seq, base, 0, again.to_event(), sink),
            Cut::Words(CutWords { time, words }) => FrameWriter::new(seq, base + ids::PACKED, sink)
                .bytes(&CutWords::head(time, words.len()))
                .bytes(words)
                .finish(),
        }
    }
}

/// Words of a chunk as one record of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutWords<'a> {
    /// Low 32 bits of the clock when the chunk was opened; 0 = not known, or not the first record of it.
    pub time: u32,
    /// The words.
    pub words: &'a [u8],
}

impl<'a> CutWords<'a> {
    /// The payload before the words.
    pub const fn head(time: u32, len: usize) -> [u8; CUT_HEAD] {
        let [t0, t1, t2, t3] = time.to_le_bytes();
        [t0, t1, t2, t3, FORMAT_MEM, len as u8]
    }

    /// Reads a payload; `None` when it has another layout, as packed statements have.
    pub fn parse(payload: &'a [u8]) -> Option<CutWords<'a>> {
        let (time, rest) = payload.split_at_checked(4)?;
        let [FORMAT_MEM, len, words @ ..] = rest else { return None };
        (words.len() == usize::from(*len)).then(|| CutWords { time: LittleEndian::read_u32(time), words })
    }
}

impl Again {
    /// The value of the event that reports it in a stream.
    pub const fn to_event(self) -> u64 {
        self.times << 16 | self.period as u64
    }

    /// The reverse.
    pub const fn from_event(value: u64) -> Again {
        Again { period: (value & 0xFFFF) as u32, times: value >> 16, is_counted: false }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::record::words::{MAX_PERIOD, MAX_TIMES, Word, Words, digits};
    use crate::record::{RECORD_BASE, Statement};
    use std::vec::Vec;

    fn words(count: u16) -> Vec<u8> {
        let mut words = Vec::new();
        for index in 0..count {
            // Long ones at odd places too, so that a cut may come inside one.
            match Word::new(Statement { file: 2, line: index }, u32::from(index % 3 != 0) * 77).unwrap() {
                Word::Short(bytes) => words.extend(bytes),
                Word::Long(bytes) => words.extend(bytes),
            }
        }
        words
    }

    #[test]
    fn a_chunk_is_cut_between_words() {
        let words = words(500);
        let again = Again { period: MAX_PERIOD, times: MAX_TIMES, is_counted: false };
        let chunk = Chunk { time: 7, again, words: &words };
        let mut cuts = chunk.cut();
        assert_eq!(cuts.next(), Some(Cut::Again(again)));
        assert_eq!(Again::from_event(again.to_event()), again);
        let mut joined: Vec<u8> = Vec::new();
        for (index, cut) in cuts.enumerate() {
            let Cut::Words(cut) = cut else { panic!("again twice") };
            assert_eq!(cut.time, if index == 0 { 7 } else { 0 });
            assert!(
                cut.words.len() <= MAX_CUT && cut.words.len() > MAX_CUT - 4
                    || joined.len() + cut.words.len() == words.len()
            );
            let mut read = Words::new(cut.words);
            assert!(read.by_ref().count() > 0 && read.at() == cut.words.len());
            let mut frame = Vec::new();
            Cut::Words(cut).emit(1, RECORD_BASE, |byte| frame.push(byte));
            assert_eq!(frame[1], RECORD_BASE + ids::PACKED);
            let payload = [&CutWords::head(cut.time, cut.words.len()), cut.words].concat();
            assert_eq!(CutWords::parse(&payload), Some(cut));
            joined.extend(cut.words);
        }
        assert_eq!(joined, words);
    }

    #[test]
    fn a_closed_chunk_is_read() {
        for (seq, pad) in [(&[0x7D, 0x5E][..], 5), (&[0][..], 0), (&[9], 8)] {
            let again = Again { period: 3, times: 5, is_counted: false };
            let mut frame = [seq, &[122, pad + 1]].concat();
            frame.resize(frame.len() + usize::from(pad), 1);
            frame.extend(digits::<TIME>(u64::from(u32::MAX)));
            frame.extend(again.to_bytes());
            let head = Head::parse(&frame, 122).expect("a head");
            assert_eq!((head.len, head.time, head.again), (frame.len(), u32::MAX, again));
            assert!(Head::parse(&frame, 121).is_none());
            let words = words(9);
            for tail in [&[0, 0x7E][..], &[0x7D, 0x5D, 0x7E]] {
                let frame = [&frame, &words[..], tail].concat();
                let chunk = Chunk { time: u32::MAX, again, words: &words };
                assert_eq!(Chunk::parse(&frame, 122), Some(chunk));
            }
            for len in 0..frame.len() {
                assert!(Chunk::parse(&frame[..len], 122).is_none());
            }
        }
    }
}
