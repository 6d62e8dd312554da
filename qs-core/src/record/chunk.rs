//! Chunks of words: their heads in a ring, and the records of a chunk on a link.
//!
//! A stock host accepts records of about 500 bytes. So in a stream, a chunk is an event for its repetition
//! ([`EventKind::Repetition`]), then records `time u32, 0x09, length u8, words`. Only the first record has the time.

use byteorder::{ByteOrder as _, LittleEndian};

use super::element::Data;
use super::words::{REPETITION, TIME, UnitRepetition, digit_of, number, word_len};
use super::{EventKind, ids};
use crate::frame::{ESCAPE, ESCAPE_XOR, FrameWriter};

/// Largest number of bytes of words in a record of a stream.
pub const MAX_CUT: usize = 250;
/// Length of such a record before its words, in bytes.
pub const CUT_HEAD: usize = 6;
/// Largest number of bytes before the first word of a chunk. The header's state has five bits for it.
pub const MAX_OPEN: usize = 31;
/// Smallest number of bytes before the first word of a chunk.
pub const MIN_OPEN: usize = 3 + TIME + REPETITION;
/// Largest number of bytes of padding.
const MAX_PAD: usize = 8;
/// Format byte of the block of memory that holds words.
const FORMAT_MEM: u8 = Data::Memory.format(0);

/// The head of a closed chunk: all bytes before its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHead {
    /// Sequence number.
    pub seq: u8,
    /// Length of the head in bytes.
    pub len: usize,
    /// Low 32 bits of the clock when the chunk was opened. 0 = not known.
    pub time: u32,
    /// The repetition before its words.
    pub repetition: UnitRepetition,
}

impl ChunkHead {
    /// Reads the head at the start of `bytes`, of a chunk with record id `id`. `None` if the bytes are not such a head.
    pub fn parse(bytes: &[u8], id: u8) -> Option<ChunkHead> {
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
        let repetition_at = time_at + TIME;
        let repetition: [u8; REPETITION] =
            bytes.get(repetition_at..repetition_at + REPETITION)?.try_into().ok()?;
        Some(ChunkHead {
            seq,
            len: repetition_at + REPETITION,
            time: u32::try_from(time).ok()?,
            repetition: UnitRepetition::from_bytes(repetition)?,
        })
    }
}

/// The unescaped byte at `at`, and the index of the next one.
pub(crate) fn unescaped(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    match *bytes.get(at)? {
        ESCAPE => Some((bytes.get(at + 1)? ^ ESCAPE_XOR, at + 2)),
        byte => Some((byte, at + 1)),
    }
}

/// A chunk without its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Low 32 bits of the clock when the chunk was opened. 0 = not known.
    pub time: u32,
    /// The repetition before its words.
    pub repetition: UnitRepetition,
    /// The words.
    pub words: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Reads a whole closed chunk of a ring with record id `id`, flag included. `None` if it is another frame. Does not test
    /// the checksum.
    pub fn parse(frame: &'a [u8], id: u8) -> Option<Chunk<'a>> {
        let ChunkHead { len, time, repetition, .. } = ChunkHead::parse(frame, id)?;
        let tail = match frame {
            [.., ESCAPE, _sum, _flag] => 3,
            _ => 2,
        };
        let words = frame.get(len..frame.len().checked_sub(tail)?)?;
        Some(Chunk { time, repetition, words })
    }

    /// The chunk as records of a stream.
    pub fn cut(self) -> impl Iterator<Item = Cut<'a>> {
        let repetition = (self.repetition.times > 0).then_some(Cut::Repetition(self.repetition));
        let (mut time, mut rest) = (self.time, self.words);
        let words = core::iter::from_fn(move || {
            let (words, behind) = rest.split_at(whole_words(rest));
            rest = behind;
            (!words.is_empty()).then(|| Cut::Words(CutWords { time: core::mem::take(&mut time), words }))
        });
        repetition.into_iter().chain(words)
    }
}

/// Length of the whole words at the start that fit in one record, in bytes.
fn whole_words(words: &[u8]) -> usize {
    let mut at = 0;
    while let Some(len) = word_len(&words[at..])
        && at + len <= words.len().min(MAX_CUT)
    {
        at += len;
    }
    at
}

