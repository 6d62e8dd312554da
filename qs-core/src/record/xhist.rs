//! xhist's own records: application records with four ids in the last user group of QS.
//!
//! | id | record | payload | how a stock QSPY (`-T4`) shows it |
//! |---|---|---|---|
//! | 120 | statement | `line u16, file u16` | a record without elements whose time stamp is line + 65536 * file |
//! | 121 | statement with time | `time u32, 0xE0 file u8, 0x03 line u16` | `0000123456 USER+021 003 93` |
//! | 122 | packed statements | `time u32, 0xE0 file u8, 0x03 line u16, 0x09 length u8, data`, see [`packed`](super::packed) | `0000123456 USER+022 003 0  FD FE` |
//! | 122 | words, in a stream | `time u32, 0x09 length u8, words`, see [`chunk`](super::chunk) | `0000123456 USER+022 02 39 02 3A` |
//! | 123 | event | `time u32, 0x01 kind u8, 0x0E value u64`; a panic has [more](super::PanicSite) | `0000123456 USER+023 1  42` |
//!
//! A file is a value of enumeration 6, so a host with its dictionary shows the name. File ids from 256 on are numbers
//! instead, `0x03 file u16`. The first of the four ids is configurable; the ring header contains it.

use byteorder::{ByteOrder as _, LittleEndian};

use super::element::Data;
use crate::frame::{Frame, FrameWriter};

/// The enumeration of source files. Its dictionary has their names.
pub const FILES: u8 = 6;

/// Default id of the first of xhist's records.
pub const RECORD_BASE: u8 = 120;

/// Offsets of xhist's record ids from the first one.
pub mod ids {
    /// A statement without a time stamp.
    pub const STATEMENT: u8 = 0;
    /// A statement with a time stamp of 4 bytes.
    pub const STATEMENT_TIMED: u8 = 1;
    /// Several statements in one frame.
    pub const PACKED: u8 = 2;
    /// Something that happened to the program or to its recorder.
    pub const EVENT: u8 = 3;
}

const FORMAT_U8: u8 = Data::Uint(1).format(0);
pub(super) const FORMAT_U16: u8 = Data::Uint(2).format(0);
pub(super) const FORMAT_FILE: u8 = Data::Enum(FILES).format(0);
const FORMAT_U64: u8 = Data::Uint(8).format(0);

/// A statement: a line of a file, as the map file knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Statement {
    /// File id.
    pub file: u16,
    /// Line, without the `base` that the map has for the file.
    pub line: u16,
}

impl Statement {
    /// File and line in one number, the file in the upper 16 bits.
    #[inline]
    pub const fn to_word(self) -> u32 {
        (self.file as u32) << 16 | self.line as u32
    }

    /// The reverse of [`Statement::to_word`].
    #[inline]
    pub const fn from_word(word: u32) -> Statement {
        Statement { file: (word >> 16) as u16, line: word as u16 }
    }

    /// The element of the file, in the first bytes of the array, and their count: a value of the enumeration [`FILES`], or a
    /// number for a file id above 255.
    #[inline]
    pub const fn file_element(self) -> ([u8; 3], usize) {
        match self.file.to_le_bytes() {
            [file, 0] => ([FORMAT_FILE, file, 0], 2),
            [low, high] => ([FORMAT_U16, low, high], 3),
        }
    }

    /// Writes the frame of this statement to `sink`. `base` is the first id of xhist's records, at most 252; `time` is the low
    /// 4 bytes of the clock.
    #[inline]
    pub fn emit(self, seq: u8, base: u8, time: Option<u32>, sink: impl FnMut(u8)) {
        match time {
            None => FrameWriter::new(seq, base + ids::STATEMENT, sink).u32(self.to_word()).finish(),
            Some(time) => {
                let mut frame = FrameWriter::new(seq, base + ids::STATEMENT_TIMED, sink).u32(time);
                let (file, len) = self.file_element();
                frame.push(&file[..len]);
                frame.u8(FORMAT_U16).u16(self.line).finish();
            }
        }
    }
}

/// The file id of the first element, and the elements behind it. `None` if the first element is not a file.
pub(super) fn file(elements: &[u8]) -> Option<(u16, &[u8])> {
    match elements {
        [FORMAT_FILE, file, rest @ ..] => Some((u16::from(*file), rest)),
        [FORMAT_U16, low, high, rest @ ..] => Some((LittleEndian::read_u16(&[*low, *high]), rest)),
        _ => None,
    }
}

