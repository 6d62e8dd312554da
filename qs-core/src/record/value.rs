//! Values: the bytes of variables among the statements of a thread.
//!
//! A value is a long word of [`words`](super::words) that goes on. Its first four bytes, the *mark*, have a file id that no
//! source file has, [`FILES`]. The mark has the class of the value and its number, which the map resolves to a name and a
//! place. The payload follows. Every byte of it is a digit, so a reader finds the end of the words as before.
//!
//! | class | bytes of the value | payload in bytes |
//! |---|---|---|
//! | 0 | 0 | 0 |
//! | 1 | 1 | 2 |
//! | 2 | 2 | 4 |
//! | 3 | 4 | 6 |
//! | 4 | 8 | 10 |
//! | 5 | up to [`MAX_BYTES`] | length, flags, type key, length of the target, then groups of 8 bytes in 10 |
//!
//! Payload bytes are the bytes of the value with their highest bit set. The bits that this replaces follow, seven in a byte.

use core::ops::RangeInclusive;

use super::Statement;
use super::digit::{BASE, LEAD, UNIT, byte_of, digit_of, digits, number};
use super::operand;

/// Numbers of values are below this, and start at 1.
pub const NUMBERS: u32 = BASE * BASE * BASE;
/// File ids that values use. No source file gets one of them.
pub const FILES: RangeInclusive<u16> =
    ((FIRST * NUMBERS) >> 16) as u16..=(((FIRST + CLASSES) * NUMBERS - 1) >> 16) as u16;
/// Largest number of bytes of a value.
pub const MAX_BYTES: usize = 64;
/// Length of a mark in bytes.
pub const MARK: usize = 2 * UNIT;
/// Longest value in a ring of words, in bytes.
pub const MAX_WORD: usize = MARK + LONG_HEAD + 2 * KEY + MAX_BYTES / GROUP * GROUP_CODE;
/// The bytes are those of the target, such as the text of a `&str`.
pub const TARGET: u32 = 2;
/// The record has a type key.
pub const TYPED: u32 = 1;

/// First digit of class 0, less that of other long words.
const FIRST: u32 = 40;
const CLASSES: u32 = 6;
/// The class of values with a length of their own.
const LONG: u32 = 5;
/// Length and flags.
const LONG_HEAD: usize = UNIT;
/// Length of a coded type key, and of a coded length of a target.
const KEY: usize = 6;
/// Bytes that class 5 codes at once, and the length of their code.
const GROUP: usize = 8;
const GROUP_CODE: usize = 10;
/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A value that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedValue {
    /// Number of its place in the program, which the map resolves. 0 = not known.
    pub number: u32,
    /// Which type it has, where its place has values of several types.
    pub type_key: Option<u32>,
    /// The bytes are the first ones of its target, which has this number of elements.
    pub target_len: Option<u32>,
    bytes: [u8; MAX_BYTES],
    len: u8,
}

impl RecordedValue {
    /// A value with these bytes, or the first [`MAX_BYTES`] of them.
    pub fn new(number: u32, bytes: &[u8]) -> RecordedValue {
        let len = bytes.len().min(MAX_BYTES);
        let mut value =
            RecordedValue { number, type_key: None, target_len: None, bytes: [0; MAX_BYTES], len: len as u8 };
        value.bytes[..len].copy_from_slice(&bytes[..len]);
        value
    }

