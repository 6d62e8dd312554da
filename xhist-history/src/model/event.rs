//! What a source says before its first entry, and what a repetition repeats.

use qs_core::record::Statement;

use super::Ring;

/// Given once, before the first entry.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The rings of this report.
    pub rings: &'a [Ring],
    /// Entries that will follow.
    pub entries: u64,
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
