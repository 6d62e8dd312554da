//! The place of a statement, as a user reads it.

use qs_core::record::Statement;

/// A statement's place, named as well as the map allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// File id.
    pub file: u16,
    /// Line in the file.
    pub line: u32,
    /// Path of the file, printable; `None` when no map knows the id.
    pub path: Option<&'a str>,
}

impl Place<'_> {
    /// The number of the statement, if nothing else is known.
    pub fn number(&self) -> Option<u32> {
        (self.file == Statement::NUMBERED).then_some(self.line)
    }
}
