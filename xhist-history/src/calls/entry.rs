//! The entries of a thread, one after another, into what each changes about its stack of calls.

use qs_core::record::{Statement, TaskMark};

use super::activation::{Activation, Moves};
use super::levels::Handler;
use super::stack::CallStack;
use super::structure::StatementId;
use crate::model::{Gap, Item, What};

/// An entry of a thread, as far as it shows calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadEntry {
    /// A statement ran.
    Statement(Statement),
    /// The newest statements ran again.
    Again {
        /// How many.
        statements: usize,
        /// How often.
        times: u64,
    },
    /// The thread panicked.
    Panic,
    /// A fatal signal arrived.
    Signal(u64),
    /// A future made a step.
    Task(TaskMark),
    /// Entries are missing.
    Gap,
    /// The ring has overwritten any number of entries, so no call before this is known to be open.
    Overwritten,
    /// What shows no call.
    Other,
}

impl ThreadEntry {
    /// Of what was recorded.
    pub fn of(what: &What) -> ThreadEntry {
        match what {
            What::Statement { file, line } => ThreadEntry::Statement(Statement { file: *file, line: *line }),
            What::Again(again) => ThreadEntry::Again { statements: again.statements, times: again.times },
            What::Panic(..) => ThreadEntry::Panic,
            What::Signal(signal, _) => ThreadEntry::Signal(*signal),
            What::Task(mark) => ThreadEntry::Task(*mark),
            What::Values | What::Output(..) | What::Trace(_) | What::Record(_) => ThreadEntry::Other,
        }
    }

    /// Statements in it.
    pub fn statements(self) -> u64 {
        match self {
            ThreadEntry::Statement(_) => 1,
            ThreadEntry::Again { statements, times } => times.saturating_mul(statements as u64),
            _ => 0,
        }
    }

    /// What a ring yields next: what is missing, then the item.
    pub fn all(gap: &Gap, item: Option<&Item>) -> impl Iterator<Item = ThreadEntry> + use<> {
        let item = item.map(|item| ThreadEntry::of(&item.what));
        ThreadEntry::of_gap(gap).into_iter().chain(item)
    }

    /// Of what is missing; `None` if nothing is.
    pub fn of_gap(gap: &Gap) -> Option<ThreadEntry> {
        match gap.is_overwritten() {
            true => Some(ThreadEntry::Overwritten),
            false => (!gap.is_empty()).then_some(ThreadEntry::Gap),
        }
    }
}

impl CallStack {
    /// Takes the next entry of the thread, recorded in this handler.
    pub fn take(&mut self, handler: Handler, entry: ThreadEntry) -> &Moves {
        if let ThreadEntry::Statement(recorded) = entry {
            return self.step(handler, self.structure.statement(recorded, self.newest(handler)));
        }
        self.moves.clear();
        // Only statements know their interrupt, and a loss has no place.
        let is_missing = matches!(entry, ThreadEntry::Gap | ThreadEntry::Overwritten);
        if self.interrupts.is_empty() && !is_missing {
            self.go_to(handler);
        }
        self.moves.of_handlers = self.moves.left.len();
        match entry {
            ThreadEntry::Again { statements, times } => self.run_again(statements, times),
            ThreadEntry::Panic => self.panic(),
            ThreadEntry::Task(mark) => self.moves.cancelled = self.task(mark),
            ThreadEntry::Gap => self.gap(),
            ThreadEntry::Overwritten => self.forget(),
            ThreadEntry::Statement(_) | ThreadEntry::Signal(_) | ThreadEntry::Other => {}
        }
        &self.moves
    }

    /// What the newest entry changed.
    pub fn moves(&self) -> &Moves {
        &self.moves
    }

    /// The activations that the newest entry entered, the outermost first.
    pub fn entered(&self) -> impl DoubleEndedIterator<Item = &Activation> + ExactSizeIterator {
        self.stack().skip(self.depth() - self.moves.entered)
    }

    /// A statement of the structure runs in this handler.
    pub fn step(&mut self, handler: Handler, id: StatementId) -> &Moves {
        self.moves.clear();
        self.go_to(handler);
        self.rounds.earn();
        self.run(id);
        &self.moves
    }
}
