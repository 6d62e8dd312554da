//! The frames of the protocol: a header with the length, then that number of bytes.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// Longest message that is read.
const MAX_MESSAGE: usize = 16 << 20;
/// Longest header that is read, all its lines.
const MAX_HEADER: u64 = 4096;

/// Why no further message can be read.
#[derive(Debug)]
pub enum WireError {
    /// The header is not one of the protocol.
    Header(String),
    /// The message is longer than any request is.
    TooLong(usize),
    /// The stream ended inside a message, or cannot be read.
    Read(io::Error),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Header(line) => write!(
                f,
                "`{line}` is no header of the Debug Adapter Protocol, `Content-Length: N`; an editor starts `xhist-report dap`"
            ),
            WireError::TooLong(length) => {
                write!(f, "a message of {length} bytes is too long; the limit is {MAX_MESSAGE}")
            }
            WireError::Read(error) => write!(f, "cannot read the next message: {error}"),
        }
    }
}

/// The bytes of the next message; `None` at the end of the stream.
///
/// # Errors
/// The stream does not follow the protocol from here on.
pub fn read_message(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, WireError> {
    let mut header = input.take(MAX_HEADER);
    let mut length = None;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        header.read_until(b'\n', &mut line).map_err(WireError::Read)?;
        if line.is_empty() && is_first {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let wrong = || WireError::Header(super::message::short(text.trim_end()));
        if !line.ends_with(b"\n") {
            return Err(wrong());
        }
        let text = text.trim();
        match (text.is_empty(), text.split_once(':')) {
            (true, _) if is_first => {}
            (true, _) => break,
            // The first line of a web page's request has a colon too: `POST /x:y HTTP/1.1`.
            (false, Some((name, value))) if !name.contains(char::is_whitespace) => {
                is_first = false;
                if name.eq_ignore_ascii_case("content-length") {
                    length = Some(value.trim().parse::<usize>().map_err(|_| wrong())?);
                }
            }
            (false, _) => return Err(wrong()),
        }
    }
    let length = length.ok_or_else(|| WireError::Header(String::new()))?;
    if length > MAX_MESSAGE {
        return Err(WireError::TooLong(length));
    }
    // Read as it comes: the length alone allocates nothing.
    let mut bytes = Vec::new();
    input.take(length as u64).read_to_end(&mut bytes).map_err(WireError::Read)?;
    match bytes.len() == length {
        true => Ok(Some(bytes)),
        false => Err(WireError::Read(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// Writes a message.
///
/// # Errors
/// The stream cannot be written.
pub fn write_message(message: &Value, out: &mut dyn Write) -> io::Result<()> {
    let text = message.to_string();
    write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<Option<String>, String>> {
        let mut input = text.as_bytes();
        let mut all = Vec::new();
        loop {
            let next = read_message(&mut input);
            let is_end = !matches!(next, Ok(Some(_)));
            all.push(
                next.map(|bytes| bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
                    .map_err(|e| e.to_string()),
            );
            if is_end {
                return all;
            }
        }
    }

    #[test]
    fn frames_are_read_one_after_another() {
        let found = read("Content-Length: 2\r\n\r\n{}content-length:3\nContent-Type: x\n\n[1]");
        assert_eq!(found, [Ok(Some("{}".to_owned())), Ok(Some("[1]".to_owned())), Ok(None)]);
    }

    #[test]
    fn text_that_is_not_a_frame_is_an_error() {
        for (text, error) in [
            ("hello\r\n\r\n", "`hello` is no header"),
            ("Content-Length: 99999999999\r\n\r\n", "too long"),
            ("Content-Length: -1\r\n\r\n", "no header"),
            ("Content-Length: 9\r\n\r\n{}", "cannot read"),
            ("X: 1\r\n\r\n", "no header"),
            ("Content-Length: 2", "no header"),
            ("POST /x:y HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "`POST /x:y HTTP/1.1` is no header"),
            ("Content-Length : 2\r\n\r\n{}", "no header"),
        ] {
            let found = read(text);
            assert!(found.last().unwrap().as_ref().unwrap_err().contains(error), "{text:?}: {found:?}");
        }
        assert!(read(&"x: y\r\n".repeat(2000))[0].is_err());
    }
}