    /// The bytes in the order of the target's memory. Values of 3, 5, 6 and 7 bytes have zeros behind them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len).min(MAX_BYTES)]
    }

    fn flags(&self) -> u32 {
        (if self.type_key.is_some() { TYPED } else { 0 })
            | (if self.target_len.is_some() { TARGET } else { 0 })
    }

    /// The value in a ring of words, as bytes and their count.
    pub fn to_word(&self) -> ([u8; MAX_WORD], usize) {
        let (mut word, mut len) = ([0; MAX_WORD], MARK);
        let mut put = |bytes: &[u8]| {
            word[len..len + bytes.len()].copy_from_slice(bytes);
            len += bytes.len();
        };
        let short = self.bytes().len();
        let class = if self.flags() != 0 { LONG } else { class_of(short) };
        match class {
            0 => {}
            1 => put(&coded(self.group(0), 1).0[..2]),
            2 => put(&coded(self.group(0), 2).0[..4]),
            3 => put(&coded(self.group(0), 4).0[..6]),
            4 => put(&coded(self.group(0), 8).0),
            _ => {
                put(&long_head(short, self.flags()));
                for key in [self.type_key, self.target_len].into_iter().flatten() {
                    put(&coded(key.into(), 4).0[..KEY]);
                }
                (0..short.div_ceil(GROUP)).for_each(|index| put(&coded(self.group(index), GROUP).0));
            }
        }
        word[..MARK].copy_from_slice(&mark(self.number, class));
        (word, len)
    }

    /// The bytes of a group, zeros behind the last one.
    fn group(&self, index: usize) -> u64 {
        let mut group = [0; GROUP];
        group.copy_from_slice(&self.bytes[index * GROUP..(index + 1) * GROUP]);
        u64::from_le_bytes(group)
    }

    /// The value at the start of `bytes`, and its length. `None` if they are not a whole value.
    pub fn from_word(bytes: &[u8]) -> Option<(RecordedValue, usize)> {
        let class = class(*bytes.first()?)?;
        let len = word_len(bytes)?;
        let payload = bytes.get(MARK..len)?;
        let mut value = RecordedValue::new(number(&bytes[1..MARK])? as u32, &[]);
        if class != LONG {
            value.len = [0, 1, 2, 4, 8][class as usize];
            value.put_group(0, decoded(payload, usize::from(value.len))?);
            return Some((value, len));
        }
        let (mut payload, flags) = (&payload[LONG_HEAD..], digit_of(payload[1])?);
        let mut key = |flag: u32| {
            if flags & flag == 0 {
                return Some(None);
            }
            let (key, rest) = payload.split_at_checked(KEY)?;
            payload = rest;
            Some(Some(decoded(key, 4)? as u32))
        };
        (value.type_key, value.target_len) = (key(TYPED)?, key(TARGET)?);
        for (index, group) in payload.chunks(GROUP_CODE).enumerate() {
            value.put_group(index, decoded(group, GROUP)?);
        }
        value.len = digit_of(bytes[MARK])? as u8;
        value.bytes[usize::from(value.len)..].fill(0);
        Some((value, len))
    }

    fn put_group(&mut self, index: usize, group: u64) {
        self.bytes[index * GROUP..(index + 1) * GROUP].copy_from_slice(&group.to_le_bytes());
    }

    /// Writes the operands of a step of packed statements. No byte is 0 or 0x80 or more, or needs an escape.
    pub fn operands(&self, mut sink: impl FnMut(u8)) {
        operand::digits(self.number.into(), &mut sink);
        operand::digits(u64::from(self.flags() * 128 + u32::from(self.len)), &mut sink);
        for key in [self.type_key, self.target_len].into_iter().flatten() {
            operand::digits(key.into(), &mut sink);
        }
        for part in self.bytes().chunks(3) {
            let bits = part.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
            (0..=part.len()).for_each(|index| sink(1 + (bits >> (6 * index) & 0x3F) as u8));
        }
    }

    /// The reverse of [`RecordedValue::operands`], from `at` on, which moves behind them. `None` if some are missing.
    pub(super) fn from_operands(data: &[u8], at: &mut usize) -> Option<RecordedValue> {
        let mut next = || operand::whole_number(data, at);
        let number = u32::try_from(next()?).ok().filter(|number| *number > 0)?;
        let mut value = RecordedValue::new(number, &[]);
        let facts = next()?;
        let (flags, len) = ((facts >> 7) as u32, (facts & 127) as usize);
        if len > MAX_BYTES {
            return None;
        }
        let mut key =
            |flag: u32| if flags & flag == 0 { Some(None) } else { next().map(|key| Some(key as u32)) };
        (value.type_key, value.target_len) = (key(TYPED)?, key(TARGET)?);
        for part in value.bytes[..len].chunks_mut(3) {
            let mut bits = 0;
            for index in 0..=part.len() {
                let byte = data.get(*at).filter(|byte| matches!(**byte, 0x01..=0x40))?;
                bits |= u32::from(byte - 1) << (6 * index);
                *at += 1;
            }
            part.copy_from_slice(&bits.to_le_bytes()[..part.len()]);
        }
        value.len = len as u8;
        Some(value)
    }
}

