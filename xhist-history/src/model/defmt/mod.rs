//! Lines of the crate `defmt` from the bytes that firmware encoded: their texts are names of symbols in its file.
//!
//! `table` reads the symbols, `format` a format string, `decode` the bytes of its values, `text` writes them.

mod decode;
mod format;
mod table;
mod text;

pub use table::{DefmtLevel, DefmtTable};

/// A line in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefmtLine {
    /// How serious it is; `None` for `println!`.
    pub level: Option<DefmtLevel>,
    /// The crate that wrote it.
    pub from_crate: String,
    /// Its time if the program has one, the crate, and the message. It may have any character.
    pub text: String,
}

impl DefmtTable {
    /// The line with these bytes; `is_cut`: there were more. `None` if the program has no such line.
    pub fn line(&self, bytes: &[u8], is_cut: bool) -> Option<DefmtLine> {
        let decode::Decoded { entry, time, message, rest, is_short } = decode::decode(self, bytes)?;
        let mut text = text::Text::new(self);
        if let Some(time) = &time {
            text.value(time, None);
            text.push(" ");
        }
        text.push(&entry.crate_name);
        text.push(": ");
        text.value(&message, None);
        if is_cut || is_short {
            text.push("...");
        } else if !rest.is_empty() {
            text.push(" ");
            text.unknown(rest);
        }
        Some(DefmtLine { level: entry.level, from_crate: entry.crate_name.clone(), text: text.finish() })
    }
}

#[cfg(test)]
mod tests;
