//! Formats the text of a trace event: the template with its arguments, as C's `printf` formats them.

use std::fmt::Write;

use crate::model::{Arg, Trace, TraceClass, visible};

/// The text of a format: literals and conversions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextTemplate(pub Vec<TextPiece>);

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPiece {
    /// Literal text.
    Literal(String),
    /// A conversion of an argument.
    Conversion(Conversion),
}

/// How an argument is formatted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// `-`: pad with blanks behind it.
    pub left: bool,
    /// `0`: pad with zeros.
    pub zeros: bool,
    /// `+`: always show a sign.
    pub plus: bool,
    /// Blank: a blank in place of a plus sign.
    pub blank: bool,
    /// `#`: `0x` before hexadecimal digits, `0` before octal ones.
    pub alternate: bool,
    /// Least width, in characters.
    pub width: u8,
    /// The kind of the value.
    pub kind: ConversionKind,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConversionKind {
    /// `%d`: any argument as a signed number.
    #[default]
    Signed,
    /// `%u`.
    Unsigned,
    /// `%x`.
    Hex,
    /// `%X`.
    UpperHex,
    /// `%o`.
    Octal,
    /// `%c`.
    Char,
    /// `%p`.
    Pointer,
    /// `%s`: the buffer as text.
    Text,
    /// `%h`: the buffer as hexadecimal bytes.
    Bytes,
    /// `%D`: the data of a profile event.
    Data,
}

impl TextTemplate {
    /// Whether it shows the data of a profile event.
    pub fn has_data(&self) -> bool {
        self.conversions().any(|conversion| conversion.kind == ConversionKind::Data)
    }

    fn conversions(&self) -> impl Iterator<Item = &Conversion> {
        self.0.iter().filter_map(|piece| match piece {
            TextPiece::Literal(_) => None,
            TextPiece::Conversion(conversion) => Some(conversion),
        })
    }

    /// The text of an event. Arguments that the template does not use follow.
    pub fn of(&self, event: &Trace) -> String {
        let mut line = String::new();
        let mut args = event.args.iter();
        for piece in &self.0 {
            match piece {
                TextPiece::Literal(text) => line.push_str(text),
                TextPiece::Conversion(conversion) => line.push_str(&conversion.show(event, &mut args)),
            }
        }
        let shows =
            |conversion: &Conversion| matches!(conversion.kind, ConversionKind::Text | ConversionKind::Bytes);
        let buffer = event.buffer.as_deref().filter(|_| !self.conversions().any(shows));
        push_list(args.as_slice(), buffer, &mut line);
        line
    }
}

/// Arguments and buffer as a list: `3 -20 buffer 61 62 63`.
pub fn push_list(args: &[Arg], buffer: Option<&[u8]>, line: &mut String) {
    let separate = |line: &mut String| {
        if !line.is_empty() {
            line.push(' ');
        }
    };
    for arg in args {
        separate(line);
        line.push_str(&plain(*arg));
    }
    if let Some(buffer) = buffer {
        separate(line);
        line.push_str("buffer");
        if !buffer.is_empty() {
            line.push(' ');
            line.push_str(&hex(buffer, " "));
        }
    }
}

/// An argument in the form in which it was recorded.
fn plain(arg: Arg) -> String {
    if arg.is_signed() { arg.signed().to_string() } else { arg.bits().to_string() }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8], between: &str) -> String {
    let mut text = String::with_capacity(bytes.len() * (2 + between.len()));
    for (index, byte) in bytes.iter().enumerate() {
        let between = if index == 0 { "" } else { between };
        // Writing to a string cannot fail.
        let _ = write!(text, "{between}{byte:02x}");
    }
    text
}

impl Conversion {
    fn show<'a>(&self, event: &Trace, args: &mut impl Iterator<Item = &'a Arg>) -> String {
        let shown = match self.kind {
            ConversionKind::Text => event.buffer.as_deref().map(|bytes| {
                // Texts of C end with a zero.
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                ("", visible(&String::from_utf8_lossy(&bytes[..end])).into_owned())
            }),
            ConversionKind::Bytes => event.buffer.as_deref().map(|bytes| ("", hex(bytes, " "))),
            ConversionKind::Data => match event.class {
                TraceClass::Profile { data, .. } => Some(("", data.to_string())),
                TraceClass::Exception { .. } => None,
            },
            _ => args.next().map(|arg| self.number(*arg)),
        };
        match shown {
            Some((prefix, text)) => self.padded(prefix, &text),
            None => self.padded("", "?"),
        }
    }

    /// The prefix of a number, and its digits.
    fn number(&self, arg: Arg) -> (&'static str, String) {
        let bits = arg.bits();
        match self.kind {
            ConversionKind::Signed => {
                let number = if arg.size() == 4 { i64::from(bits as u32 as i32) } else { bits as i64 };
                let sign = match (number < 0, self.plus, self.blank) {
                    (true, ..) => "-",
                    (_, true, _) => "+",
                    (_, _, true) => " ",
                    _ => "",
                };
                (sign, number.unsigned_abs().to_string())
            }
            ConversionKind::Hex => (if self.alternate && bits != 0 { "0x" } else { "" }, format!("{bits:x}")),
            ConversionKind::UpperHex => {
                (if self.alternate && bits != 0 { "0X" } else { "" }, format!("{bits:X}"))
            }
            ConversionKind::Octal => {
                (if self.alternate && bits != 0 { "0" } else { "" }, format!("{bits:o}"))
            }
            ConversionKind::Pointer => ("0x", format!("{bits:x}")),
            ConversionKind::Char => {
                let char = u32::try_from(bits).ok().and_then(char::from_u32).unwrap_or('?');
                ("", visible(&char.to_string()).into_owned())
            }
            _ => ("", bits.to_string()),
        }
    }

    fn padded(&self, prefix: &str, text: &str) -> String {
        let len = prefix.len() + text.chars().count();
        let missing = usize::from(self.width).saturating_sub(len);
        let is_number =
            !matches!(self.kind, ConversionKind::Char | ConversionKind::Text | ConversionKind::Bytes)
                && text != "?";
        match (self.left, self.zeros && is_number) {
            (true, _) => format!("{prefix}{text}{:missing$}", ""),
            (_, true) => format!("{prefix}{}{text}", "0".repeat(missing)),
            _ => format!("{:missing$}{prefix}{text}", ""),
        }
    }
}
