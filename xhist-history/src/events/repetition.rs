//! The one expander of repetitions: writes a short repetition out, as if its statements had been recorded each time.

use std::collections::VecDeque;

use qs_core::record::Statement;

/// The newest statements of a thread, and the repetition of them that is being written out.
#[derive(Clone, Debug)]
pub struct Expander {
    /// Repetitions of up to this number of statements in all are written out.
    longest: u64,
    /// Number of statements that are kept.
    window: usize,
    /// The newest recorded statements, each with its interrupt.
    newest: VecDeque<(Statement, u16)>,
    /// Statements of one round.
    round: usize,
    /// Which statement of the round comes next.
    next: usize,
    /// Statements that are still to be written out.
    left: u64,
}

impl Expander {
    /// Writes out repetitions of up to `longest` statements in all, none of which goes back more than `window`.
    pub fn new(longest: u64, window: usize) -> Expander {
        Expander { longest, window, newest: VecDeque::new(), round: 0, next: 0, left: 0 }
    }

    /// Takes a recorded statement.
    pub fn push(&mut self, statement: Statement, interrupt: u16) {
        if self.newest.len() == self.window && self.newest.pop_front().is_none() {
            return;
        }
        self.newest.push_back((statement, interrupt));
    }

    /// Forgets the statements: what follows may repeat others.
    pub fn clear(&mut self) {
        self.newest.clear();
    }

    /// This number of the newest statements, oldest first; `None` when there are fewer.
    pub fn newest(&self, statements: usize) -> Option<impl Iterator<Item = Statement> + Clone + '_> {
        let first = self.newest.len().checked_sub(statements)?;
        Some(self.newest.range(first..).map(|(statement, _)| *statement))
    }

    /// How many statements a repetition of the newest ones is written out to; `None` when it stays one entry.
    pub fn expanded(&self, statements: usize, times: u64) -> Option<u64> {
        let all = times.saturating_mul(statements as u64);
        (0 < all && all <= self.longest && statements <= self.newest.len()).then_some(all)
    }

    /// Begins to write out a repetition of the newest statements, if it is short enough; whether it is.
    pub fn expand(&mut self, statements: usize, times: u64) -> bool {
        let all = self.expanded(statements, times);
        (self.round, self.next, self.left) = (statements, 0, all.unwrap_or(0));
        all.is_some()
    }

    /// Whether nothing is being written out.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The next statement that is written out, with its interrupt.
    pub fn next(&mut self) -> Option<(Statement, u16)> {
        self.left = self.left.checked_sub(1)?;
        let statement = self.newest[self.newest.len() - self.round + self.next];
        self.next = (self.next + 1) % self.round;
        Some(statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(expander: &mut Expander) -> Vec<u16> {
        std::iter::from_fn(|| expander.next()).map(|(statement, _)| statement.line).collect()
    }

    #[test]
    fn a_short_repetition_of_the_newest_statements_is_written_out() {
        let mut expander = Expander::new(4, 3);
        (1..=4).for_each(|line| expander.push(Statement { file: 1, line }, 0));
        assert!(expander.is_done() && expander.expand(2, 2) && !expander.is_done());
        assert_eq!(lines(&mut expander), [3, 4, 3, 4]);
        assert!(expander.is_done());
        let newest = expander.newest(2).map(|newest| newest.map(|statement| statement.line).collect());
        assert_eq!(newest, Some(vec![3, 4]));
        // Longer than wanted, further back than what is kept, and nothing at all.
        assert!(!expander.expand(2, 3) && !expander.expand(4, 1) && !expander.expand(0, 9));
        assert!(!expander.expand(1, 0) && lines(&mut expander).is_empty());
        assert!(expander.newest(4).is_none());
        expander.clear();
        assert!(!expander.expand(1, 1));
    }

    #[test]
    fn without_a_window_nothing_is_kept() {
        let mut expander = Expander::new(9, 0);
        expander.push(Statement { file: 1, line: 1 }, 0);
        assert!(!expander.expand(1, 1));
    }
}
