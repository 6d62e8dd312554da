//! Words: the form in which a hosted recorder stores statements, one plain store each.
//!
//! A word is one or two *units* of two bytes. No byte of a unit is 0x00, 0x7D or 0x7E. So words need no escapes, and
//! the written words end at the first unit with such a byte. A byte is a *digit* in base 253.
//!
//! | word | units | first digit | value |
//! |---|---|---|---|
//! | short | 1 | below [`LEAD`] | the number of a statement, which the map resolves, see [`SHORT_END`] |
//! | long | 2 | [`LEAD`] or more | file and line in one number, [`Statement::to_word`], see [`LONG_END`] |
//! | value | 2 and more | that of a class of [`value`] | the bytes of a variable, see [`RecordedValue`] |
//!
//! A *chunk* is one record, id [`ids::PACKED`](super::ids::PACKED). In a ring it has this layout. The first word is at a
//! multiple of eight bytes of the ring:
//!
//! | part | bytes | |
//! |---|---|---|
//! | sequence number, id | 2 or 3 | the sequence number may be escaped |
//! | pad length | 1 | one more than the bytes of padding |
//! | padding | 0..=8 | digits of value 0 |
//! | time | 5 | digits: low 32 bits of the clock when the chunk was opened; 0 = not known |
//! | repetition | 8 | digits, see [`UnitRepetition`]: what repeats between the previous chunk and the words of this one |
//! | words | | |
//! | checksum, flag | 2 or 3 | |
//!
//! A unit of two zero digits is not a word: it fills the room before a first word that is not at a multiple of eight.
//!
//! An open chunk has zeros before `repetition`, which is zero or written. Its words end at the first byte that no word has.
//! On a link a chunk is cut into records of a stock host: `time u32, 0x09 length u8, words`. A repetition is an event.

use super::Statement;
pub use super::digit::{BASE, LEAD, UNIT, byte_of, digit_of, digits, number};
use super::value::{self, RecordedValue};

/// The value of a unit that fills.
const FILLER: u32 = 0;
/// The bytes of a unit that fills.
pub const FILLER_BYTES: [u8; UNIT] = digits(FILLER as u64);
/// Statement numbers from 1 up to this one, exclusive, have short words.
pub const SHORT_END: u32 = LEAD * BASE;
/// Values of long words are below this.
pub const LONG_END: u32 = (BASE - LEAD) * BASE * BASE * BASE;
/// Length of a chunk's head without sequence number and padding: id, pad length, time, repetition.
pub const HEAD: usize = 1 + 1 + TIME + REPETITION;
/// Longest head in bytes.
pub const MAX_HEAD: usize = HEAD + 1 + 8;
/// Length of the head of a chunk at position `head` with sequence number `seq`. Its first word is at a multiple of eight.
#[inline(always)]
pub const fn head_len(head: u64, seq: u8) -> usize {
    let len = HEAD + 1 + crate::frame::needs_escape(seq) as usize;
    len + (head.wrapping_add(len as u64).wrapping_neg() as usize & 7)
}

/// Number of digits of the time.
pub const TIME: usize = 5;
/// Number of digits of [`UnitRepetition`].
pub const REPETITION: usize = 8;
/// Largest number of bytes behind the words of a chunk.
pub const TAIL: usize = 3;
/// Longest period of [`UnitRepetition`] in units.
pub const MAX_PERIOD: u32 = BASE * BASE - 1;
/// Largest count of [`UnitRepetition`]. A recorder stops folding there.
pub const MAX_TIMES: u64 = (BASE as u64).pow(5) - 1;

/// A statement's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// One unit.
    Short([u8; UNIT]),
    /// Two units.
    Long([u8; 2 * UNIT]),
}

