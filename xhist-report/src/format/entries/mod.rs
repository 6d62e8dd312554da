//! What reports give to formats: entries, calls, coverage, hotspots, findings.

mod answered;
mod call_row;
mod entry;
mod finding;

use std::collections::BTreeMap;

pub use answered::{AnsweredEnds, AnsweredLogLine, AnsweredPanic, AnsweredRow, AnsweredThread, SharedAnswer};
pub use call_row::{CallEntry, CallPart, CallRow, OpenFrame};
pub use entry::{Entry, Subject, Totals};
pub use finding::{Evidence, EvidenceLine, Finding};

/// The coverage of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Its path with the root that the map names, printable.
    pub path: String,
    /// Lines with a statement that is recorded, and whether one ran.
    pub lines: BTreeMap<u32, bool>,
    /// Functions by their paths: the line of the first such statement, and whether any ran.
    pub functions: BTreeMap<String, (u32, bool)>,
}

/// A function whose statements are in the rings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hotspot {
    /// Its path in the map; `None` if no map has it.
    pub function: Option<String>,
    /// Path of its file, printable, or the number of the file.
    pub file: String,
    /// First and last of its lines in the rings.
    pub lines: (u32, u32),
    /// Statements of it in the rings.
    pub statements: u64,
    /// A pattern for `exclude`, if the function has one.
    pub exclude: Option<String>,
}
