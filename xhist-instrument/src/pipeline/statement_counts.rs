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
        let sites = &analyzed.analysis.sites;
        let recorded = sites.iter().filter(|site| site.recorded).count() as u64;
        let all = sites.len() as u64;
        self.recorded += recorded;
        let detail = (recorded < all).then_some((Reason::Detail, all - recorded));
        let skips = analyzed.analysis.skips.iter().map(|skip| (skip.reason, u64::from(skip.statements)));
        for (reason, statements) in detail.into_iter().chain(skips) {
            *self.skips.entry(reason).or_default() += statements;
        }
    }

    /// The share, if it is below this number of percent. Less detail is a choice, and counts as recorded.
    pub fn share_below(&self, percent: u64) -> Option<RecordedShare> {
        let mut groups: BTreeMap<(usize, &str), (u64, bool)> = BTreeMap::new();
        let mut recorded = self.recorded;
        for (reason, statements) in self.skips.iter().filter(|(reason, _)| reason.is_executable()) {
            let Some(group) = group(*reason) else {
                recorded += statements;
                continue;
            };
            let (all, is_estimate) = groups.entry(group).or_default();
            *all += statements;
            *is_estimate |= reason.is_estimate();
        }
        let left_out: u64 = groups.values().map(|(statements, _)| statements).sum();
        let share = (100 * recorded).checked_div(recorded + left_out).filter(|share| *share < percent)?;
        let groups = groups.iter().filter(|(_, (statements, _))| *statements > 0);
        let groups = groups.map(|((_, group), (statements, is_estimate))| {
            let about = if *is_estimate { "about " } else { "" };
            format!("{about}{} {group}", Thousands(*statements))
        });
        let groups: Vec<String> = groups.collect();
        let line = format!("{share} % of the statements are recorded; not recorded: {}", groups.join(", "));
        Some(RecordedShare { percent: share, line })
    }
}

/// The words for what is not recorded for this reason, and their place in the line; `None` if less detail was chosen.
fn group(reason: Reason) -> Option<(usize, &'static str)> {
    Some(match reason {
        Reason::Thinned | Reason::Detail => return None,
        Reason::ConstFn => (0, "in const fn"),
        Reason::MacroDefinition | Reason::ConstMacro => (1, "in macro bodies"),
        Reason::MacroArguments => (2, "in arguments of macros"),
        Reason::Directive | Reason::Excluded => (3, "excluded"),
        Reason::GlobalAlloc => (4, "in the global allocator"),
        Reason::PanicHandler => (4, "in the panic handler"),
        Reason::CriticalSection => (4, "in critical sections"),
        Reason::PreInit => (4, "before memory is initialised"),
        Reason::Naked => (4, "in naked functions"),
        Reason::UnknownSyntax => (4, "in unknown syntax"),
        _ => (5, "of other kinds"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_names_what_is_not_recorded_and_what_is_estimated() {
        let skips = [
            (Reason::ConstFn, 5),
            (Reason::MacroDefinition, 1_100),
            (Reason::ConstMacro, 100),
            (Reason::Directive, 1),
            (Reason::Excluded, 2),
            (Reason::GlobalAlloc, 1),
            (Reason::LetElse, 1),
            (Reason::Unreachable, 9_000),
            (Reason::Detail, 92),
        ];
        let counts = StatementCounts { recorded: 8_700, skips: skips.into() };
        let share = counts.share_below(95).expect("below");
        let reasons = "5 in const fn, about 1,200 in macro bodies, 3 excluded, 1 in the global allocator, 1 of other kinds";
        let line = format!("87 % of the statements are recorded; not recorded: {reasons}");
        assert_eq!(share, RecordedShare { percent: 87, line });
        assert_eq!(counts.share_below(87), None);
        assert_eq!(StatementCounts::default().share_below(95), None);
    }
}
