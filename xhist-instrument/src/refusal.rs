//! Why a whole file is left alone, and where in it the reason stands.

use std::fmt;

/// A file that cannot be instrumented; displayed as `line:column: reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong, and what to do about it.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn new((line, column): (u32, u32), reason: impl Into<String>) -> Self {
        Self { line, column, reason: reason.into() }
    }

    /// Reason without a better place than the start of the file.
    pub(crate) fn of_file(reason: impl Into<String>) -> Self {
        Self::new((1, 1), reason)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.reason)
    }
}

impl std::error::Error for Refusal {}
