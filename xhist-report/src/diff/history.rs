//! The history of one thread as a shape: gives its statements to the call stack, and what they did there to a builder.

use std::collections::VecDeque;

use qs_core::record::Statement;

use super::build::{Built, ShapeBuilder};
use super::program::ComparedProgram;
use super::shape::{HistoryEnd, Shapes};
use xhist_history::calls::{CallStack, StatementId};
use xhist_history::model::{Gap, Item, What};

/// Statements that a repetition goes back. A longer one changes nothing but counts.
const WINDOW: usize = 1 << 15;
/// Repeated statements that are given again for each recorded one. A recorder needs one; a damaged ring may ask for more.
const REPLAYED: u64 = 8;

/// What a ring says about the limits of its history.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Its beginning was overwritten or cleared.
    pub is_cut: bool,
    /// Its program did not end by itself.
    pub is_killed: bool,
}

/// The history of a thread.
#[derive(Debug)]
pub struct ThreadHistory {
    /// Its shape.
    pub built: Built,
    /// It began earlier.
    pub is_cut: bool,
    /// Statements in all, with those of repetitions.
    pub statements: u64,
    /// Statements that the map does not have.
    pub unknown: u64,
    /// Statements whose place in the tree of calls has another reading.
    pub uncertain: u64,
    /// What is missing in it.
    pub gap: Gap,
}

/// Reads the history of a thread.
pub struct HistoryReader<'s> {
    program: &'s ComparedProgram,
    builder: ShapeBuilder<'s, ComparedProgram>,
    stack: CallStack<'s>,
    /// The newest recorded statements.
    newest: VecDeque<StatementId>,
    limits: Limits,
    statements: u64,
    /// Repeated statements that may still be given again.
    replays: u64,
    unknown: u64,
    uncertain: u64,
    gap: Gap,
}

impl<'s> HistoryReader<'s> {
    /// At the oldest statement.
    pub fn new(program: &'s ComparedProgram, shapes: &'s mut Shapes, limits: Limits) -> Self {
        HistoryReader {
            program,
            builder: ShapeBuilder::new(program, shapes, limits.is_cut),
            stack: CallStack::new(&program.structure),
            newest: VecDeque::new(),
            limits,
            statements: 0,
            replays: WINDOW as u64,
            unknown: 0,
            uncertain: 0,
            gap: Gap::default(),
        }
    }

    /// Takes what comes next.
    pub fn take(&mut self, gap: &Gap, item: Option<&Item>) {
        if !gap.is_empty() {
            self.gap.add(gap.clone());
            // Which bodies were left meanwhile is not known.
            if item.is_some() {
                self.limits.is_cut = true;
                self.newest.clear();
                self.stack = CallStack::new(&self.program.structure);
                self.builder.restart();
            }
        }
        match item.map(|item| &item.what) {
            Some(What::Statement { file, line }) => self.recorded(Statement { file: *file, line: *line }),
            Some(What::Again(again)) => self.repetition(again.statements, again.times),
            Some(What::Panic(_)) => {
                self.stack.panic();
                self.builder.end(HistoryEnd::Panic);
            }
            Some(What::Signal(signal, _)) => {
                self.builder.end(HistoryEnd::Signal(u8::try_from(*signal).unwrap_or(u8::MAX)));
            }
            Some(What::Task(_) | What::Values | What::Trace(_) | What::Record(_)) | None => {}
        }
    }

    fn recorded(&mut self, recorded: Statement) {
        let before = self.newest.back().copied();
        let Some(statement) = self.program.find(recorded, before) else {
            self.unknown += 1;
            return;
        };
        if self.newest.len() == WINDOW {
            self.newest.pop_front();
        }
        self.newest.push_back(statement);
        self.replays = self.replays.saturating_add(REPLAYED);
        self.statement(statement);
    }

    /// The newest statements ran again. One more round shows all that further rounds do.
    fn repetition(&mut self, statements: usize, times: u64) {
        let Some(first) = self.newest.len().checked_sub(statements) else { return };
        let Some(replays) = self.replays.checked_sub(statements as u64) else {
            self.uncertain += 1;
            return;
        };
        self.replays = replays;
        let round: Vec<StatementId> = self.newest.range(first..).copied().collect();
        for statement in &round {
            self.statement(*statement);
            self.builder.count(*statement, times.saturating_sub(1));
            self.statements = self.statements.saturating_add(times.saturating_sub(1));
        }
    }

    fn statement(&mut self, statement: StatementId) {
        self.statements = self.statements.saturating_add(1);
        if self.limits.is_cut && self.stack.depth() == 0 {
            // A body that is entered here has a caller that is not known yet. A body that goes on has none that matters.
            let structure = &self.program.structure;
            if structure.body(structure.body_of(statement)).entry == Some(statement) {
                return self.builder.count(statement, 1);
            }
        }
        let moves = self.stack.step(statement);
        let (left, entered) = (moves.left.len(), moves.entered);
        self.uncertain += u64::from(moves.is_uncertain);
        for _ in 0..left {
            self.builder.leave();
        }
        if entered > 0 {
            let is_bottom = entered == self.stack.depth();
            let mut bodies: Vec<_> = self.stack.stack().rev().take(entered).collect();
            if is_bottom
                && self.limits.is_cut
                && let Some(bottom) = bodies.pop_if(|bottom| bottom.entered_before)
            {
                self.builder.enclose(bottom.body);
            }
            bodies.iter().rev().for_each(|activation| self.builder.enter(activation.body));
        }
        self.builder.statement(statement);
    }

    /// The history up to here.
    pub fn finish(mut self) -> ThreadHistory {
        if self.limits.is_killed {
            self.builder.end(HistoryEnd::Cut);
        }
        let HistoryReader { builder, limits, statements, unknown, uncertain, gap, .. } = self;
        ThreadHistory { built: builder.finish(), is_cut: limits.is_cut, statements, unknown, uncertain, gap }
    }
}
