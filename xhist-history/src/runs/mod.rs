//! The runs that `cargo xhist` keeps: which of them is read if the user names none (the one that failed last), which by name, and the
//! list of all. `cargo xhist` writes a `run.json` for each run; without one, the headers of the rings say how their programs ended.

mod list;
pub mod pack;
pub mod record;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use qs_core::ring::Status;

use crate::model::visible;
use crate::notes::typed;
use crate::notes::typed::quoted;
use crate::ring;
use crate::runs::pack::PackError;
use crate::runs::record::{RunRecord, RunRecordError};
use crate::source::{self, Image};
pub use list::{ListedRun, RunList, RunState, list, names};

/// Most runs without a description whose rings are read.
const MAX_LOOKS: usize = 16;
/// Longest ring file whose headers are read.
const MAX_SEARCHED: u64 = 64 << 20;
/// Most other ring files of a run that are listed.
const NAMED: usize = 3;

/// The chosen file, and notes about the choice.
pub struct Chosen {
    /// The ring file.
    pub path: PathBuf,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
}

/// A project without a ring file.
#[derive(Debug)]
pub struct NoRingFile {
    /// The directories that were searched; empty if none exists.
    pub homes: Vec<PathBuf>,
}

impl fmt::Display for NoRingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let homes: Vec<String> = self.homes.iter().map(|home| home.display().to_string()).collect();
        match homes.is_empty() {
            true => f.write_str("no source named, and there is no target/xhist here or above")?,
            false => write!(f, "no *.xhist file under {}", homes.join(" or "))?,
        }
        f.write_str("; name a dump, or run `cargo xhist run` first")
    }
}

impl std::error::Error for NoRingFile {}

impl From<NoRingFile> for String {
    fn from(error: NoRingFile) -> String {
        error.to_string()
    }
}

/// How a run or a program ended, the most interesting one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RunEnd {
    Well,
    Running,
    Badly,
}

/// The ring files of one run.
struct Run {
    /// Its directory, or its only file.
    place: PathBuf,
    description: Result<RunRecord, RunRecordError>,
    when: SystemTime,
    /// Newest first.
    files: Vec<(SystemTime, PathBuf)>,
}

/// Chooses a ring file of the project at `dir`. `follows`: a running program is preferred to a failed one.
///
/// # Errors
/// The project has no ring file.
pub fn choose(dir: &Path, follows: bool) -> Result<Chosen, NoRingFile> {
    let homes = source::homes(dir);
    if homes.is_empty() {
        return Err(NoRingFile { homes });
    }
    let Some(runs) = homes.iter().map(|home| runs_in(home)).find(|runs| !runs.is_empty()) else {
        return Err(NoRingFile { homes });
    };
    let mut looks = MAX_LOOKS;
    let is_wanted = |run: &&Run| match run.end(&mut looks) {
        _ if run.is_repeat() => false,
        RunEnd::Badly => !follows,
        RunEnd::Running => true,
        RunEnd::Well => false,
    };
    let wanted = runs.iter().find(is_wanted);
    let newest = &runs[0];
    Ok(wanted.unwrap_or(newest).chosen(dir, newest))
}

/// The newest run that repeats a test of the run that failed last and has values, as `why` leaves one: the name of its directory.
/// `None`: there is no such run that failed, or the run that failed last has values itself.
pub fn valued(dir: &Path) -> Option<PathBuf> {
    let homes = source::homes(dir);
    let runs = homes.iter().map(|home| runs_in(home)).find(|runs| !runs.is_empty())?;
    let mut looks = MAX_LOOKS;
    let newest = runs.iter().position(|run| !run.is_repeat() && run.end(&mut looks) >= RunEnd::Running)?;
    let has_values = |run: &&Run| run.ranked().first().is_some_and(|path| has_values(path));
    let mut repeats =
        runs[..newest].iter().filter(|run| run.is_repeat() && run.end(&mut looks) == RunEnd::Badly);
    let found = repeats.find(has_values).filter(|_| !has_values(&&runs[newest]))?;
    found.place.file_name().map(PathBuf::from)
}

/// Where a history is that a user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryPlace {
    /// A file with rings.
    File(PathBuf),
    /// The directory of a run.
    Run(PathBuf),
}

