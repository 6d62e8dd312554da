//! Parses a file of formats line by line; `docs/fmt-files.md` has its grammar.

use std::collections::BTreeMap;
use std::fmt;

use super::text::{Conversion, ConversionKind, TextPiece, TextTemplate};
use crate::model::{Code, Severity, is_visible, visible};

/// Longest name, in bytes.
const MAX_NAME: usize = 100;
/// Longest text, in bytes.
const MAX_TEXT: usize = 1000;
/// Widest column of a conversion.
const MAX_WIDTH: u8 = 99;
/// Longest text of a line in an error, in characters.
const MAX_FOUND: usize = 40;

const CONVERSION: &str =
    "one of %d %i %u %x %X %o %c %p %s %h %D %%, with flags (- 0 + # blank) and a width up to 99";

/// A definition of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// The name of a major code.
    Owner(u32, String),
    /// The name and text of a code, of this severity or of any.
    Code(Code, Option<Severity>, String, Option<TextTemplate>),
    /// The name and text of an opcode.
    Profile(u8, String, Option<TextTemplate>),
}

/// A syntax error of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Column from 1, in characters.
    pub column: usize,
    /// What is there.
    pub found: String,
    /// What is allowed there.
    pub expected: &'static str,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found {}, expected {}", self.found, self.expected)
    }
}

/// Parses a file. Gives each definition or error with its line number from 1.
pub fn read(file: &[u8], give: &mut dyn FnMut(usize, Result<Definition, FormatError>)) {
    let mut owners = BTreeMap::new();
    for (index, line) in file.split(|byte| *byte == b'\n').enumerate() {
        let line = match std::str::from_utf8(line) {
            Ok(line) => line,
            Err(error) => {
                let start = String::from_utf8_lossy(&line[..error.valid_up_to()]);
                let found = format!("the byte 0x{:02x}", line[error.valid_up_to()]);
                let column = start.chars().count() + 1;
                give(index + 1, Err(FormatError { column, found, expected: "UTF-8" }));
                continue;
            }
        };
        let line = if index == 0 { line.trim_start_matches('\u{feff}') } else { line };
        let mut words = Words { line: line.trim_end(), at: 0 };
        let said = words.definition(&owners);
        if let Ok(Some(Definition::Owner(major, name))) = &said {
            owners.insert(name.clone(), *major);
        }
        if let Some(said) = said.transpose() {
            give(index + 1, said);
        }
    }
}

/// The rest of a line.
struct Words<'l> {
    line: &'l str,
    at: usize,
}

/// A word and where it starts.
#[derive(Clone, Copy)]
struct Word<'l> {
    at: usize,
    text: &'l str,
}

impl<'l> Words<'l> {
    fn definition(&mut self, owners: &BTreeMap<String, u32>) -> Result<Option<Definition>, FormatError> {
        const LINE: &str = "a line: `owner CODE NAME`, `OWNER:MINOR NAME SEVERITY \"TEXT\"` or `profile OPCODE NAME \"TEXT\"`";
        let first = self.word();
        let definition = match first.text {
            "" if self.is_at_end() => return Ok(None),
            "owner" => self.owner()?,
            "profile" => {
                let word = self.word();
                let opcode = number(word.text).and_then(|number| u8::try_from(number).ok());
                let opcode = opcode.ok_or_else(|| self.wrong(word, "an opcode from 0 to 255"))?;
                let name = self.name()?;
                Definition::Profile(opcode, name, self.text(true)?)
            }
            _ => {
                let (owner, minor) = first.text.split_once(':').ok_or_else(|| self.wrong(first, LINE))?;
                let major = number(owner).filter(|major| *major < 1 << 24).or(owners.get(owner).copied());
                let major = major.ok_or_else(|| {
                    let word = Word { at: first.at, text: owner };
                    self.wrong(word, "a major code up to 0xffffff, or an owner that a line above names")
                })?;
                let minor = number(minor).and_then(|minor| u8::try_from(minor).ok()).ok_or_else(|| {
                    let word = Word { at: first.at + owner.len() + 1, text: minor };
                    self.wrong(word, "a minor code from 0 to 255")
                })?;
                let name = self.name()?;
                let severity = self.severity()?;
                Definition::Code(Code::new(major, minor), severity, name, self.text(false)?)
            }
        };
        match self.is_at_end() {
            true => Ok(Some(definition)),
            false => {
                let word = self.rest();
                Err(self.wrong(word, "the end of the line, or a comment behind `#`"))
            }
        }
    }

