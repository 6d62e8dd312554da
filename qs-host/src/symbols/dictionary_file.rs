//! The text of QSPY's dictionary files: parses and writes symbols.

use qs_core::record::Sizes;

use super::dictionary::Dictionary;
use super::signals::Signals;
use super::target::{LETTERS, TargetDescription};
use super::target_symbols::TargetSymbols;
use crate::format_number as put;

/// Lines are read in pieces of at most this many bytes, as in QSPY.
const MAX_PIECE: usize = 79;
/// Memory for a piece.
const ROOM: usize = MAX_PIECE + 1;
/// Bytes of the widest keys.
const MAX_WIDTH: i32 = 8;
/// Column of the object of a signal.
const OBJECT: usize = 9;
/// The last line of a section.
const END: &[u8] = b"***\n";

/// What is wrong with a dictionary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DictionaryError {
    /// An unknown option.
    Option(u8),
    /// A line that starts with an unexpected character.
    Line(u8),
    /// A section has no good key width, or a bad entry: `OBJ`, `FUN`, `USR`, `SIG`.
    Section(&'static str),
    /// The file is for another target.
    OtherTarget,
}

impl DictionaryError {
    /// The error as QSPY's line.
    pub fn line(&self, file: &str) -> Vec<u8> {
        [b"   <QSPY-> ", &self.message(file)[..]].concat()
    }

    /// The error in QSPY's words.
    pub fn message(&self, file: &str) -> Vec<u8> {
        let mut message = match self {
            DictionaryError::Option(_) => format!("Unexpected option in Dictionary File={file},Opt="),
            DictionaryError::Line(_) => format!("Unexpected line in Dictionary File={file},Char="),
            DictionaryError::Section(name) => format!("Parsing {name} dictionaries failed File={file}"),
            DictionaryError::OtherTarget => "Dictionaries mismatch the Target (discarded)".to_owned(),
        }
        .into_bytes();
        if let DictionaryError::Option(char) | DictionaryError::Line(char) = self {
            message.push(*char);
        }
        message
    }
}

/// Reads names and options from the text of a file. What was read before an error stays. Sets `objects_read` when all objects
/// were read.
///
/// # Errors
/// The first error of the file.
pub fn read(text: &[u8], known: &mut TargetSymbols, objects_read: &mut bool) -> Result<(), DictionaryError> {
    let mut file = text;
    let (mut line, mut entry, mut signal) = (LineBuffer::new(), LineBuffer::new(), LineBuffer::new());
    let before = known.target;
    while line.read(&mut file) {
        match line.bytes[0] {
            b'#' | b'\r' | b'\n' => {}
            b'-' => option(&line, &mut known.target)?,
            b'O' => {
                section(&mut file, &mut entry, &mut known.objects).ok_or(DictionaryError::Section("OBJ"))?;
                *objects_read = true;
            }
            b'F' => {
                section(&mut file, &mut entry, &mut known.functions).ok_or(DictionaryError::Section("FUN"))?
            }
            b'U' => {
                section(&mut file, &mut entry, &mut known.users).ok_or(DictionaryError::Section("USR"))?
            }
            b'S' => {
                signals(&mut file, &mut signal, &mut known.signals).ok_or(DictionaryError::Section("SIG"))?
            }
            char => return Err(DictionaryError::Line(char)),
        }
    }
    if before.is_known() && before != known.target { Err(DictionaryError::OtherTarget) } else { Ok(()) }
}

/// A piece of a line, as C's `fgets` reads it: always into the same memory, with a zero behind it and older bytes behind
/// the zero. Numbers and names have fixed columns, so QSPY reads those older bytes of a short line; so does this.
struct LineBuffer {
    bytes: [u8; ROOM],
}

impl LineBuffer {
    fn new() -> LineBuffer {
        LineBuffer { bytes: [0; ROOM] }
    }

    /// Reads the next piece. Returns whether there was one.
    fn read(&mut self, file: &mut &[u8]) -> bool {
        let longest = &file[..file.len().min(MAX_PIECE)];
        let len = memchr::memchr(b'\n', longest).map_or(longest.len(), |end| end + 1);
        let (piece, rest) = file.split_at(len);
        *file = rest;
        if len > 0 {
            self.bytes[..len].copy_from_slice(piece);
            self.bytes[len] = 0;
        }
        len > 0
    }

    /// The text from a column on, up to a zero.
    fn text(&self, column: usize) -> &[u8] {
        let text = &self.bytes[column..];
        &text[..text.iter().position(|byte| *byte == 0).unwrap_or(text.len())]
    }

    /// A name that starts in this column. QSPY replaces the last character, which it takes for the line end, with a zero.
    fn name(&mut self, column: usize) -> &[u8] {
        let end = column + self.text(column).len();
        self.bytes[end - 1] = 0;
        self.text(column)
    }

    /// The digit in this column, as QSPY computes it from any character.
    fn digit(&self, column: usize) -> i32 {
        i32::from(self.bytes[column]) - i32::from(b'0')
    }
}

