//! What a repetition repeats: where the newest statements ran, and the calls of folded rounds.
//!
//! A recorder that folds a recursion keeps one round and a count, on the way down and on the way up. A [`CallGap`] is the calls of
//! these rounds. They wait as those of the round that was kept did, so a statement that one of them can run is on the way up.

use std::collections::VecDeque;

use super::structure::{BodyId, StatementId, Structure};

/// Statements of a round that are known: as many as a recorder folds.
const LONGEST: usize = 1 << 15;
/// Statements of rounds that are run again for each recorded one. A damaged ring may ask for more.
const REPLAYED: usize = 8;

/// Where the newest statements ran, and the open calls of folded rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// For the thread and each handler inside it the newest statements.
    newest: Vec<VecDeque<Ran>>,
    /// The outermost first.
    pub gaps: Vec<CallGap>,
    /// Calls of all gaps.
    calls: u64,
    /// Statements that may still be run again.
    replays: usize,
}

/// A statement that ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran {
    /// Which one.
    pub statement: StatementId,
    /// The index of its activation.
    index: u32,
    /// Calls below that one, with those of folded rounds.
    depth: u32,
}

impl Ran {
    /// Calls below its activation, with those of folded rounds.
    pub fn depth(self) -> u64 {
        u64::from(self.depth)
    }
}

/// Open calls that are not on the stack.
#[derive(Clone, Debug)]
pub(super) struct CallGap {
    /// The index of the activation above them.
    pub below: usize,
    /// How many.
    pub calls: u64,
    /// The statements that the calls of each round wait at, the outermost first. The activations of one round are on the stack.
    pub waiting: Vec<StatementId>,
}

impl Rounds {
    /// A statement ran in the activation at this index, in this number of handlers.
    pub fn push(&mut self, handlers: usize, statement: StatementId, index: usize) {
        if self.newest.len() <= handlers {
            self.newest.resize_with(handlers + 1, VecDeque::new);
        }
        let newest = &mut self.newest[handlers];
        if newest.len() == LONGEST {
            newest.pop_front();
        }
        let depth = u32::try_from((index as u64).saturating_add(self.calls)).unwrap_or(u32::MAX);
        newest.push_back(Ran { statement, index: u32::try_from(index).unwrap_or(u32::MAX), depth });
    }

    /// The newest statements, if they are known: the first one, the index of the outermost activation of all, and all.
    pub fn round(&self, handlers: usize, statements: usize) -> Option<(Ran, usize, Vec<StatementId>)> {
        let newest = self.newest.get(handlers)?;
        let round = newest.range(newest.len().checked_sub(statements)?..);
        let (first, outermost) = (round.clone().next()?, round.clone().min_by_key(|ran| ran.depth)?);
        Some((*first, outermost.index as usize, round.map(|ran| ran.statement).collect()))
    }

    /// Calls begin below this activation, and wait at these statements.
    pub fn fold(&mut self, below: usize, calls: u64, waiting: Vec<StatementId>) {
        self.calls = self.calls.saturating_add(calls);
        match self.gaps.last_mut().filter(|gap| gap.below == below && gap.waiting == waiting) {
            Some(gap) => gap.calls = gap.calls.saturating_add(calls),
            None => self.gaps.push(CallGap { below, calls, waiting }),
        }
    }

    /// Rounds of a gap are over: where it is, and how many calls these were.
    pub fn unfold(&mut self, index: usize, rounds: u64) -> Option<(usize, u64)> {
        let gap = self.gaps.get_mut(index)?;
        let calls = gap.round().saturating_mul(rounds).min(gap.calls);
        (gap.calls, self.calls) = (gap.calls - calls, self.calls.saturating_sub(calls));
        let below = gap.below;
        if gap.calls == 0 {
            self.gaps.remove(index);
        }
        Some((below, calls))
    }

    /// The stack has this depth now.
    pub fn left(&mut self, depth: usize) {
        while let Some(gap) = self.gaps.pop_if(|gap| gap.below >= depth) {
            self.calls = self.calls.saturating_sub(gap.calls);
        }
    }

    /// A statement was recorded.
    pub fn earn(&mut self) {
        self.replays = self.replays.saturating_add(REPLAYED);
    }

    /// Whether a round of this length may be run again.
    pub fn pay(&mut self, statements: usize) -> bool {
        self.replays.checked_sub(statements).map(|rest| self.replays = rest).is_some()
    }

    /// Calls of folded rounds.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Calls of folded rounds below the activation at this index.
    pub fn below(&self, index: usize) -> u64 {
        let below = self.gaps.iter().take_while(|gap| gap.below <= index);
        below.fold(0, |calls, gap| calls.saturating_add(gap.calls))
    }
}

/// Where a statement runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The index of the activation.
    pub index: usize,
    /// It is a call of folded rounds: their place among the gaps.
    pub gap: Option<usize>,
}

impl CallGap {
    /// The place in a round of the call of a body that can run a statement next.
    pub fn position(&self, structure: &Structure, body: BodyId, id: StatementId) -> Option<usize> {
        let can = |at: &StatementId| structure.body_of(*at) == body && structure.reaches(*at, id);
        self.waiting.iter().rposition(can)
    }

    /// Calls in each round.
    pub fn round(&self) -> u64 {
        self.waiting.len() as u64
    }
}
