//! The values of a line.
//!
//! Bytes and table may be anything: depth and number of values have limits, and what is missing is a value.

use super::format::{Kind, Piece, parse};
use super::table::{DefmtTable, Entry, Use};

/// Values of a line.
const MAX_VALUES: usize = 1000;
/// Values in one another.
const MAX_DEPTH: usize = 24;
/// Ends a text that the program formatted.
const END: u8 = 0xFF;

/// A line.
pub(super) struct Decoded<'t, 'b> {
    pub(super) entry: &'t Entry,
    pub(super) time: Option<Value>,
    pub(super) message: Value,
    /// Bytes that its format has no value for.
    pub(super) rest: &'b [u8],
    /// Bytes of its values are missing, or there were too many.
    pub(super) is_short: bool,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// An integer with this many bytes.
    Unsigned(u128, u8),
    Signed(i128, u8),
    F32(f32),
    F64(f64),
    Bool(bool),
    Char(char),
    Text(String),
    /// A text, perhaps.
    Bytes(Vec<u8>),
    /// Values in a format string.
    Format(Vec<Piece>, Vec<Value>),
    List(Vec<Value>),
    /// One behind the other.
    Sequence(Vec<Value>),
    /// Its bytes are not there, or have no meaning.
    Missing,
}

/// Decodes a line; `None` if its number is not that of a line.
pub(super) fn decode<'t, 'b>(table: &'t DefmtTable, bytes: &'b [u8]) -> Option<Decoded<'t, 'b>> {
    let mut decoder = Decoder { table, bytes, is_short: false, values: 0, depth: 0 };
    let number = decoder.take()?;
    let entry = table.entry(u16::from_le_bytes(number)).filter(|entry| entry.use_ == Use::Line)?;
    let time = table.time().map(|time| decoder.format(time));
    let message = decoder.format(&entry.text);
    Some(Decoded { entry, time, message, rest: decoder.bytes, is_short: decoder.is_short })
}

struct Decoder<'t, 'b> {
    table: &'t DefmtTable,
    bytes: &'b [u8],
    is_short: bool,
    values: usize,
    depth: usize,
}

