//! Repetitions that go deeper: in each round calls begin that do not end.
//!
//! A recorder that folds a recursion keeps one round and a count. [`Rounds`] knows where the newest statements ran, and how many
//! calls of folded rounds lie between two activations.

use std::collections::VecDeque;

use super::stack::CallStack;
use super::structure::StatementId;

/// Statements of a round that are known.
const LONGEST: usize = 4_096;

/// Where the newest statements ran, and the open calls of folded rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// The newest statements, each with the index of its activation.
    newest: VecDeque<(StatementId, usize)>,
    /// Calls below an activation that are not on the stack: its index, and how many. The outermost first.
    folded: Vec<(usize, u64)>,
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

/// Calls of a repetition that were not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descent {
    /// They are below the activation at this index.
    pub below: usize,
    /// How many.
    pub calls: u64,
}

impl CallStack<'_> {
    /// The newest statements ran again, this number of times. Returns the calls that began in these rounds and were not left: a
    /// round that starts above the calls of the round before it goes deeper each time.
    pub fn descend(&mut self, statements: usize, times: u64) -> Option<Descent> {
        let newest = &self.rounds.newest;
        let round = newest.range(newest.len().checked_sub(statements)?..);
        // The outermost activation of the round, and what it ran first.
        let (first, below) = round.copied().min_by_key(|(_, index)| *index)?;
        let body = self.structure.body_of(first);
        let next = match self.structure.is_entry(first) {
            true => self.caller(body, true).depth,
            false => self.find(body, first)?,
        };
        let calls = (next.checked_sub(below).filter(|calls| *calls > 0)? as u64).saturating_mul(times);
        match self.rounds.folded.last_mut().filter(|(index, _)| *index == below) {
            Some((_, more)) => *more = more.saturating_add(calls),
            None => self.rounds.folded.push((below, calls)),
        }
        Some(Descent { below, calls })
    }

    /// Open calls of folded rounds below the activation at this index.
    pub fn folded_below(&self, index: usize) -> u64 {
        let below = self.rounds.folded.iter().take_while(|(at, _)| *at <= index);
        below.fold(0, |calls, (_, more)| calls.saturating_add(*more))
    }
}
