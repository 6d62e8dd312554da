//! The moment that a source shows: when its program ended, or was dumped.

use std::fs::TryLockError;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::suspects::run_directory;
use xhist_history::runs::record::RunRecord;
use xhist_history::source::Opened;

/// The moment, and how it is known: `now` for a program that still runs, the end of its run, or else when the file was written.
/// A run of tests goes on behind the end of each of its programs, so it says nothing.
pub(super) fn of(opened: &Opened) -> Option<(SystemTime, &'static str)> {
    // The recorder locks the file of its rings.
    let is_in_use = |file: &std::fs::File| match file.try_lock_shared() {
        Ok(()) => {
            let _ = file.unlock();
            false
        }
        Err(error) => matches!(error, TryLockError::WouldBlock),
    };
    if opened.file.as_deref().is_some_and(is_in_use) {
        return Some((SystemTime::now(), "now"));
    }
    let record = opened.path.as_deref().and_then(|path| RunRecord::read(&run_directory(path)).ok());
    match record {
        Some(record) if !record.tests.is_empty() => None,
        Some(record) => {
            let ended = UNIX_EPOCH.checked_add(Duration::from_millis(record.ended_ms?))?;
            Some((ended, "the end of the run"))
        }
        None => Some((opened.written?, "the time of the file")),
    }
}
