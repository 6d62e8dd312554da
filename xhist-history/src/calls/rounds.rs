//! Repetitions that go deeper: in each round calls begin that do not end.
//!
//! A recorder that folds a recursion keeps one round and a count. [`Rounds`] knows where the newest statements ran, and how many
//! calls of folded rounds lie between two activations.

use std::collections::VecDeque;

use super::structure::StatementId;

/// Statements of a round that are known.
const LONGEST: usize = 4_096;

/// Where the newest statements ran, and the open calls of folded rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// The newest statements, each with the index of its activation.
    pub newest: VecDeque<(StatementId, usize)>,
    /// Calls below an activation that are not on the stack: its index, and how many. The outermost first.
    pub folded: Vec<(usize, u64)>,
}

impl Rounds {
    pub(super) fn push(&mut self, statement: StatementId, index: usize) {
        if self.newest.len() == LONGEST {
            self.newest.pop_front();
        }
        self.newest.push_back((statement, index));
    }

    /// The stack has this depth now.
    pub(super) fn left(&mut self, depth: usize) {
        while self.folded.last().is_some_and(|(index, _)| *index >= depth) {
            self.folded.pop();
        }
    }
}