impl HistoryPlace {
    /// The file or the directory.
    pub fn into_path(self) -> PathBuf {
        match self {
            HistoryPlace::File(path) | HistoryPlace::Run(path) => path,
        }
    }
}

/// Finds what a user names: a file, a packed run, a directory, the name in the list of runs, nextest's name of a run or its
/// beginning, `last`, `prev`, or `-2` for the last but one. A packed run is unpacked, and is a run then. `None`: it is neither
/// a file nor a run.
///
/// # Errors
/// A packed run cannot be unpacked.
pub fn find(dir: &Path, name: &Path) -> Result<Option<HistoryPlace>, PackError> {
    if name.exists() && !name.is_dir() {
        return Ok(Some(match pack::unpacked(name)? {
            Some(run) => HistoryPlace::Run(run),
            None => HistoryPlace::File(name.to_owned()),
        }));
    }
    Ok(place(dir, name).map(HistoryPlace::Run))
}

/// Chooses a ring file of the run in a directory. `None`: it has none.
pub fn ring_of(dir: &Path, place: PathBuf) -> Option<Chosen> {
    let files = source::ring_files(&place);
    let run = Run::new(place, files);
    (!run.files.is_empty()).then(|| run.chosen(dir, &run))
}

/// The directory of the run with this name. `None`: it is not a run.
fn place(dir: &Path, name: &Path) -> Option<PathBuf> {
    if name.is_dir() {
        return Some(name.to_owned());
    }
    // The name of a run has no directories.
    let text = name.to_str().filter(|text| !text.is_empty() && name.file_name() == Some(name.as_os_str()))?;
    let homes = source::homes(dir);
    match from_newest(text) {
        Some(back) => {
            let runs = homes.iter().map(|home| runs_in(home));
            let places =
                runs.map(|runs| runs.into_iter().map(|run| run.place).filter(|place| place.is_dir()));
            places
                .map(|places| places.collect::<Vec<_>>())
                .find(|places| !places.is_empty())?
                .into_iter()
                .nth(back)
        }
        None => {
            let mut places = homes.iter().map(|home| home.join("runs").join(text));
            places.find(|place| place.is_dir()).or_else(|| of_nextest(&homes, text))
        }
    }
}

/// The run whose name in nextest begins with this text, as nextest takes it. `None`: no run or several have such a name.
fn of_nextest(homes: &[PathBuf], text: &str) -> Option<PathBuf> {
    let mut runs = homes.iter().flat_map(|home| runs_in(home)).filter(|run| {
        let description = run.description.as_ref().ok();
        description.and_then(|record| record.nextest_run.as_ref()).is_some_and(|name| name.starts_with(text))
    });
    runs.next().filter(|_| runs.next().is_none()).map(|run| run.place)
}

/// The place of a run in the list of runs, newest first, by its short name.
fn from_newest(name: &str) -> Option<usize> {
    match name {
        "last" => Some(0),
        "prev" => Some(1),
        _ => name.strip_prefix('-')?.parse::<usize>().ok()?.checked_sub(1),
    }
}

/// The directory of the run that failed last, or its only file; else that of the newest run.
///
/// # Errors
/// The project has no ring file.
pub fn failed(dir: &Path) -> Result<PathBuf, NoRingFile> {
    let homes = source::homes(dir);
    let Some(runs) = homes.iter().map(|home| runs_in(home)).find(|runs| !runs.is_empty()) else {
        return Err(NoRingFile { homes });
    };
    let mut looks = MAX_LOOKS;
    let failed = runs.iter().find(|run| !run.is_repeat() && run.end(&mut looks) == RunEnd::Badly);
    Ok(failed.unwrap_or(&runs[0]).place.clone())
}

/// The runs under a directory that have ring files, newest first.
fn runs_in(home: &Path) -> Vec<Run> {
    let mut by_place: BTreeMap<PathBuf, Vec<(SystemTime, PathBuf)>> = BTreeMap::new();
    for (written, path) in source::ring_files(home) {
        by_place.entry(place_of(home, &path)).or_default().push((written, path));
    }
    let mut runs: Vec<Run> = by_place.into_iter().map(|(place, files)| Run::new(place, files)).collect();
    runs.sort_by_key(|run| std::cmp::Reverse(run.when));
    runs
}

