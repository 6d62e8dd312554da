//! Opens what a command line names: a file, a run or what failed last, links, the port of front-ends.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use super::args::Args;
use super::error::UsageError;
use crate::format::ReportKind;
use crate::live::Setup;
use crate::live::link::{self, LinkError};
use qs_host::front_end;
use xhist_history::notes::Notes;
use xhist_history::notes::typed;
use xhist_history::program::map;
use xhist_history::ring;
use xhist_history::runs::{self, HistoryPlace};
use xhist_history::source::{self, Offer, Opened, SourceError};

/// Without a source, the time to wait for the first byte on standard input. Editors and CI leave pipes open that bring nothing.
const PATIENCE: Duration = Duration::from_secs(1);

impl Args {
    /// The same, with standard input as the source if no source was named and another program writes there.
    #[must_use]
    pub fn with_stdin(mut self, notes: &mut Notes<'_>) -> Args {
        if !self.sources.is_empty() {
            return self;
        }
        match source::offer(PATIENCE) {
            Offer::Bytes => self.sources.push("-".into()),
            Offer::Silence => notes.note(format_args!(
                "standard input is open, but nothing came for {} s, so it is not read; `{}` waits for it",
                PATIENCE.as_secs(),
                typed::command("history -")
            )),
            Offer::Nothing => {}
        }
        self
    }

    /// Opens one source, with notes on the choice if none was named.
    ///
    /// # Errors
    /// What is wrong and what to do.
    pub fn open(&self, source: Option<&OsString>) -> Result<(Opened, Vec<String>), UsageError> {
        let opened = open_history(source, self.follow)?;
        match opened.0.file {
            None if self.clear => Err(UsageError::NotARingFile("cleared")),
            _ => Ok(opened),
        }
    }

    /// Opens all sources as streams, and the port of front-ends.
    ///
    /// # Errors
    /// What is wrong and what to do.
    pub fn open_live(&self, notes: &mut Notes<'_>) -> Result<Setup, UsageError> {
        self.check_live()?;
        self.check_streams()?;
        if let Some(map) = &self.map {
            map::open(map).map_err(|error| UsageError::Map(map.clone(), error))?;
        }
        let links: Result<Vec<_>, LinkError> =
            self.sources.iter().map(|text| link::open_link(text)).collect();
        let reads_stdin = self.sources.iter().any(|text| text == "-");
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let keys = !self.no_keys && !reads_stdin && is_terminal;
        Ok(Setup { links: links?, front_end: self.open_port(notes)?, as_qp8: self.qp8, keys })
    }

    /// Checks that no file beside a link holds a ring.
    fn check_streams(&self) -> Result<(), UsageError> {
        let is_file = |text: &&OsString| !link::is_link(text) && Path::new(text).is_file();
        for source in self.sources.iter().filter(is_file) {
            let opened = source::open(source)?;
            let found = ring::find(&opened.image, opened.data.as_deref(), &mut |_| {});
            if !found.rings.is_empty() {
                let why = "holds a ring, which is no stream; start a report of its own for it";
                return Err(UsageError::Source { name: source.display().to_string(), why });
            }
        }
        Ok(())
    }

    /// Opens the port of front-ends. If it is in use, that matters only if the user named it.
    fn open_port(&self, notes: &mut Notes<'_>) -> Result<Option<link::Link>, UsageError> {
        let has_link = self.sources.iter().any(|text| link::is_link(text));
        let port = match self.front_end {
            Some(port) => port.unwrap_or(front_end::PORT),
            None if has_link && self.format().report == ReportKind::Qspy => front_end::PORT,
            None => 0,
        };
        if port == 0 {
            return Ok(None);
        }
        // As QSPY's port, it can be reached from other machines only if the user asked for it.
        let address = if self.front_end.is_some() { "0.0.0.0" } else { "127.0.0.1" };
        match link::packets(&format!("udp://{address}:{port}")) {
            Ok(link) => Ok(Some(link)),
            Err(why) if self.front_end.is_some() => Err(why.into()),
            Err(why) => {
                notes.note(format_args!("no front-end can attach: {why}; -u PORT takes another port"));
                Ok(None)
            }
        }
    }
}

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

/// The file that was opened last: failed tests of a run mostly share one, and it may be long.
#[derive(Default)]
pub(super) struct LastOpened(Option<(PathBuf, Rc<Opened>)>);

impl LastOpened {
    /// Opens a file, unless it is that one.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn open(&mut self, file: &Path) -> Result<Rc<Opened>, SourceError> {
        let opened = match self.0.take() {
            Some((path, opened)) if path == file => opened,
            _ => Rc::new(source::open(file.as_os_str())?),
        };
        self.0 = Some((file.to_owned(), opened.clone()));
        Ok(opened)
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
