//! Makes text from dumps and maps safe to print. Line ends would break a listing, escape sequences would act on the terminal, and
//! marks of writing direction would show a path in another order: all are escaped here.

use std::borrow::Cow;

use qs_core::shown::Visible;
pub use qs_core::shown::is_visible;

/// The text with all other characters escaped (`\n`, `\u{1b}`, `\u{202e}`).
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_visible) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(Visible(text).to_string())
}

/// `1 ring`, `2 rings`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// `1 process`, `2 processes`.
pub fn count_processes(number: usize) -> String {
    format!("{number} process{}", if number == 1 { "" } else { "es" })
}

/// The beginning of a text: at most this number of characters, and a mark where more follow.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The end of a path: at most this number of characters, with a mark where more come before.
pub fn tail_of(text: &str, most: usize) -> String {
    let len = text.chars().count();
    if len <= most {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(len + 1 - most).collect();
    format!("…{tail}")
}