/// Kind of an event record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The thread panicked. [`PanicSite`](super::PanicSite) has the value, and what follows it.
    Panic,
    /// The value is the clock in full. Written when its low 4 bytes could have wrapped since the previous statement.
    Time,
    /// A fatal signal arrived. The value is its number.
    Signal,
    /// A trigger started recording. The value is 0.
    Started,
    /// A trigger stopped recording. The value is 0.
    Stopped,
    /// Recording will stop after a number of statements: the value.
    Armed,
    /// On a link that several threads share: what follows is of another thread. The value is its number.
    Thread,
    /// The program ends. The value is its exit code.
    Exit,
    /// On a link: the newest words repeat. The value is [`UnitRepetition::to_event`](super::words::UnitRepetition::to_event).
    Repetition,
    /// In a lane: a signal handler begins here. The value is the position in the interrupted ring.
    Handler,
    /// Everything before this event ran before the time in the value, the clock in full. It is less than 2^32 ticks after
    /// the previous stamp.
    Until,
    /// A kind of a newer recorder, by its number.
    Unknown(u8),
}

impl EventKind {
    /// The number on the wire.
    pub const fn code(self) -> u8 {
        match self {
            EventKind::Panic => 1,
            EventKind::Time => 2,
            EventKind::Signal => 3,
            EventKind::Started => 4,
            EventKind::Stopped => 5,
            EventKind::Armed => 6,
            EventKind::Thread => 7,
            EventKind::Exit => 8,
            EventKind::Repetition => 9,
            EventKind::Handler => 10,
            EventKind::Until => 11,
            EventKind::Unknown(code) => code,
        }
    }

    const fn from_code(code: u8) -> EventKind {
        match code {
            1 => EventKind::Panic,
            2 => EventKind::Time,
            3 => EventKind::Signal,
            4 => EventKind::Started,
            5 => EventKind::Stopped,
            6 => EventKind::Armed,
            7 => EventKind::Thread,
            8 => EventKind::Exit,
            9 => EventKind::Repetition,
            10 => EventKind::Handler,
            11 => EventKind::Until,
            other => EventKind::Unknown(other),
        }
    }

    /// The payload of this event.
    pub fn payload(self, time: u32, value: u64) -> [u8; 15] {
        let mut payload = [0; 15];
        payload[..4].copy_from_slice(&time.to_le_bytes());
        payload[4..7].copy_from_slice(&[FORMAT_U8, self.code(), FORMAT_U64]);
        payload[7..].copy_from_slice(&value.to_le_bytes());
        payload
    }

    /// Writes the frame of this event to `sink`, with `base` and `time` as for [`Statement::emit`].
    pub fn emit(self, seq: u8, base: u8, time: u32, value: u64, sink: impl FnMut(u8)) {
        FrameWriter::new(seq, base + ids::EVENT, sink).bytes(&self.payload(time, value)).finish();
    }
}

/// One of xhist's own records, read from its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XhistRecord {
    /// A statement is about to run.
    Statement {
        /// Which statement.
        statement: Statement,
        /// Low 4 bytes of the clock, if the program records time.
        time: Option<u32>,
    },
    /// Something happened to the program.
    Event {
        /// What happened.
        kind: EventKind,
        /// Low 4 bytes of the clock.
        time: u32,
        /// The value. Its meaning depends on the kind.
        value: u64,
    },
}

impl XhistRecord {
    /// Reads a frame of a source whose first id is `base`. `None` if it is another record or has another layout.
    #[inline]
    pub fn parse(frame: &Frame<'_>, base: u8) -> Option<XhistRecord> {
        match (frame.id.checked_sub(base)?, frame.payload) {
            (ids::STATEMENT, &[l0, l1, f0, f1]) => Some(XhistRecord::Statement {
                statement: Statement {
                    file: LittleEndian::read_u16(&[f0, f1]),
                    line: LittleEndian::read_u16(&[l0, l1]),
                },
                time: None,
            }),
            (ids::STATEMENT_TIMED, payload) => {
                let (time, rest) = payload.split_at_checked(4)?;
                let (file, &[FORMAT_U16, l0, l1]) = file(rest)? else { return None };
                let statement = Statement { file, line: LittleEndian::read_u16(&[l0, l1]) };
                Some(XhistRecord::Statement { statement, time: Some(LittleEndian::read_u32(time)) })
            }
            (ids::EVENT, &[t0, t1, t2, t3, FORMAT_U8, kind, FORMAT_U64, ref value @ ..]) => {
                let kind = EventKind::from_code(kind);
                let (value, rest) = value.split_first_chunk()?;
                (rest.is_empty() || kind == EventKind::Panic).then_some(XhistRecord::Event {
                    kind,
                    time: LittleEndian::read_u32(&[t0, t1, t2, t3]),
                    value: u64::from_le_bytes(*value),
                })
            }
            _ => None,
        }
    }
}