    fn owner(&mut self) -> Result<Definition, FormatError> {
        let word = self.word();
        match number(word.text) {
            Some(major) if major < 1 << 24 => Ok(Definition::Owner(major, self.name()?)),
            None if is_name(word.text) => {
                Ok(Definition::Owner(Code::major_of(word.text), word.text.to_owned()))
            }
            _ => Err(self.wrong(word, "a major code up to 0xffffff, or a name that it is made of")),
        }
    }

    fn name(&mut self) -> Result<String, FormatError> {
        let word = self.word();
        match is_name(word.text) {
            true => Ok(word.text.to_owned()),
            false => Err(self.wrong(word, "a name of letters, digits, `_`, `-` and `.`, up to 100 of them")),
        }
    }

    fn severity(&mut self) -> Result<Option<Severity>, FormatError> {
        let word = self.word();
        let mut all = (0..8).filter_map(Severity::from_number);
        match word.text {
            "*" => Ok(None),
            text => match all.find(|severity| severity.name() == text) {
                Some(severity) => Ok(Some(severity)),
                None => Err(self.wrong(word, "a severity: HW0 to HW3, SW0 to SW3, or * for any")),
            },
        }
    }

    /// The text in quotes, if there is one.
    fn text(&mut self, is_profile: bool) -> Result<Option<TextTemplate>, FormatError> {
        self.skip_blanks();
        let start = self.at;
        if self.next() != Some('"') {
            self.at = start;
            return Ok(None);
        }
        let mut pieces = vec![];
        let mut literal = String::new();
        loop {
            let at = self.at;
            match self.next() {
                None => return Err(self.wrong(self.word_at(at), "a quote at the end of the text")),
                Some('"') => break,
                Some('\\') => match self.next() {
                    Some(escaped @ ('"' | '\\')) => literal.push(escaped),
                    _ => return Err(self.wrong(self.word_at(at), "\\\" or \\\\")),
                },
                Some('%') => match self.conversion(at, is_profile)? {
                    None => literal.push('%'),
                    Some(conversion) => {
                        pieces.push(TextPiece::Literal(std::mem::take(&mut literal)));
                        pieces.push(TextPiece::Conversion(conversion));
                    }
                },
                Some(hidden) if !is_visible(hidden) => {
                    return Err(self.wrong(self.word_at(at), "a character that can be printed"));
                }
                Some(char) => literal.push(char),
            }
            if self.at - start > MAX_TEXT {
                return Err(self.wrong(self.word_at(at), "a text of up to 1000 bytes"));
            }
        }
        pieces.push(TextPiece::Literal(literal));
        Ok(Some(TextTemplate(pieces)))
    }

    /// The conversion behind a percent sign; `None` for `%%`.
    fn conversion(&mut self, at: usize, is_profile: bool) -> Result<Option<Conversion>, FormatError> {
        let mut conversion = Conversion::default();
        let mut has_flags_or_width = false;
        let kind = loop {
            let Some(char) = self.next() else { return Err(self.wrong(self.word_at(at), CONVERSION)) };
            let width = conversion.width;
            match char {
                '-' if width == 0 => conversion.left = true,
                '0' if width == 0 => conversion.zeros = true,
                '+' if width == 0 => conversion.plus = true,
                ' ' if width == 0 => conversion.blank = true,
                '#' if width == 0 => conversion.alternate = true,
                '0'..='9' if width <= MAX_WIDTH / 10 => {
                    conversion.width = width * 10 + char.to_digit(10).unwrap_or(0) as u8;
                }
                '%' if !has_flags_or_width => return Ok(None),
                kind => break kind,
            }
            has_flags_or_width = true;
        };
        conversion.kind = match kind {
            'd' | 'i' => ConversionKind::Signed,
            'u' => ConversionKind::Unsigned,
            'x' => ConversionKind::Hex,
            'X' => ConversionKind::UpperHex,
            'o' => ConversionKind::Octal,
            'c' => ConversionKind::Char,
            'p' => ConversionKind::Pointer,
            's' => ConversionKind::Text,
            'h' => ConversionKind::Bytes,
            'D' if is_profile => ConversionKind::Data,
            'D' => {
                return Err(self.wrong(self.word_at(at), "another conversion: only profile events have data"));
            }
            _ => return Err(self.wrong(self.word_at(at), CONVERSION)),
        };
        Ok(Some(conversion))
    }

    fn next(&mut self) -> Option<char> {
        let char = self.line[self.at..].chars().next()?;
        self.at += char.len_utf8();
        Some(char)
    }

