//! The history of one thread as a shape: gives its statements to the call stack, and what they did there to a builder.

use std::collections::{HashMap, VecDeque};

use qs_core::record::Statement;

use super::build::{Built, ShapeBuilder};
use super::program::ComparedProgram;
use super::shape::{HistoryEnd, ShapeId, Shapes};
use xhist_history::calls::{CallStack, Handler, StatementId, ThreadEntry};
use xhist_history::model::{Gap, Item};

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
    /// What its handlers ran first was overwritten or cleared.
    pub misses_handlers: bool,
}

/// The history of a thread.
#[derive(Debug)]
pub struct ThreadHistory {
    /// Its shape, of what is behind the newest gap.
    pub built: Built,
    /// The shape of what ran from its beginning to the first gap, if it has both.
    pub prologue: Option<ShapeId>,
    /// It began earlier.
    pub is_cut: bool,
    /// More may have run than is in it.
    pub is_partial: bool,
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
    stack: CallStack,
    /// The newest recorded statements of the thread and of each handler.
    newest: HashMap<Handler, VecDeque<StatementId>>,
    limits: Limits,
    prologue: Option<ShapeId>,
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
            newest: HashMap::new(),
            limits,
            prologue: None,
            statements: 0,
            replays: WINDOW as u64,
            unknown: 0,
            uncertain: 0,
            gap: Gap::default(),
        }
    }

    /// Takes what comes next.
    pub fn take(&mut self, gap: &Gap, item: Option<&Item>) {
        let handler = item.map_or(Handler::default(), Handler::of);
        if !gap.is_empty() {
            self.gap.add(gap.clone());
            // Which bodies were left meanwhile is not known.
            if item.is_some() && !handler.is_any() {
                let had_beginning = !std::mem::replace(&mut self.limits.is_cut, true);
                self.newest.clear();
                self.stack = CallStack::new(&self.program.structure);
                let before = self.builder.restart();
                self.prologue = self.prologue.or(had_beginning.then_some(before));
            }
        }
        let Some(entry) = item.map(|item| ThreadEntry::of(&item.what)) else { return };
        match entry {
            ThreadEntry::Statement(recorded) => self.recorded(handler, recorded),
            ThreadEntry::Again { statements, times } => self.repetition(handler, statements, times),
            // Where a handler comes is chance: what it ran is counted, and the stack is that of the thread.
            _ => drop(self.stack.take(Handler::default(), entry)),
        }
        match entry {
            ThreadEntry::Panic => self.builder.end(HistoryEnd::Panic),
            ThreadEntry::Signal(signal) => {
                self.builder.end(HistoryEnd::Signal(u8::try_from(signal).unwrap_or(u8::MAX)));
            }
            _ => {}
        }
    }

    fn recorded(&mut self, handler: Handler, recorded: Statement) {
        let newest = self.newest.entry(handler).or_default();
        let Some(statement) = self.program.find(recorded, newest.back().copied()) else {
            self.unknown += 1;
            return;
        };
        if newest.len() == WINDOW {
            newest.pop_front();
        }
        newest.push_back(statement);
        self.replays = self.replays.saturating_add(REPLAYED);
        self.statement(handler, statement);
    }

    /// The newest statements ran again. One more round shows all that further rounds do.
    fn repetition(&mut self, handler: Handler, statements: usize, times: u64) {
        let newest = self.newest.entry(handler).or_default();
        let Some(first) = newest.len().checked_sub(statements) else { return };
        let Some(replays) = self.replays.checked_sub(statements as u64) else {
            self.uncertain += 1;
            return;
        };
        self.replays = replays;
        let round: Vec<StatementId> = newest.range(first..).copied().collect();
        for statement in &round {
            self.statement(handler, *statement);
            self.builder.count(*statement, times.saturating_sub(1));
            self.statements = self.statements.saturating_add(times.saturating_sub(1));
        }
    }

    fn statement(&mut self, handler: Handler, statement: StatementId) {
        self.statements = self.statements.saturating_add(1);
        if handler.is_any() {
            return self.builder.count(statement, 1);
        }
        if self.limits.is_cut && self.stack.depth() == 0 {
            // A body that is entered here has a caller that is not known yet. A body that goes on has none that matters.
            let structure = &self.program.structure;
            if structure.body(structure.body_of(statement)).entry == Some(statement) {
                return self.builder.count(statement, 1);
            }
        }
        self.stack.step(handler, statement);
        let moves = self.stack.moves();
        self.uncertain += u64::from(moves.is_uncertain);
        moves.left.iter().for_each(|_| self.builder.leave());
        let mut bodies = self.stack.entered().peekable();
        if self.limits.is_cut
            && moves.entered == self.stack.depth()
            && let Some(bottom) = bodies.next_if(|bottom| bottom.entered_before)
        {
            self.builder.enclose(bottom.body);
        }
        bodies.for_each(|activation| self.builder.enter(activation.body));
        self.builder.statement(statement);
    }

    /// The history up to here.
    pub fn finish(mut self) -> ThreadHistory {
        if self.limits.is_killed {
            self.builder.end(HistoryEnd::Cut);
        }
        let HistoryReader { builder, limits, prologue, statements, unknown, uncertain, gap, .. } = self;
        let Limits { is_cut, misses_handlers, .. } = limits;
        let is_partial = is_cut || misses_handlers || !gap.is_empty();
        let built = builder.finish();
        ThreadHistory { built, prologue, is_cut, is_partial, statements, unknown, uncertain, gap }
    }
}