impl Word {
    /// The word of a statement with this number in its program, 0 = no number. `None` if no word is large enough.
    #[inline]
    pub const fn new(statement: Statement, number: u32) -> Option<Word> {
        if number > 0 && number < SHORT_END {
            return Some(Word::Short(digits(number as u64)));
        }
        let value = statement.to_word();
        if value >= LONG_END {
            return None;
        }
        Some(Word::Long(digits(value as u64 + LEAD as u64 * (BASE as u64).pow(3))))
    }
}

/// What a word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The number of a statement in its program.
    Number(u32),
    /// A statement by file and line.
    Statement(Statement),
    /// The bytes of a variable.
    Value(RecordedValue),
}

/// Length of the word at the start of `bytes`, which may have fewer. `None` if they are too few to know, or no word.
#[inline]
pub fn word_len(bytes: &[u8]) -> Option<usize> {
    let first = *bytes.first()?;
    match digit_of(first)? {
        ..LEAD => Some(UNIT),
        _ if value::class(first).is_some() => value::word_len(bytes),
        _ => Some(2 * UNIT),
    }
}

/// Iterates over the words in some bytes, up to the first byte that no word has.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    /// Starts at the first byte.
    pub const fn new(bytes: &'a [u8]) -> Words<'a> {
        Words { bytes, at: 0 }
    }

    /// Number of bytes read so far.
    pub const fn at(&self) -> usize {
        self.at
    }
}

impl Iterator for Words<'_> {
    type Item = Named;

    fn next(&mut self) -> Option<Named> {
        let unit = |at: usize| number(self.bytes.get(at..at + UNIT)?);
        let mut first = unit(self.at)? as u32;
        while first == FILLER {
            self.at += UNIT;
            first = unit(self.at)? as u32;
        }
        if first < SHORT_END {
            self.at += UNIT;
            return Some(Named::Number(first));
        }
        if value::class(self.bytes[self.at]).is_some() {
            let (value, len) = RecordedValue::from_word(&self.bytes[self.at..])?;
            self.at += len;
            return Some(Named::Value(value));
        }
        let second = unit(self.at + UNIT)? as u32;
        self.at += 2 * UNIT;
        // The value was below LONG_END when it was written, so this cannot overflow.
        let value = (first - SHORT_END) * BASE * BASE + second;
        Some(Named::Statement(Statement::from_word(value)))
    }
}

/// A repetition of units: the `period` units before the words of a chunk ran `times` more times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct UnitRepetition {
    /// Number of units, counted back from the first word of the chunk.
    pub period: u32,
    /// Number of repetitions. 0 = no repetition.
    pub times: u64,
    /// The words of the open chunk contain whole periods that `times` already counts, and that are about to be cleared. Only
    /// the words behind the last whole period are new.
    pub is_counted: bool,
}

impl UnitRepetition {
    /// The digits: one for the mark, two for the period, five for the times.
    #[inline]
    pub const fn to_bytes(self) -> [u8; REPETITION] {
        let value = self.times % (MAX_TIMES + 1);
        let value = value + self.period as u64 * (MAX_TIMES + 1);
        digits(value + (self.is_counted as u64) * (BASE as u64).pow(7))
    }

