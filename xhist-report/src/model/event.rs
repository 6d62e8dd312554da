//! What a format receives: an opening, entries, gaps, totals.

use qs_core::record::Statement;

use super::{DescribedTrace, Place, Record, Ring, ShownValue, Trace};

/// Given once, before the first entry.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The rings of this report.
    pub rings: &'a [Ring],
    /// Entries that will follow.
    pub entries: u64,
}

/// One entry of the history, named and numbered.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Number from 1, oldest first; of a repetition, that of the entry before it.
    pub number: u64,
    /// The ring it was recorded in.
    pub ring: &'a Ring,
    /// The clock in full, in ticks of the ring.
    pub time: Option<u64>,
    /// Its place among the entries of other rings is not certain.
    pub uncertain: bool,
    /// The number of the interrupt that a statement ran in; 0 for none, or if not known.
    pub interrupt: u16,
    /// The async task that it belongs to: its number and its function. `None` if the report does not follow tasks.
    pub task: Option<(u32, &'a str)>,
    /// What happened.
    pub subject: Subject<'a>,
    /// Values that were recorded behind it.
    pub values: &'a [ShownValue],
}

impl Entry<'_> {
    /// Its thread, or the interrupt of its ring.
    pub fn thread(&self) -> String {
        match self.interrupt {
            0 => self.ring.thread(),
            number => format!("{} interrupt {number}", self.ring.thread()),
        }
    }
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A statement was about to run. With its source text, if wanted and found.
    Statement(Place<'a>, Option<&'a str>),
    /// Values behind an entry that is not here, or was given before they came. They have no number of their own.
    Values,
    /// The statements before this ran again. It has no number of its own.
    Again(&'a Repetition),
    /// The thread panicked.
    Panic(&'a Record),
    /// A fatal signal arrived.
    Signal(u64, &'a Record),
    /// A trace event and its description.
    Trace(&'a Trace, &'a DescribedTrace),
    /// Another QS record.
    Record(&'a Record),
}

/// A repetition: the statements of a loop that ran again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// How many statements, counted back from here.
    pub statements: usize,
    /// How often all of them ran again.
    pub times: u64,
    /// How often the smallest loop in them ran.
    pub rounds: u64,
    /// Its lines in each file, of the first few files.
    pub places: Vec<LineRange>,
    /// Its line: `... lines 40-47 x 1,234,567 in src/main.rs`.
    pub text: String,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// File id.
    pub file: u16,
    /// Path of the file, printable; `None` when no map knows the id.
    pub path: Option<String>,
    /// First line.
    pub first: u32,
    /// Last line.
    pub last: u32,
}

impl LineRange {
    /// The file, unless only numbers of statements are known.
    pub fn file_id(&self) -> Option<u16> {
        (self.file != Statement::NUMBERED).then_some(self.file)
    }
}

/// Given once, behind the last entry.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Entries reported.
    pub entries: u64,
    /// Whether nothing was lost, damaged or nameless by a wrong map.
    pub complete: bool,
}
