//! The last lines of a listing, for those who print a few under a message: runs of one statement are one line.

use super::again::Again;
use super::reader::{Item, Reader};
use crate::record::Statement;

impl<'a> Reader<'a> {
    /// The last `lines` lines of a listing, oldest first.
    pub fn tail(self, lines: usize) -> impl Iterator<Item = Line> + use<'a> {
        let all = Lines { reader: self, ahead: None, again: None };
        let count = all.clone().count();
        all.skip(count.saturating_sub(lines))
    }
}

/// A line of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A statement, and how often it ran in a row: a few times are as many lines, a loop that spins is one.
    Statement(Statement, u64),
    /// The lines before this one ran again.
    Again(Again),
}

/// Lines as a listing shows them.
#[derive(Clone)]
struct Lines<'a> {
    reader: Reader<'a>,
    /// Read already, to see where a run ends.
    ahead: Option<Line>,
    /// A short run whose lines are not all given yet.
    again: Option<(Statement, u64)>,
}

impl Lines<'_> {
    fn read(&mut self) -> Option<Line> {
        loop {
            match self.reader.next()? {
                Item::Statement(statement, _) => return Some(Line::Statement(statement, 1)),
                Item::Again(again) => return Some(Line::Again(again)),
                _ => {}
            }
        }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        /// From here on it is a loop that spins.
        const SPINS: u64 = 8;
        if let Some((statement, times)) = self.again.take() {
            self.again = (times > 1).then_some((statement, times - 1));
            return Some(Line::Statement(statement, 1));
        }
        let first = self.ahead.take().or_else(|| self.read())?;
        let Line::Statement(statement, _) = first else { return Some(first) };
        let mut times = 1u64;
        self.ahead = loop {
            match self.read() {
                Some(Line::Statement(next, _)) if next == statement => times += 1,
                // The frame before this held nothing else.
                Some(Line::Again(again)) if again.statements as u64 <= times => {
                    times = times.saturating_add(again.times.saturating_mul(again.statements as u64));
                }
                next => break next,
            }
        };
        if times >= SPINS {
            return Some(Line::Statement(statement, times));
        }
        self.again = (times > 1).then_some((statement, times - 1));
        Some(Line::Statement(statement, 1))
    }
}
