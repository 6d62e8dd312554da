//! An activation: one execution of a body. What a statement changes about the stack of activations.

use super::structure::{BodyId, StatementId};

/// One execution of a function, a closure or an async block that has not been left, as far as the statements show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activation {
    /// Unique on its stack, rising.
    pub id: u64,
    /// What runs.
    pub body: BodyId,
    /// Its newest statement.
    pub statement: StatementId,
    /// The statement of its caller that was the newest when it was entered. `None` at the bottom of the stack.
    pub called_from: Option<StatementId>,
    /// Its entry was not seen: it was entered before the first statement, or its first statement is not recorded.
    pub entered_before: bool,
    /// Statements allow another caller.
    pub is_uncertain: bool,
    /// An async body that was parked before, and goes on.
    pub is_resumed: bool,
    /// It was entered after a panic, while the stack was being unwound.
    pub in_unwinding: bool,
    /// It interrupted what is below it: a signal handler, or an interrupt.
    pub is_handler: bool,
    /// The number of that interrupt; 0 for none, or if not known.
    pub interrupt: u16,
    /// A statement of its caller names it.
    pub(super) is_named: bool,
    /// The id of its future, if recorded.
    pub task: Option<u64>,
    /// Its future went on since its newest statement: what that awaited is ready.
    pub(super) has_resumed: bool,
    /// The mark of its future's end was seen: how it ended.
    pub(super) ended: Option<Exit>,
    /// An async callee of the newest statement has ended.
    pub(super) callee_returned: bool,
    /// The newest callee of the newest statement.
    pub(super) callee: Option<BodyId>,
    /// Types with a destructor whose values it made or got from callees, the newest last.
    pub(super) values: Vec<u32>,
}

/// How an activation was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It ended, or returned early.
    Returned,
    /// A panic passed through it.
    Unwound,
    /// An async body at an `.await`: it may go on later.
    Parked,
    /// An async body whose future was dropped at an `.await`.
    Cancelled,
    /// What was recorded does not show it: statements are missing.
    Unknown,
}

impl Exit {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Exit::Returned => "returned",
            Exit::Unwound => "unwound",
            Exit::Parked => "parked",
            Exit::Cancelled => "cancelled",
            Exit::Unknown => "unknown",
        }
    }
}

/// An activation that was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The activation as it was.
    pub activation: Activation,
    /// How it was left.
    pub exit: Exit,
    /// Its depth on the stack, from 0.
    pub depth: usize,
}

/// Calls of folded rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedCalls {
    /// They are below the activation at this index.
    pub below: usize,
    /// How many.
    pub calls: u64,
}

/// What a statement changed about a stack: first activations are left, then activations are entered, then the statement
/// runs in the topmost one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Left activations, the topmost first.
    pub left: Vec<Left>,
    /// How many activations at the top of the stack are new.
    pub entered: usize,
    /// Statements allow another reading of this step.
    pub is_uncertain: bool,
    /// Of `left`, the first ones are those of handlers that ended before the entry.
    pub of_handlers: usize,
    /// Of a repetition, the statements that ran again. Empty if they are not known.
    pub again: Vec<StatementId>,
    /// Of a repetition, the index of the outermost activation that its statements ran in before.
    pub round: Option<usize>,
    /// Calls of a repetition that were not left.
    pub folded: Option<FoldedCalls>,
    /// Calls of earlier repetitions that were left. The activations above them take their place.
    pub unfolded: Vec<FoldedCalls>,
    /// A future that was dropped while it waited.
    pub cancelled: Option<Activation>,
}

impl Moves {
    pub(super) fn clear(&mut self) {
        self.left.clear();
        self.entered = 0;
        self.is_uncertain = false;
        self.of_handlers = 0;
        self.again.clear();
        self.round = None;
        self.folded = None;
        self.unfolded.clear();
        self.cancelled = None;
    }
}
