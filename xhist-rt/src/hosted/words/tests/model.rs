//! A small reader of a words ring. It treats any damage as a failure, except in the oldest frame.

use std::vec::Vec;

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG};
use qs_core::record::words::{Named, REPETITION, UNIT, UnitRepetition, Words, digit_of, number};
use qs_core::record::{EventKind, RECORD_BASE, ids};
use qs_core::ring::{CheckedPosition, MOVED_OFFSET, PROLOGUE_AT, PROLOGUE_OFFSET, State, Trim};

/// An entry of the ring, and its time.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Word(Named),
    /// The id and the payload without a time.
    Record(u8, Vec<u8>),
}

impl Item {
    /// The number of a statement, as [`super::program::named`] numbers them.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Item::Word(Named::Number(number)) => Some((*number).into()),
            Item::Word(Named::Statement(statement)) => Some(statement.to_word().into()),
            Item::Word(Named::Value(_)) | Item::Record(..) => None,
        }
    }
}

/// Items that ran `times` times in a row.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) items: Vec<Item>,
    pub(super) times: u64,
    /// Their time: its low four bytes, or the full time.
    pub(super) time: u64,
    /// The number of first items that may have run a little earlier than that.
    pub(super) early: usize,
    /// They ran before that time.
    pub(super) is_folded: bool,
}

pub(super) struct Reading {
    pub(super) runs: Vec<Run>,
    /// The first byte that is not overwritten.
    pub(super) kept: u64,
    /// The words of the open chunk have an end.
    pub(super) is_certain: bool,
    /// Nothing is overwritten.
    pub(super) is_whole: bool,
    /// The items of the prologue, and the position behind it.
    pub(super) prologue: Option<(Vec<Item>, u64)>,
}

impl Reading {
    pub(super) fn items(&self) -> Vec<Item> {
        one_by_one(&self.runs)
    }
}

fn one_by_one(runs: &[Run]) -> Vec<Item> {
    runs.iter().flat_map(|run| (0..run.times).flat_map(|_| run.items.iter().cloned())).collect()
}

fn word(header: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(header[at..at + 8].try_into().unwrap())
}

struct Reader<'a> {
    data: &'a [u8],
    runs: Vec<Run>,
    /// The units of the previous chunk.
    previous: Option<Vec<u8>>,
    /// The full clock, as far as it is known.
    time: u64,
}

fn items(units: &[u8]) -> Vec<Item> {
    Words::new(units).map(Item::Word).collect()
}