/// The class of a value of `size` bytes. Values of 3, 5, 6 and 7 bytes are padded with zeros.
pub const fn class_of(size: usize) -> u32 {
    match size {
        0..=2 => size as u32,
        3 | 4 => 3,
        5..=8 => 4,
        _ => LONG,
    }
}

/// The mark of a value.
#[inline]
pub const fn mark(number: u32, class: u32) -> [u8; MARK] {
    digits(((LEAD + FIRST + class) * NUMBERS) as u64 + (number % NUMBERS) as u64)
}

/// The mark of a value with length and flags.
#[inline]
pub const fn long_mark(number: u32) -> [u8; MARK] {
    mark(number, LONG)
}

/// Length and flags of a value with a mark of [`long_mark`].
#[inline]
pub const fn long_head(len: usize, flags: u32) -> [u8; LONG_HEAD] {
    [byte_of(len as u32), byte_of(flags)]
}

/// The statement that a value's mark looks like.
pub const fn is_value(statement: Statement) -> bool {
    matches!((statement.to_word() / NUMBERS).wrapping_sub(FIRST), 0..CLASSES)
}

/// The low `size` bytes of `value` as payload: as bytes and their count. `size` is 1, 2, 4 or 8.
#[inline(always)]
pub const fn coded(value: u64, size: usize) -> ([u8; GROUP_CODE], usize) {
    let [a, b, c, d, e, f, g, h] = (value | HIGH).to_le_bytes();
    let [m, n] = high_bits(value).to_le_bytes();
    let pad = 0x80;
    match size {
        1 => ([a, pad | (value as u8) >> 7, 0, 0, 0, 0, 0, 0, 0, 0], 2),
        2 => ([a, b, pad | m & 3, pad, 0, 0, 0, 0, 0, 0], 4),
        4 => ([a, b, c, d, pad | m & 15, pad, 0, 0, 0, 0], 6),
        _ => ([a, b, c, d, e, f, g, h, m, n], 10),
    }
}

/// The highest bits of the bytes of `value`, lowest byte first, seven in a byte, with the highest bit of each byte set.
#[inline(always)]
pub const fn high_bits(value: u64) -> u16 {
    // Each product of two single bits has a place of its own, so nothing is carried.
    let bits = ((value & HIGH).wrapping_mul(0x0002_0408_1020_4081) >> 56) as u16;
    (bits + (bits & 0x80)) | 0x8080
}

/// The `size` bytes in a payload. `None` if a byte is not one of a payload.
fn decoded(payload: &[u8], size: usize) -> Option<u64> {
    let (low, high) = payload.split_at_checked(size)?;
    if payload.iter().any(|byte| *byte < 0x80) {
        return None;
    }
    let high_bit = |index: usize| u64::from(high[index / 7]) >> (index % 7) & 1;
    let byte = |(index, byte): (usize, &u8)| (u64::from(byte & 0x7F) | high_bit(index) << 7) << (8 * index);
    Some(low.iter().enumerate().map(byte).sum())
}

/// Whether the mark of a value starts with this byte.
#[inline]
pub const fn is_mark(first: u8) -> bool {
    class(first).is_some()
}

/// The class of a value whose mark starts with this byte. `None` if no mark does.
#[inline]
pub(super) const fn class(first: u8) -> Option<u32> {
    match digit_of(first) {
        Some(digit) if digit >= LEAD + FIRST && digit < LEAD + FIRST + CLASSES => Some(digit - LEAD - FIRST),
        _ => None,
    }
}

