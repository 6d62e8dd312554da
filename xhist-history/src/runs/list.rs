//! What is kept under `target/xhist`, the newest run last.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use qs_core::ring::Status;
use serde::Serialize;
use walkdir::WalkDir;

use super::{MAX_SEARCHED, NoRingFile, Run, RunEnd, end_of, program_of, runs_in};
use crate::model::{count, visible};
use crate::runs::record::{RunRecord, RunRecordError};
use crate::{ring, source};

/// Most bytes of ring files that are searched for rings.
const MAX_READ: u64 = 1 << 30;
/// Most failed tests and programs that a line names.
const NAMED: usize = 3;

/// A run of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedRun {
    /// What names it as a source.
    pub run: String,
    /// Its directory or file, from the project.
    pub path: String,
    /// What became of it.
    pub state: RunState,
    /// How it ended, for people.
    pub how: String,
    /// The command that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What nextest calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nextest_run: Option<String>,
    /// Programs that left rings.
    pub programs: Vec<String>,
    /// When it was started, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Its failed tests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_tests: Vec<String>,
    /// Ring files.
    pub files: usize,
    /// Rings in them; not known when they are too large to search them for a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rings: Option<usize>,
    /// Bytes on the disk.
    pub bytes: u64,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// It ended well.
    Ended,
    /// It failed.
    Failed,
    /// It still runs.
    Running,
    /// `cargo xhist` was killed before it could describe the run.
    Killed,
    /// The description cannot be read.
    Damaged,
    /// A ring file that `cargo xhist` did not make.
    File,
}

/// The runs of a project.
#[derive(Debug)]
pub struct RunList {
    /// The directory that keeps them.
    pub home: PathBuf,
    /// The runs, the newest last, each with when it was written.
    pub runs: Vec<(ListedRun, SystemTime)>,
}

/// Lists the runs of the project at `dir`.
///
/// # Errors
/// The project has no `target/xhist`.
pub fn list(dir: &Path) -> Result<RunList, NoRingFile> {
    let homes = source::homes(dir);
    let Some(first) = homes.first() else { return Err(NoRingFile { homes }) };
    let of_home = homes.iter().map(|home| (home, all_runs(home))).find(|(_, runs)| !runs.is_empty());
    let (home, mut runs) = of_home.unwrap_or((first, Vec::new()));
    runs.sort_by(|one, other| (one.when, &one.place).cmp(&(other.when, &other.place)));
    let mut to_read = MAX_READ;
    let listed = runs.iter().map(|run| (ListedRun::new(run, dir, &mut to_read), run.when));
    Ok(RunList { home: home.clone(), runs: listed.collect() })
}

/// The runs of a home, also those that left no ring file.
fn all_runs(home: &Path) -> Vec<Run> {
    let mut runs = runs_in(home);
    let known: BTreeSet<PathBuf> = runs.iter().map(|run| run.place.clone()).collect();
    let entries = std::fs::read_dir(home.join("runs")).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let others = others.map(|entry| entry.path()).filter(|path| !known.contains(path));
    runs.extend(others.filter(|path| started_by(path).is_some()).map(|place| {
        let description = RunRecord::read(&place);
        let when = std::fs::metadata(&place).and_then(|meta| meta.modified());
        Run { description, when: when.unwrap_or(SystemTime::UNIX_EPOCH), place, files: Vec::new() }
    }));
    runs
}

/// When a run was started, in milliseconds since 1970, and the process that did: its directory is named after both.
fn started_by(place: &Path) -> Option<(u64, u32)> {
    let (started, pid) = place.file_name()?.to_str()?.split_once('-')?;
    Some((started.parse().ok()?, pid.parse().ok()?))
}

impl ListedRun {
    fn new(run: &Run, dir: &Path, to_read: &mut u64) -> ListedRun {
        let record = run.description.as_ref().ok();
        let shown = |path: &Path| visible(&path.display().to_string()).into_owned();
        let place = run.place.strip_prefix(dir).unwrap_or(&run.place);
        let is_directory = run.place.is_dir();
        let name = if is_directory { Path::new(run.place.file_name().unwrap_or_default()) } else { place };
        let (state, mut how) = ending(run, is_directory);
        let rings = rings(run, to_read);
        // Tests panic on purpose.
        let is_program = record.is_some_and(|record| record.tests.is_empty());
        if state == RunState::Ended && is_program && rings.is_some_and(|(_, has_panicked)| has_panicked) {
            how.push_str(", a thread panicked");
        }
        let started = record.and_then(|record| record.started_ms);
        ListedRun {
            run: shown(name),
            path: shown(place),
            state,
            how,
            command: record.map(|record| visible(&record.command).into_owned()),
            nextest_run: record.and_then(|record| Some(visible(record.nextest_run.as_ref()?).into_owned())),
            programs: programs(run),
            started_ms: started.or_else(|| Some(started_by(&run.place)?.0)),
            ended_ms: record.and_then(|record| record.ended_ms),
            exit: record.and_then(|record| record.exit),
            signal: record.and_then(|record| Some(visible(record.signal.as_ref()?).into_owned())),
            failed_tests: record
                .map(|record| record.failed_tests().map(|test| visible(&test.name).into_owned()).collect())
                .unwrap_or_default(),
            files: run.files.len(),
            rings: rings.map(|(count, _)| count),
            bytes: size(&run.place),
        }
    }
}

