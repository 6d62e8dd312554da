//! One word of a command, as a shell reads it.

use core::fmt::{self, Write as _};

use super::visible::is_visible;

/// Bytes as one word of a command: as they are, in quotes, or as `$'...'` where they must not be shown raw. The bytes are those
/// of a path or an argument on Unix, so they need not be UTF-8.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if cfg!(windows) {
            return for_windows(self.0, f);
        }
        let is_bare =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(byte) || *byte >= 0x80;
        match str::from_utf8(self.0) {
            Ok(text) if !text.chars().all(is_visible) => escape(self.0, f),
            Ok(text) if !text.is_empty() && self.0.iter().all(is_bare) => f.write_str(text),
            Ok(text) => {
                f.write_char('\'')?;
                for (at, part) in text.split('\'').enumerate() {
                    if at > 0 {
                        f.write_str(r"'\''")?;
                    }
                    f.write_str(part)?;
                }
                f.write_char('\'')
            }
            Err(_) => escape(self.0, f),
        }
    }
}

/// One word for PowerShell and for `cmd`, which have only double quotes in common. What these would expand is for PowerShell.
fn for_windows(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=+\\".contains(byte) || *byte >= 0x80;
    let quote = match bytes {
        [_, ..] if bytes.iter().all(is_bare) => None,
        _ if bytes.iter().any(|byte| b"\"$`%".contains(byte)) => Some('\''),
        _ => Some('"'),
    };
    quote.map_or(Ok(()), |quote| f.write_char(quote))?;
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\'' if quote == Some('\'') => f.write_str("''")?,
                char if is_visible(char) => f.write_char(char)?,
                _ => f.write_char(char::REPLACEMENT_CHARACTER)?,
            }
        }
        if !chunk.invalid().is_empty() {
            f.write_char(char::REPLACEMENT_CHARACTER)?;
        }
    }
    quote.map_or(Ok(()), |quote| f.write_char(quote))
}

/// A path as one word of a command: quoted like [`Quoted`], and no option even if its name begins with a hyphen.
#[derive(Clone, Copy, Debug)]
pub struct QuotedPath<'a>(pub &'a [u8]);

impl fmt::Display for QuotedPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.starts_with(b"-") {
            f.write_str("./")?;
        }
        Quoted(self.0).fmt(f)
    }
}

/// Writes `$'...'`. Bytes are octal: an octal escape has at most three digits, so a digit behind it is not part of it.
fn escape(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("$'")?;
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\'' | '\\' => write!(f, "\\{char}")?,
                char if is_visible(char) => f.write_char(char)?,
                char => octal(char.encode_utf8(&mut [0; 4]).as_bytes(), f)?,
            }
        }
        octal(chunk.invalid(), f)?;
    }
    f.write_char('\'')
}

fn octal(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "\\{byte:03o}"))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::format;
    use std::process::Command;

    #[test]
    fn words_of_windows_are_in_quotes_that_its_shells_know() {
        struct Word(&'static str);
        impl fmt::Display for Word {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                for_windows(self.0.as_bytes(), f)
            }
        }
        for (text, word) in [
            (r"target\xhist\runs\1-2", r"target\xhist\runs\1-2"),
            (r"C:\my project", r#""C:\my project""#),
            ("", r#""""#),
            ("it's", r#""it's""#),
            ("$HOME's", "'$HOME''s'"),
            ("a\u{1b}b", "\"a\u{fffd}b\""),
        ] {
            assert_eq!(format!("{}", Word(text)), word);
        }
    }

    #[test]
    fn a_path_is_no_option() {
        assert_eq!(format!("{}", QuotedPath(b"-o")), "./-o");
        assert_eq!(format!("{}", QuotedPath(b"-o f")), "./'-o f'");
        assert_eq!(format!("{}", QuotedPath(b"a-o")), "a-o");
    }
    use std::string::ToString as _;

    #[test]
    fn a_shell_reads_every_word_back() {
        let words: [&[u8]; 10] = [
            b"plain/a-1.xhist",
            "größe/a".as_bytes(),
            b"",
            b"sp ace/a",
            b"it's/$HOME `x` \"y\" \\",
            b"-x",
            b"esc\x1b]0;pwn\x07.rs 7",
            b"line\nbreak'\\",
            b"bad\xff0",
            "rtl\u{202e}x".as_bytes(),
        ];
        for bytes in words {
            let word = Quoted(bytes).to_string();
            assert!(word.chars().all(is_visible), "{word:?}");
            let output =
                Command::new("bash").arg("-c").arg(format!("printf %s {word}")).output().expect("bash");
            assert_eq!(output.stdout, bytes, "{word}");
        }
        assert_eq!(Quoted(b"target/debug/demo").to_string(), "target/debug/demo");
        assert_eq!(Quoted(b"it's new").to_string(), r"'it'\''s new'");
    }
}
