//! The source of a history: a file, a run, or what failed last.

use std::ffi::OsString;
use std::path::Path;

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
