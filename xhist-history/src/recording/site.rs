//! Places of a recording: files with their text, functions, and sites, which are the statements of the program.

use super::ids::FunctionId;
use std::path::PathBuf;
use std::sync::Arc;

/// A source file.
#[derive(Clone, Debug, Default)]
pub struct RecordedFile {
    /// Its path in the map, printable; `file#3` if no map names it.
    pub path: String,
    /// Where it is here, if it was found unchanged.
    pub found: Option<PathBuf>,
    /// Where it was when the program was built: absolute, if the map has a root.
    pub built: PathBuf,
    /// Its lines with their indentation, printable; or what the map knows of them. `None` if there is neither.
    pub text: Option<Arc<str>>,
    /// The text is made from the map, because the file is gone or has changed.
    pub is_from_map: bool,
    /// It belongs to a dependency.
    pub is_dependency: bool,
    /// Lines in which statements begin, rising, also of those that never ran; empty if no map knows them.
    pub lines: Arc<[u32]>,
}

impl RecordedFile {
    /// A line, counted from 1.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.text.as_deref()?.lines().nth((line as usize).checked_sub(1)?)
    }
}

/// A function, closure or async block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedFunction {
    /// Its name: `parse`, `parse::{closure}`; empty if not known.
    pub name: String,
    /// Its file, among [`super::Recording::files`].
    pub file: u32,
    /// The line that it starts in; 0 if not known.
    pub line: u32,
}

/// A statement of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedSite {
    /// Its file, among [`super::Recording::files`].
    pub file: u32,
    /// The line it starts in.
    pub line: u32,
    /// Column of its first character, from 1; 0 if not known.
    pub col: u32,
    /// The line it ends in.
    pub end_line: u32,
    /// Column behind its last character; 0 if not known.
    pub end_col: u32,
    /// Its function.
    pub function: FunctionId,
    /// It calls what panics if a condition does not hold: `assert!`, `.unwrap()`.
    pub checks: bool,
    /// A sum of its text, the same in each build; 0 if not known.
    pub text: u32,
    /// Its call may end behind it without another statement.
    pub may_end: bool,
}

impl RecordedSite {
    /// Whether it has text in a line.
    pub fn has_line(&self, line: u32) -> bool {
        (self.line..=self.end_line).contains(&line)
    }
}
