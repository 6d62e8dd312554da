//! Which runs and which ring files are kept, so that `target/xhist/runs` does not grow without limit.
//!
//! A file that a process has its rings in is never removed: the recorder locks it.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use walkdir::WalkDir;
use xhist_report::cli::after_run::processes_of_ended_tests;

use super::rings::{self, End, Process};
use crate::error::{Error, UsageError};
use crate::keep;
use crate::names::SPECTRA;
use crate::system;
use xhist_history::runs::record::{FILE, RunRecord};

/// The variable that sets the most bytes of all runs.
const VARIABLE: &str = "XHIST_KEEP";
const DEFAULT: u64 = 1 << 30;
/// Runs that ended well, and runs that failed.
const GOOD_RUNS: usize = 8;
const FAILED_RUNS: usize = 32;
/// Ring files of processes of one run that ended well.
const GOOD_RINGS: usize = 64;
/// Files of a running run are looked at this often.
const INTERVAL: Duration = Duration::from_millis(500);
/// Reading what tests started takes one part in this many of the time.
const READ_SHARE: u32 = 20;

/// Most bytes of all runs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(u64);

/// Files that were removed although they belong to something that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    runs: usize,
    rings: usize,
}

impl Limit {
    /// The limit that the environment sets.
    pub(crate) fn from_environment() -> Result<Limit, Error> {
        let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
            return Ok(Limit(DEFAULT));
        };
        text.to_str().and_then(parse_size).map(Limit).ok_or_else(|| {
            UsageError::Size {
                variable: VARIABLE,
                value: xhist_instrument::shell::visible(&text.to_string_lossy()),
            }
            .into()
        })
    }
}

