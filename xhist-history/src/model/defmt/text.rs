//! Values as text, as `defmt`'s own tools write them.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::decode::Value;
use super::format::{Hint, Piece, Style};
use super::table::DefmtTable;

/// Bytes of a text.
const MAX_LEN: usize = 1000;
/// Ends one that was cut.
const CUT: &str = "...";

/// A text that is being written.
pub(super) struct Text<'t> {
    table: &'t DefmtTable,
    text: String,
}

impl<'t> Text<'t> {
    pub(super) fn new(table: &'t DefmtTable) -> Text<'t> {
        Text { table, text: String::new() }
    }

    fn is_full(&self) -> bool {
        self.text.len() > MAX_LEN
    }

    pub(super) fn push(&mut self, text: &str) {
        if !self.is_full() {
            self.text.push_str(text);
        }
    }

    pub(super) fn finish(mut self) -> String {
        if self.is_full() {
            // Not within a character.
            let end = (0..=MAX_LEN).rev().find(|end| self.text.is_char_boundary(*end));
            self.text.truncate(end.unwrap_or(0));
            self.text.push_str(CUT);
        }
        self.text
    }

    /// Bytes without a meaning.
    pub(super) fn unknown(&mut self, bytes: &[u8]) {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.push(&format!("<{}>", bytes.join(" ")));
    }

    /// A value. `hint`: how it is written where its own format string does not say so.
    pub(super) fn value(&mut self, value: &Value, hint: Option<&Hint>) {
        let is_debug = matches!(hint, Some(Hint { style: Style::Debug, .. }));
        match value {
            _ if self.is_full() => {}
            Value::Unsigned(number, bytes) => self.integer(*number, None, *bytes, hint),
            Value::Signed(number, bytes) => self.integer(number.cast_unsigned(), Some(*number), *bytes, hint),
            Value::F32(number) => self.push(&format!("{number:?}")),
            Value::F64(number) => self.push(&format!("{number:?}")),
            Value::Bool(is) => self.push(&is.to_string()),
            Value::Char(char) if is_debug => self.push(&format!("{char:?}")),
            Value::Char(char) => self.push(char.encode_utf8(&mut [0; 4])),
            Value::Text(text) if is_debug => self.push(&format!("{text:?}")),
            Value::Text(text) => self.push(text),
            Value::Bytes(bytes) => self.bytes(bytes, hint),
            Value::Format(pieces, args) => {
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => self.push(text),
                        Piece::Value { index, kind, hint: own } => {
                            let arg = args.get(*index).unwrap_or(&Value::Missing);
                            let bits = kind.bits_of(arg);
                            self.value(bits.as_ref().unwrap_or(arg), own.as_ref().or(hint));
                        }
                    }
                }
            }
            Value::List(list) => self.list(list.len(), |text, index| text.value(&list[index], hint)),
            Value::Sequence(parts) => parts.iter().for_each(|part| self.value(part, hint)),
            Value::Missing => self.push("?"),
        }
    }

    fn list(&mut self, len: usize, mut item: impl FnMut(&mut Self, usize)) {
        self.push("[");
        for index in 0..len {
            self.push(if index > 0 { ", " } else { "" });
            item(self, index);
            if self.is_full() {
                return;
            }
        }
        self.push("]");
    }

    fn bytes(&mut self, bytes: &[u8], hint: Option<&Hint>) {
        match hint {
            Some(Hint { style: Style::Ascii, .. }) => self.push(&format!("b\"{}\"", bytes.escape_ascii())),
            _ => self.list(bytes.len(), |text, index| text.integer(bytes[index].into(), None, 1, hint)),
        }
    }

    /// An integer with this many bytes. `signed`: its value if it has a sign.
    fn integer(&mut self, number: u128, signed: Option<i128>, bytes: u8, hint: Option<&Hint>) {
        let bits = number & u128::MAX >> (128 - 8 * u32::from(bytes.clamp(1, 16)));
        let plain = signed.map_or_else(|| bits.to_string(), |number| number.to_string());
        let Some(Hint { style, has_prefix, width }) = hint else { return self.push(&plain) };
        let width = *width;
        let text = match (style, has_prefix) {
            (Style::Hex, true) => format!("{bits:#0width$x}"),
            (Style::Hex, false) => format!("{bits:0width$x}"),
            (Style::UpperHex, true) => format!("{bits:#0width$X}"),
            (Style::UpperHex, false) => format!("{bits:0width$X}"),
            (Style::Octal, true) => format!("{bits:#0width$o}"),
            (Style::Octal, false) => format!("{bits:0width$o}"),
            (Style::Binary, true) => format!("{bits:#0width$b}"),
            (Style::Binary, false) => format!("{bits:0width$b}"),
            (Style::Plain, _) => {
                signed.map_or_else(|| format!("{bits:0width$}"), |number| format!("{number:0width$}"))
            }
            (Style::Seconds(decimals), _) => seconds(bits, *decimals),
            (Style::Time(decimals), _) => time(bits, *decimals),
            (Style::Date(decimals), _) => date(bits, *decimals).unwrap_or(plain),
            (Style::Flags(set), _) => self.flags(bits, set),
            (Style::Ascii | Style::Debug, _) => plain,
        };
        self.push(&text);
    }

    /// The names of flags, and the bits that have none.
    fn flags(&self, bits: u128, set: &str) -> String {
        let mut left = bits;
        let mut names = Vec::new();
        for (name, flag) in self.table.flags(set) {
            if flag != 0 && bits & flag == flag {
                left &= !flag;
                names.push(name.to_owned());
            }
        }
        if left != 0 || names.is_empty() {
            names.push(format!("{left:#x}"));
        }
        names.join(" | ")
    }
}

/// Seconds with decimals.
fn seconds(number: u128, decimals: u32) -> String {
    let unit = 10_u128.pow(decimals);
    match decimals {
        0 => number.to_string(),
        _ => format!("{}.{:0width$}", number / unit, number % unit, width = decimals as usize),
    }
}

/// `1:02:03:04.500`, the days only if there are any.
fn time(number: u128, decimals: u32) -> String {
    let unit = 10_u128.pow(decimals);
    let whole = number / unit;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    let mut text = if days > 0 { format!("{days}:") } else { String::new() };
    let _ = write!(text, "{hours:02}:{minutes:02}:{:02}", whole % 60);
    if decimals > 0 {
        let _ = write!(text, ".{:0width$}", number % unit, width = decimals as usize);
    }
    text
}

/// A date in UTC.
fn date(number: u128, decimals: u32) -> Option<String> {
    let milliseconds = number.checked_mul(10_u128.pow(3 - decimals.min(3)))?;
    Some(Timestamp::from_millisecond(milliseconds.try_into().ok()?).ok()?.to_string())
}
