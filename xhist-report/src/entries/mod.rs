//! What reports give to formats: entries, calls, coverage, hotspots, findings.

mod answered;
mod call_row;
mod coverage;
mod entry;
mod finding;
mod hotspots;
mod report_kind;

pub use answered::{AnsweredLogLine, AnsweredRow, AnsweredThread, SharedAnswer};
pub use call_row::{CallEntry, CallPart, CallRow, OpenFrame};
pub use coverage::{FileCoverage, coverage};
pub use entry::{Entry, Subject, Totals};
pub use finding::{Evidence, EvidenceLine, Finding};
pub use hotspots::{Hotspot, hotspots};
pub use report_kind::ReportKind;
