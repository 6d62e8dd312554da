//! Makes text from dumps and maps safe to print. Line ends would break a listing, escape sequences would act on the terminal, and
//! marks of writing direction would show a path in another order: all are escaped here.

use std::borrow::Cow;

/// Whether a character is printed as it is: not a control character, a mark of writing direction, a line end or an invisible one.
pub fn is_visible(char: char) -> bool {
    const BYTE_ORDER_MARK: char = '\u{feff}';
    if char < '\u{80}' {
        return !char.is_ascii_control();
    }
    let turns = matches!(char,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let ends_line = matches!(char, '\u{2028}' | '\u{2029}');
    !(char.is_control() || turns || ends_line || matches!(char, '\u{200b}' | BYTE_ORDER_MARK))
}

/// The text with all other characters escaped (`\n`, `\u{1b}`, `\u{202e}`).
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_visible) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if is_visible(char) {
            clean.push(char);
        } else {
            clean.extend(char.escape_default());
        }
    }
    Cow::Owned(clean)
}

/// `1 ring`, `2 rings`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// `1 process`, `2 processes`.
pub fn count_processes(number: usize) -> String {
    format!("{number} process{}", if number == 1 { "" } else { "es" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_the_rest_is_kept() {
        assert_eq!(visible("src/é.rs"), "src/é.rs");
        assert_eq!(visible("a\n\u{1b}[2Jb\u{9b}"), "a\\n\\u{1b}[2Jb\\u{9b}");
    }

    #[test]
    fn marks_of_direction_and_line_ends_are_escaped() {
        for char in
            (0x202A..=0x202E).chain(0x2066..=0x2069).chain([0x61C, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF])
        {
            let char = char::from_u32(char).unwrap();
            assert_eq!(visible(&format!("a{char}b")), format!("a\\u{{{:x}}}b", u32::from(char)));
        }
        // Some scripts need these characters.
        for text in ["نص عربي", "עברית", "क्\u{200d}ष", "👩\u{200d}💻"] {
            assert_eq!(visible(text), text);
        }
    }
}
