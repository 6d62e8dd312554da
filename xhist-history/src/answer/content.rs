//! What ran in a call: statements, calls, and loops of both.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::code::ListedStatement;
use crate::calls::BodyId;

/// A part of a call, in the order of time.
#[derive(Clone, Debug)]
pub enum CallContent {
    /// A statement of the function itself.
    Line {
        /// Which one.
        statement: ListedStatement,
        /// How often it ran in a row.
        times: u64,
        /// When it ran first, in statements of the thread.
        first: u64,
        /// When it ran last.
        since: u64,
    },
    /// A call that has ended.
    Call(FoldedCall),
    /// Parts that ran again: those of the last time.
    Loop(Loop),
    /// Statements of several functions that ran again, as the recorder folded them.
    Repeated {
        /// How many statements, counted back.
        statements: u64,
        /// How often.
        times: u64,
        /// When.
        since: u64,
    },
    /// Statements that are counted only.
    Counted(u64),
}

/// A call.
#[derive(Clone, Debug, Default)]
pub struct FoldedCall {
    /// Its number among all calls of the thread.
    pub id: u64,
    /// The function; `None` where no map names it.
    pub function: Option<BodyId>,
    /// What ran in it.
    pub body: Vec<CallContent>,
    /// Statements in it and in the calls in it.
    pub statements: u64,
    /// When it began, in statements of the thread.
    pub since: u64,
    /// Calls within calls.
    pub(super) height: u32,
    /// A hash of what ran in it, without counts: calls that took the same way are alike.
    pub(super) shape: u64,
    /// Whether it makes text of a value.
    pub(super) is_format: bool,
    /// A signal handler or an interrupt: the calls around it do not count its statements.
    pub is_handler: bool,
    /// The number of that interrupt; 0 for none, or if not known.
    pub interrupt: u16,
    /// Open calls between this one and its caller, of a recursion that the recorder folded.
    pub folded: u64,
}

impl FoldedCall {
    /// Parts of the call with this number: this one, or one in it.
    pub fn len_of(&self, id: u64) -> Option<usize> {
        fn inside(body: &[CallContent], id: u64) -> Option<usize> {
            body.iter().rev().find_map(|part| match part {
                CallContent::Call(call) => call.len_of(id),
                CallContent::Loop(round) => inside(&round.body, id),
                _ => None,
            })
        }
        if self.id == id { Some(self.body.len()) } else { inside(&self.body, id) }
    }
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The parts of the last time; their counts are those of all times.
    pub body: Vec<CallContent>,
    /// How often they ran.
    pub times: u64,
    /// Statements in all.
    pub statements: u64,
}

impl CallContent {
    /// Statements in it.
    pub fn statements(&self) -> u64 {
        match self {
            CallContent::Line { times, .. } => *times,
            CallContent::Call(call) => call.statements,
            CallContent::Loop(round) => round.statements,
            CallContent::Repeated { statements, times, .. } => statements.saturating_mul(*times),
            CallContent::Counted(statements) => *statements,
        }
    }

    /// The same, without those of a handler.
    pub(super) fn own_statements(&self) -> u64 {
        match self {
            CallContent::Call(call) if call.is_handler => 0,
            other => other.statements(),
        }
    }

    /// Whether both are the same code.
    fn is_like(&self, other: &CallContent) -> bool {
        match (self, other) {
            (CallContent::Line { statement: one, .. }, CallContent::Line { statement: other, .. }) => {
                one == other
            }
            (CallContent::Call(one), CallContent::Call(other)) => one.shape == other.shape,
            (CallContent::Loop(one), CallContent::Loop(other)) => are_like(&one.body, &other.body),
            _ => false,
        }
    }

    /// When it ran last.
    pub(super) fn since(&self) -> u64 {
        match self {
            CallContent::Line { since, .. } | CallContent::Repeated { since, .. } => *since,
            CallContent::Call(call) => call.since,
            CallContent::Loop(round) => round.body.first().map_or(0, CallContent::since),
            CallContent::Counted(_) => 0,
        }
    }
}

/// Statements in parts.
pub(super) fn statements_of(parts: &[CallContent]) -> u64 {
    parts.iter().map(CallContent::statements).fold(0, u64::saturating_add)
}

/// The same, without those of handlers.
pub(super) fn own_statements_of(parts: &[CallContent]) -> u64 {
    parts.iter().map(CallContent::own_statements).fold(0, u64::saturating_add)
}

/// Whether two runs of parts are the same code.
pub(super) fn are_like(one: &[CallContent], other: &[CallContent]) -> bool {
    one.len() == other.len()
        && one.iter().rev().zip(other.iter().rev()).all(|(one, other)| one.is_like(other))
}

/// The statement that a call is at.
pub fn current(body: &[CallContent]) -> Option<ListedStatement> {
    body.iter().rev().find_map(|part| match part {
        CallContent::Line { statement, .. } => Some(*statement),
        CallContent::Loop(round) => current(&round.body),
        CallContent::Call(_) | CallContent::Repeated { .. } | CallContent::Counted(_) => None,
    })
}

/// A hash of what ran, without counts.
pub(super) fn shape(function: Option<BodyId>, body: &[CallContent]) -> u64 {
    let mut hasher = DefaultHasher::new();
    function.hash(&mut hasher);
    for part in body {
        match part {
            CallContent::Line { statement, .. } => (1, *statement).hash(&mut hasher),
            CallContent::Call(call) => (2, call.shape).hash(&mut hasher),
            CallContent::Loop(round) => (3, shape(None, &round.body)).hash(&mut hasher),
            CallContent::Repeated { statements, .. } => (4, *statements).hash(&mut hasher),
            CallContent::Counted(_) => 5.hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// Calls within calls.
pub(super) fn height(part: &CallContent) -> u32 {
    match part {
        CallContent::Call(call) => call.height,
        CallContent::Loop(round) => round.body.iter().map(height).max().unwrap_or(0),
        CallContent::Line { .. } | CallContent::Repeated { .. } | CallContent::Counted(_) => 0,
    }
}

/// Parts in a part.
pub(super) fn parts(part: &CallContent) -> usize {
    match part {
        CallContent::Call(FoldedCall { body, .. }) | CallContent::Loop(Loop { body, .. }) => {
            1 + body.iter().map(parts).sum::<usize>()
        }
        CallContent::Line { .. } | CallContent::Repeated { .. } | CallContent::Counted(_) => 1,
    }
}
