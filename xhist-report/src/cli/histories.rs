//! The histories that a command line names: a file, a run, or one thread or test of either.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::UsageError;
use crate::causes::diff::ThreadChoice;
use crate::live::link;
use xhist_history::ring;
use xhist_history::runs::pack::PackError;
use xhist_history::runs::record::RunRecord;
use xhist_history::runs::{self, HistoryPlace};
use xhist_history::source::{self, Opened};

/// How histories are named, as `--help` prints it.
// No `\` behind the first quote: it would take the indent away.
pub const FORMS: &str = "  FILE          a ring file, a core, an image of memory: all its threads
  RUN           the name of a run in target/xhist/runs, its directory, or a file that `pack`
                made of it: the ring file of what failed, else the newest. `last`, `prev` and `-2` name the newest runs
  ...#N         only the thread of ring N
  ...::NAME     only the thread NAME; of tests, the last part of the name is enough";

/// A history that was named, and opened.
pub struct NamedHistory {
    /// What was opened.
    pub opened: Opened,
    /// Which threads of it.
    pub threads: ThreadChoice,
    /// What was chosen among several files.
    pub note: Option<String>,
}

/// Opens the history with this name.
///
/// # Errors
/// The history does not exist, or it cannot be opened.
pub fn open(text: &OsStr) -> Result<NamedHistory, UsageError> {
    let (path, threads, note) = match find(text)? {
        (Some(HistoryPlace::File(path)), threads) => (path, threads, None),
        (Some(HistoryPlace::Run(run)), threads) => ring_of(&run, threads)?,
        (None, _) => {
            return Err(link::open(text).err().map_or_else(|| no_history(text), UsageError::Open));
        }
    };
    Ok(NamedHistory { opened: source::open(path.as_os_str())?, threads, note })
}

/// Where the history with this name is, and which threads of it are meant.
///
/// # Errors
/// There is no working directory, or a packed run cannot be unpacked.
pub fn find(text: &OsStr) -> Result<(Option<HistoryPlace>, ThreadChoice), UsageError> {
    let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
    Ok(split(text, &|name| place(&dir, name))?)
}

fn no_history(text: &OsStr) -> UsageError {
    let why = "is neither a file nor a run in target/xhist/runs";
    UsageError::Source { name: text.display().to_string(), why }
}

fn place(dir: &Path, name: &str) -> Result<Option<HistoryPlace>, PackError> {
    match name {
        "-" => Ok(Some(HistoryPlace::File(name.into()))),
        name => runs::find(dir, Path::new(name)),
    }
}

/// Finds the place with a name.
type FindPlace<'f> = &'f dyn Fn(&str) -> Result<Option<HistoryPlace>, PackError>;

/// The place, and the thread named behind it. The name of a file may contain any character.
fn split(text: &OsStr, place: FindPlace<'_>) -> Result<(Option<HistoryPlace>, ThreadChoice), PackError> {
    let Some(text) = text.to_str() else {
        return Ok((Some(HistoryPlace::File(text.into())), ThreadChoice::All));
    };
    if let Some(place) = place(text)? {
        return Ok((Some(place), ThreadChoice::All));
    }
    if let Some((name, number)) = text.rsplit_once('#')
        && let Ok(number) = number.parse()
        && let Some(place) = place(name)?
    {
        return Ok((Some(place), ThreadChoice::Ring(number)));
    }
    for (at, _) in text.match_indices("::") {
        if let Some(place) = place(&text[..at])? {
            return Ok((Some(place), ThreadChoice::Named(text[at + 2..].to_owned())));
        }
    }
    Ok((None, ThreadChoice::All))
}

/// The ring files of a run: those of what failed first, then the newest.
fn ring_files_of(run: &Path, record: &RunRecord) -> Vec<PathBuf> {
    let mut found = source::ring_files(run);
    found.sort_by(|one, other| other.cmp(one));
    let mut files: Vec<PathBuf> = record.failed_rings.iter().filter(|path| path.is_file()).cloned().collect();
    for (_, path) in found {
        if !files.contains(&path) {
            files.push(path);
        }
    }
    files
}

/// The ring file of a run that has the thread, which of its threads, and what was chosen.
fn ring_of(run: &Path, threads: ThreadChoice) -> Result<(PathBuf, ThreadChoice, Option<String>), UsageError> {
    let record = RunRecord::read(run).unwrap_or_default();
    if let ThreadChoice::Named(name) = &threads
        && let Some(test) = record.tests.iter().find(|test| is_named(&test.name, name))
        && let Some(path) = test.file.as_ref().filter(|path| path.is_file())
    {
        return Ok((
            path.clone(),
            test.ring.map_or(ThreadChoice::Named(test.name.clone()), ThreadChoice::Ring),
            None,
        ));
    }
    let files = ring_files_of(run, &record);
    let name = || run.display().to_string();
    let has_thread = |path: &&PathBuf| match &threads {
        ThreadChoice::Named(name) => has_thread(path, name),
        ThreadChoice::All | ThreadChoice::Ring(_) => true,
    };
    let Some(path) = files.iter().find(has_thread) else {
        let why = if files.is_empty() { "has no ring file" } else { "has no ring file with this thread" };
        return Err(UsageError::Source { name: name(), why });
    };
    let is_choice = files.len() > 1 && !matches!(threads, ThreadChoice::Named(_));
    let note = is_choice
        .then(|| format!("reading {}, one of {} ring files of {}", path.display(), files.len(), name()));
    Ok((path.clone(), threads, note))
}

fn is_named(thread: &str, name: &str) -> bool {
    thread == name || thread.rsplit("::").next() == Some(name)
}

/// Whether a thread in a ring file has this name; not if the file cannot be read.
fn has_thread(path: &Path, name: &str) -> bool {
    let Ok(opened) = source::open(path.as_os_str()) else { return false };
    let found = ring::find(&opened.image, opened.data.as_deref(), &mut |_| {});
    found.rings.iter().any(|placed| is_named(&placed.ring.thread(), name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_indented_alike() {
        assert!(FORMS.lines().all(|line| line.starts_with("  ")), "{FORMS}");
    }

    #[test]
    fn a_thread_is_named_behind_a_file_or_a_run() {
        let known = |name: &str| {
            Ok(match name {
                "a.xhist" | "odd#1.xhist" | "odd::b" => Some(HistoryPlace::File(name.into())),
                "17" => Some(HistoryPlace::Run(name.into())),
                _ => None,
            })
        };
        let split = |text: &str| split(OsStr::new(text), &known).expect("no pack");
        let file = |name: &str| Some(HistoryPlace::File(name.into()));
        assert_eq!(split("a.xhist"), (file("a.xhist"), ThreadChoice::All));
        assert_eq!(split("a.xhist#12"), (file("a.xhist"), ThreadChoice::Ring(12)));
        assert_eq!(split("odd#1.xhist"), (file("odd#1.xhist"), ThreadChoice::All));
        assert_eq!(split("odd#1.xhist#2"), (file("odd#1.xhist"), ThreadChoice::Ring(2)));
        let test = ThreadChoice::Named("tests::it::works".to_owned());
        assert_eq!(split("17::tests::it::works"), (Some(HistoryPlace::Run("17".into())), test));
        assert_eq!(split("odd::b::main"), (file("odd::b"), ThreadChoice::Named("main".to_owned())));
        assert_eq!(split("b.xhist::main"), (None, ThreadChoice::All));
    }
}
