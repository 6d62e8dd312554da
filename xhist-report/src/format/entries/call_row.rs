//! A row of a call tree, as a format receives it.

use xhist_history::calls::ThroughDerived;
use xhist_history::model::{Ring, ShownValue};

/// A row.
#[derive(Clone, Copy, Debug)]
pub enum CallRow<'a> {
    /// A thread begins, or an interrupt of it.
    Thread {
        /// Its ring.
        ring: &'a Ring,
        /// The number of the interrupt; 0 for the thread itself.
        interrupt: u16,
    },
    /// A call, or several equal ones.
    Call(&'a CallEntry<'a>),
    /// A panic, a signal or a loss, at this depth.
    Note {
        /// The ring.
        ring: &'a Ring,
        /// How many calls are around it.
        depth: usize,
        /// `panic`, `signal` or `gap`.
        what: &'static str,
        /// In words.
        text: &'a str,
    },
    /// Statements ran again, at this depth.
    Repetition {
        /// The ring.
        ring: &'a Ring,
        /// How many calls are around it.
        depth: usize,
        /// How many, counted back.
        statements: u64,
        /// How often.
        times: u64,
        /// Calls of these rounds that were not left.
        calls: u64,
    },
    /// What a thread had entered and not left at its end, or at its panic.
    Open {
        /// The ring.
        ring: &'a Ring,
        /// The number of the interrupt; 0 for the thread itself.
        interrupt: u16,
        /// `end` or `panic`.
        at: &'static str,
        /// The innermost one first.
        calls: &'a [OpenFrame],
        /// How many there are; more than those listed if the stack is deep.
        depth: usize,
    },
}

/// What a row says of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPart {
    /// Everything; rows of calls inside follow.
    Whole,
    /// The beginning; rows of calls inside follow, then the end.
    Begin,
    /// The end.
    End,
}

/// A call, or several equal ones.
#[derive(Clone, Debug)]
pub struct CallEntry<'a> {
    /// The ring.
    pub ring: &'a Ring,
    /// How many calls are around it.
    pub depth: usize,
    /// How much of it the row is.
    pub part: CallPart,
    /// The function.
    pub function: &'a str,
    /// Its parameters, if they were recorded.
    pub arguments: &'a [ShownValue],
    /// Path of its file; `None` without a map.
    pub file: Option<&'a str>,
    /// The line that the body begins in.
    pub line: u32,
    /// The place of the call: the path if it is another one, and the line.
    pub from: Option<(Option<&'a str>, u32)>,
    /// How often.
    pub times: u64,
    /// Statements of the function itself, of all times.
    pub own: u64,
    /// Statements of the function and of what it called.
    pub statements: u64,
    /// Ticks that it took, if known.
    pub ticks: Option<u64>,
    /// `returned`, `unwound`, `parked`, `unknown`, or `open` with the line it is at.
    pub exit: &'static str,
    /// The last line that ran in it.
    pub at: u32,
    /// Its entry was not seen.
    pub entered_before: bool,
    /// Derived code may have called it.
    pub through: Option<ThroughDerived>,
    /// Another reading is possible.
    pub is_uncertain: bool,
    /// An async body that went on.
    pub is_resumed: bool,
    /// It ran while a panic unwound the stack.
    pub in_unwinding: bool,
    /// A signal handler: it interrupted its caller.
    pub is_handler: bool,
    /// The id of its future, if recorded.
    pub task: Option<u64>,
}

/// A function that was entered and not left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFrame {
    /// The function.
    pub function: String,
    /// Path of its file; `None` without a map.
    pub file: Option<String>,
    /// The line it is at.
    pub line: u32,
    /// Where it is on the stack, from 0 for the outermost one.
    pub depth: usize,
    /// Another reading is possible.
    pub is_uncertain: bool,
    /// An async body that waits at an `.await`, off the stack.
    pub is_parked: bool,
}
