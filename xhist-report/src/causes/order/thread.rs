//! The checks of one thread, entry by entry.

use std::collections::VecDeque;
use std::sync::Arc;

use super::locks::{HeldLocks, LockOrder, LockWait};
use super::program::{OrderProgram, SectionSide};
use super::{Check, OrderFindings, Piece, Seen};
use xhist_history::calls::{CallStack, Handler, StatementId, ThreadEntry};

/// Newest statements that are kept to prove what is found.
const RECENT: usize = 12;
/// Activations on the stack that are searched for the section.
const MAX_SEARCHED: usize = 4096;

/// One thread. What it keeps is bounded by the depth of its stack.
pub struct ThreadOrder {
    program: Arc<OrderProgram>,
    stack: CallStack,
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

impl ThreadOrder {
    /// Of a thread that has not run a statement.
    pub fn new(program: &Arc<OrderProgram>, name: String) -> ThreadOrder {
        ThreadOrder {
            program: Arc::clone(program),
            stack: CallStack::new(&program.structure),
            name,
            recent: VecDeque::new(),
            count: 0,
            entered: Vec::new(),
            suspected: Vec::new(),
            waiting: vec![None; program.expected.len()],
            held: HeldLocks::default(),
        }
    }

    /// The rules whose second statement did not run before the end, with the first.
    pub fn open(&self) -> impl Iterator<Item = (usize, Seen)> + '_ {
        self.waiting.iter().enumerate().filter_map(|(rule, seen)| Some((rule, (*seen)?)))
    }

    /// The locks that the newest statement takes while others are held.
    pub fn lock_wait(&self) -> Option<LockWait> {
        self.held.wait(&self.name, *self.recent.back()?)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the next entry of the thread. `number` is its number in the history.
    pub fn take(
        &mut self,
        number: u64,
        (handler, entry): (Handler, ThreadEntry),
        locks: &mut LockOrder,
        found: &mut OrderFindings,
    ) {
        if entry == ThreadEntry::Panic {
            // Destructors may run, and what was open may be left.
            self.forget_sections();
        }
        self.stack.take(handler, entry);
        self.forget_left();
        if let ThreadEntry::Again { .. } = entry {
            self.repeated(number, found);
        }
        if let (ThreadEntry::Statement(_), Some(id)) = (entry, self.stack.top().map(|top| top.statement))
            && id != self.program.structure.unknown()
        {
            self.statement(Seen { number, id, place: self.count }, handler, locks, found);
        }
    }

    /// A statement ran.
    fn statement(&mut self, seen: Seen, handler: Handler, locks: &mut LockOrder, found: &mut OrderFindings) {
        self.count += 1;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(seen);
        self.check_suspected(seen.id, found);
        self.check_sections(seen, handler, found);
        self.check_expected(seen, found);
        let current = |activation: u64| {
            let mut stack = self.stack.stack().rev().take(MAX_SEARCHED);
            stack.find(|known| known.id == activation).map(|known| known.statement)
        };
        self.held.release(&self.program, seen.id, &current);
        if let Some(top) = self.stack.top() {
            self.held.take(&self.program, top.id, seen, &self.name, locks, found);
        }
    }

    /// What was repeated ran once more, at least: the rules `A..B` see its beginning behind its end.
    fn repeated(&mut self, number: u64, found: &mut OrderFindings) {
        let round = self.stack.moves().again.clone();
        if round.is_empty() {
            return self.gap();
        }
        round.into_iter().for_each(|id| self.check_expected(Seen { number, id, place: self.count }, found));
    }

    /// Entries are missing here, so nothing is known of what is open.
    pub fn gap(&mut self) {
        self.forget_sections();
        self.stack = CallStack::new(&self.program.structure);
        self.waiting.fill(None);
        self.recent.clear();
    }

    /// Forgets the activations that the newest entry left.
    fn forget_left(&mut self) {
        let left = &self.stack.moves().left;
        if !left.is_empty() {
            let is_left = |id: u64| left.iter().any(|left| left.activation.id == id);
            self.entered.retain(|entered| !is_left(entered.activation));
            self.suspected.retain(|suspected| !is_left(suspected.outer));
        }
    }

    fn forget_sections(&mut self) {
        self.entered.clear();
        self.suspected.clear();
        self.held = HeldLocks::default();
    }

    /// Whether the outer activation of a suspected section goes on in it.
    fn check_suspected(&mut self, id: StatementId, found: &mut OrderFindings) {
        let Some(top) = self.stack.top().map(|top| top.id) else { return };
        let program = &self.program;
        let Some(index) = self.suspected.iter().rposition(|suspected| suspected.outer == top) else {
            return;
        };
        let section = &program.sections[self.suspected[index].section];
        if !program.is_in(section, id) || id == section.entry {
            // It has left the section, or begins it from the start.
            self.suspected.retain(|suspected| suspected.outer != top);
            return;
        }
        let Suspected { section, lines, .. } = self.suspected.swap_remove(index);
        let lines = lines.into_iter().chain(self.recent.back().copied()).collect();
        self.report_section(section, lines, true, found);
    }

    /// Whether a section is entered that is not left.
    fn check_sections(&mut self, seen: Seen, handler: Handler, found: &mut OrderFindings) {
        let program = Arc::clone(&self.program);
        let is_entered = self.stack.moves().entered > 0;
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
            let entry = self.entered.iter().rfind(is_outer).filter(|_| is_entered);
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
                    self.suspected.push(Suspected { outer: outer.id, section: *section, lines });
                }
            }
            self.entered.push(EnteredSection { activation: top, section: *section, handler, seen });
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
            pieces: vec![Piece { thread: self.name.clone(), lines }],
        });
    }

    /// Whether the first side of a rule runs again without the second.
    fn check_expected(&mut self, seen: Seen, found: &mut OrderFindings) {
        for (rule, side) in self.program.marks(seen.id) {
            match side {
                SectionSide::Then => self.waiting[*rule] = None,
                SectionSide::First => {
                    if let Some(first) = self.waiting[*rule].replace(seen) {
                        let lines = self.since(first);
                        let lines = if lines.last() == Some(&seen) { lines } else { vec![first, seen] };
                        found.add(Check {
                            kind: "expect",
                            rule: self.program.expected[*rule].rule.clone(),
                            text: "the first ran again without the second between".to_owned(),
                            certain: true,
                            key: (first.id.0, seen.id.0),
                            pieces: vec![Piece { thread: self.name.clone(), lines }],
                        });
                    }
                }
            }
        }
    }

    /// The statements from this one on: it, and the newest ones behind it.
    fn since(&self, first: Seen) -> Vec<Seen> {
        let newer = self.recent.iter().copied().filter(|seen| seen.place > first.place);
        std::iter::once(first).chain(newer).collect()
    }
}
