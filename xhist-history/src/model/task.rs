//! Async tasks at the end of a history, as a user reads them.

use std::time::Duration;

/// What a history holds of its async tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSummary {
    /// The tasks whose end was not recorded.
    pub live: Vec<LiveTask>,
    /// Tasks that have not ended, by the count of the recorder, but have no statement or mark in this history.
    pub unlisted: u64,
    /// This number of `live` has ended, by the count of the recorder: their ends are overwritten.
    pub ended: u64,
    /// Tasks that were dropped while they were parked, by place.
    pub cancelled: Vec<CancelledTasks>,
    /// Only the first places are shown, and no cancelled tasks.
    pub is_brief: bool,
}

/// Tasks that were dropped while they were parked at one `.await`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelledTasks {
    /// The statement that they were at.
    pub at: TaskPlace,
    /// Their number.
    pub count: u64,
}

/// A task that had not ended when the recording did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveTask {
    /// Its number in its process.
    pub number: u32,
    /// Process id; 0 = not known.
    pub pid: u32,
    /// Whether it waits at an `.await`. Otherwise it was at work, or blocked its thread.
    pub parked: bool,
    /// If not `parked`: the head of its loop, which it may have come to and wait at. No statement records that.
    pub or_parked_at: Option<TaskPlace>,
    /// The statement that it is at; `None` if the ring holds none of its statements.
    pub at: Option<TaskPlace>,
    /// The thread that ran it last.
    pub thread: String,
    /// The interrupt that ran it last, with its name. Its executor is in that interrupt's handler.
    pub interrupt: Option<String>,
    /// For how long it has been there, at least; `None` without times.
    pub for_at_least: Option<Duration>,
    /// The moment up to which that counts, if it is not the newest time of the rings.
    pub until: Option<&'static str>,
    /// The tasks around it, innermost first.
    pub around: Vec<TaskAround>,
    /// No other live task is awaited by it.
    pub is_leaf: bool,
    /// Its last statements up to where it is, oldest first.
    pub before: Vec<TaskPlace>,
}

/// A statement of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    /// Path of the file, printable; `None` when no map knows the id.
    pub path: Option<String>,
    /// Line in the file.
    pub line: u32,
    /// Path of the function; empty if the map has none.
    pub function: String,
    /// Source text of the line, if it was found.
    pub source: Option<String>,
}

/// A task around another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskAround {
    /// Its number.
    pub number: u32,
    /// Why it is around the other task.
    pub link: TaskLink,
    /// The statement that it is at.
    pub at: Option<TaskPlace>,
}

/// How two tasks are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskLink {
    /// The statement of the outer task names the inner one.
    Awaits,
    /// The body of the inner task is written inside the body of the outer one.
    Created,
}

impl TaskLink {
    /// The word of listings.
    pub fn name(self) -> &'static str {
        match self {
            TaskLink::Awaits => "awaited",
            TaskLink::Created => "created",
        }
    }
}
