//! A whole history in memory, for views that go back and forth in it: steps, calls, values and events by position.
//!
//! A view reads a [`Recording`] and moves a [`Cursor`] in it. `reports` builds recordings from the events of a source.

mod cursor;
mod event;
mod lane;
mod shared;
mod site;
mod span;
mod stack;
mod step_index;
mod strings;
mod table;
mod task_span;
mod value;

#[cfg(test)]
mod samples;

pub use cursor::{Cursor, Direction, Motion};
pub use event::{EventKind, RecordedEvent};
pub use lane::{Lane, LaneId};
pub use shared::SharedRecording;
pub use site::{FunctionId, RecordedFile, RecordedFunction, Site, SiteId};
pub use span::{CallId, CallSpan, SpanExit};
pub use stack::{StackFrame, Variable};
pub use step_index::{StepIndex, nearest};
pub use strings::{StringId, Strings};
pub use table::{Recording, RunEvidence, Step, StepId, SuspectRow};
pub use task_span::TaskSpan;
pub use value::ValueAt;

#[cfg(test)]
pub use samples::RecordingSample;
