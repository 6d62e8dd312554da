//! The source of a history: a file, a run, or what failed last.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::UsageError;
use crate::link;
use xhist_history::runs::{self, HistoryPlace};
use xhist_history::source::{self, Opened};

/// Opens a source, or without one the run that failed last; of a running program, if it is followed.
///
/// # Errors
/// What is wrong and what to do.
pub(super) fn open_history(
    source: Option<&OsString>,
    follow: bool,
) -> Result<(Opened, Vec<String>), UsageError> {
    let Some(source) = source else {
        let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
        let chosen = runs::choose(&dir, follow)?;
        return Ok((source::open(chosen.path.as_os_str())?, chosen.notes));
    };
    if source != "-" && !link::is_link(source) {
        let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
        if let Some(HistoryPlace::Run(place)) = runs::find(&dir, Path::new(source))? {
            let why = "is a directory without a ring file";
            let no_ring = || UsageError::Source { name: source.display().to_string(), why };
            let run = runs::ring_of(&dir, place).ok_or_else(no_ring)?;
            return Ok((source::open(run.path.as_os_str())?, run.notes));
        }
    }
    let opened = link::open(source)?;
    match opened.file {
        None if follow => Err(UsageError::NotARingFile("followed")),
        _ => Ok((opened, Vec::new())),
    }
}

/// The ring files of the other processes of a run, the newest first, if a run was named and not one of its files. `chosen`:
/// the file that was opened for it.
///
/// # Errors
/// There is no working directory, or a packed run cannot be unpacked.
pub(super) fn other_files(source: Option<&OsString>, chosen: &Path) -> Result<Vec<PathBuf>, UsageError> {
    let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
    let run = match source {
        None => chosen.parent().map(Path::to_path_buf),
        Some(source) if source == "-" || link::is_link(source) => None,
        Some(source) => match runs::find(&dir, Path::new(source))? {
            Some(HistoryPlace::Run(run)) => Some(run),
            _ => None,
        },
    };
    // A file that is in no run has no others.
    let run = run.filter(|run| run.parent().is_some_and(|parent| parent.ends_with("runs")));
    let mut files = run.map_or_else(Vec::new, |run| source::ring_files(&run));
    files.sort_by(|one, other| other.cmp(one));
    // A process that was forked and recorded nothing leaves an empty file.
    let is_other = |path: &PathBuf| path != chosen && path.metadata().is_ok_and(|file| file.len() > 0);
    Ok(files.into_iter().map(|(_, path)| path).filter(is_other).collect())
}