/// Bytes, or with a suffix `k`, `m`, `g`.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 10),
        b'm' => (&text[..text.len() - 1], 20),
        b'g' => (&text[..text.len() - 1], 30),
        _ => (text.as_str(), 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A run's directory.
struct RunDirectory {
    path: PathBuf,
    bytes: u64,
    failed: bool,
    /// The command still runs: none of its files is removed.
    is_running: bool,
}

/// A run that is kept.
pub(crate) struct KeptRun(RunDirectory);

/// All runs, oldest first.
pub(crate) fn kept_runs(runs: &Path) -> Vec<KeptRun> {
    // What a link leads to is not ours.
    let is_ours = runs.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    if is_ours { directories(runs, None).into_iter().map(KeptRun).collect() } else { Vec::new() }
}

impl KeptRun {
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// The bytes that it takes on the disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// What uses the run, if anything does: the command, or a process that has its rings in one of the files.
    pub(crate) fn user(&self) -> Option<String> {
        if self.0.is_running {
            let pid = self.0.path.file_name()?.to_str()?.rsplit_once('-')?.1;
            return Some(format!("process {pid}"));
        }
        let file = ring_files(&self.0.path).into_iter().find(is_in_use)?;
        Some(format!("a process with its rings in {}", file.path.file_name()?.to_string_lossy()))
    }

    /// Removes it, but for ring files that a process uses.
    pub(crate) fn remove(&self) {
        remove_run(&self.0.path);
    }
}

/// A ring file of a run.
struct RingFile {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

/// The processes that tests started, as far as these have ended: whether the test panicked. They are read now and then.
#[derive(Default)]
struct OfTests {
    processes: HashMap<u32, bool>,
    next: Option<Instant>,
}

impl OfTests {
    fn read(&mut self, directory: &Path) {
        let now = Instant::now();
        if self.next.is_none_or(|next| next <= now) {
            self.processes = processes_of_ended_tests(directory);
            // Thousands of tests have large files.
            self.next = Some(now + READ_SHARE * now.elapsed());
        }
    }

    /// Whether the test that started the process of this file panicked. `None`: not known, as of one that still runs.
    fn has_panicked(&self, file: &RingFile) -> Option<bool> {
        let stem = file.path.file_stem()?.to_str()?;
        self.processes.get(&stem.rsplit_once('-')?.1.parse().ok()?).copied()
    }

    /// Puts the files of tests that passed behind the others.
    fn sort(&self, files: &mut [RingFile]) {
        files.sort_by_key(|file| self.has_panicked(file) == Some(false));
    }
}

/// How the process of a file ended, as far as that decides what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Good,
    Failed,
}

/// Removes runs beyond the limits, oldest first, and successful runs before failed ones. `own`: the current run and its
/// files that must stay.
pub(super) fn prune(runs: &Path, limit: Limit, own: Option<(&Path, &[PathBuf])>) -> Lost {
    let mut lost = Lost::default();
    let mut directories = directories(runs, own.map(|(own, _)| own));
    let mut total: u64 = directories.iter().map(|run| run.bytes).sum();
    // Newest first. One more is about to be added, unless it exists.
    let (mut good, mut failed) = if own.is_some() { (0, 0) } else { (1, 0) };
    directories.reverse();
    directories.retain(|run| {
        let (count, most) = if run.failed { (&mut failed, FAILED_RUNS) } else { (&mut good, GOOD_RUNS) };
        let is_own = own.is_some_and(|(own, _)| own == run.path);
        if run.is_running && !is_own {
            return false;
        }
        *count += 1;
        if *count <= most || is_own {
            return true;
        }
        lost.runs += usize::from(run.failed);
        total -= remove_run(&run.path).min(total);
        false
    });
    directories.reverse();
    shrink(&mut directories, &mut total, limit, own, &mut lost);
    lost
}

/// Removes by size.
fn shrink(
    directories: &mut Vec<RunDirectory>,
    total: &mut u64,
    limit: Limit,
    own: Option<(&Path, &[PathBuf])>,
    lost: &mut Lost,
) {
    let is_own = |run: &RunDirectory| own.is_some_and(|(own, _)| own == run.path);
    let keep = own.map_or(&[][..], |(_, keep)| keep);
    for run in directories.extract_if(.., |run| !run.failed && !is_own(run)) {
        if *total <= limit.0 {
            return;
        }
        *total -= remove_run(&run.path).min(*total);
    }
    for run in directories.iter() {
        for file in ring_files(&run.path) {
            if *total > limit.0 && fate(&file.path) == Some(Fate::Good) && !keep.contains(&file.path) {
                *total -= remove(&file).min(*total);
            }
        }
    }
    // The newest failed run is the one that the user looks for.
    let newest = directories.iter().rposition(|run| run.failed);
    for (index, run) in directories.iter().enumerate() {
        if *total > limit.0 && Some(index) != newest && !is_own(run) {
            lost.runs += 1;
            *total -= remove_run(&run.path).min(*total);
        }
    }
    for run in directories.iter().filter(|run| is_own(run)) {
        for file in ring_files(&run.path) {
            if *total > limit.0 && fate(&file.path).is_some() && !keep.contains(&file.path) {
                lost.rings += 1;
                *total -= remove(&file).min(*total);
            }
        }
    }
}

/// All runs, oldest first: their names start with the time and end in the process that ran them.
fn directories(runs: &Path, own: Option<&Path>) -> Vec<RunDirectory> {
    let mut directories: Vec<RunDirectory> = std::fs::read_dir(runs)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| {
            let name = entry.file_name();
            // Files with other names are not ours.
            let (started, pid) = name.to_str()?.split_once('-')?;
            let (_, pid): (u64, u32) = (started.parse().ok()?, pid.parse().ok()?);
            let path = entry.path();
            let outcome = RunRecord::read(&path).ok();
            let runs = || match system::KNOWS_PROCESSES {
                true => xhist_history::source::is_running(pid),
                false => keep::is_held(&path),
            };
            let is_running = outcome.is_none() && runs() || own == Some(&path);
            let failed = outcome.is_none_or(|outcome| outcome.failed);
            Some(RunDirectory { bytes: bytes_in(&path), path, failed, is_running })
        })
        .collect();
    directories.sort_by(|one, other| one.path.cmp(&other.path));
    directories
}

fn regular_files(directory: &Path) -> impl Iterator<Item = (PathBuf, Metadata)> {
    let entries = WalkDir::new(directory).into_iter().flatten();
    entries.filter_map(|entry| {
        let meta = entry.metadata().ok().filter(Metadata::is_file)?;
        Some((entry.into_path(), meta))
    })
}

/// The bytes that it takes on the disk.
fn bytes_in(directory: &Path) -> u64 {
    regular_files(directory).map(|(_, meta)| system::bytes_on_disk(&meta)).sum()
}

/// Ring files of a run, oldest first.
fn ring_files(directory: &Path) -> Vec<RingFile> {
    let mut files: Vec<RingFile> = regular_files(directory)
        .filter(|(path, _)| rings::is_ring_file(path))
        .map(|(path, meta)| RingFile {
            path,
            bytes: system::bytes_on_disk(&meta),
            modified: meta.modified().ok(),
        })
        .collect();
    files.sort_by_key(|file| file.modified);
    files
}

/// None while a process may use the file, and when it holds no ring.
fn fate(path: &Path) -> Option<Fate> {
    match Process::read(path, false)?.end {
        End::Running => None,
        End::Clean => Some(Fate::Good),
        End::Panicked | End::Died => Some(Fate::Failed),
    }
}

