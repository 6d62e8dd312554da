//! Counts of a run, and the summary at its end.

use super::console::{files, say};
use crate::Reason;
use crate::pipeline::{Exemption, Outcome, StatementCounts, ValueCounts};
use crate::select::ValueSelection;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Counts for the summary.
#[derive(Default)]
pub struct Summary {
    files: u64,
    statements: StatementCounts,
    rules: BTreeMap<Exemption, u64>,
    failed: u64,
    values: ValueCounts,
}

impl Summary {
    pub fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Analyzed(analyzed) => {
                self.files += 1;
                self.statements.add(analyzed);
                self.values.add(analyzed);
            }
            Outcome::LeftAlone(rule) => *self.rules.entry(*rule).or_default() += 1,
            Outcome::Failed(_) => self.failed += 1,
        }
    }

    pub fn print(&self) {
        let StatementCounts { recorded, skips } = &self.statements;
        let (skips, never): (Counts, Counts) = skips.iter().partition(|(reason, _)| reason.is_executable());
        let skipped: u64 = skips.values().copied().sum();
        let total = recorded + skipped;
        // Without statements there is no share.
        let share = if total == 0 {
            String::new()
        } else {
            format!(" ({:.1} % recorded)", *recorded as f64 * 100.0 / total as f64)
        };
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {} left alone on an error", files(failed as usize)),
        };
        let files = files(self.files as usize);
        say(format_args!("{files}: {recorded} statements, {skipped} skipped{share}{failed}"));
        let estimated = |reason: &Reason| if reason.is_estimate() { " (estimated)" } else { "" };
        let skips =
            skips.into_iter().map(|(reason, count)| (format!("{reason}{}", estimated(reason)), count));
        print_counts("skipped", &skips.collect());
        print_counts("not counted", &never);
        print_counts("files left alone", &self.rules);
        if let Some(share) = self.values.share() {
            say(share);
            print_counts("value left alone", &self.values.losses());
        }
    }
}

/// Reports patterns of the command line that select no binding.
pub fn report_unused(values: &ValueSelection) {
    for pattern in values.unused() {
        say(format_args!("note: --values {pattern}: no binding matches"));
    }
}

type Counts<'a> = BTreeMap<&'a Reason, &'a u64>;

fn print_counts<K: Display, N: Display>(what: &str, counts: &BTreeMap<K, N>) {
    for (reason, count) in counts {
        say(format_args!("  {what}: {count} {reason}"));
    }
}
