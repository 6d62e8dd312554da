//! The only user of the terminal: progress while working, a summary at the end, both on stderr.

use super::outcome::{Outcome, Rule};
use crate::Reason;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
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

/// A path, from the current directory when it is below that.
pub fn shown_from_here(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let real = current.canonicalize().unwrap_or_else(|_| current.clone());
    let below = [current, real].iter().find_map(|dir| path.strip_prefix(dir).ok().map(Path::to_path_buf));
    shown(below.as_deref().unwrap_or(path))
}

/// Where a map is, and what for.
pub fn described_map(map: &Path) -> String {
    let earlier = crate::kept_maps::directory(map);
    let earlier = match earlier.is_dir() {
        true => format!("; maps of earlier runs are in {}/", shown_from_here(&earlier)),
        false => String::new(),
    };
    format!("{} (xhist-report takes names from it{earlier})", shown_from_here(map))
}

/// Without the characters that `is_escaped` and that a terminal acts on or that hide what a text says.
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

/// Counts for the summary.
#[derive(Default)]
pub struct Summary {
    files: u64,
    statements: u64,
    skips: BTreeMap<Reason, u64>,
    rules: BTreeMap<Rule, u64>,
    failed: u64,
}

impl Summary {
    pub fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Analyzed(analyzed) => {
                self.files += 1;
                let (all, recorded) = (analyzed.sites.len() as u64, analyzed.sites.recorded() as u64);
                self.statements += recorded;
                if recorded < all {
                    *self.skips.entry(Reason::Detail).or_default() += all - recorded;
                }
                for skip in &analyzed.rest.skips {
                    *self.skips.entry(skip.reason).or_default() += u64::from(skip.statements);
                }
            }
            Outcome::LeftAlone(rule) => *self.rules.entry(*rule).or_default() += 1,
            Outcome::Failed(_) => self.failed += 1,
        }
    }

    pub fn print(&self) {
        let (skips, never): (Counts, Counts) =
            self.skips.iter().partition(|(reason, _)| reason.is_executable());
        let skipped: u64 = skips.values().copied().sum();
        let total = self.statements + skipped;
        // Of nothing there is no share.
        let share = if total == 0 {
            String::new()
        } else {
            format!(" ({:.1} % recorded)", self.statements as f64 * 100.0 / total as f64)
        };
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {} left alone on an error", files(failed as usize)),
        };
        let files = files(self.files as usize);
        say(format_args!("{files}: {} statements, {skipped} skipped{share}{failed}", self.statements));
        let estimated = |reason: &Reason| if reason.is_estimate() { " (estimated)" } else { "" };
        let skips =
            skips.into_iter().map(|(reason, count)| (format!("{reason}{}", estimated(reason)), count));
        print_counts("skipped", &skips.collect());
        print_counts("not counted", &never);
        print_counts("files left alone", &self.rules);
    }
}

type Counts<'a> = BTreeMap<&'a Reason, &'a u64>;

fn print_counts<K: Display, N: Display>(what: &str, counts: &BTreeMap<K, N>) {
    for (reason, count) in counts {
        say(format_args!("  {what}: {count} {reason}"));
    }
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
