//! The checks of one thread, statement by statement. What it keeps is bounded by the depth of the stack.

use std::collections::VecDeque;

use qs_core::record::Statement;

use super::locks::{HeldLocks, LockOrder, LockWait};
use super::program::{OrderProgram, SectionSide};
use super::{Check, Handler, OrderFindings, Piece, Seen};
use xhist_history::calls::{CallStack, Moves, PausedStack, StatementId};

/// Newest statements that are kept to prove what is found.
const RECENT: usize = 12;
/// Activations on the stack that are searched for the section.
const MAX_SEARCHED: usize = 4096;

/// One thread.
pub struct ThreadOrder<'p> {
    program: &'p OrderProgram,
    stack: CallStack<'p>,
    state: ThreadState,
}

/// A thread without its program, to be kept between two statements.
pub struct PausedOrder {
    stack: PausedStack,
    state: ThreadState,
}

/// What is kept of a thread besides its stack.
struct ThreadState {
    name: String,
    recent: VecDeque<Seen>,
    /// Statements in all.
    count: u64,
    /// Where the activations on the stack entered a section: activation, section, place in the history.
    entered: Vec<EnteredSection>,
    /// Sections that were entered again while they may have been left: certain when the outer activation goes on in them.
    suspected: Vec<Suspected>,
    /// For each rule `A..B`, the first statement that waits for the second.
    waiting: Vec<Option<Seen>>,
    held: HeldLocks,
}

struct EnteredSection {
    activation: u64,
    section: usize,
    handler: Handler,
    seen: Seen,
}

struct Suspected {
    outer: u64,
    section: usize,
    lines: Vec<Seen>,
}

impl PausedOrder {
    /// The thread again. `program` is the one that it had.
    pub fn resume(self, program: &OrderProgram) -> ThreadOrder<'_> {
        ThreadOrder { program, stack: self.stack.resume(&program.structure), state: self.state }
    }

    /// The rules whose second statement did not run before the end, with the first.
    pub fn open(&self) -> impl Iterator<Item = (usize, Seen)> + '_ {
        self.state.waiting.iter().enumerate().filter_map(|(rule, seen)| Some((rule, (*seen)?)))
    }

    /// The locks that the newest statement takes while others are held.
    pub fn lock_wait(&self) -> Option<LockWait> {
        self.state.held.wait(&self.state.name, *self.state.recent.back()?)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.state.name
    }
}

