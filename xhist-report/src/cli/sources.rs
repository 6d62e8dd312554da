//! The source of a history: a file, a run, or what failed last.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::error::UsageError;
use crate::link;
use xhist_history::runs::{self, Chosen};
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
    if let Some(run) = run_named(source)? {
        return Ok((source::open(run.path.as_os_str())?, run.notes));
    }
    let opened = link::open(source)?;
    match opened.file {
        None if follow => Err(UsageError::NotARingFile("followed")),
        _ => Ok((opened, Vec::new())),
    }
}

/// The ring file of a run, if the source is the name or the directory of one.
fn run_named(source: &OsStr) -> Result<Option<Chosen>, UsageError> {
    let path = Path::new(source);
    if source == "-" || link::is_link(source) || (path.exists() && !path.is_dir()) {
        return Ok(None);
    }
    let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
    match runs::named(&dir, path) {
        None if path.is_dir() => {
            let why = "is a directory without a ring file";
            Err(UsageError::Source { name: source.display().to_string(), why })
        }
        run => Ok(run),
    }
}