/// Removes a ring file that no process uses. Returns the bytes that are free now.
fn remove(file: &RingFile) -> u64 {
    let Ok(open) = rings::open(&file.path, false) else { return 0 };
    // The lock is held until then: a process that starts to use the file now takes another name.
    if is_free(file, &open) && std::fs::remove_file(&file.path).is_ok() { file.bytes } else { 0 }
}

/// Whether no process uses a ring file. If so, it is locked while `open` is there.
fn is_free(file: &RingFile, open: &std::fs::File) -> bool {
    match system::hold_ring(&file.path, open) {
        Some(is_used) => !is_used,
        None => fate(&file.path).is_some(),
    }
}

/// Whether a process uses a ring file.
fn is_in_use(file: &RingFile) -> bool {
    rings::open(&file.path, false).is_ok_and(|open| !is_free(file, &open))
}

/// Removes a run, but for ring files that a process uses. Returns the bytes that are free now.
fn remove_run(directory: &Path) -> u64 {
    let before = bytes_in(directory);
    let files = ring_files(directory);
    let removed = files.iter().filter(|file| remove(file) > 0 || !file.path.exists()).count();
    if removed == files.len() {
        let _ = std::fs::remove_dir_all(directory);
    }
    before.saturating_sub(bytes_in(directory))
}

/// Keeps one run bounded while it goes on: a server may start processes for days.
pub(super) struct Watch {
    stop: Sender<()>,
    thread: JoinHandle<Lost>,
}

