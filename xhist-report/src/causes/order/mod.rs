//! Checks of order: a section that is entered again before it is left, a statement that should follow another and does not, locks that
//! are taken in two orders.
//!
//! [`Rule`] and [`Directives`] are what the user states, [`OrderProgram`] what that means for a build. [`ThreadOrder`] follows one thread by
//! its stack of calls and adds to [`OrderFindings`]. A check that cannot be certain reports nothing.

mod directives;
mod lock_text;
mod locks;
mod program;
mod rule;
#[cfg(test)]
mod tests;
mod thread;

use std::collections::HashMap;

pub use directives::Directives;
pub use locks::{LockOrder, LockWait, circle};
pub use program::OrderProgram;
pub use rule::{Rule, RuleError};
pub use thread::ThreadOrder;

use xhist_history::calls::StatementId;

/// Most findings of different places that are kept.
const MAX_FOUND: usize = 1000;

/// A statement of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The number of its entry.
    pub number: u64,
    pub id: StatementId,
    /// Its place among the statements of its thread.
    pub place: u64,
}

/// A piece of the history of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub thread: String,
    /// Statements, oldest first; some between them may be left out.
    pub lines: Vec<Seen>,
}

/// A rule that is broken, with what proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// `exclusive`, `expect` or `locks`.
    pub kind: &'static str,
    /// The rule.
    pub rule: String,
    /// What is wrong.
    pub text: String,
    /// Whether the history proves it.
    pub certain: bool,
    /// The places: the same rule broken at the same places is one finding.
    pub key: (u32, u32),
    pub pieces: Vec<Piece>,
}

/// What makes two findings the same: kind, certainty, rule and places.
type FindingKey = (&'static str, bool, String, (u32, u32));

/// All that was found.
#[derive(Debug, Default)]
pub struct OrderFindings {
    checks: Vec<(Check, u64)>,
    known: HashMap<FindingKey, usize>,
    /// Findings of further places.
    pub more: u64,
}

impl OrderFindings {
    fn add(&mut self, check: Check) {
        let key = (check.kind, check.certain, check.rule.clone(), check.key);
        match self.known.get(&key) {
            Some(index) => self.checks[*index].1 += 1,
            None if self.checks.len() >= MAX_FOUND => self.more += 1,
            None => {
                self.known.insert(key, self.checks.len());
                self.checks.push((check, 1));
            }
        }
    }

    /// The findings in the order in which they were made, and how often each.
    pub fn checks(&self) -> &[(Check, u64)] {
        &self.checks
    }
}
