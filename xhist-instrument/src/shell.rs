//! Quoting: text from programs and files for a terminal, and words for a shell.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

/// Escapes characters that control a terminal or hide text.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if is_plain(char) {
            shown.push(char);
        } else {
            let _ = write!(shown, "{}", char.escape_unicode());
        }
    }
    shown
}

/// Neither a control character nor one that changes direction, breaks lines or has no width.
fn is_plain(char: char) -> bool {
    let hides = matches!(char, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !char.is_control() && !hides
}

/// A path as one word of a command.
pub fn word(path: &Path) -> String {
    // A name must not look like an option.
    let is_option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if is_option { quoted(Path::new(".").join(path)) } else { quoted(path) }
}

/// One word of a command: as it is, in quotes, or with escapes where it must not be shown raw.
pub fn quoted(text: impl AsRef<OsStr>) -> String {
    let text = text.as_ref();
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(byte) || *byte >= 0x80;
    match text.to_str() {
        Some(text) if text.chars().all(is_plain) => {
            match !text.is_empty() && text.as_bytes().iter().all(is_bare) {
                true => text.to_owned(),
                false => format!("'{}'", text.replace('\'', r"'\''")),
            }
        }
        _ => format!("$'{}'", escaped(text)),
    }
}

/// The text for `$'...'`. Bytes are octal: an octal escape has at most three digits, so a digit behind it is not part of it.
fn escaped(text: &OsStr) -> String {
    let mut word = String::new();
    for chunk in text.as_encoded_bytes().utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\'' | '\\' => word.extend(['\\', char]),
                char if is_plain(char) => word.push(char),
                char => octal(char.encode_utf8(&mut [0; 4]).as_bytes(), &mut word),
            }
        }
        octal(chunk.invalid(), &mut word);
    }
    word
}

fn octal(bytes: &[u8], word: &mut String) {
    for byte in bytes {
        let _ = write!(word, "\\{byte:03o}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Command;

    #[test]
    fn a_shell_reads_every_path_back() {
        let names: [&[u8]; 9] = [
            b"plain/a-1.xhist",
            "größe/a".as_bytes(),
            b"sp ace/a",
            b"it's/$HOME `x` \"y\" \\",
            b"-x",
            b"esc\x1b]0;pwn\x07.rs 7",
            b"line\nbreak'\\",
            b"bad\xff0",
            "rtl\u{202e}x".as_bytes(),
        ];
        for name in names {
            let word = word(Path::new(OsStr::from_bytes(name)));
            assert!(word.chars().all(is_plain), "{word:?}");
            let output =
                Command::new("bash").arg("-c").arg(format!("printf %s {word}")).output().expect("bash");
            let read = output.stdout.strip_prefix(b"./").unwrap_or(&output.stdout);
            assert_eq!(read, name, "{word}");
        }
        assert_eq!(word(Path::new("target/xhist/runs/1-2/a-3.xhist")), "target/xhist/runs/1-2/a-3.xhist");
    }

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        assert_eq!(visible("a::b\u{1b}[2J\u{202e}é"), "a::b\\u{1b}[2J\\u{202e}é");
    }
}
