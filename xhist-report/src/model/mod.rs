//! What reports are made of, in the words of a user: rings, entries, gaps, files and lines.

mod build;
mod call_row;
mod code;
mod coverage;
mod event;
mod finding;
mod hotspots;
mod item;
mod names;
mod place;
mod report_kind;
mod ring;
mod suspect_line;
mod task;
mod trace;
mod value;
mod visible;

pub use build::{Age, Build, KnownBuild, KnownMap, Origin, SourceChanges, time_text};
pub use call_row::{CallEntry, CallPart, CallRow, OpenFrame};
pub use code::{BodyKind, CallName, CallNames, CodeBody, CodeStatement, FileCode, Jump, Span};
pub use coverage::{FileCoverage, coverage};
pub use event::{Entry, LineRange, Opening, Repetition, Subject, Totals};
pub use finding::{Evidence, EvidenceLine, Finding};
pub use hotspots::{Hotspot, hotspots};
pub use item::{Damaged, FieldValue, Gap, Item, Overtaken, Record, What};
pub use names::{BadLine, MapStatement, Names};
pub use place::Place;
pub use report_kind::ReportKind;
pub use ring::Ring;
pub use suspect_line::SuspectLine;
pub use task::{CancelledTasks, LiveTask, TaskAround, TaskLink, TaskPlace, TaskSummary};
pub use trace::{Arg, Code, DescribedTrace, Severity, Trace, TraceClass};
pub use value::{ShownValue, ValuePlace, arguments_line, values_line};
pub use visible::{count, count_processes, is_visible, visible};
