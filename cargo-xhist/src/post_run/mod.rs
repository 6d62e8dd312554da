//! After the run: prints the last statements of what crashed, panicked or failed, and where the rest is.
//!
//! `run.json` gets how the run ended and what failed. The answer is made from it.

mod chosen;
mod failures;
mod outcome;
mod programs;
mod report;
mod retention;
mod rings;
mod run;
mod upload;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;
use xhist_history::runs::record::RunRecord;
use xhist_report::cli::after_run::print_document;

use self::failures::Failures;
use self::retention::{Lost, Watch};
use self::rings::{Process, is_ring_file};
use crate::{keep, system};

pub(super) use self::outcome::{RunnerRecord, signal_of};
pub(super) use self::retention::{KeptRun, Limit, kept_runs};
pub(super) use self::run::{Ended, Run, RunKind};

/// A run that has not ended.
pub(super) struct Running {
    run: Run,
    watch: Option<Watch>,
    /// Marks the directory as in use, where a process is not known by its id.
    mark: Option<std::fs::File>,
    /// What was removed so far to stay within the limits.
    lost: Lost,
}

impl Run {
    /// Whether what failed is printed as JSON. A file that the user chose has no `run.json`, from which that is made.
    fn is_for_programs(&self) -> bool {
        self.prints_json && self.chosen_file.is_none() && !self.is_again
    }

    /// Removes old runs, and watches the directory of this one.
    pub(super) fn start(mut self) -> Running {
        self.started_ms = outcome::now_ms();
        let lost = retention::prune(self.runs(), self.limit, None);
        let watch = self.chosen_file.is_none().then(|| Watch::start(self.directory.clone(), self.limit));
        let is_marked = self.chosen_file.is_none() && !system::KNOWS_PROCESSES;
        let mark = is_marked.then(|| keep::hold(&self.directory)).flatten();
        Running { watch, mark, lost, run: self }
    }

    /// Whether something is to be explained. Firmware has no end of its own, so a signal that stops it is one.
    fn has_failed(&self, ended: &Ended) -> bool {
        !ended.status.success() || self.kind == RunKind::Firmware && ended.asked.is_some()
    }

    /// The directory of all runs.
    fn runs(&self) -> &Path {
        self.directory.parent().unwrap_or(&self.directory)
    }

    /// Ring files of programs, oldest first.
    fn files(&self) -> Vec<PathBuf> {
        if let Some(path) = &self.chosen_file {
            return chosen::files(path, self.started_ms);
        }
        // Tests of nextest and of documentation have their own directories.
        let entries = WalkDir::new(&self.directory).into_iter().flatten();
        let files = entries.filter(|entry| entry.file_type().is_file() && is_ring_file(entry.path()));
        let mut files: Vec<_> = files
            .filter(|file| !runs_in_compiler(rings::program_of(file.path())))
            .map(|file| (file.metadata().ok().and_then(|meta| meta.modified().ok()), file.into_path()))
            .collect();
        files.sort();
        files.into_iter().map(|(_, path)| path).collect()
    }

    /// The files of the programs by name, if a report may look into them: for the types of values, or the frames of a panic.
    fn programs(&self, files: &[PathBuf], failed: bool) -> BTreeMap<String, PathBuf> {
        if !self.has_values && !failed {
            return BTreeMap::new();
        }
        programs::find(
            &self.build,
            &self.profile,
            &files.iter().map(|file| rings::program_of(file)).collect(),
        )
    }

    /// The run of nextest that a failed test belongs to.
    fn nextest_run(&self, files: &[PathBuf]) -> Option<String> {
        let of_test = |file: &PathBuf| RunnerRecord::read(file.parent()?)?.nextest_run;
        files.iter().filter(|_| self.kind == RunKind::OneByOne).find_map(of_test)
    }

    /// What each ring file shows of its process.
    fn processes(&self, files: &[PathBuf]) -> Vec<Process> {
        let follow_links = self.chosen_file.is_some();
        let read = files.iter().filter_map(|path| Process::read(path, follow_links));
        // The file that has the name now has the newest statements of the same process.
        read.filter(|process| !is_put_aside(&process.path, process.pid, files)).collect()
    }
}

impl Running {
    /// The directory of the run.
    pub(super) fn directory(&self) -> PathBuf {
        self.run.directory.clone()
    }

    /// The build is repeated, so nothing ran.
    pub(super) fn forget(self) {
        let Running { run, watch, mark, .. } = self;
        drop((watch, mark));
        if run.chosen_file.is_none() {
            retention::remove_empty(&run.directory);
        }
    }

