//! A small reader of a words ring. It takes any damage as a failure, but for the oldest frame.

use std::vec::Vec;

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG};
use qs_core::record::words::{AGAIN, Again, Named, UNIT, Words, digit_of, number};
use qs_core::record::{EventKind, RECORD_BASE, ids};
use qs_core::ring::{MOVED_OFFSET, State, Trim};

/// What was recorded, and the time that it has.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Word(Named),
    /// The id and the payload without a time.
    Record(u8, Vec<u8>),
}

impl Item {
    /// Of a statement, as [`super::program::named`] numbers them.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Item::Word(Named::Number(number)) => Some((*number).into()),
            Item::Word(Named::Statement(statement)) => Some(statement.to_word().into()),
            Item::Record(..) => None,
        }
    }
}

/// Items that ran `times` times in a row.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) items: Vec<Item>,
    pub(super) times: u64,
    /// The time that they have: low four bytes, or in full.
    pub(super) time: u64,
    /// These may have run a little earlier than that: how many of the first ones.
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
}

impl Reading {
    pub(super) fn items(&self) -> Vec<Item> {
        let one_by_one =
            self.runs.iter().flat_map(|run| (0..run.times).flat_map(|_| run.items.iter().cloned()));
        one_by_one.collect()
    }
}

fn word(header: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(header[at..at + 8].try_into().unwrap())
}

struct Reader<'a> {
    data: &'a [u8],
    runs: Vec<Run>,
    /// The units of the chunk before.
    before: Option<Vec<u8>>,
    /// The clock in full, as far as it is known.
    time: u64,
}

fn items(units: &[u8]) -> Vec<Item> {
    Words::new(units).map(Item::Word).collect()
}

impl Reader<'_> {
    fn bytes(&self, from: u64, to: u64) -> impl Iterator<Item = u8> + '_ {
        (from..to).map(|at| self.data[at as usize & (self.data.len() - 1)])
    }

    fn again(&mut self, again: Again, time: u64) {
        let len = UNIT * again.period as usize;
        match &self.before {
            _ if again.times == 0 => {}
            Some(before) => {
                assert!(before.len() >= len, "{again:?} behind {} bytes", before.len());
                let items = items(&before[before.len() - len..]);
                self.runs.push(Run { items, times: again.times, time, early: 0, is_folded: true });
            }
            None => {
                assert!(self.runs.is_empty(), "no chunk before {again:?}");
            }
        }
    }

    fn chunk(&mut self, again: Again, units: &[u8], time: u64) {
        self.again(again, time);
        let early = if again.times > 0 { again.period as usize } else { 0 };
        self.runs.push(Run { items: items(units), times: 1, time, early, is_folded: false });
        self.before = Some(units.to_vec());
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
            let (again, units) = rest.split_at(AGAIN);
            let again = Again::from_bytes(again.try_into().unwrap()).expect("again");
            assert!(!again.is_counted);
            let time = self.after(number(time).expect("a time") as u32);
            self.chunk(again, units, time);
            self.time = self.time.max(time);
            return;
        }
        let time = u32::from_le_bytes(payload[..4].try_into().unwrap());
        let is_event = |kind| id == RECORD_BASE + ids::EVENT && payload[5] == kind;
        if is_event(EventKind::Until.code()) {
            let value = u64::from_le_bytes(payload[7..].try_into().unwrap());
            // What ran before it has its own time, or none.
            let newest = self.runs.last().map_or(0, |run| run.time);
            assert!(newest <= value, "until {value}, behind {newest}");
            self.time = self.time.max(value);
        } else if is_event(EventKind::Time.code()) {
            let value = u64::from_le_bytes(payload[7..].try_into().unwrap());
            // Directly behind a chunk with that time it is the chunk's.
            let before = if self.before.is_some() { self.runs.last().map_or(0, |run| run.time) } else { 0 };
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
        self.before = None;
    }

    fn open(&mut self, header: &[u8], state: State, cleared: u64) -> bool {
        let Some(open) = state.open() else {
            let last = word(header, 64);
            if self.before.is_some()
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
        let again: Vec<u8> = self.bytes(words - AGAIN as u64, words).collect();
        let again = Again::from_bytes(again.try_into().unwrap()).expect("again");
        let trim = word(header, 80);
        let low = (1 << 24) - 1;
        if trim >> 63 == 1 && trim & low == head & low {
            let (kept, rest) = ((trim >> 24) & 0xFFFF, (trim >> 40) & 0xFFFF);
            let units: Vec<u8> = self.bytes(words, words + 2 * kept).collect();
            self.chunk(again, &units, time);
            if trim & Trim::MOVED != 0 {
                let moved = &header[MOVED_OFFSET..MOVED_OFFSET + UNIT * rest as usize];
                self.chunk(Again::default(), moved, time);
                return true;
            }
            let again = Again::from_bytes(header[88..96].try_into().unwrap()).expect("again");
            let from = units.len() - UNIT * again.period as usize;
            self.chunk(again, &units[from..from + UNIT * rest as usize], time);
            return true;
        }
        let mut units: Vec<u8> = self.bytes(words, cleared).collect();
        let end = units.chunks_exact(UNIT).take_while(|unit| number(unit).is_some()).count() * UNIT;
        let is_certain = end + 1 < units.len();
        units.truncate(end);
        if again.is_counted {
            let rest = units.len() % (UNIT * again.period as usize);
            units.drain(..units.len() - rest);
        }
        self.chunk(again, &units, time);
        is_certain
    }
}

pub(super) fn read(header: &[u8], data: &[u8]) -> Reading {
    let (state, cleared) = (State(word(header, 40)), word(header, 72));
    let kept = cleared.saturating_sub(data.len() as u64);
    let mut reader = Reader { data, runs: Vec::new(), before: None, time: 0 };
    let mut is_whole = kept == 0;
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
    Reading { runs: reader.runs, kept, is_certain }
}
