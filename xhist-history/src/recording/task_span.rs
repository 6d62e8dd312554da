//! Async tasks of a recording.

use super::ids::{LaneId, StepId, StringId};

/// A run of steps of one lane that belong to one async task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSpan {
    /// Number of the task in its process.
    pub task: u32,
    /// Its function.
    pub function: StringId,
    /// Where it runs.
    pub lane: LaneId,
    /// Its first step.
    pub first: StepId,
    /// Its last step.
    pub last: StepId,
}
