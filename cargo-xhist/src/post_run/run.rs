//! A run: its kind, its ring files, and how it ended.

use std::path::PathBuf;
use std::process::ExitStatus;

use super::retention::Limit;
use crate::output::results::Results;

/// The kind of processes in a run: the report depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// One program, which takes cargo's place. It printed the statements under a panic itself.
    Program,
    /// Programs without an operating system, each with a copy of its ring and a record of how its runner ended.
    Firmware,
    /// Programs that run tests; what they print names the tests that failed.
    Tests,
    /// Only tests that failed left a file, each in a directory of its own.
    OneByOne,
}

impl RunKind {
    /// Whether its programs run tests on this system, which leave spectra.
    pub(crate) fn has_spectra(self) -> bool {
        matches!(self, RunKind::Tests | RunKind::OneByOne)
    }
}

/// A run: its ring files, and the map that explains them.
pub(crate) struct Run {
    /// The directory of its ring files.
    pub(crate) directory: PathBuf,
    /// The map of what it ran, and the directory that its paths start from.
    pub(crate) map: PathBuf,
    pub(crate) root: PathBuf,
    /// Cargo's build directory.
    pub(crate) build: PathBuf,
    /// The directory in it of the profile that was built.
    pub(crate) profile: String,
    /// The words behind `cargo xhist`.
    pub(crate) words: Vec<String>,
    /// The run repeats another one, and the caller reports.
    pub(crate) is_again: bool,
    /// The programs record values.
    pub(crate) has_values: bool,
    /// The user's own `XHIST_FILE`.
    pub(crate) chosen_file: Option<PathBuf>,
    pub(crate) kind: RunKind,
    /// The cargo command, word by word.
    pub(crate) command: Vec<String>,
    /// Failures are annotated for GitHub.
    pub(crate) annotates: bool,
    /// What failed is printed as JSON on standard output, and not as text.
    pub(crate) prints_json: bool,
    pub(crate) limit: Limit,
    pub(crate) started_ms: u64,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Cargo's process id, and the program's when that took cargo's place.
    pub(crate) pid: u32,
    /// What was printed about tests, where that was read.
    pub(crate) results: Option<Results>,
    /// The signal that asked it to end, such as that of Ctrl-C.
    pub(crate) asked: Option<i32>,
}