    /// The reverse of [`UnitRepetition::to_bytes`]. `None` if the bytes are not a repetition. Eight zeros mean that none was
    /// written: no repetition.
    pub fn from_bytes(bytes: [u8; REPETITION]) -> Option<UnitRepetition> {
        if bytes == [0; REPETITION] {
            return Some(UnitRepetition::default());
        }
        let value = number(&bytes)?;
        let (mark, rest) = (value / u64::from(BASE).pow(7), value % u64::from(BASE).pow(7));
        let (period, times) = ((rest / (MAX_TIMES + 1)) as u32, rest % (MAX_TIMES + 1));
        let is_one = mark <= 1 && (period > 0 || times == 0);
        is_one.then_some(UnitRepetition { period, times, is_counted: mark == 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_but_three_are_digits() {
        let mut seen = [false; 256];
        for digit in 0..BASE {
            assert_eq!(digit_of(byte_of(digit)), Some(digit));
            seen[usize::from(byte_of(digit))] = true;
        }
        let missing: [u8; 3] = core::array::from_fn(|index| [0, 0x7D, 0x7E][index]);
        for byte in 0..=255u8 {
            assert_eq!(seen[usize::from(byte)], !missing.contains(&byte), "{byte:#x}");
            assert_eq!(digit_of(byte).is_some(), !missing.contains(&byte), "{byte:#x}");
        }
    }

    fn bytes(word: Word) -> ([u8; 4], usize) {
        match word {
            Word::Short([a, b]) => ([a, b, 0, 0], 2),
            Word::Long(bytes) => (bytes, 4),
        }
    }

    #[test]
    fn words_survive_a_round_trip() {
        for number in [1, 2, 252, 253, 254, 31_000, SHORT_END - 1] {
            let (bytes, len) = bytes(Word::new(Statement { file: 9, line: 9 }, number).unwrap());
            assert_eq!(len, 2);
            assert_eq!(Words::new(&bytes).next(), Some(Named::Number(number)));
        }
        for statement in [(0, 0), (0, 1), (1, 0), (1, 65_535), (300, 77), (13_000, 3)] {
            let statement = Statement { file: statement.0, line: statement.1 };
            for number in [0, SHORT_END, u32::MAX] {
                let (bytes, len) = bytes(Word::new(statement, number).unwrap());
                assert_eq!(len, 4);
                assert_eq!(Words::new(&bytes).next(), Some(Named::Statement(statement)));
            }
        }
        let last = Statement::from_word(LONG_END - 1);
        assert_eq!(Words::new(&bytes(Word::new(last, 0).unwrap()).0).next(), Some(Named::Statement(last)));
        assert_eq!(Word::new(Statement::from_word(LONG_END), 0), None);
    }

    #[test]
    fn a_head_has_the_least_padding_before_its_first_word() {
        for (seq, len) in [(0, HEAD + 1), (crate::frame::FLAG, HEAD + 2), (crate::frame::ESCAPE, HEAD + 2)] {
            for head in (0..20).chain([u64::MAX - 3]) {
                let found = head_len(head, seq);
                assert!((len..len + 8).contains(&found) && found <= MAX_HEAD, "{head} {seq}: {found}");
                assert_eq!(head.wrapping_add(found as u64) % 8, 0, "{head} {seq}: {found}");
            }
        }
    }

    #[test]
    fn filler_is_not_a_word() {
        let (seven, _) = bytes(Word::new(Statement { file: 1, line: 1 }, 7).unwrap());
        let filled = [FILLER_BYTES, FILLER_BYTES, [seven[0], seven[1]], FILLER_BYTES];
        let mut words = Words::new(filled.as_flattened());
        assert_eq!((words.next(), words.at()), (Some(Named::Number(7)), 6));
        assert_eq!(words.next(), None);
        assert_eq!(Words::new(&[]).next(), None);
    }

    #[test]
    fn repetitions_survive_a_round_trip() {
        for repetition in [
            UnitRepetition::default(),
            UnitRepetition { period: 1, times: 1, is_counted: false },
            UnitRepetition { period: MAX_PERIOD, times: MAX_TIMES, is_counted: true },
            UnitRepetition { period: 4000, times: 123_456_789, is_counted: false },
        ] {
            assert_eq!(UnitRepetition::from_bytes(repetition.to_bytes()), Some(repetition));
        }
        assert_eq!(UnitRepetition::from_bytes([0; REPETITION]), Some(UnitRepetition::default()));
        assert_eq!(UnitRepetition::from_bytes(digits(2 * (BASE as u64).pow(7))), None);
        assert_eq!(
            UnitRepetition::from_bytes(UnitRepetition { times: 1, ..UnitRepetition::default() }.to_bytes()),
            None
        );
    }
}