    fn skip_blanks(&mut self) {
        let rest = &self.line[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next word; empty at the end, at a comment and at a text.
    fn word(&mut self) -> Word<'l> {
        self.skip_blanks();
        let rest = &self.line[self.at..];
        let len =
            rest.find(|char: char| char.is_whitespace() || matches!(char, '#' | '"')).unwrap_or(rest.len());
        let word = Word { at: self.at, text: &rest[..len] };
        self.at += len;
        word
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        let rest = &self.line[self.at..];
        rest.is_empty() || rest.starts_with('#')
    }

    fn rest(&self) -> Word<'l> {
        self.word_at(self.at)
    }

    fn word_at(&self, at: usize) -> Word<'l> {
        Word { at, text: &self.line[at..] }
    }

    fn wrong(&self, word: Word<'_>, expected: &'static str) -> FormatError {
        let text = if word.text.is_empty() { &self.line[word.at..] } else { word.text };
        let found = match text.is_empty() {
            true => "the end of the line".to_owned(),
            false => format!("`{}`", visible(&text.chars().take(MAX_FOUND).collect::<String>())),
        };
        FormatError { column: self.line[..word.at].chars().count() + 1, found, expected }
    }
}

/// A number as in Rust and C: `17`, `0x11`.
pub fn number(text: &str) -> Option<u32> {
    let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok().filter(|_| is_digits(digits)),
        None => text.parse().ok().filter(|_| is_digits(text)),
    }
}

fn is_name(text: &str) -> bool {
    let starts_well = text.starts_with(|char: char| char.is_alphabetic() || char == '_');
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.');
    starts_well && text.len() <= MAX_NAME && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn first(line: &str) -> Result<Definition, FormatError> {
        let mut all = Vec::new();
        read(line.as_bytes(), &mut |_, said| all.push(said));
        all.swap_remove(0)
    }

    #[test]
    fn an_error_has_its_column() {
        for (line, column, found, expected) in [
            ("owner", 6, "the end of the line", "a major code up to"),
            ("owner 0x1000000 big", 7, "`0x1000000`", "a major code up to"),
            ("owner 5 9", 9, "`9`", "a name"),
            ("parity HW1", 1, "`parity`", "a line: `owner"),
            ("uart:5 x HW1", 1, "`uart`", "an owner that a line above names"),
            ("1:256 x HW1", 3, "`256`", "a minor code"),
            ("1:5 x HW9 \"\"", 7, "`HW9`", "a severity"),
            ("1:5 x # HW1", 7, "`# HW1`", "a severity"),
            ("1:5 x HW1 \"a %q\"", 14, "`%q\"`", "one of %d"),
            ("1:5 x HW1 \"ä %D\"", 14, "`%D\"`", "only profile events"),
            ("1:5 x HW1 \"%123d\"", 12, "`%123d\"`", "a width up to 99"),
            ("1:5 x HW1 \"open", 16, "the end of the line", "a quote"),
            ("1:5 x HW1 \"\\n\"", 12, "`\\n\"`", "\\\" or \\\\"),
            ("1:5 x HW1 \"a\" b", 15, "`b`", "the end of the line"),
            ("profile 256 x", 9, "`256`", "an opcode"),
        ] {
            let wrong = first(line).expect_err(line);
            assert_eq!((wrong.column, wrong.found.as_str()), (column, found), "{line}");
            assert!(wrong.expected.contains(expected), "{line}: {wrong}");
        }
        let mut all = Vec::new();
        read(b"\xef\xbb\xbf# no error\r\n\n  owner \xff\nowner uart\nuart:1 x *\n", &mut |line, said| {
            all.push((line, said.is_ok()));
        });
        assert_eq!(all, [(3, false), (4, true), (5, true)]);
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in "(owner|profile|0x12:5|\"|%|#|[a-z0-9:\\\\* .+-]|HW1|\\PC){0,30}") {
            read(line.as_bytes(), &mut |_, said| {
                if let Err(wrong) = said {
                    assert!(wrong.column <= line.chars().count() + 1);
                }
            });
        }

        #[test]
        fn names_and_numbers_come_back(major in 0u32..1 << 24, minor: u8, severity in 0u8..8, name in "[a-z_][a-z0-9_.-]{0,30}") {
            let severity = Severity::from_number(severity).unwrap();
            let line = format!(" {major:#x}:{minor}\t{name} {} # so", severity.name());
            prop_assert_eq!(first(&line), Ok(Definition::Code(Code::new(major, minor), Some(severity), name, None)));
        }
    }
}
