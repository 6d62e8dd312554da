//! QSPY's dictionary files: text to names and back. It must not open files.

use qs_core::record::Sizes;

use super::dictionary::Dictionary;
use super::known::Known;
use super::put;
use super::target::{LETTERS, Target};

/// Lines are read in pieces of so many bytes, as QSPY does.
const MAX_PIECE: usize = 79;
/// The last line of a section.
const END: &[u8] = b"***\n";

/// What is wrong with a dictionary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is no such option.
    Option(u8),
    /// No line starts like this.
    Line(u8),
    /// A section has no good key width, or a bad entry: `OBJ`, `FUN`, `USR`, `SIG`.
    Section(&'static str),
    /// It is of another target than the one known.
    OtherTarget,
}

impl Wrong {
    /// The message, as QSPY prints it.
    pub fn line(&self, file: &str) -> Vec<u8> {
        let mut line = match self {
            Wrong::Option(_) => format!("   <QSPY-> Unexpected option in Dictionary File={file},Opt="),
            Wrong::Line(_) => format!("   <QSPY-> Unexpected line in Dictionary File={file},Char="),
            Wrong::Section(name) => format!("   <QSPY-> Parsing {name} dictionaries failed File={file}"),
            Wrong::OtherTarget => "   <QSPY-> Dictionaries mismatch the Target (discarded)".to_owned(),
        }
        .into_bytes();
        if let Wrong::Option(char) | Wrong::Line(char) = self {
            line.push(*char);
        }
        line
    }
}

/// Takes names and options from the text of a file; what was read before something wrong stays. Whether objects were
/// among them.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(text: &[u8], known: &mut Known) -> (bool, Result<(), Wrong>) {
    let mut file = Pieces(text);
    let before = known.target;
    let mut has_objects = false;
    while let Some(piece) = file.next() {
        let wrong = match piece[0] {
            b'#' | b'\r' | b'\n' => None,
            b'-' => option(piece, &mut known.target).err(),
            b'O' => {
                has_objects = true;
                section(&mut file, &mut known.objects).err().map(|()| Wrong::Section("OBJ"))
            }
            b'F' => section(&mut file, &mut known.functions).err().map(|()| Wrong::Section("FUN")),
            b'U' => section(&mut file, &mut known.users).err().map(|()| Wrong::Section("USR")),
            b'S' => signals(&mut file, known).err().map(|()| Wrong::Section("SIG")),
            char => Some(Wrong::Line(char)),
        };
        if let Some(wrong) = wrong {
            return (has_objects, Err(wrong));
        }
    }
    if before.is_known() && before != known.target {
        return (has_objects, Err(Wrong::OtherTarget));
    }
    (has_objects, Ok(()))
}

/// Pieces of lines, as C's `fgets` reads them.
struct Pieces<'a>(&'a [u8]);

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let longest = &self.0[..self.0.len().min(MAX_PIECE)];
        let end = memchr::memchr(b'\n', longest).map_or(longest.len(), |end| end + 1);
        let (piece, rest) = self.0.split_at(end);
        self.0 = rest;
        (!piece.is_empty()).then_some(piece)
    }
}

/// `-v733`, `-T4`, `-t230714_092653`.
fn option(piece: &[u8], target: &mut Target) -> Result<(), Wrong> {
    let letter = piece.get(1).copied().unwrap_or(b'\n');
    let digit = |at: usize| piece.get(at).map_or(0, |byte| byte.wrapping_sub(b'0'));
    let pair = |at: usize| digit(at).wrapping_mul(10).wrapping_add(digit(at + 1));
    match letter {
        b'v' => {
            target.version = (2..5).fold(0u16, |version, at| {
                version.wrapping_mul(10).wrapping_add(digit(at).into())
            });
        }
        b't' => {
            let build = &mut target.build;
            (build.year, build.month, build.day) = (pair(2), pair(4), pair(6));
            (build.hour, build.minute, build.second) = (pair(9), pair(11), pair(13));
        }
        _ => match target.sizes.by_letter(letter) {
            Some(size) if Sizes::is_possible(letter, digit(2)) => *size = digit(2),
            Some(_) => {}
            None => return Err(Wrong::Option(letter)),
        },
    }
    Ok(())
}

/// The line with the key width, which QSPY keeps even when it is none.
fn width(file: &mut Pieces<'_>, width: &mut u8) -> Result<(), ()> {
    *width = file.next().map_or(0, |piece| decimal(piece).0) as u8;
    if (1..=8).contains(width) { Ok(()) } else { Err(()) }
}

fn section(file: &mut Pieces<'_>, dictionary: &mut Dictionary) -> Result<(), ()> {
    dictionary.clear();
    width(file, &mut dictionary.width)?;
    while let Some(piece) = file.next() {
        if !piece.starts_with(b"0x") {
            break;
        }
        let (key, rest) = hexadecimal(piece);
        dictionary.define(key, name(rest));
    }
    Ok(())
}

fn signals(file: &mut Pieces<'_>, known: &mut Known) -> Result<(), ()> {
    known.signals.clear();
    width(file, &mut known.signals.width)?;
    while let Some(piece) = file.next() {
        if !piece.starts_with(b"0") {
            break;
        }
        let (sig, rest) = decimal(piece);
        if sig == 0 {
            return Err(());
        }
        let (obj, rest) = hexadecimal(trim(rest));
        known.signals.define(sig as u32, obj, name(rest));
    }
    Ok(())
}

fn decimal(text: &[u8]) -> (u64, &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = digits.iter().fold(0u64, |number, byte| {
        number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'))
    });
    (number, rest)
}

/// A number that `0x` may stand before.
fn hexadecimal(text: &[u8]) -> (u64, &[u8]) {
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let end = text.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let digit = |byte: &u8| u64::from((*byte as char).to_digit(16).unwrap_or(0));
    (digits.iter().fold(0u64, |number, byte| number << 4 | digit(byte)), rest)
}

fn trim(text: &[u8]) -> &[u8] {
    text.strip_prefix(b" ").unwrap_or(text)
}

/// The name behind a blank, without the end of the line.
fn name(rest: &[u8]) -> &[u8] {
    let rest = trim(rest);
    &rest[..rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len())]
}

/// The text of a file with all that is known.
pub fn write(known: &Known) -> Vec<u8> {
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
    for (title, dictionary) in
        [("Obj", &known.objects), ("Fun", &known.functions), ("Usr", &known.users)]
    {
        push_title(title, dictionary.width, &mut text);
        for (key, name) in dictionary.iter() {
            super::known::push_address(key, dictionary.width, &mut text);
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
        super::known::push_address(obj, known.signals.width, &mut text);
        text.push(b' ');
        text.extend_from_slice(name);
        text.push(b'\n');
    }
    text.extend_from_slice(END);
    text
}

fn push_title(title: &str, width: u8, text: &mut Vec<u8>) {
    text.extend_from_slice(format!("{title}-Dic:\n{width}\n").as_bytes());
}
