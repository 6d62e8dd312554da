//! What failed in a run, for annotations.

use super::failure::AnnotatedFailure;
use xhist_history::recording::SuspectRow;

/// What failed in a run.
#[derive(Debug, Default)]
pub struct RunFailures {
    /// Tests and processes, the most relevant first.
    pub failures: Vec<AnnotatedFailure>,
    /// Suspicious statements, the most suspicious first.
    pub suspects: Vec<SuspectRow>,
    /// The command that shows more.
    pub more: String,
}
