//! The only user of the terminal: progress while working, a summary at the end, both on stderr.

use super::outcome::{Outcome, Rule};
use crate::Reason;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::IsTerminal as _;

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
                self.statements += analyzed.sites.len() as u64;
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
        let share = if total == 0 { 100.0 } else { self.statements as f64 * 100.0 / total as f64 };
        let files = files(self.files as usize);
        eprintln!("{files}: {} statements, {skipped} skipped ({share:.1} % recorded)", self.statements);
        let estimated = |reason: &Reason| if reason.is_estimate() { " (estimated)" } else { "" };
        let skips =
            skips.into_iter().map(|(reason, count)| (format!("{reason}{}", estimated(reason)), count));
        print_counts("skipped", &skips.collect());
        print_counts("not counted", &never);
        print_counts("files left alone", &self.rules);
        if self.failed > 0 {
            eprintln!("  files left alone on an error: {}", self.failed);
        }
    }
}

type Counts<'a> = BTreeMap<&'a Reason, &'a u64>;

fn print_counts<K: Display, N: Display>(what: &str, counts: &BTreeMap<K, N>) {
    for (reason, count) in counts {
        eprintln!("  {what}: {count} {reason}");
    }
}

/// `1 file`, `2 files`.
pub fn files(count: usize) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}
