//! One element of an application record: a format byte, then data. It must not know the record.

use std::fmt::Write;

use super::float::exponent;

/// The bytes of a record that are still to be read.
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Fields of a whole payload.
    pub fn new(rest: &'a [u8]) -> Fields<'a> {
        Fields { rest }
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// A little-endian number of `len` bytes. Where there are fewer it is 0, `line` becomes the
    /// error text that QSPY prints instead, and nothing is left.
    pub fn uint(&mut self, len: usize, line: &mut String) -> u64 {
        self.number(len, "uint", line)
    }

    fn int(&mut self, len: usize, line: &mut String) -> i64 {
        let unused = 64 - 8 * len as u32;
        (self.number(len, "int", line) << unused) as i64 >> unused
    }

    fn number(&mut self, len: usize, name: &str, line: &mut String) -> u64 {
        let Some((bytes, rest)) = self.rest.split_at_checked(len) else {
            let more = len - self.rest.len();
            *line = format!("   <COMMS> ERROR    {more} more bytes needed for {name}{}_t ", 8 * len);
            self.rest = &[];
            return 0;
        };
        self.rest = rest;
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn string(&mut self, line: &mut String) {
        let Some(end) = self.rest.iter().position(|byte| *byte == 0) else {
            *line = format!("   <COMMS> ERROR    {} more bytes needed for string", self.rest.len());
            self.rest = &[];
            return;
        };
        let text = String::from_utf8_lossy(&self.rest[..end]);
        let text = if end == 0 { "''".into() } else { text };
        put(line, format_args!(" {}", crate::model::visible(&text)));
        self.rest = &self.rest[end + 1..];
    }

    fn memory(&mut self, line: &mut String) {
        let taken = self.rest.split_first().and_then(|(len, rest)| rest.split_at_checked(usize::from(*len)));
        let Some((bytes, rest)) = taken else {
            *line = format!("   <COMMS> ERROR    {} more bytes needed for memory-dump", self.rest.len());
            self.rest = &[];
            return;
        };
        line.push(' ');
        for byte in bytes {
            put(line, format_args!(" {byte:02X}"));
        }
        self.rest = rest;
    }
}

/// Reads the next element and appends a blank and its text.
pub fn push_element(fields: &mut Fields<'_>, line: &mut String) {
    let format = fields.uint(1, line);
    let (width, kind) = (format as usize >> 4, format as usize & 15);
    match (kind, width) {
        (0, 8..) => {
            let value = fields.uint(1, line);
            put(line, format_args!(" {value:03}"));
        }
        (1 | 3 | 5, 15) => {
            let len = kind.div_ceil(2).next_power_of_two();
            let value = fields.uint(len, line);
            put(line, format_args!(" 0x{value:0digits$X}", digits = 2 * len));
        }
        (0 | 2 | 4, _) => {
            let value = fields.int((kind / 2 + 1).next_power_of_two(), line);
            put(line, format_args!(" {value:width$}"));
        }
        (1 | 3 | 5, _) => {
            let value = fields.uint(kind.div_ceil(2).next_power_of_two(), line);
            put(line, format_args!(" {value:width$}"));
        }
        (6, _) => {
            let value = f32::from_bits(fields.uint(4, line) as u32);
            put(line, format_args!(" {}", exponent(f64::from(value), value.is_sign_negative(), width)));
        }
        (7, _) => {
            let value = f64::from_bits(fields.uint(8, line));
            put(line, format_args!(" {}", exponent(value, value.is_sign_negative(), width)));
        }
        (8, _) => fields.string(line),
        (9, _) => fields.memory(line),
        (10, _) => signal(fields, line),
        (11 | 12, _) => match fields.uint(4, line) {
            0 => line.push_str(" NULL"),
            address => put(line, format_args!(" 0x{address:08X}")),
        },
        (13, _) => {
            let value = fields.int(8, line);
            let width = if width == 9 { 0 } else { 2 * width + 2 };
            put(line, format_args!(" {value:width$}"));
        }
        (14, 15) => {
            let value = fields.uint(8, line);
            put(line, format_args!(" 0x{value:16X}"));
        }
        (14, _) => {
            let value = fields.uint(8, line);
            put(line, format_args!(" {value:width$}", width = 2 * width + 2));
        }
        _ => {
            let value = fields.uint(4, line);
            put(line, format_args!(" 0x{value:0width$X}"));
        }
    }
}

/// A signal and its object. An unknown signal shows the object, so QSPY shows it twice.
fn signal(fields: &mut Fields<'_>, line: &mut String) {
    let signal = fields.uint(2, line);
    let object = fields.uint(4, line);
    match signal {
        0 => line.push_str(" NULL"),
        _ => put(line, format_args!(" {signal:08},Obj=0x{object:08X}")),
    }
    if object != 0 {
        put(line, format_args!(",Obj=0x{object:08X}"));
    }
}

fn put(line: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = line.write_fmt(text);
}