/// How a run ended: `exit code 101: 2 tests failed (a, b)`, `SIGSEGV`, `running`.
fn ending(run: &Run, is_directory: bool) -> (RunState, String) {
    let record = match &run.description {
        Ok(record) => record,
        Err(RunRecordError::NoText | RunRecordError::Damaged(_)) => {
            return (RunState::Damaged, format!("run.json cannot be read; {}", by_rings(run)));
        }
        Err(RunRecordError::Missing) if !is_directory => return (RunState::File, by_rings(run).to_owned()),
        Err(RunRecordError::Missing) => {
            let is_running = started_by(&run.place).is_some_and(|(_, pid)| source::is_running(pid));
            return match is_running {
                true => (RunState::Running, "running".to_owned()),
                false => (RunState::Killed, format!("cargo xhist was killed; {}", by_rings(run))),
            };
        }
    };
    let tests: Vec<&str> = record.failed_tests().map(|test| test.name.as_str()).collect();
    let ended = match (&record.signal, record.exit) {
        (Some(signal), _) => format!("ended by {}", visible(signal)),
        (None, Some(exit)) => format!("exit code {exit}"),
        (None, None) if record.ended_ms.is_none() && !record.failed => by_rings(run).to_owned(),
        (None, None) if record.failed => "failed".to_owned(),
        (None, None) => "ended well".to_owned(),
    };
    let how = match tests.is_empty() {
        true => ended,
        false => {
            let named = names(&tests.iter().map(|name| visible(name).into_owned()).collect::<Vec<_>>());
            format!("{ended}: {} failed: {named}", count(tests.len(), "test"))
        }
    };
    (if record.failed { RunState::Failed } else { RunState::Ended }, how)
}

/// What the rings of a run say.
fn by_rings(run: &Run) -> &'static str {
    match run.files.iter().map(|(_, path)| end_of(path)).max() {
        None => "no program recorded anything",
        Some(RunEnd::Badly) => "a program panicked, crashed or was killed",
        Some(RunEnd::Running) => "a program still runs",
        Some(RunEnd::Well) => "its programs ended",
    }
}

/// The first few names, and how many more there are.
pub fn names(all: &[String]) -> String {
    let first = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The programs that left ring files: these are called `PROGRAM-PID.xhist`.
fn programs(run: &Run) -> Vec<String> {
    let all: BTreeSet<String> =
        run.files.iter().map(|(_, path)| visible(&program_of(path).0).into_owned()).collect();
    all.into_iter().collect()
}

/// The rings in the files of a run: how many, and whether the thread of one panicked.
fn rings(run: &Run, to_read: &mut u64) -> Option<(usize, bool)> {
    let (mut count, mut has_panicked) = (0, false);
    for (_, path) in &run.files {
        let len = std::fs::metadata(path).ok()?.len();
        *to_read = to_read.checked_sub(len).filter(|_| len <= MAX_SEARCHED)?;
        let opened = source::open(path.as_os_str()).ok()?;
        let rings = ring::find(&opened.image, opened.data.as_deref(), &mut |_| {}).rings;
        count += rings.len();
        has_panicked |= rings.iter().any(|placed| placed.header.status == Status::Panicked);
    }
    Some((count, has_panicked))
}

/// The bytes that it takes on the disk.
fn size(place: &Path) -> u64 {
    let entries = WalkDir::new(place).into_iter().flatten().filter_map(|entry| entry.metadata().ok());
    entries.filter(Metadata::is_file).map(|metadata| on_disk(&metadata)).sum()
}

#[cfg(unix)]
fn on_disk(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn on_disk(metadata: &Metadata) -> u64 {
    metadata.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(dir: &Path, name: &str, record: Option<&str>) -> (RunState, String) {
        let place = dir.join(name);
        std::fs::create_dir_all(&place).unwrap();
        if let Some(record) = record {
            std::fs::write(place.join("run.json"), record).unwrap();
        }
        let run =
            Run { description: RunRecord::read(&place), place, when: SystemTime::now(), files: Vec::new() };
        ending(&run, true)
    }

    #[test]
    fn every_ending_has_its_words() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let tests = r#"{"exit":101,"failed":true,"tests":[{"name":"a","outcome":"failed"},{"name":"b","outcome":"passed"},
            {"name":"c","outcome":"failed"},{"name":"d","outcome":"failed"},{"name":"e","outcome":"failed"}]}"#;
        for (name, record, state, how) in [
            ("1-4194305", Some(r#"{"exit":0,"ended_ms":5}"#), RunState::Ended, "exit code 0"),
            (
                "2-4194305",
                Some(r#"{"signal":"SIGSEGV","failed":true}"#),
                RunState::Failed,
                "ended by SIGSEGV",
            ),
            ("3-4194305", Some(tests), RunState::Failed, "exit code 101: 4 tests failed: a, c, d and 1 more"),
            ("4-4194305", None, RunState::Killed, "cargo xhist was killed; no program recorded anything"),
            (
                "5-4194305",
                Some("{"),
                RunState::Damaged,
                "run.json cannot be read; no program recorded anything",
            ),
            ("6-4194305", Some(r#"{"failed":true}"#), RunState::Failed, "failed"),
        ] {
            assert_eq!(run(dir, name, record), (state, how.to_owned()), "{name}");
        }
        let own = format!("7-{}", std::process::id());
        assert_eq!(run(dir, &own, None), (RunState::Running, "running".to_owned()));
    }

    #[test]
    fn programs_are_named_once() {
        let files = ["a-b-1.xhist", "a-b-2.xhist", "c.xhist", "d-x.xhist"];
        let files = files.map(|name| (SystemTime::UNIX_EPOCH, PathBuf::from(name)));
        let run = Run {
            place: PathBuf::new(),
            description: Err(RunRecordError::Missing),
            when: SystemTime::UNIX_EPOCH,
            files: files.into(),
        };
        assert_eq!(programs(&run), ["a-b", "c", "d-x"]);
    }
}