/// The directory `runs/NAME` of a file in it. Elsewhere, each file is a run.
fn place_of(home: &Path, path: &Path) -> PathBuf {
    let mut parts = path.strip_prefix(home).into_iter().flat_map(Path::components);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(runs), Some(name), Some(_)) if runs.as_os_str() == "runs" => home.join(runs).join(name),
        _ => path.to_owned(),
    }
}

impl Run {
    /// Of these ring files, in any order.
    fn new(place: PathBuf, mut files: Vec<(SystemTime, PathBuf)>) -> Run {
        files.sort_by(|one, other| other.cmp(one));
        let description = RunRecord::read(&place);
        let ended = description.as_ref().ok().and_then(|record| record.ended_ms.or(record.started_ms));
        let ended = ended.and_then(|ms| SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms)));
        let written = files.first().map_or(SystemTime::UNIX_EPOCH, |(written, _)| *written);
        Run { place, when: ended.unwrap_or(written), description, files }
    }

    /// Whether it repeats a test of an earlier run, which stays the one of interest.
    fn is_repeat(&self) -> bool {
        self.description.as_ref().is_ok_and(|record| record.repeats)
    }

    /// How it ended. Reads the ring files only without a description, and at most `looks` times.
    fn end(&self, looks: &mut usize) -> RunEnd {
        match self.description.as_ref().ok() {
            Some(record) if record.failed => return RunEnd::Badly,
            Some(RunRecord { exit: None, signal: None, ended_ms: None, .. }) | None => {}
            Some(_) => return RunEnd::Well,
        }
        let Some(left) = looks.checked_sub(1) else { return RunEnd::Well };
        *looks = left;
        self.files.iter().map(|(_, path)| end_of(path)).max().unwrap_or(RunEnd::Well)
    }

    /// Its ring files, the most interesting one first.
    fn ranked(&self) -> Vec<&Path> {
        let named = self.description.as_ref().ok().into_iter().flat_map(|record| &record.failed_rings);
        let named: Vec<&Path> = named.map(PathBuf::as_path).collect();
        let rank = |path: &Path| named.iter().position(|name| *name == path).unwrap_or(usize::MAX);
        let mut files: Vec<&Path> = self.files.iter().map(|(_, path)| path.as_path()).collect();
        match named.is_empty() {
            true if files.len() > 1 => files.sort_by_cached_key(|path| std::cmp::Reverse(end_of(path))),
            true => {}
            false => files.sort_by_key(|path| rank(path)),
        }
        files
    }

    /// The choice of this run; `newest` is the newest of all runs.
    fn chosen(&self, dir: &Path, newest: &Run) -> Chosen {
        let shown =
            |path: &Path| quoted(&*visible(&path.strip_prefix(dir).unwrap_or(path).display().to_string()));
        let files = self.ranked();
        let path = files[0].to_owned();
        let mut notes = vec![format!("reading {}{}", shown(&path), self.described())];
        let others: Vec<String> = files[1..].iter().take(NAMED).map(|path| shown(path)).collect();
        if !others.is_empty() {
            let more = match files.len() - 1 - others.len() {
                0 => String::new(),
                more => format!(" and {more} more in {}", shown(&self.place)),
            };
            notes.push(format!("other ring files of that run: {}{more}", others.join(" ")));
        }
        if newest.place != self.place {
            let how = if newest.end(&mut 1) == RunEnd::Badly { "failed" } else { "ended well" };
            notes.push(format!(
                "a newer run {how}{}; this reads it: {}",
                newest.age(),
                typed::command(format!("history {}", shown(newest.ranked()[0])))
            ));
        }
        Chosen { path, notes }
    }

    /// ` of `cargo xhist test`, which failed 5 minutes ago (exit code 101)`.
    fn described(&self) -> String {
        let Some(record) = self.description.as_ref().ok() else { return String::new() };
        let of = match record.command.as_str() {
            "" => String::new(),
            command => format!(" of `{}`", visible(command)),
        };
        let how = match (&record.signal, record.exit) {
            (Some(signal), _) => format!(" ({})", visible(signal)),
            (None, Some(exit)) if exit != 0 => format!(" (exit code {exit})"),
            _ => String::new(),
        };
        let verb = match (record.failed, record.ended_ms) {
            (true, _) => "failed",
            (false, Some(_)) => "ended",
            (false, None) => "started",
        };
        format!("{of}, which {verb}{}{how}", self.age())
    }

    /// ` 5m 3s ago`; empty if the clock was set back.
    fn age(&self) -> String {
        let since = SystemTime::now().duration_since(self.when).ok();
        since.map_or(String::new(), |since| {
            let coarse = match since.as_secs() {
                0 => return " just now".to_owned(),
                seconds @ ..3600 => seconds,
                seconds @ ..86_400 => seconds / 60 * 60,
                seconds => seconds / 3600 * 3600,
            };
            format!(" {} ago", duration_text(coarse))
        })
    }
}

