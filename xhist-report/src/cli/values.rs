//! Options about recorded values, and what a source decides for each report: its data, its moment, its map and program.

use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use xhist_history::options::selection::Pattern;
use xhist_history::runs::record::RunRecord;
use xhist_history::source::Opened;
use xhist_history::{MapPlaces, ProgramPlaces, ReadOptions};

/// Options about recorded values.
#[derive(Args, Clone, Debug, Default)]
pub struct ValueArgs {
    /// The program that recorded, for the types of values
    ///
    /// Without it the right one is looked for as for maps.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) program: Option<PathBuf>,

    /// Print `<redacted>` in place of these values, in any format
    ///
    /// May be given several times. The pattern is that of --only, or the name of a variable, alone or behind its function:
    /// `password`, `login::key`, `src/auth/`; `**` is all.
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse, hide_short_help = true)]
    pub(super) redact: Vec<Pattern>,
}

impl ValueArgs {
    /// The part of a report's options that an opened source decides: its data, and where its map and program are.
    pub(super) fn of_source<'o>(
        &self,
        opened: impl Into<Option<&'o Opened>>,
        map: Option<&Path>,
    ) -> ReadOptions {
        let opened = opened.into();
        ReadOptions {
            maps: MapPlaces {
                given: map.map(Path::to_owned),
                dump_dir: opened.and_then(|opened| opened.dir.clone()),
                work_dir: Some(Path::new(".").to_owned()),
                ..MapPlaces::default()
            },
            data: opened.and_then(|opened| opened.data.clone()),
            written: opened.and_then(|opened| opened.written),
            moment: opened.and_then(moment),
            live: opened.and_then(|opened| opened.file.clone()),
            programs: ProgramPlaces {
                given: self.program.clone(),
                core: opened.and_then(|opened| opened.program.clone()),
                source: opened.and_then(|opened| opened.path.clone()),
            },
            redact: self.redact.clone(),
            ..ReadOptions::default()
        }
    }
}

/// The moment that a source shows, and how it is known: `now` for a program that still runs, the end of its run, or else when the
/// file was written. A run of tests goes on behind the end of each of its programs, so it says nothing.
fn moment(opened: &Opened) -> Option<(SystemTime, &'static str)> {
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
    let record = opened.path.as_deref().and_then(|path| RunRecord::of(path).ok());
    match record {
        Some(record) if !record.tests.is_empty() => None,
        Some(record) => {
            let ended = UNIX_EPOCH.checked_add(Duration::from_millis(record.ended_ms?))?;
            Some((ended, "the end of the run"))
        }
        None => Some((opened.written?, "the time of the file")),
    }
}
