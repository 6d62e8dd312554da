//! The newest statements of each thread: those that a repetition counts.

use std::collections::{HashMap, VecDeque};

use qs_core::record::Statement;
use qs_core::ring::Repetition;

/// Statements of a thread that a repetition may go back.
const WINDOW: usize = 1 << 15;

/// The newest statements, by the number of the ring and of the handlers in it.
#[derive(Debug, Default)]
pub struct NewestStatements(HashMap<(usize, u8), VecDeque<Statement>>);

impl NewestStatements {
    /// A statement was recorded.
    pub fn push(&mut self, ring: (usize, u8), statement: Statement) {
        let newest = self.0.entry(ring).or_default();
        if newest.len() == WINDOW {
            newest.pop_front();
        }
        newest.push_back(statement);
    }

    /// What follows is not behind these statements.
    pub fn forget(&mut self, ring: usize) {
        self.0.retain(|(of, _), _| *of != ring);
    }

    /// The statements that ran again. `None` if they are not known.
    pub fn repeated(
        &self,
        ring: (usize, u8),
        again: &Repetition,
    ) -> Option<impl Iterator<Item = Statement> + Clone> {
        let newest = self.0.get(&ring)?;
        let all = newest.range(newest.len().checked_sub(again.statements)?..).copied();
        let known = Repetition::new(all.clone(), again.times)?;
        (known.places() == again.places()).then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_is_of_the_newest_statements() {
        let of = |line| Statement { file: 1, line };
        let mut newest = NewestStatements::default();
        [1, 2, 3].into_iter().for_each(|line| newest.push((7, 0), of(line)));
        let again = |lines: &[u16]| Repetition::new(lines.iter().map(|line| of(*line)), 5).unwrap();
        let repeated = |newest: &NewestStatements, lines: &[u16]| {
            newest
                .repeated((7, 0), &again(lines))
                .map(|all| all.map(|statement| statement.line).collect::<Vec<_>>())
        };
        assert_eq!(repeated(&newest, &[2, 3]), Some(vec![2, 3]));
        assert_eq!(repeated(&newest, &[1, 2]), None);
        assert_eq!(repeated(&newest, &[0, 1, 2, 3]), None);
        newest.forget(7);
        assert_eq!(repeated(&newest, &[3]), None);
    }
}
