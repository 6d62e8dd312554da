//! Quoting: text from programs and files for a terminal, and words for a shell.

use std::ffi::OsStr;
use std::path::Path;

use qs_core::shown::{Quoted, QuotedPath, Visible};

/// The text, safe for a terminal.
pub fn visible(text: &str) -> String {
    Visible(text).to_string()
}

/// A path as one word of a command.
pub fn word(path: &Path) -> String {
    QuotedPath(path.as_os_str().as_encoded_bytes()).to_string()
}

/// One word of a command.
pub fn quoted(text: impl AsRef<OsStr>) -> String {
    Quoted(text.as_ref().as_encoded_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_option() {
        assert_eq!(word(Path::new("-x")), "./-x");
        assert_eq!(word(Path::new("target/xhist/runs/1-2/a-3.xhist")), "target/xhist/runs/1-2/a-3.xhist");
    }
}