impl Watch {
    pub(super) fn start(directory: PathBuf, limit: Limit) -> Watch {
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let (mut fates, mut lost) = (HashMap::new(), Lost::default());
            let mut tests = OfTests::default();
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                trim(&directory, limit, (&mut tests, &mut fates), &mut lost);
            }
            lost
        });
        Watch { stop, thread }
    }

    pub(super) fn finish(self) -> Lost {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

/// Of processes that are over, the newest files stay: few of those that ended well, more of the others and of those that
/// failed tests started.
fn trim(
    directory: &Path,
    limit: Limit,
    (tests, fates): (&mut OfTests, &mut HashMap<PathBuf, Fate>),
    lost: &mut Lost,
) {
    let mut files = ring_files(directory);
    let all: u64 = files.iter().map(|file| file.bytes).sum();
    if files.len() <= GOOD_RINGS && all <= limit.0 / 8 {
        return;
    }
    tests.read(directory);
    files.reverse();
    tests.sort(&mut files);
    let (mut good, mut good_bytes, mut failed_bytes) = (0, 0, 0);
    for file in files {
        let known = fates.get(&file.path).copied().or_else(|| fate(&file.path));
        match known {
            None => continue,
            Some(Fate::Good) if tests.has_panicked(&file) != Some(true) => {
                (good, good_bytes) = (good + 1, good_bytes + file.bytes);
                if good > GOOD_RINGS || good_bytes > limit.0 / 8 {
                    remove(&file);
                    fates.remove(&file.path);
                    continue;
                }
            }
            Some(Fate::Good | Fate::Failed) => {
                failed_bytes += file.bytes;
                if failed_bytes > limit.0 / 2 {
                    lost.rings += usize::from(remove(&file) > 0);
                    fates.remove(&file.path);
                    continue;
                }
            }
        }
        fates.extend(known.map(|fate| (file.path, fate)));
    }
}

/// Once a run is over: the newest files of processes that ended well stay, and `keep`. After a success no process
/// counts as failed: many end by `_exit`, as children do that a process forked.
pub(super) fn trim_own(directory: &Path, limit: Limit, success: bool, keep: &[PathBuf]) {
    if success {
        // Without a failed test there are no suspects.
        let is_spectra = |path: &Path| path.extension().is_some_and(|extension| extension == SPECTRA);
        regular_files(directory).filter(|(path, _)| is_spectra(path)).for_each(|(path, _)| {
            let _ = std::fs::remove_file(path);
        });
    }
    let (mut good, mut bytes, mut tests) = (0, 0, OfTests::default());
    let mut files = ring_files(directory);
    if files.len() > GOOD_RINGS {
        tests.read(directory);
    }
    files.reverse();
    tests.sort(&mut files);
    for file in files.iter().filter(|file| !keep.contains(&file.path)) {
        let fate = fate(&file.path).filter(|_| tests.has_panicked(file) != Some(true));
        if fate == Some(Fate::Good) || success && fate.is_some() {
            (good, bytes) = (good + 1, bytes + file.bytes);
            if good > GOOD_RINGS || bytes > limit.0 / 8 {
                remove(file);
            }
        }
    }
}

/// Removes the directory of a run that left no ring file of a program.
pub(super) fn remove_empty(directory: &Path) {
    if !directory.join(FILE).exists() {
        remove_run(directory);
    }
}

impl Lost {
    pub(super) fn and(self, other: Lost) -> Lost {
        Lost { runs: self.runs + other.runs, rings: self.rings + other.rings }
    }

    /// What is missed of a run. A test that passed may have started a process that died, or caught a panic.
    pub(super) fn of_run(self, has_failed: bool) -> Lost {
        Lost { rings: if has_failed { self.rings } else { 0 }, ..self }
    }

    /// The line that says so, if there is anything to say.
    pub(super) fn message(self, limit: Limit) -> Option<String> {
        let some = |count: usize, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            _ => Some(format!("{count} {what}s")),
        };
        let parts = [some(self.runs, "failed run"), some(self.rings, "failed process's ring")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let text = parts.join(" and ").replace("process's rings", "processes' rings");
        let most = limit.0 >> 20;
        (!parts.is_empty()).then(|| {
            format!(
                "xhist: removed {text}: {FAILED_RUNS} failed runs are kept, and {most} MiB of all \
                 (set {VARIABLE}=SIZE for more)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of this many bytes.
    fn run(runs: &Path, name: &str, failed: Option<bool>, kib: usize) {
        let directory = runs.join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("a-1.xhist"), vec![1; kib << 10]).expect("a file");
        if let Some(failed) = failed {
            RunRecord { failed, ..RunRecord::default() }.write(&directory).expect("a file");
        }
    }

    fn names(runs: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(runs).expect("runs").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// No process has this id.
    const PID: u32 = 4_194_305;

    #[test]
    fn failed_runs_outlive_good_ones() {
        let directory = tempfile::tempdir().expect("a directory");
        let runs = directory.path();
        for number in 0..100 {
            run(runs, &format!("{number:03}-{PID}"), Some(number % 2 == 0), 4);
        }
        run(runs, &format!("100-{}", std::process::id()), None, 4);
        run(runs, "other", None, 4);
        let lost = prune(runs, Limit(DEFAULT), None);
        assert_eq!(lost, Lost { runs: 50 - FAILED_RUNS, rings: 0 });
        let kept = names(runs);
        // One more is about to be added.
        assert_eq!(kept.len(), FAILED_RUNS + GOOD_RUNS - 1 + 2, "{kept:?}");
        assert!(kept.contains(&format!("036-{PID}")) && kept.contains(&format!("087-{PID}")), "{kept:?}");
        assert!(kept.contains(&"other".to_owned()));
        assert!(lost.message(Limit(DEFAULT)).expect("a message").contains("removed 18 failed runs:"));
    }

    #[test]
    fn good_runs_go_first_by_size_and_the_newest_failed_one_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let runs = directory.path();
        for (number, failed) in [true, true, false, true, false].into_iter().enumerate() {
            run(runs, &format!("{number}-{PID}"), Some(failed), 1024);
        }
        let limit = |mib: u64| Limit((mib << 20) + (100 << 10));
        assert_eq!(prune(runs, limit(4), None), Lost::default());
        assert_eq!(names(runs), [0, 1, 3, 4].map(|number| format!("{number}-{PID}")));
        assert_eq!(prune(runs, limit(2), None), Lost { runs: 1, rings: 0 });
        assert_eq!(names(runs), [1, 3].map(|number| format!("{number}-{PID}")));
        assert_eq!(prune(runs, Limit(0), None), Lost { runs: 1, rings: 0 });
        assert_eq!(names(runs), [format!("3-{PID}")]);
    }

    #[test]
    fn a_file_that_is_in_use_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let runs = directory.path();
        (0..20).for_each(|number| run(runs, &format!("{number:02}-{PID}"), Some(false), 4));
        let file = std::fs::File::open(runs.join(format!("00-{PID}/a-1.xhist"))).expect("a file");
        file.lock().expect("a lock");
        prune(runs, Limit(0), None);
        assert_eq!(names(runs), [format!("00-{PID}")]);
        drop(file);
        prune(runs, Limit(0), None);
        assert!(names(runs).is_empty());
    }

    #[test]
    fn sizes_have_suffixes() {
        assert_eq!(
            [parse_size("12"), parse_size("3k"), parse_size("2G")],
            [Some(12), Some(3072), Some(2 << 30)]
        );
        assert_eq!([parse_size(""), parse_size("x"), parse_size("99999999999g"), parse_size("k")], [None; 4]);
    }

    #[test]
    fn what_passed_lost_nothing_but_older_runs() {
        let lost = Lost { runs: 0, rings: 3 };
        assert!(
            lost.of_run(true)
                .message(Limit(DEFAULT))
                .expect("a message")
                .contains("3 failed processes' rings")
        );
        assert_eq!(lost.of_run(false).message(Limit(DEFAULT)), None);
        assert_eq!(Lost { runs: 1, rings: 3 }.of_run(false), Lost { runs: 1, rings: 0 });
    }
}
