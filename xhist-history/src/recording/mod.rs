//! A whole history in memory, for views that go back and forth in it: steps, calls, values and events by position.
//!
//! A view reads a [`Recording`] and moves a [`Cursor`] in it. `reports` builds recordings from the events of a source.

mod cursor;
mod ends;
mod event;
mod ids;
mod lane;
mod more_runs;
mod sample;
mod shared;
mod site;
mod span;
mod stack;
mod step_index;
mod strings;
mod table;
mod task_span;
mod value;

pub use cursor::{Cursor, Direction, Motion};
pub use event::{EventKind, LINE, RecordedEvent};
pub use ids::{CallId, FunctionId, LaneId, SiteId, StepId, StringId};
pub use lane::RecordedLane;
pub use more_runs::MoreRuns;
pub use sample::RecordingSample;
pub use shared::SharedRecording;
pub use site::{RecordedFile, RecordedFunction, RecordedSite};
pub use span::{CallSpan, SpanExit};
pub use stack::{StackFrame, Variable};
pub use step_index::{StepIndex, nearest};
pub use strings::Strings;
pub use table::{RecordedStep, Recording, RunEvidence, SuspectRow};
pub use task_span::TaskSpan;
pub use value::ValueAt;
