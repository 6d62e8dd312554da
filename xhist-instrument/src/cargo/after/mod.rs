//! After the run: the last statements of what crashed, panicked or failed, where the rest is, and how the run ended.
//!
//! Reads ring files through `qs_core` only. It shows the tail of each thread by itself;
//! `xhist-report` merges, names and explains.

mod listing;
mod outcome;
mod report;
mod retention;
mod rings;

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use walkdir::WalkDir;

use self::outcome::Outcome;
use self::retention::{Lost, Watch};
use self::rings::Process;
use super::results::Results;

pub(super) use self::outcome::{TestOutcome, signal_of};
pub(super) use self::retention::Limit;

/// What the run is made of, as far as the report depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One program, which takes cargo's place. It printed the statements under a panic itself.
    Program,
    /// Programs that run tests; what they print names the tests that failed.
    Tests,
    /// Only tests that failed left a file, each in a directory of its own.
    OneByOne,
}

/// A run: where its rings lie, and what explains them.
pub(super) struct Run {
    /// Where its ring files lie.
    pub(super) directory: PathBuf,
    /// The map of what it ran, and the directory that its paths start from.
    pub(super) map: PathBuf,
    pub(super) root: PathBuf,
    /// The user's own `XHIST_FILE`.
    pub(super) chosen_file: Option<PathBuf>,
    pub(super) kind: Kind,
    /// The cargo command, word by word.
    pub(super) command: Vec<String>,
    pub(super) limit: Limit,
    pub(super) started_ms: u64,
}

/// A run that goes on.
pub(super) struct Running {
    run: Run,
    watch: Option<Watch>,
    lost: Lost,
}

/// How it ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// Cargo's process id, and the program's when that took cargo's place.
    pub(super) pid: u32,
    /// What was printed about tests, where that was read.
    pub(super) results: Option<Results>,
}

impl Run {
    /// Makes room for it and watches its directory from now on.
    pub(super) fn start(mut self) -> Running {
        self.started_ms = outcome::now_ms();
        let runs = self.directory.parent().unwrap_or(&self.directory);
        let lost = retention::prune(runs, self.limit, None);
        let watch = self.chosen_file.is_none().then(|| Watch::start(self.directory.clone(), self.limit));
        Running { watch, lost, run: self }
    }

    /// Ring files of programs, oldest first.
    fn files(&self) -> Vec<PathBuf> {
        if let Some(path) = &self.chosen_file {
            return vec![path.clone()];
        }
        // Nextest's tests and documentation's have directories of their own.
        let entries = WalkDir::new(&self.directory).into_iter().flatten();
        let files = entries.filter(|entry| entry.file_type().is_file() && is_ring_file(entry.path()));
        let mut files: Vec<_> = files
            .filter(|file| !runs_in_compiler(rings::program_of(file.path())))
            .map(|file| (file.metadata().ok().and_then(|meta| meta.modified().ok()), file.into_path()))
            .collect();
        files.sort();
        files.into_iter().map(|(_, path)| path).collect()
    }

    fn processes(&self, files: &[PathBuf]) -> Vec<Process> {
        let follow_links = self.chosen_file.is_some();
        let read = files.iter().filter_map(|path| Process::read(path, follow_links));
        // It goes on in the file whose name this one had.
        read.filter(|process| !is_put_aside(&process.path, process.pid, files)).collect()
    }
}

impl Running {
    /// Reports what failed, records how the run ended, and removes what is not to be kept.
    pub(super) fn finish(self, ended: &Ended) {
        let Running { run, watch, lost } = self;
        let lost = watch.map_or(lost, |watch| lost.and(watch.finish()));
        let files = run.files();
        let is_ours = run.chosen_file.is_none();
        if is_ours && files.is_empty() {
            // Nothing was run, or nothing recorded.
            retention::remove_empty(&run.directory);
            return;
        }
        let mut outcome = Outcome {
            version: 1,
            command: report::command_line(&run.command),
            started_ms: run.started_ms,
            ended_ms: outcome::now_ms(),
            exit: ended.status.code(),
            signal: ended.signal(),
            failed: !ended.status.success(),
            failed_rings: Vec::new(),
        };
        if is_ours {
            // Reading may be ended by a signal.
            outcome.write(&run.directory);
        }
        let processes = run.processes(&files);
        let failed = report::tell(&run, ended, &processes);
        drop(processes);
        if !is_ours {
            return;
        }
        if outcome.failed {
            outcome.name_rings(&run.directory, &failed);
            outcome.write(&run.directory);
        }
        retention::trim_own(&run.directory, run.limit, ended.status.success(), &failed);
        let runs = run.directory.parent().unwrap_or(&run.directory);
        let lost = lost.and(retention::prune(runs, run.limit, Some((&run.directory, &failed))));
        if let Some(message) = lost.message(run.limit) {
            eprintln!("{message}");
        }
    }
}

impl Ended {
    /// The signal that ended cargo or the program in its place; else one that ended a test program.
    fn signal(&self) -> Option<String> {
        let of_test = || Some(self.results.as_ref()?.killed.last()?.1.clone());
        signal_of(self.status).or_else(of_test)
    }
}

/// By its name: one that a process put aside has the process id behind.
fn is_ring_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(".xhist"))
}

/// The recorder puts the process id behind the name of what a process left when it executed itself anew.
fn is_put_aside(path: &Path, pid: u32, paths: &[PathBuf]) -> bool {
    path.extension().is_some_and(|extension| extension.to_str() == Some(&pid.to_string()))
        && path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(&format!("-{pid}.xhist")))
        && paths.contains(&path.with_extension(""))
}

/// Build scripts may link instrumented members, and the compiler may load macros that do; they are no program of
/// the user's.
fn runs_in_compiler(program: &str) -> bool {
    matches!(program, "rustc" | "rustdoc") || program.starts_with("build-script-")
}

fn is_running(pid: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The state stands behind the name; a zombie only waits to be noticed.
    text.rsplit(") ").next().is_some_and(|rest| !rest.starts_with(['Z', 'X']))
}
