//! Text from a dump or a map may hold anything: line ends would break the listing, and escape
//! sequences would act on the reader's terminal. Here they become visible.

use std::borrow::Cow;

/// The text with control characters written as escapes (`\n`, `\u{1b}`).
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_control() {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

/// `1 ring`, `2 rings`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_the_rest_is_kept() {
        assert_eq!(visible("src/é.rs"), "src/é.rs");
        assert_eq!(visible("a\n\u{1b}[2Jb\u{9b}"), "a\\n\\u{1b}[2Jb\\u{9b}");
    }
}
