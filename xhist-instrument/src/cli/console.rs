//! What the tool prints on stderr: messages, file names in them, and progress bars.

use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Display;
use std::io::IsTerminal as _;
use std::path::Path;

/// Prints a message. Control characters of file names and sources must not reach the terminal.
pub fn say(text: impl Display) {
    eprintln!("{}", escaped(&text.to_string(), |c| c != '\n'));
}

/// A path as messages show it, on one line.
pub fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy(), |_| true)
}

/// A path, relative to the current directory if it is below that.
pub fn shown_from_here(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let real = current.canonicalize().unwrap_or_else(|_| current.clone());
    let below = [current, real].iter().find_map(|dir| path.strip_prefix(dir).ok().map(Path::to_path_buf));
    shown(below.as_deref().unwrap_or(path))
}

/// The path of a map, and what it is for.
pub fn described_map(map: &Path) -> String {
    let earlier = crate::map::kept_maps::directory(map);
    let earlier = match earlier.is_dir() {
        true => format!("; source texts and maps of earlier runs are in {}/", shown_from_here(&earlier)),
        false => String::new(),
    };
    format!("{} (xhist-report takes names from it{earlier})", shown_from_here(map))
}

/// Escapes characters that control a terminal or hide text, if `is_escaped` selects them.
fn escaped(text: &str, is_escaped: fn(char) -> bool) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match hides(c) && is_escaped(c) {
            true => clean.extend(c.escape_default()),
            false => clean.push(c),
        }
    }
    clean
}

/// A bar on a terminal, nothing elsewhere.
pub fn progress(files: usize, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} files").expect("a constant");
    ProgressBar::new(files as u64).with_style(style.progress_chars("=> ")).with_message(what)
}

/// `1 file`, `2 files`.
pub fn files(count: usize) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_cannot_steer_the_terminal() {
        assert_eq!(shown(Path::new("a\u{1b}]0;x\u{7}\n\u{202e}é.rs")), "a\\u{1b}]0;x\\u{7}\\n\\u{202e}é.rs");
        assert_eq!(escaped("a\nb\r", |c| c != '\n'), "a\nb\\r");
    }
}
