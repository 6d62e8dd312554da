//! The depth of a recursion that the recorder folded.

use super::stack::CallStack;

/// Calls of a repetition that were not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descent {
    /// They are below the activation at this index.
    pub below: usize,
    /// How many.
    pub calls: u64,
}

impl CallStack {
    /// The newest statements ran again, this number of times.
    pub(super) fn run_again(&mut self, statements: usize, times: u64) {
        // Those of handlers are not kept.
        if self.floors.is_empty() {
            self.moves.folded = self.descend(statements, times);
        }
    }

    /// The calls that began in these rounds and were not left: a round that starts above the calls of the round before it goes
    /// deeper each time.
    fn descend(&mut self, statements: usize, times: u64) -> Option<Descent> {
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