impl<'t> Decoder<'t, '_> {
    /// The next bytes.
    fn take<const LEN: usize>(&mut self) -> Option<[u8; LEN]> {
        let taken = self.bytes.split_first_chunk();
        self.is_short |= taken.is_none();
        let (bytes, rest) = taken.filter(|_| !self.is_short)?;
        self.bytes = rest;
        Some(*bytes)
    }

    /// As many of the next bytes as there are.
    fn take_some(&mut self, len: usize) -> Vec<u8> {
        let (taken, rest) = self.bytes.split_at(len.min(self.bytes.len()));
        self.is_short |= taken.len() < len;
        self.bytes = rest;
        taken.to_vec()
    }

    fn unsigned(&mut self, bytes: u8) -> Option<u128> {
        Some(match bytes {
            1 => u128::from(u8::from_le_bytes(self.take()?)),
            2 => u128::from(u16::from_le_bytes(self.take()?)),
            3..=4 => u128::from(u32::from_le_bytes(self.take()?)),
            5..=8 => u128::from(u64::from_le_bytes(self.take()?)),
            _ => u128::from_le_bytes(self.take()?),
        })
    }

    fn len(&mut self) -> Option<usize> {
        usize::try_from(self.unsigned(4)?).ok()
    }

    /// The entry with the next number.
    fn entry(&mut self) -> Option<&'t Entry> {
        let number = u16::from_le_bytes(self.take()?);
        let entry = self.table.entry(number);
        // What follows has no meaning then.
        self.is_short |= entry.is_none();
        entry
    }

    /// The values of a format string.
    fn format(&mut self, format: &str) -> Value {
        let Some(pieces) = parse(format) else {
            self.is_short = true;
            return Value::Missing;
        };
        let values = || {
            pieces.iter().filter_map(|piece| match piece {
                Piece::Value { index, kind, .. } => Some((*index, kind)),
                Piece::Text(_) => None,
            })
        };
        let count = values().map(|(index, _)| index + 1).max().unwrap_or(0);
        let mut args = Vec::with_capacity(count);
        for index in 0..count {
            let kinds = values().filter(|(found, _)| *found == index).map(|(_, kind)| kind.clone());
            // Bits of one integer are sent once.
            let kind = kinds.reduce(|first, other| match (first, other) {
                (Kind::Bits(first, end), Kind::Bits(other, other_end)) => {
                    Kind::Bits(first.min(other), end.max(other_end))
                }
                (first, _) => first,
            });
            args.push(kind.map_or(Value::Missing, |kind| self.value(&kind)));
        }
        Value::Format(pieces, args)
    }

    /// The values of an entry, or of one of its variants.
    fn entry_values(&mut self, entry: &Entry) -> Value {
        if entry.use_ == Use::Variants && entry.text.contains('|') {
            let last = entry.text.matches('|').count();
            let bytes = if u8::try_from(last).is_ok() { 1 } else { 2 };
            let chosen = self.unsigned(bytes).and_then(|chosen| usize::try_from(chosen).ok());
            let variant = chosen.and_then(|chosen| entry.text.split('|').nth(chosen));
            self.is_short |= variant.is_none();
            return variant.map_or(Value::Missing, |variant| self.format(variant));
        }
        self.format(&entry.text)
    }

    /// As many values as there are, of the entry whose number comes next.
    fn list(&mut self, len: usize) -> Option<Value> {
        let entry = self.entry()?;
        let mut list = Vec::new();
        while list.len() < len && !self.is_short {
            list.push(self.counted(|decoder| decoder.entry_values(entry)));
        }
        Some(Value::List(list))
    }

    /// Makes a value, unless there are too many.
    fn counted(&mut self, make: impl FnOnce(&mut Self) -> Value) -> Value {
        self.values += 1;
        self.is_short |= self.values > MAX_VALUES || self.depth >= MAX_DEPTH;
        if self.is_short {
            return Value::Missing;
        }
        self.depth += 1;
        let value = make(self);
        self.depth -= 1;
        value
    }

    fn value(&mut self, kind: &Kind) -> Value {
        self.counted(|decoder| decoder.known(kind).unwrap_or(Value::Missing))
    }

    fn known(&mut self, kind: &Kind) -> Option<Value> {
        Some(match *kind {
            Kind::Unsigned(bytes) => Value::Unsigned(self.unsigned(bytes)?, bytes),
            Kind::Signed(bytes) => {
                let shift = 128 - 8 * u32::from(bytes);
                Value::Signed((self.unsigned(bytes)? << shift).cast_signed() >> shift, bytes)
            }
            Kind::Bits(first, end) => {
                let (low, high) = (first / 8, (end - 1) / 8);
                Value::Unsigned(self.unsigned(high - low + 1)? << (8 * low), 16)
            }
            Kind::Bool => Value::Bool(self.unsigned(1)? != 0),
            Kind::Char => Value::Char(
                u32::try_from(self.unsigned(4)?).ok().and_then(char::from_u32).unwrap_or('\u{FFFD}'),
            ),
            Kind::F32 => Value::F32(f32::from_le_bytes(self.take()?)),
            Kind::F64 => Value::F64(f64::from_le_bytes(self.take()?)),
            Kind::Interned => Value::Text(self.entry()?.text.clone()),
            Kind::Str => {
                let len = self.len()?;
                Value::Text(String::from_utf8_lossy(&self.take_some(len)).into_owned())
            }
            Kind::Bytes => {
                let len = self.len()?;
                Value::Bytes(self.take_some(len))
            }
            Kind::ByteArray(len) => Value::Bytes(self.take_some(len)),
            Kind::Formatted => {
                let len = self.bytes.iter().position(|byte| *byte == END);
                let text = self.take_some(len.unwrap_or(self.bytes.len() + 1));
                self.take_some(usize::from(len.is_some()));
                Value::Text(String::from_utf8_lossy(&text).into_owned())
            }
            Kind::Format => {
                let entry = self.entry()?;
                self.entry_values(entry)
            }
            Kind::FormatSlice => {
                let len = self.len()?;
                self.list(len)?
            }
            Kind::FormatArray(len) => self.list(len)?,
            Kind::Sequence => {
                let mut parts = Vec::new();
                while self.bytes.first_chunk() != Some(&[0, 0]) {
                    let Some(entry) = self.entry() else { break };
                    parts.push(self.counted(|decoder| decoder.entry_values(entry)));
                }
                let _: Option<[u8; 2]> = self.take();
                Value::Sequence(parts)
            }
        })
    }
}

impl Kind {
    /// The bits of a value that this is a part of.
    pub(super) fn bits_of(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Kind::Bits(first, end), Value::Unsigned(whole, bytes)) => {
                let mask = u128::MAX >> (128 - u32::from(end - first));
                Some(Value::Unsigned(whole >> first & mask, *bytes))
            }
            _ => None,
        }
    }
}