/// Length of the value whose mark `bytes` start with. `None` if they are no mark, or too few to know.
#[inline]
pub(super) fn word_len(bytes: &[u8]) -> Option<usize> {
    let payload = match class(*bytes.first()?)? {
        0 => 0,
        1 => 2,
        2 => 4,
        3 => 6,
        4 => 10,
        _ => {
            let (len, flags) = (digit_of(*bytes.get(MARK)?)? as usize, digit_of(*bytes.get(MARK + 1)?)?);
            if len > MAX_BYTES || flags > (TYPED | TARGET) {
                return None;
            }
            LONG_HEAD + KEY * flags.count_ones() as usize + len.div_ceil(GROUP) * GROUP_CODE
        }
    };
    Some(MARK + payload)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::record::TaskMark;
    use crate::record::words::{LONG_END, Named, Words, word_len};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn values() -> impl Strategy<Value = RecordedValue> {
        let byte = prop_oneof![Just(0u8), Just(0x7D), Just(0x7E), Just(0x80), Just(0xFF), any::<u8>()];
        let bytes = prop::collection::vec(byte, 0..=MAX_BYTES);
        (1..NUMBERS, bytes, any::<Option<u32>>(), any::<Option<u32>>()).prop_map(
            |(number, bytes, type_key, target_len)| RecordedValue {
                type_key,
                target_len,
                ..RecordedValue::new(number, &bytes)
            },
        )
    }

    /// As it is read: values without a length of their own are padded.
    fn padded(value: RecordedValue) -> RecordedValue {
        let len = match value.len {
            3 if value.flags() == 0 => 4,
            5..=7 if value.flags() == 0 => 8,
            len => len,
        };
        RecordedValue { len, ..value }
    }

    proptest! {
        #[test]
        fn words_survive_a_round_trip(values in prop::collection::vec(values(), 1..9)) {
            let mut bytes = Vec::new();
            for value in &values {
                let (word, len) = value.to_word();
                prop_assert!(word[..len].iter().all(|byte| digit_of(*byte).is_some()) && len % UNIT == 0);
                prop_assert_eq!(word_len(&word[..len]), Some(len));
                // A value that is cut is not one.
                for len in 0..len {
                    prop_assert_eq!(Words::new(&word[..len]).next(), None);
                }
                bytes.extend(&word[..len]);
            }
            let mut words = Words::new(&bytes);
            let read: Vec<_> = words.by_ref().collect();
            prop_assert_eq!(words.at(), bytes.len());
            let all: Vec<_> = values.iter().map(|value| Named::Value(padded(*value))).collect();
            prop_assert_eq!(read, all);
        }

        #[test]
        fn operands_survive_a_round_trip(values in prop::collection::vec(values(), 1..9)) {
            let mut bytes = Vec::new();
            for value in &values {
                value.operands(|byte| bytes.push(byte));
            }
            prop_assert!(bytes.iter().all(|byte| matches!(byte, 1..=0x40)));
            let mut at = 0;
            for value in &values {
                prop_assert_eq!(RecordedValue::from_operands(&bytes, &mut at), Some(*value));
            }
            prop_assert_eq!(at, bytes.len());
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 4..120), class in 0..CLASSES) {
            bytes[..MARK].copy_from_slice(&mark(7, class));
            let mut words = Words::new(&bytes);
            while words.next().is_some() {}
            prop_assert!(words.at() <= bytes.len());
            if let Some((value, len)) = RecordedValue::from_word(&bytes) {
                prop_assert!(value.bytes().len() <= MAX_BYTES && len <= bytes.len());
            }
            let mut at = 0;
            while at < bytes.len() && RecordedValue::from_operands(&bytes, &mut at).is_some() {}
            prop_assert!(at <= bytes.len());
        }
    }

    #[test]
    fn marks_are_no_statements_of_files_and_no_tasks() {
        assert!(FILES.start() >= TaskMark::FILES.end());
        for number in [1, 300, NUMBERS - 1] {
            for class in 0..CLASSES {
                let value = super::super::words::number(&mark(number, class)).unwrap() as u32;
                let statement = Statement::from_word(value - LEAD * NUMBERS);
                assert!(
                    is_value(statement) && FILES.contains(&statement.file) && statement.to_word() < LONG_END
                );
                assert!(TaskMark::of(statement).is_none());
            }
        }
        for file in (0..=u16::MAX).filter(|file| !FILES.contains(file)) {
            assert!([0, 1, u16::MAX].iter().all(|line| !is_value(Statement { file, line: *line })), "{file}");
        }
        assert_eq!(long_mark(9), mark(9, LONG));
    }

    #[test]
    fn a_long_value_is_as_long_as_it_can_be() {
        let value = RecordedValue {
            type_key: Some(u32::MAX),
            target_len: Some(0),
            ..RecordedValue::new(NUMBERS - 1, &[0xFF; MAX_BYTES + 9])
        };
        let (word, len) = value.to_word();
        assert_eq!(len, MAX_WORD);
        assert_eq!(RecordedValue::from_word(&word), Some((value, len)));
    }
}