/// `5m 3s`, `1day 2h`.
fn duration_text(mut seconds: u64) -> String {
    const UNITS: [(&str, &str, u64); 6] = [
        ("year", "years", 31_557_600),
        ("month", "months", 2_630_016),
        ("day", "days", 86_400),
        ("h", "h", 3600),
        ("m", "m", 60),
        ("s", "s", 1),
    ];
    let mut parts = Vec::new();
    for (one, several, len) in UNITS {
        let count = seconds / len;
        seconds %= len;
        if count > 0 {
            parts.push(format!("{count}{}", if count == 1 { one } else { several }));
        }
    }
    parts.join(" ")
}

/// The program of a ring file called `PROGRAM-PID.xhist`, and its process; 0 if the name has none.
pub fn program_of(path: &Path) -> (String, u32) {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let parts = stem.rsplit_once('-').and_then(|(name, pid)| Some((name.to_owned(), pid.parse().ok()?)));
    parts.unwrap_or((stem, 0))
}

/// Whether the program of a ring file panicked, crashed or was killed.
pub fn ended_badly(path: &Path) -> bool {
    end_of(path) == RunEnd::Badly
}

/// Whether the program of a ring file recorded values.
fn has_values(path: &Path) -> bool {
    rings_of(path).iter().any(|placed| placed.header.has_values())
}

/// The rings of a file; empty for one that is too long or cannot be read.
fn rings_of(path: &Path) -> Vec<ring::Placed> {
    let file = std::fs::metadata(path).ok().filter(|metadata| metadata.len() <= MAX_SEARCHED);
    let image =
        file.and_then(|_| Image::of_file(&std::fs::File::open(path).ok()?, &path.display().to_string()).ok());
    image.map_or_else(Vec::new, |image| ring::find(&image, None, &mut |_| {}).rings)
}

/// How the program of a ring file ended, as far as its rings say.
fn end_of(path: &Path) -> RunEnd {
    let rings = rings_of(path);
    let end = |placed: &ring::Placed| match placed.header.status {
        Status::Panicked | Status::Killed => RunEnd::Badly,
        Status::Live if placed.header.pid == 0 => RunEnd::Well,
        Status::Live if source::is_running(placed.header.pid) => RunEnd::Running,
        Status::Live => RunEnd::Badly,
        Status::Ended | Status::Exited => RunEnd::Well,
    };
    rings.iter().map(end).max().unwrap_or(RunEnd::Well)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_file_belongs_to_the_run_that_it_is_in() {
        let home = Path::new("/p/target/xhist");
        let place = |path: &str| place_of(home, &home.join(path)).strip_prefix(home).unwrap().to_owned();
        assert_eq!(place("runs/3/a.xhist"), Path::new("runs/3"));
        assert_eq!(place("runs/3/tests/b.xhist"), Path::new("runs/3"));
        assert_eq!(place("runs/c.xhist"), Path::new("runs/c.xhist"));
        assert_eq!(place("d.xhist"), Path::new("d.xhist"));
    }

    #[test]
    fn durations_are_written_in_units() {
        for (seconds, text) in [
            (1, "1s"),
            (303, "5m 3s"),
            (93_600, "1day 2h"),
            (70_000_000, "2years 2months 18days 19h 19m 28s"),
        ] {
            assert_eq!(duration_text(seconds), text);
        }
    }
}
