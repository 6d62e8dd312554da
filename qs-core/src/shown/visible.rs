//! Escapes what a terminal would act on, or what would hide or reorder text.

use core::fmt::{self, Write as _};

/// Whether a character is shown as it is. Escaped are control characters, line ends, marks of writing direction, and
/// characters without a width. The joiners U+200C and U+200D are shown: some scripts and emoji need them.
pub const fn is_visible(char: char) -> bool {
    if char.is_ascii() {
        return !char.is_ascii_control();
    }
    !matches!(char,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A text with all other characters escaped: `\n`, `\u{1b}`, `\u{202e}`.
#[derive(Clone, Copy, Debug)]
pub struct Visible<'a>(pub &'a str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plain = 0;
        for (at, char) in self.0.char_indices().filter(|(_, char)| !is_visible(*char)) {
            f.write_str(&self.0[plain..at])?;
            char.escape_default().try_for_each(|char| f.write_char(char))?;
            plain = at + char.len_utf8();
        }
        f.write_str(&self.0[plain..])
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::format;
    use std::string::ToString as _;

    #[test]
    fn control_characters_are_escaped_and_the_rest_is_kept() {
        assert_eq!(Visible("src/é.rs").to_string(), "src/é.rs");
        assert_eq!(Visible("a\n\u{1b}[2Jb\u{9b}").to_string(), "a\\n\\u{1b}[2Jb\\u{9b}");
        assert_eq!(Visible("").to_string(), "");
    }

    #[test]
    fn what_hides_or_turns_text_is_escaped() {
        let hidden =
            [0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x2060, 0x2065, 0xFEFF, 0xFFF9];
        for char in (0x202A..=0x202E).chain(0x2066..=0x2069).chain(hidden).chain([0xE_0000, 0xE_007F]) {
            let char = char::from_u32(char).unwrap();
            assert_eq!(Visible(&format!("a{char}b")).to_string(), format!("a\\u{{{:x}}}b", u32::from(char)));
        }
        for text in ["نص عربي", "עברית", "क्\u{200d}ष", "👩\u{200d}💻"] {
            assert_eq!(Visible(text).to_string(), text);
        }
    }
}
