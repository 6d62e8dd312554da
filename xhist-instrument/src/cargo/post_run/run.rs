//! A run: its kind, its ring files, and how it ended.

use std::path::PathBuf;
use std::process::ExitStatus;

use super::retention::Limit;
use crate::cargo::results::Results;

/// The kind of processes in a run: the report depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cargo) enum RunKind {
    /// One program, which takes cargo's place. It printed the statements under a panic itself.
    Program,
    /// Programs that run tests; what they print names the tests that failed.
    Tests,
    /// Only tests that failed left a file, each in a directory of its own.
    OneByOne,
}

/// A run: its ring files, and the map that explains them.
pub(in crate::cargo) struct Run {
    /// The directory of its ring files.
    pub(in crate::cargo) directory: PathBuf,
    /// The map of what it ran, and the directory that its paths start from.
    pub(in crate::cargo) map: PathBuf,
    pub(in crate::cargo) root: PathBuf,
    /// Cargo's build directory, if the programs record values.
    pub(in crate::cargo) build: Option<PathBuf>,
    /// The user's own `XHIST_FILE`.
    pub(in crate::cargo) chosen_file: Option<PathBuf>,
    pub(in crate::cargo) kind: RunKind,
    /// The cargo command, word by word.
    pub(in crate::cargo) command: Vec<String>,
    /// Failures are annotated for GitHub.
    pub(in crate::cargo) annotates: bool,
    pub(in crate::cargo) limit: Limit,
    pub(in crate::cargo) started_ms: u64,
}

/// How it ended.
pub(in crate::cargo) struct Ended {
    pub(in crate::cargo) status: ExitStatus,
    /// Cargo's process id, and the program's when that took cargo's place.
    pub(in crate::cargo) pid: u32,
    /// What was printed about tests, where that was read.
    pub(in crate::cargo) results: Option<Results>,
}