/// A part of a chunk in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut<'a> {
    /// The repetition.
    Repetition(UnitRepetition),
    /// Words.
    Words(CutWords<'a>),
}

impl Cut<'_> {
    /// Writes the frame of this part.
    pub fn emit(self, seq: u8, base: u8, sink: impl FnMut(u8)) {
        match self {
            Cut::Repetition(repetition) => {
                EventKind::Repetition.emit(seq, base, 0, repetition.to_event(), sink)
            }
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
    /// Low 32 bits of the clock when the chunk was opened. 0 = not known, or not the first record of the chunk.
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

    /// Reads a payload. `None` if it has another layout, such as that of packed statements.
    pub fn parse(payload: &'a [u8]) -> Option<CutWords<'a>> {
        let (time, rest) = payload.split_at_checked(4)?;
        let [FORMAT_MEM, len, words @ ..] = rest else { return None };
        (words.len() == usize::from(*len)).then(|| CutWords { time: LittleEndian::read_u32(time), words })
    }
}

impl UnitRepetition {
    /// The value of the event that reports it in a stream.
    pub const fn to_event(self) -> u64 {
        self.times << 16 | self.period as u64
    }

    /// The reverse of [`UnitRepetition::to_event`].
    pub const fn from_event(value: u64) -> UnitRepetition {
        UnitRepetition { period: (value & 0xFFFF) as u32, times: value >> 16, is_counted: false }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::record::value::{MAX_WORD, RecordedValue};
    use crate::record::words::{MAX_PERIOD, MAX_TIMES, Word, Words, digits};
    use crate::record::{RECORD_BASE, Statement};
    use std::vec::Vec;

    fn words(count: u16) -> Vec<u8> {
        let mut words = Vec::new();
        for index in 0..count {
            // Long words at odd indices too, so that a cut could fall inside one.
            match Word::new(Statement { file: 2, line: index }, u32::from(index % 3 != 0) * 77).unwrap() {
                Word::Short(bytes) => words.extend(bytes),
                Word::Long(bytes) => words.extend(bytes),
            }
            if index % 5 == 0 {
                let (word, len) =
                    RecordedValue::new(index.into(), &[0xFF; 64][..usize::from(index % 65)]).to_word();
                words.extend(&word[..len]);
            }
        }
        words
    }

    #[test]
    fn a_chunk_is_cut_between_words() {
        let words = words(500);
        let repetition = UnitRepetition { period: MAX_PERIOD, times: MAX_TIMES, is_counted: false };
        let chunk = Chunk { time: 7, repetition, words: &words };
        let mut cuts = chunk.cut();
        assert_eq!(cuts.next(), Some(Cut::Repetition(repetition)));
        assert_eq!(UnitRepetition::from_event(repetition.to_event()), repetition);
        let mut joined: Vec<u8> = Vec::new();
        for (index, cut) in cuts.enumerate() {
            let Cut::Words(cut) = cut else { panic!("two repetitions") };
            assert_eq!(cut.time, if index == 0 { 7 } else { 0 });
            assert!(
                cut.words.len() <= MAX_CUT && cut.words.len() > MAX_CUT - MAX_WORD
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
            let repetition = UnitRepetition { period: 3, times: 5, is_counted: false };
            let mut frame = [seq, &[122, pad + 1]].concat();
            frame.resize(frame.len() + usize::from(pad), 1);
            frame.extend(digits::<TIME>(u64::from(u32::MAX)));
            frame.extend(repetition.to_bytes());
            let head = ChunkHead::parse(&frame, 122).expect("a head");
            assert_eq!((head.len, head.time, head.repetition), (frame.len(), u32::MAX, repetition));
            assert!(ChunkHead::parse(&frame, 121).is_none());
            let words = words(9);
            for tail in [&[0, 0x7E][..], &[0x7D, 0x5D, 0x7E]] {
                let frame = [&frame, &words[..], tail].concat();
                let chunk = Chunk { time: u32::MAX, repetition, words: &words };
                assert_eq!(Chunk::parse(&frame, 122), Some(chunk));
            }
            for len in 0..frame.len() {
                assert!(Chunk::parse(&frame[..len], 122).is_none());
            }
        }
    }
}