/// `-v733`, `-T4`, `-t230714_092653`.
fn option(line: &LineBuffer, target: &mut TargetDescription) -> Result<(), DictionaryError> {
    let letter = line.bytes[1];
    let pair = |column: usize| (10 * line.digit(column) + line.digit(column + 1)) as u8;
    match letter {
        b'v' => target.version = (100 * line.digit(2) + 10 * line.digit(3) + line.digit(4)) as u16,
        b't' => {
            let build = &mut target.build;
            (build.year, build.month, build.day) = (pair(2), pair(4), pair(6));
            (build.hour, build.minute, build.second) = (pair(9), pair(11), pair(13));
        }
        _ => match (target.sizes.by_letter(letter), u8::try_from(line.digit(2))) {
            (Some(size), Ok(digit)) if Sizes::is_possible(letter, digit) => *size = digit,
            (Some(_), _) => {}
            (None, _) => return Err(DictionaryError::Option(letter)),
        },
    }
    Ok(())
}

/// Reads the line with the key width. QSPY keeps the width even if it is wrong.
fn width(file: &mut &[u8], line: &mut LineBuffer, width: &mut i32) -> Option<()> {
    if !line.read(file) {
        return None;
    }
    *width = decimal(line.text(0)).unwrap_or(0);
    (*width != 0 && *width <= MAX_WIDTH).then_some(())
}

/// Columns of an address of this width, `0x` included.
fn columns(width: i32) -> usize {
    if width <= 4 { 10 } else { 18 }
}

fn section(file: &mut &[u8], line: &mut LineBuffer, dictionary: &mut Dictionary) -> Option<()> {
    dictionary.clear();
    width(file, line, &mut dictionary.width)?;
    while line.read(file) && line.bytes.starts_with(b"0x") {
        let columns = columns(dictionary.width);
        let key = hexadecimal(line.text(0), columns).unwrap_or(0);
        dictionary.define(key, line.name(columns + 1));
    }
    Some(())
}

/// Reads the section of signals. One bad entry discards all of them.
fn signals(file: &mut &[u8], line: &mut LineBuffer, signals: &mut Signals) -> Option<()> {
    signals.clear();
    width(file, line, &mut signals.width)?;
    let columns = columns(signals.width);
    while line.read(file) && line.bytes.starts_with(b"0") {
        line.bytes[OBJECT - 1] = 0;
        let sig = decimal(line.text(0)).filter(|sig| *sig != 0);
        let (Some(sig), Some(obj)) = (sig, hexadecimal(line.text(OBJECT), columns)) else {
            signals.clear();
            return None;
        };
        signals.define(sig as u32, obj, line.name(OBJECT + columns + 1));
    }
    Some(())
}

/// A number as C's `%d` reads it.
fn decimal(text: &[u8]) -> Option<i32> {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text {
        [sign @ (b'-' | b'+'), digits @ ..] => (*sign == b'-', digits),
        digits => (false, digits),
    };
    let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = digits[..len]
        .iter()
        .fold(0i64, |number, byte| number.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    (len > 0).then_some(if negative { -number } else { number } as i32)
}

/// A number as C's `strtoul` reads it, of at most `columns` columns, `0x` included: `0x` and no digit is 0.
fn hexadecimal(text: &[u8], columns: usize) -> Option<u64> {
    let text = text.trim_ascii_start();
    let text = &text[..text.len().min(columns)];
    let digits = text.strip_prefix(b"0x").or(text.strip_prefix(b"0X")).unwrap_or(text);
    let len = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let digit = |byte: &u8| u64::from(char::from(*byte).to_digit(16).unwrap_or(0));
    let number = digits[..len].iter().fold(0, |number, byte| number << 4 | digit(byte));
    (len > 0 || digits.len() < text.len()).then_some(number)
}

/// Writes all symbols as the text of a file.
pub fn write(known: &TargetSymbols) -> Vec<u8> {
    let mut text = Vec::new();
    let target = known.target;
    text.extend_from_slice(b"-v");
    put::padded(&mut text, target.version.into(), 3);
    text.push(b'\n');
    for letter in LETTERS {
        let size = target.sizes.clone().by_letter(letter).map_or(0, |size| *size);
        text.extend_from_slice(&[b'-', letter]);
        put::number(&mut text, size.into());
        text.push(b'\n');
    }
    text.extend_from_slice(format!("-t{}\n\n", target.build_text()).as_bytes());
    for (title, dictionary) in [("Obj", &known.objects), ("Fun", &known.functions), ("Usr", &known.users)] {
        push_title(title, dictionary.width, &mut text);
        for (key, name) in dictionary.iter() {
            super::target_symbols::push_address(key, dictionary.width, &mut text);
            text.push(b' ');
            text.extend_from_slice(name);
            text.push(b'\n');
        }
        text.extend_from_slice(END);
    }
    push_title("Sig", known.signals.width, &mut text);
    for (sig, obj, name) in known.signals.iter() {
        put::signed_padded(&mut text, sig as i32, 8);
        text.push(b' ');
        super::target_symbols::push_address(obj, known.signals.width, &mut text);
        text.push(b' ');
        text.extend_from_slice(name);
        text.push(b'\n');
    }
    text.extend_from_slice(END);
    text
}

fn push_title(title: &str, width: i32, text: &mut Vec<u8>) {
    text.extend_from_slice(format!("{title}-Dic:\n{width}\n").as_bytes());
}
