//! What a recording holds besides statements: panics, signals, trace events, QS records, repetitions and losses.

use super::ids::StringId;
use crate::model::FieldValue;

/// The field of an output with the line of the macro that printed, if one did.
pub const LINE: &str = "line";

/// Something that is not a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedEvent {
    /// What it is.
    pub kind: EventKind,
    /// A short name: `panic`, `SIGSEGV`, the class of a trace event, the name of a QS record.
    pub name: StringId,
    /// Its line.
    pub text: StringId,
    /// The fields of a QS record or a trace event, by name.
    pub fields: Vec<(StringId, FieldValue)>,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The thread panicked.
    Panic,
    /// A fatal signal arrived.
    Signal,
    /// What a statement printed.
    Output,
    /// A trace event.
    Trace,
    /// A QS record.
    Record,
    /// A mark of the recorder, such as a trigger.
    Mark,
    /// The newest `statements` statements of the lane ran `times` times more.
    Repetition {
        /// How many statements, counted back from here.
        statements: u64,
        /// How often all of them ran again.
        times: u64,
    },
    /// An async task was dropped while it was parked.
    Cancelled,
    /// Something is missing here.
    Gap,
}

impl EventKind {
    /// The word in views.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Panic => "panic",
            EventKind::Signal => "signal",
            EventKind::Output => "output",
            EventKind::Trace => "trace",
            EventKind::Record => "record",
            EventKind::Mark => "mark",
            EventKind::Repetition { .. } => "repetition",
            EventKind::Cancelled => "cancelled",
            EventKind::Gap => "gap",
        }
    }

    /// Whether listings give it a number: a repetition, what was printed, a gap and a cancelled task are about the entries
    /// around them.
    pub fn is_numbered(self) -> bool {
        !matches!(
            self,
            EventKind::Repetition { .. } | EventKind::Output | EventKind::Cancelled | EventKind::Gap
        )
    }
}
