//! The last lines of a ring. A statement that spins is one line.

use crate::record::Statement;
use crate::ring::{Item, Reader, Repetition};

impl<'a> Reader<'a> {
    /// The last `lines` lines of a listing, oldest first.
    pub fn tail(self, lines: usize) -> impl Iterator<Item = TailLine> + use<'a> {
        let all = Lines { reader: self, ahead: None, repetition: None };
        let count = all.clone().count();
        all.skip(count.saturating_sub(lines))
    }
}

/// A line of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailLine {
    /// A statement, and its number of executions in a row. Fewer than 8 are separate lines; more are one line.
    Statement(Statement, u64),
    /// The previous lines repeat.
    Repetition(Repetition),
}

/// The lines of a listing.
#[derive(Clone)]
struct Lines<'a> {
    reader: Reader<'a>,
    /// Read ahead, to find the end of a run.
    ahead: Option<TailLine>,
    /// A short run with lines that are not given yet.
    repetition: Option<(Statement, u64)>,
}

impl Lines<'_> {
    fn read(&mut self) -> Option<TailLine> {
        loop {
            match self.reader.next()? {
                Item::Statement(statement, _) => return Some(TailLine::Statement(statement, 1)),
                Item::Repetition(repetition) => return Some(TailLine::Repetition(repetition)),
                _ => {}
            }
        }
    }
}

impl Iterator for Lines<'_> {
    type Item = TailLine;

    fn next(&mut self) -> Option<TailLine> {
        /// A statement that ran this often in a row is one line.
        const SPINS: u64 = 8;
        if let Some((statement, times)) = self.repetition.take() {
            self.repetition = (times > 1).then_some((statement, times - 1));
            return Some(TailLine::Statement(statement, 1));
        }
        let first = self.ahead.take().or_else(|| self.read())?;
        let TailLine::Statement(statement, _) = first else { return Some(first) };
        let mut times = 1u64;
        self.ahead = loop {
            match self.read() {
                Some(TailLine::Statement(next, _)) if next == statement => times += 1,
                // The previous frame has only this statement.
                Some(TailLine::Repetition(repetition)) if repetition.statements as u64 <= times => {
                    times =
                        times.saturating_add(repetition.times.saturating_mul(repetition.statements as u64));
                }
                next => break next,
            }
        };
        if times >= SPINS {
            return Some(TailLine::Statement(statement, times));
        }
        self.repetition = (times > 1).then_some((statement, times - 1));
        Some(TailLine::Statement(statement, 1))
    }
}