impl<'p> ThreadOrder<'p> {
    /// Of a thread that has not run a statement.
    pub fn new(program: &'p OrderProgram, name: String) -> ThreadOrder<'p> {
        let state = ThreadState {
            name,
            recent: VecDeque::new(),
            count: 0,
            entered: Vec::new(),
            suspected: Vec::new(),
            waiting: vec![None; program.expected.len()],
            held: HeldLocks::default(),
        };
        ThreadOrder { program, stack: CallStack::new(&program.structure), state }
    }

    /// The thread without its program.
    pub fn pause(self) -> PausedOrder {
        PausedOrder { stack: self.stack.pause(), state: self.state }
    }

    /// A statement runs; `number` is that of its entry in the history.
    pub fn statement(
        &mut self,
        number: u64,
        handler: Handler,
        recorded: Statement,
        locks: &mut LockOrder,
        found: &mut OrderFindings,
    ) {
        let structure = &self.program.structure;
        let ids = |moves: &Moves| moves.left.iter().map(|left| left.activation.id).collect::<Vec<u64>>();
        // What a handler interrupted waits below it.
        let mut left = ids(self.stack.interrupted(handler.signals, handler.interrupt));
        let id = structure.statement(recorded, self.stack.top().map(|top| top.statement));
        if id == structure.unknown() {
            self.forget_left(&left);
            return;
        }
        let moves = self.stack.step(id);
        let is_entered = moves.entered > 0;
        left.extend(ids(moves));
        let seen = Seen { number, id, place: self.state.count };
        self.state.count += 1;
        if self.state.recent.len() == RECENT {
            self.state.recent.pop_front();
        }
        self.state.recent.push_back(seen);
        self.forget_left(&left);
        self.check_suspected(id, found);
        self.check_sections(seen, handler, is_entered, found);
        self.check_expected(seen, found);
        let program = self.program;
        let current = |activation: u64| {
            let mut stack = self.stack.stack().rev().take(MAX_SEARCHED);
            stack.find(|known| known.id == activation).map(|known| known.statement)
        };
        self.state.held.release(program, id, &current);
        if let Some(top) = self.stack.top() {
            self.state.held.take(program, top.id, seen, &self.state.name, locks, found);
        }
    }

    /// What was repeated ran once more, at least: the rules `A..B` see its beginning behind its end.
    pub fn repeated(
        &mut self,
        number: u64,
        statements: impl Iterator<Item = Statement>,
        found: &mut OrderFindings,
    ) {
        let mut before = None;
        for recorded in statements {
            let id = self.program.structure.statement(recorded, before);
            before = Some(id);
            self.check_expected(Seen { number, id, place: self.state.count }, found);
        }
        self.stack.repetition(0);
    }

    /// The thread panicked: destructors may run, and what was open may be left.
    pub fn panic(&mut self) {
        self.forget_sections();
        self.stack.panic();
    }

    /// Entries are missing here, so nothing is known of what is open.
    pub fn gap(&mut self) {
        self.forget_sections();
        self.stack = CallStack::new(&self.program.structure);
        self.state.waiting.fill(None);
        self.state.recent.clear();
    }

    /// These activations were left.
    fn forget_left(&mut self, left: &[u64]) {
        if !left.is_empty() {
            self.state.entered.retain(|entered| !left.contains(&entered.activation));
            self.state.suspected.retain(|suspected| !left.contains(&suspected.outer));
        }
    }

    fn forget_sections(&mut self) {
        self.state.entered.clear();
        self.state.suspected.clear();
        self.state.held = HeldLocks::default();
    }

    /// Whether the outer activation of a suspected section goes on in it.
    fn check_suspected(&mut self, id: StatementId, found: &mut OrderFindings) {
        let Some(top) = self.stack.top().map(|top| top.id) else { return };
        let program = self.program;
        let Some(index) = self.state.suspected.iter().rposition(|suspected| suspected.outer == top) else {
            return;
        };
        let section = &program.sections[self.state.suspected[index].section];
        if !program.is_in(section, id) || id == section.entry {
            // It has left the section, or begins it from the start.
            self.state.suspected.retain(|suspected| suspected.outer != top);
            return;
        }
        let Suspected { section, lines, .. } = self.state.suspected.swap_remove(index);
        let lines = lines.into_iter().chain(self.state.recent.back().copied()).collect();
        self.report_section(section, lines, true, found);
    }

    /// Whether a section is entered that is not left.
    fn check_sections(&mut self, seen: Seen, handler: Handler, is_entered: bool, found: &mut OrderFindings) {
        let program = self.program;
        for section in program.entered(seen.id) {
            let of = &program.sections[*section];
            let Some(top) = self.stack.top().map(|top| top.id) else { return };
            let mut below = self.stack.stack().rev().skip(1).take(MAX_SEARCHED);
            let outer =
                below.find(|known| known.body == of.body && program.is_in(of, known.statement)).cloned();
            let is_outer = |entered: &&EnteredSection| {
                let outer = outer.as_ref().map(|outer| outer.id);
                (Some(entered.activation), entered.section) == (outer, *section)
            };
            // What a panic may have ended has no entry here.
            let entry = self.state.entered.iter().rfind(is_outer).filter(|_| is_entered);
            if let Some((outer, entry)) = outer.as_ref().zip(entry) {
                let lines = self.since(entry.seen);
                let structure = &program.structure;
                let may_be_left =
                    structure.may_end(outer.statement) || structure.is_within(outer.statement, of.last);
                let is_interrupted = handler != Handler::default() && entry.handler != handler;
                if !may_be_left || is_interrupted {
                    self.report_section(*section, lines.clone(), !may_be_left, found);
                }
                if may_be_left {
                    self.state.suspected.push(Suspected { outer: outer.id, section: *section, lines });
                }
            }
            self.state.entered.push(EnteredSection { activation: top, section: *section, handler, seen });
        }
    }

    fn report_section(&self, section: usize, lines: Vec<Seen>, certain: bool, found: &mut OrderFindings) {
        let section = &self.program.sections[section];
        let function = self.program.structure.body(section.body).name();
        found.add(Check {
            kind: "exclusive",
            rule: section.rule.clone(),
            text: match certain {
                true => format!("{function} was entered again before it was left"),
                false => format!(
                    "{function} was perhaps entered again before it was left: a handler came in its last statement or just behind it"
                ),
            },
            certain,
            key: (section.entry.0, section.last.0),
            pieces: vec![Piece { thread: self.state.name.clone(), lines }],
        });
    }

    /// Whether the first side of a rule runs again without the second.
    fn check_expected(&mut self, seen: Seen, found: &mut OrderFindings) {
        for (rule, side) in self.program.marks(seen.id) {
            match side {
                SectionSide::Then => self.state.waiting[*rule] = None,
                SectionSide::First => {
                    if let Some(first) = self.state.waiting[*rule].replace(seen) {
                        let lines = self.since(first);
                        let lines = if lines.last() == Some(&seen) { lines } else { vec![first, seen] };
                        found.add(Check {
                            kind: "expect",
                            rule: self.program.expected[*rule].rule.clone(),
                            text: "the first ran again without the second between".to_owned(),
                            certain: true,
                            key: (first.id.0, seen.id.0),
                            pieces: vec![Piece { thread: self.state.name.clone(), lines }],
                        });
                    }
                }
            }
        }
    }

    /// The statements from this one on: it, and the newest ones behind it.
    fn since(&self, first: Seen) -> Vec<Seen> {
        let newer = self.state.recent.iter().copied().filter(|seen| seen.place > first.place);
        std::iter::once(first).chain(newer).collect()
    }
}