    /// Reports what failed, records how the run ended, and removes what is not to be kept.
    pub(super) fn finish(self, ended: &Ended) {
        let Running { run, watch, mark, lost } = self;
        drop(mark);
        let has_failed = run.has_failed(ended);
        let lost = watch.map_or(lost, |watch| lost.and(watch.finish()));
        let files = run.files();
        // A file that the user chose is read, but nothing is kept or removed.
        let has_own_directory = run.chosen_file.is_none();
        if has_own_directory && files.is_empty() {
            // No program ran, or none recorded anything.
            retention::remove_empty(&run.directory);
            return;
        }
        let mut outcome = RunRecord {
            command: report::command_line(&run.command),
            words: run.words.clone(),
            directory: std::env::current_dir().ok(),
            repeats: run.is_again,
            started_ms: Some(run.started_ms),
            ended_ms: Some(outcome::now_ms()),
            exit: ended.status.code().map(i64::from),
            signal: ended.signal(),
            failed: has_failed,
            nextest_run: run.nextest_run(&files),
            programs: run.programs(&files, has_failed),
            ..RunRecord::default()
        };
        if has_own_directory {
            // A signal may end this process while it reads the rings.
            write(&outcome, &run.directory);
        }
        let processes = run.processes(&files);
        let failures = match outcome.failed {
            true => Failures::find(&run, ended, &processes),
            false => Failures::default(),
        };
        let results = ended.results.as_ref();
        outcome.tests = failures.test_rows(&run.directory, results, &processes);
        outcome.crashes = failures.crash_rows(&run.directory);
        outcome.failed_rings = failures.files();
        if has_own_directory {
            write(&outcome, &run.directory);
        }
        let failed = match run.is_again {
            true => failures.files(),
            false => report(&run, ended, &processes, &failures),
        };
        drop(failures);
        drop(processes);
        upload::upload(&failed, &run.map);
        if !has_own_directory {
            return;
        }
        if outcome.failed {
            outcome.failed_rings.clone_from(&failed);
            write(&outcome, &run.directory);
        }
        if run.is_for_programs() {
            print_document(&run.directory);
        }
        retention::trim_own(&run.directory, run.limit, !has_failed, &failed);
        let lost = lost.and(retention::prune(run.runs(), run.limit, Some((&run.directory, &failed))));
        if let Some(message) = lost.of_run(has_failed).message(run.limit) {
            eprintln!("{message}");
        }
    }
}

/// Writes `run.json`. Without it, reports read the rings, so an error is ignored.
fn write(record: &RunRecord, directory: &Path) {
    let _ = record.write(directory);
}

/// Prints the report, unless a program reads what failed. Returns the ring files of what failed, the most relevant first.
fn report(run: &Run, ended: &Ended, processes: &[Process], failures: &Failures<'_>) -> Vec<PathBuf> {
    if run.is_for_programs() {
        let is_exit = run.has_failed(ended) && failures.tests.is_empty() && failures.crashes.is_empty();
        let exited = report::exited(ended, processes).filter(|_| is_exit);
        return exited.map_or_else(|| failures.files(), |process| vec![process.path.clone()]);
    }
    match (run.kind, !run.has_failed(ended)) {
        (RunKind::Program, true) => report::print_success(run, ended, processes),
        (RunKind::Firmware, true) => report::print_histories(processes),
        // Tests that pass may make processes die and threads panic on purpose.
        (RunKind::Tests | RunKind::OneByOne, true) => {}
        (_, false) if failures.tests.is_empty() && failures.crashes.is_empty() => {
            return report::print_exit(run, ended, processes);
        }
        (_, false) => report::print_failures(run, failures, processes),
    }
    failures.files()
}

impl Ended {
    /// The signal that ended cargo or the program that replaced it; else one that ended a test program.
    fn signal(&self) -> Option<String> {
        let of_test = || Some(self.results.as_ref()?.killed.last()?.1.clone());
        signal_of(self.status).or_else(of_test)
    }
}

/// Whether a process executed itself again and left this file behind: the recorder then appends the process id to its name.
fn is_put_aside(path: &Path, pid: u32, paths: &[PathBuf]) -> bool {
    path.extension().is_some_and(|extension| extension.to_str() == Some(&pid.to_string()))
        && path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(&format!("-{pid}.xhist")))
        && paths.contains(&path.with_extension(""))
}

/// Whether a program is the compiler or a build script: those may link instrumented members, but are not the user's.
fn runs_in_compiler(program: &str) -> bool {
    matches!(program, "rustc" | "rustdoc") || program.starts_with("build-script-")
}
