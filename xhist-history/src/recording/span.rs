//! Calls of a recording, each with the steps from its first to its last statement.

use super::ids::{CallId, FunctionId, LaneId, SiteId, StepId};

/// One execution of a function, closure or async block. An async body has one span for each time it goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSpan {
    /// Its lane.
    pub lane: LaneId,
    /// What runs.
    pub function: FunctionId,
    /// Its first step.
    pub first: StepId,
    /// The last step before it was left; for an open call, the newest of its lane.
    pub last: StepId,
    /// The call around it.
    pub parent: Option<CallId>,
    /// How many calls are around it.
    pub depth: u32,
    /// The statement of its caller that entered it.
    pub called_from: Option<SiteId>,
    /// How it was left.
    pub exit: SpanExit,
    /// It was entered before the first step of the recording.
    pub entered_before: bool,
    /// The statements allow another caller.
    pub is_uncertain: bool,
    /// An async body that was parked before, and goes on.
    pub is_resumed: bool,
    /// It was entered after a panic, while the stack was being unwound.
    pub in_unwinding: bool,
    /// The number of its async task.
    pub task: Option<u64>,
}

/// How a call was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpanExit {
    /// It was not left before the recording ended.
    #[default]
    Open,
    /// It ended, or returned early.
    Returned,
    /// A panic passed through it.
    Unwound,
    /// An async body at an `.await`: it may go on later.
    Parked,
    /// An async body whose future was dropped at an `.await`.
    Cancelled,
    /// Statements are missing where it was left.
    Unknown,
}

impl SpanExit {
    /// The word in views.
    pub fn name(self) -> &'static str {
        match self {
            SpanExit::Open => "open",
            SpanExit::Returned => "returned",
            SpanExit::Unwound => "unwound",
            SpanExit::Parked => "parked",
            SpanExit::Cancelled => "cancelled",
            SpanExit::Unknown => "unknown",
        }
    }
}
