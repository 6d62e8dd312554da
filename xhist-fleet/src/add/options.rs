//! What is added, and what became of it.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What to add.
#[derive(Clone, Debug)]
pub struct AddOptions {
    /// The data set.
    pub dir: PathBuf,
    /// Dumps: files, directories, URLs, or `-`.
    pub dumps: Vec<String>,
    /// Labels of all of them.
    pub labels: BTreeMap<String, String>,
    /// Directories that hold maps.
    pub maps: Vec<PathBuf>,
    /// The newest entries of a dump that are kept.
    pub entries: u64,
    /// Rows of a commit: a run that is killed reads at most these again.
    pub commit: usize,
    /// Threads that read.
    pub jobs: usize,
    /// Show progress.
    pub progress: bool,
}

/// What was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Dumps with a history.
    pub histories: u64,
    /// Dumps without one: they are rows of `losses`.
    pub damaged: u64,
    /// Dumps that the data set had already.
    pub known: u64,
    /// Sources that cannot be read.
    pub unreadable: u64,
    /// Rows of all tables.
    pub rows: u64,
}

/// Identities of dumps that are in the data set, or on their way there.
pub type Known = Arc<Mutex<HashSet<u128>>>;
