//! Writes out what ran again a few times, as if it had been recorded each time. It must not know how it is shown.

use std::collections::VecDeque;

use qs_core::record::Statement;
use qs_core::ring::{Item, Reader, Shown};

/// Statements that a repetition may go back.
const WINDOW: usize = 4096;

/// A reader of a ring, in which short repetitions are written out.
#[derive(Clone, Debug)]
pub struct Rounds<'a> {
    reader: Reader<'a>,
    /// Repetitions of so many statements are written out.
    longest: u64,
    /// The newest statements, each with its interrupt.
    newest: VecDeque<(Statement, u16)>,
    /// A repetition that is being written out: the statements, which of them is next, and how many are to go.
    again: (Vec<(Statement, u16)>, usize, u64),
    /// The interrupt of the newest statement, where that was written out.
    written_out: Option<u16>,
    /// The newest statement of the reader, until it is among the newest here.
    given: Option<Statement>,
}

impl<'a> Rounds<'a> {
    /// Writes out repetitions of up to `longest` statements.
    pub fn new(reader: Reader<'a>, longest: u64) -> Rounds<'a> {
        Rounds {
            reader,
            longest,
            newest: VecDeque::new(),
            again: (Vec::new(), 0, 0),
            written_out: None,
            given: None,
        }
    }

    /// As [`Reader::resume_from`].
    pub fn resume_from(&self) -> u64 {
        self.reader.resume_from()
    }

    /// As [`Reader::shown`].
    pub fn shown(&self) -> Shown {
        self.reader.shown()
    }

    /// As [`Reader::item_position`].
    pub fn item_position(&self) -> u64 {
        self.reader.item_position()
    }

    /// The interrupt that the newest statement ran in.
    pub fn interrupt(&self) -> u16 {
        self.written_out.unwrap_or_else(|| self.reader.interrupt())
    }

    /// The next item, oldest first.
    pub fn next(&mut self) -> Option<Item<'_>> {
        if let Some(statement) = self.given.take() {
            if self.newest.len() == WINDOW {
                self.newest.pop_front();
            }
            self.newest.push_back((statement, self.reader.interrupt()));
        }
        let (statements, next, left) = &mut self.again;
        if *left > 0 {
            let (statement, interrupt) = statements[*next];
            (*next, *left) = ((*next + 1) % statements.len(), *left - 1);
            self.written_out = Some(interrupt);
            return Some(Item::Statement(statement, None));
        }
        self.written_out = None;
        match self.reader.next()? {
            Item::Statement(statement, stamp) => {
                self.given = (self.longest > 0).then_some(statement);
                Some(Item::Statement(statement, stamp))
            }
            Item::Again(again) => {
                let all = again.times.saturating_mul(again.statements as u64);
                let first = self.newest.len().checked_sub(again.statements);
                match first.filter(|_| all <= self.longest && all > 0) {
                    None => Some(Item::Again(again)),
                    Some(first) => {
                        let statements: Vec<_> = self.newest.range(first..).copied().collect();
                        let (statement, interrupt) = statements[0];
                        self.again = (statements, 1 % again.statements, all - 1);
                        self.written_out = Some(interrupt);
                        Some(Item::Statement(statement, None))
                    }
                }
            }
            item => Some(item),
        }
    }
}
