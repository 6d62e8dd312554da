//! Prints the recorder's messages on standard error, one line at a time. It allocates nothing and takes no lock,
//! because the first statement of a program may run inside its allocator or a signal handler.

use core::fmt::{self, Display, Write as _};

use qs_core::shown::is_visible;

use crate::hosted::system::sys;

/// Bytes of the longest line, which has room for a path and a reason. Longer lines are cut.
const LINE_LEN: usize = 1024;
/// At most this many bytes of a value of the environment are printed.
const SHOWN: usize = 400;

/// Prints `xhist: ` and the text as one line. The write raises no signal.
#[cold]
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; LINE_LEN], len: 0 };
    // If the line is full, its beginning is printed.
    let _ = line.write_str("xhist: ");
    let _ = line.write_fmt(text);
    line.end();
    sys::write_to_stderr(&line.bytes[..line.len]);
}

/// A line on the stack.
struct Line {
    bytes: [u8; LINE_LEN],
    len: usize,
}

impl Line {
    /// Ends the line. If it is full, the line end replaces its last byte.
    fn end(&mut self) {
        let at = self.len.min(LINE_LEN - 1);
        self.bytes[at] = b'\n';
        self.len = at + 1;
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let text = text.as_bytes();
        let room = &mut self.bytes[self.len..];
        let len = text.len().min(room.len());
        room[..len].copy_from_slice(&text[..len]);
        self.len += len;
        if len < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Bytes from outside as text for a terminal. Escapes whatever would change the terminal's state or the order of its
/// text, and bytes that are not UTF-8. Cuts long values.
pub(crate) struct Shown<'a>(pub(crate) &'a [u8]);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, is_cut) = match self.0.get(..SHOWN) {
            Some(begin) if self.0.len() > SHOWN => (begin, true),
            _ => (self.0, false),
        };
        for chunk in bytes.utf8_chunks() {
            for char in chunk.valid().chars() {
                if is_visible(char) { f.write_char(char)? } else { write!(f, "{}", char.escape_default())? }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        if is_cut { f.write_str("...") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_from_outside_do_nothing_to_a_terminal() {
        assert_eq!(Shown("plain/ü.rs".as_bytes()).to_string(), "plain/ü.rs");
        assert_eq!(Shown(b"\x1b]0;x\x07\r\n").to_string(), r"\u{1b}]0;x\u{7}\r\n");
        assert_eq!(
            Shown("a\u{202e}b\u{2066}c\u{2028}d".as_bytes()).to_string(),
            r"a\u{202e}b\u{2066}c\u{2028}d"
        );
        assert_eq!(Shown(b"a\xffb").to_string(), r"a\xffb");
        assert_eq!(Shown(&[b'a'; 5000]).to_string().len(), SHOWN + 3);
    }

    #[test]
    fn a_line_that_is_too_long_still_ends() {
        let mut line = Line { bytes: [0; LINE_LEN], len: 0 };
        assert!(line.write_str(&"x".repeat(2 * LINE_LEN)).is_err());
        line.end();
        assert_eq!((line.len, line.bytes[LINE_LEN - 1], line.bytes[0]), (LINE_LEN, b'\n', b'x'));
    }
}