impl ThreadHistory {
    /// The shape of what ran from its beginning on.
    pub fn beginning(&self) -> Option<ShapeId> {
        self.prologue.or((!self.is_cut).then_some(self.built.root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::calls::outline::{entry, map};
    use xhist_history::model::What;

    /// The histories of one thread after these entries; those with a `'` are of a signal handler.
    fn histories(outline: &str, streams: &[&str]) -> Vec<ThreadHistory> {
        let program = ComparedProgram::of(&map(outline));
        let shapes = &mut Shapes::default();
        let mut read = |stream: &&str| {
            let mut reader = HistoryReader::new(&program, shapes, Limits::default());
            for word in stream.split_whitespace() {
                let known = word.trim_end_matches('\'');
                let what = match entry(known) {
                    ThreadEntry::Statement(Statement { file, line }) => What::Statement { file, line },
                    ThreadEntry::Task(mark) => What::Task(mark),
                    other => panic!("{other:?}"),
                };
                let handlers = (word.len() - known.len()) as u8;
                reader.take(&Gap::default(), Some(&Item { handlers, ..Item::new(what, None) }));
            }
            reader.finish()
        };
        streams.iter().map(&mut read).collect()
    }

    #[test]
    fn marks_of_futures_say_which_one_goes_on() {
        let outline = "\
fn worker asyncfn
  s sleep await
  s";
        let [with, without] = &histories(outline, &["t1 2 t2 2 t2 3 t1 3", "2 2 3 3"])[..] else { panic!() };
        assert_eq!(with.uncertain, 0);
        assert!(without.uncertain > 0);
    }

    #[test]
    fn a_handler_is_counted_and_no_part_of_what_it_interrupted() {
        let outline = "\
fn main
  s add
  s
fn add
  s
  s
fn on_timer
  s add
  s";
        let [plain, interrupted] = &histories(outline, &["2 5 6 3", "2 5 8' 5' 6' 9' 6 3"])[..] else {
            panic!()
        };
        assert_eq!(plain.built.root, interrupted.built.root);
        assert_eq!((plain.built.counts.len(), interrupted.built.counts.len()), (4, 6));
        assert_eq!(interrupted.built.counts.values().sum::<u64>(), 8);
        assert_eq!((interrupted.statements, interrupted.uncertain), (8, 0));
    }
}
