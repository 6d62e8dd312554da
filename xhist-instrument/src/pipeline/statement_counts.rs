//! How many statements are recorded, and why others are not.

use super::Analyzed;
use crate::Reason;
use qs_core::listing::Thousands;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of statements.
#[derive(Default)]
pub struct StatementCounts {
    /// Statements that are recorded.
    pub recorded: u64,
    /// Statements that are not, by reason.
    pub skips: BTreeMap<Reason, u64>,
}

/// The share of the statements that is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedShare {
    /// In whole percent.
    pub percent: u64,
    /// A line with the reasons why others are not.
    pub line: String,
}

impl StatementCounts {
    /// Adds those of a source.
    pub fn add(&mut self, analyzed: &Analyzed) {
        let (all, recorded) = (analyzed.sites.len() as u64, analyzed.sites.recorded() as u64);
        self.recorded += recorded;
        let detail = (recorded < all).then_some((Reason::Detail, all - recorded));
        let skips = analyzed.rest.skips.iter().map(|skip| (skip.reason, u64::from(skip.statements)));
        for (reason, statements) in detail.into_iter().chain(skips) {
            *self.skips.entry(reason).or_default() += statements;
        }
    }

    /// The share, if it is below this number of percent. Less detail is a choice, and counts as recorded.
    pub fn share_below(&self, percent: u64) -> Option<RecordedShare> {
        let mut groups: [(&str, u64, bool); 5] = [
            ("in const fn", 0, false),
            ("in macro bodies", 0, false),
            ("in arguments of macros", 0, false),
            ("excluded", 0, false),
            ("of other kinds", 0, false),
        ];
        let mut recorded = self.recorded;
        for (reason, statements) in self.skips.iter().filter(|(reason, _)| reason.is_executable()) {
            let group = match reason {
                Reason::ConstFn => 0,
                Reason::MacroDefinition | Reason::RefusedMacro => 1,
                Reason::MacroArguments => 2,
                Reason::Directive | Reason::Excluded => 3,
                Reason::Thinned | Reason::Detail => {
                    recorded += statements;
                    continue;
                }
                _ => 4,
            };
            groups[group].1 += statements;
            groups[group].2 |= reason.is_estimate();
        }
        let left_out: u64 = groups.iter().map(|(_, statements, _)| statements).sum();
        let share = (100 * recorded).checked_div(recorded + left_out).filter(|share| *share < percent)?;
        let groups = groups.iter().filter(|(_, statements, _)| *statements > 0);
        let groups = groups.map(|(group, statements, is_estimate)| {
            let about = if *is_estimate { "about " } else { "" };
            format!("{about}{} {group}", Thousands(*statements))
        });
        let groups: Vec<String> = groups.collect();
        let line = format!("{share} % of the statements are recorded; not recorded: {}", groups.join(", "));
        Some(RecordedShare { percent: share, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_names_what_is_not_recorded_and_what_is_estimated() {
        let skips = [
            (Reason::ConstFn, 5),
            (Reason::MacroDefinition, 1_100),
            (Reason::RefusedMacro, 100),
            (Reason::Directive, 1),
            (Reason::Excluded, 2),
            (Reason::Unreachable, 9_000),
            (Reason::Detail, 92),
        ];
        let counts = StatementCounts { recorded: 8_700, skips: skips.into() };
        let share = counts.share_below(95).expect("below");
        let reasons = "5 in const fn, about 1,200 in macro bodies, 3 excluded";
        let line = format!("87 % of the statements are recorded; not recorded: {reasons}");
        assert_eq!(share, RecordedShare { percent: 87, line });
        assert_eq!(counts.share_below(87), None);
        assert_eq!(StatementCounts::default().share_below(95), None);
    }
}