impl Reader<'_> {
    fn bytes(&self, from: u64, to: u64) -> impl Iterator<Item = u8> + '_ {
        (from..to).map(|at| self.data[at as usize & (self.data.len() - 1)])
    }

    fn repetition(&mut self, repetition: UnitRepetition, time: u64) {
        let len = UNIT * repetition.period as usize;
        match &self.previous {
            _ if repetition.times == 0 => {}
            Some(before) => {
                assert!(before.len() >= len, "{repetition:?} behind {} bytes", before.len());
                let items = items(&before[before.len() - len..]);
                self.runs.push(Run { items, times: repetition.times, time, early: 0, is_folded: true });
            }
            None => {
                assert!(self.runs.is_empty(), "no chunk before {repetition:?}");
            }
        }
    }

    fn chunk(&mut self, repetition: UnitRepetition, units: &[u8], time: u64) {
        self.repetition(repetition, time);
        let early = if repetition.times > 0 { repetition.period as usize } else { 0 };
        self.runs.push(Run { items: items(units), times: 1, time, early, is_folded: false });
        self.previous = Some(units.to_vec());
    }

    /// Corrects the time of the newest chunk.
    fn set_time(&mut self, before: u64, time: u64) {
        self.runs.iter_mut().rev().take_while(|run| run.time == before).for_each(|run| run.time = time);
    }

    fn after(&self, time: u32) -> u64 {
        if time == 0 { 0 } else { self.time + u64::from(time.wrapping_sub(self.time as u32)) }
    }

    fn frame(&mut self, frame: &[u8]) {
        let mut bytes = Vec::new();
        let mut rest = frame.iter();
        while let Some(byte) = rest.next() {
            bytes.push(if *byte == ESCAPE {
                rest.next().expect("a whole escape") ^ ESCAPE_XOR
            } else {
                *byte
            });
        }
        assert_eq!(
            bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)),
            0xFF,
            "checksum of {bytes:x?}"
        );
        let (id, payload) = (bytes[1], &bytes[2..bytes.len() - 1]);
        if id == RECORD_BASE + ids::PACKED {
            let pad = digit_of(payload[0]).unwrap() as usize;
            assert!(payload[1..][..pad].iter().all(|byte| *byte == 1) && pad <= 8);
            let (time, rest) = payload[1 + pad..].split_at(5);
            let (repetition, units) = rest.split_at(REPETITION);
            let repetition = UnitRepetition::from_bytes(repetition.try_into().unwrap()).expect("repetition");
            assert!(!repetition.is_counted);
            let time = self.after(number(time).expect("a time") as u32);
            self.chunk(repetition, units, time);
            self.time = self.time.max(time);
            return;
        }
        let time = u32::from_le_bytes(payload[..4].try_into().unwrap());
        let is_event = |kind| id == RECORD_BASE + ids::EVENT && payload[5] == kind;
        if is_event(EventKind::Until.code()) {
            let value = u64::from_le_bytes(payload[7..].try_into().unwrap());
            // The items before it have their own time, or none.
            let newest = self.runs.last().map_or(0, |run| run.time);
            assert!(newest <= value, "until {value}, behind {newest}");
            self.time = self.time.max(value);
        } else if is_event(EventKind::Time.code()) {
            let value = u64::from_le_bytes(payload[7..].try_into().unwrap());
            // Directly behind a chunk with that time it is the chunk's.
            let before = if self.previous.is_some() { self.runs.last().map_or(0, |run| run.time) } else { 0 };
            if before as u32 == value as u32 {
                self.set_time(before, value);
            }
            self.time = value;
        } else {
            let time = self.after(time);
            self.time = self.time.max(time);
            let items = std::vec![Item::Record(id, payload[4..].to_vec())];
            self.runs.push(Run { items, times: 1, time, early: 0, is_folded: false });
        }
        self.previous = None;
    }

    fn open(&mut self, header: &[u8], state: State, cleared: u64) -> bool {
        let Some(open) = state.open() else {
            let last = word(header, 64);
            if self.previous.is_some()
                && let Some(before) = self.runs.last().map(|run| run.time).filter(|time| *time > 0)
            {
                let full = last - u64::from((last as u32).wrapping_sub(before as u32));
                self.set_time(before, full);
            }
            return true;
        };
        let time = word(header, 104);
        let (head, words) = (state.head(), state.head() + open as u64);
        assert!(words.is_multiple_of(8) && open <= 31);
        let repetition: Vec<u8> = self.bytes(words - REPETITION as u64, words).collect();
        let repetition = UnitRepetition::from_bytes(repetition.try_into().unwrap()).expect("repetition");
        let trim = word(header, 80);
        let low = (1 << 24) - 1;
        if trim >> 63 == 1 && trim & low == head & low {
            let (kept, rest) = ((trim >> 24) & 0xFFFF, (trim >> 40) & 0xFFFF);
            let units: Vec<u8> = self.bytes(words, words + 2 * kept).collect();
            self.chunk(repetition, &units, time);
            if trim & Trim::MOVED != 0 {
                let moved = &header[MOVED_OFFSET..MOVED_OFFSET + UNIT * rest as usize];
                self.chunk(UnitRepetition::default(), moved, time);
                return true;
            }
            let repetition =
                UnitRepetition::from_bytes(header[88..96].try_into().unwrap()).expect("repetition");
            let from = units.len() - UNIT * repetition.period as usize;
            self.chunk(repetition, &units[from..from + UNIT * rest as usize], time);
            return true;
        }
        let mut units: Vec<u8> = self.bytes(words, cleared).collect();
        let end = units.chunks_exact(UNIT).take_while(|unit| number(unit).is_some()).count() * UNIT;
        let is_certain = end + 1 < units.len();
        units.truncate(end);
        if repetition.is_counted {
            let rest = units.len() % (UNIT * repetition.period as usize);
            units.drain(..units.len() - rest);
        }
        self.chunk(repetition, &units, time);
        is_certain
    }
}

/// The frames of the prologue of a history that begins at this position.
fn prologue(header: &[u8], begin: u64) -> Option<(Vec<Item>, u64)> {
    let end = match word(header, PROLOGUE_OFFSET) {
        0 => return None,
        word => CheckedPosition(word).position().expect("a position"),
    };
    let mut reader = Reader { data: &[], runs: Vec::new(), previous: None, time: 0 };
    let frames = &header[PROLOGUE_AT..][..(end - begin) as usize];
    for frame in frames.split_inclusive(|byte| *byte == FLAG) {
        reader.frame(frame.strip_suffix(&[FLAG]).expect("a whole frame"));
    }
    Some((one_by_one(&reader.runs), end))
}

pub(super) fn read(header: &[u8], data: &[u8]) -> Reading {
    let (state, cleared) = (State(word(header, 40)), word(header, 72));
    let begin = CheckedPosition(word(header, 160)).position().unwrap_or(0);
    let kept = cleared.saturating_sub(data.len() as u64).max(begin);
    let mut reader = Reader { data, runs: Vec::new(), previous: None, time: 0 };
    let mut is_whole = kept == begin;
    let closed: Vec<u8> = reader.bytes(kept, state.head().max(kept)).collect();
    for frame in closed.split_inclusive(|byte| *byte == FLAG) {
        let (last, frame) = frame.split_last().expect("a byte");
        if *last != FLAG {
            assert!(!is_whole, "bytes behind the last frame: {frame:x?}");
        } else if is_whole {
            reader.frame(frame);
        }
        is_whole = true;
    }
    let is_certain = state.head() >= kept && reader.open(header, state, cleared);
    // The history may begin at the first byte, and not behind it.
    let is_whole = kept == begin;
    let kept = if is_whole { kept.saturating_sub(1) } else { kept };
    Reading { runs: reader.runs, kept, is_certain, is_whole, prologue: prologue(header, begin) }
}
