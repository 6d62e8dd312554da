//! What failed in a run: tests with the rings of their threads, and processes that crashed.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use qs_core::ring::Status;

use super::outcome::{RunnerRecord, shown_signal, signal_name, signal_of};
use super::rings::{End, Process, Ring};
use super::run::{Ended, Run, RunKind};
use crate::output::results::{Failed, Results, is_test_program};
use crate::system;
use xhist_history::runs::record::{
    CrashRecord, TestOutcome, TestRecord, is_documentation, is_documentation_program, is_thread_of,
};
use xhist_instrument::map::MapFile;

/// Rows of tests in `run.json`.
const MOST_TESTS: usize = 5000;

/// What failed.
#[derive(Default)]
pub(super) struct Failures<'a> {
    /// Tests, in the order of their results.
    pub(super) tests: Vec<FailedTest<'a>>,
    /// Processes that crashed, the most relevant first.
    pub(super) crashes: Vec<Crash<'a>>,
    /// Processes among the crashes of which some should have failed.
    pub(super) unclear: Option<usize>,
}

/// A test that failed.
pub(super) struct FailedTest<'a> {
    pub(super) name: String,
    /// `failed`, `died of SIGABRT (signal 6)`.
    pub(super) how: String,
    /// Its process, and its thread where the process has other tests as well.
    pub(super) place: Option<(&'a Process, Option<&'a Ring>)>,
}

/// A process that crashed.
pub(super) struct Crash<'a> {
    pub(super) process: &'a Process,
    /// `had a panic`, `died of SIGABRT (signal 6)`.
    pub(super) how: String,
}

impl<'a> Failures<'a> {
    /// What failed in a run that failed.
    pub(super) fn find(run: &Run, ended: &Ended, processes: &'a [Process]) -> Failures<'a> {
        let find = Find { run, ended, processes };
        match (run.kind, &ended.results) {
            (RunKind::OneByOne, _) => find.one_by_one(),
            (RunKind::Firmware, results) => find.firmware(results.as_ref()),
            (RunKind::Tests, Some(results)) if !results.failed.is_empty() || !results.killed.is_empty() => {
                find.tests(results)
            }
            // Tests that passed may have panicked as they should.
            (RunKind::Tests, Some(results)) if !results.programs.is_empty() => {
                Failures { crashes: find.failed_programs(results, &[]), ..Failures::default() }
            }
            _ => find.crashes(),
        }
    }

    /// Ring files, the most relevant first.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let crashed = self.crashes.iter().map(|crash| crash.process);
        let tested = self.tests.iter().filter_map(|test| Some(test.place?.0));
        let mut files: Vec<PathBuf> = Vec::new();
        for process in crashed.chain(tested) {
            if !files.contains(&process.path) {
                files.push(process.path.clone());
            }
        }
        files
    }

    /// The rows of crashes in `run.json`.
    pub(super) fn crash_rows(&self, directory: &Path) -> Vec<CrashRecord> {
        let row = |crash: &Crash<'_>| {
            let Crash { process, how, .. } = crash;
            let (program, pid) = (process.program().to_owned(), process.pid);
            Some(CrashRecord { program, pid, how: how.clone(), file: inside(directory, process)? })
        };
        self.crashes.iter().filter_map(row).collect()
    }

    /// The rows of tests in `run.json`: those that failed first.
    pub(super) fn test_rows(
        &self,
        directory: &Path,
        results: Option<&Results>,
        processes: &[Process],
    ) -> Vec<TestRecord> {
        let failed = self.tests.iter().map(|test| TestRecord {
            name: test.name.clone(),
            outcome: TestOutcome::Failed,
            how: Some(test.how.clone()),
            file: test.place.and_then(|(process, _)| inside(directory, process)),
            ring: test.place.and_then(|(_, ring)| Some(ring?.number)),
        });
        let mut rows: Vec<TestRecord> = failed.collect();
        let Some(results) = results else { return rows };
        let mut by_thread: HashMap<&str, Vec<(&Process, &Ring)>> = HashMap::new();
        for process in processes {
            for ring in &process.rings {
                let name = ring.header.thread_name().unwrap_or_default();
                by_thread.entry(name).or_default().push((process, ring));
            }
        }
        for (name, outcome) in &results.others {
            // A name that several rings have names none of them.
            let place = match by_thread.get(name.as_str()).map(Vec::as_slice) {
                Some([place]) => Some(*place),
                _ => None,
            };
            let file = place.and_then(|(process, _)| inside(directory, process));
            let ring = place.map(|(_, ring)| ring.number).filter(|_| file.is_some());
            rows.push(TestRecord { name: name.clone(), outcome: *outcome, how: None, file, ring });
        }
        rows.truncate(MOST_TESTS);
        rows
    }
}

/// The path of a ring file, if it is in the run's directory.
fn inside(directory: &Path, process: &Process) -> Option<PathBuf> {
    process.path.starts_with(directory).then(|| process.path.clone())
}

struct Find<'a, 'r> {
    run: &'r Run,
    ended: &'r Ended,
    processes: &'a [Process],
}

impl<'a> Find<'a, '_> {
    /// Processes that died or panicked: the program itself, then the newest. Children often leave by `_exit` as they should,
    /// so those with a panic come before, and so does the program itself where it ended with an exit code.
    fn crashes(&self) -> Failures<'a> {
        let mut bad: Vec<&Process> = self.with_end(End::Died).chain(self.with_end(End::Panicked)).collect();
        if !bad.is_empty() {
            bad.extend(self.with_end(End::Clean).filter(|process| self.is_own(process)));
        }
        bad.sort_by_key(|process| match (self.is_own(process), self.end(process)) {
            (true, End::Died | End::Panicked) => 3,
            (false, End::Panicked) => 2,
            (true, _) => 1,
            (false, _) => 0,
        });
        bad.reverse();
        Failures { crashes: self.described(bad), ..Failures::default() }
    }

    /// Each test on a target that failed; each other firmware that did not end well by itself.
    fn firmware(&self, results: Option<&Results>) -> Failures<'a> {
        let mut tests: Vec<FailedTest<'a>> = Vec::new();
        for test in results.iter().flat_map(|results| &results.failed) {
            tests.push(FailedTest { name: test.name.clone(), how: "failed".to_owned(), place: None });
        }
        let mut crashes = Vec::new();
        for process in self.processes {
            let directory = process.path.parent().unwrap_or(&process.path);
            let record = RunnerRecord::read(directory).unwrap_or_else(|| RunnerRecord {
                exit: self.ended.status.code(),
                signal: signal_of(self.ended.status),
                asked: self.ended.asked.map(signal_name),
                ..RunnerRecord::default()
            });
            // Two programs may have a test of one name.
            let is_its =
                |test: &&mut FailedTest<'_>| record.test.as_ref() == Some(&test.name) && test.place.is_none();
            if let Some(test) = tests.iter_mut().find(is_its) {
                test.place = Some((process, None));
                continue;
            }
            let how = match (record.asked.as_deref(), &record.signal, record.exit) {
                (Some("SIGINT"), ..) => "was stopped by Ctrl-C".to_owned(),
                (Some(signal), ..) => format!("was stopped by {signal}"),
                (None, Some(signal), _) => format!("ended: its runner died of {}", shown_signal(signal)),
                (None, None, Some(0)) => continue,
                (None, None, code) => format!("ended with exit code {}", code.unwrap_or(1)),
            };
            crashes.push(Crash { process, how });
        }
        Failures { tests, crashes, ..Failures::default() }
    }

    /// Each process is a test that failed, unless a test started it: that one is in the directory of its test.
    fn one_by_one(&self) -> Failures<'a> {
        let mut tests: Vec<(RunnerRecord, Option<&Process>)> = Vec::new();
        let mut known: HashMap<&Path, usize> = HashMap::new();
        for process in self.processes {
            let directory = process.path.parent().unwrap_or(&process.path);
            let outcome = RunnerRecord::read(directory).unwrap_or_default();
            let is_test = outcome.pid.is_none_or(|pid| pid == process.pid);
            // Without the number of its process, each file is a test.
            let key = if outcome.pid.is_some() { directory } else { &process.path };
            let at = *known.entry(key).or_insert_with(|| {
                tests.push((outcome, None));
                tests.len() - 1
            });
            let (_, own) = &mut tests[at];
            *own = own.or(is_test.then_some(process));
        }
        let test = |(outcome, process): (RunnerRecord, Option<&'a Process>)| {
            let how = match (&outcome.signal, process.map(|process| process.end)) {
                (Some(signal), _) => format!("died of {}", shown_signal(signal)),
                (None, Some(End::Panicked)) => "had a panic".to_owned(),
                (None, Some(End::Died)) => "died without exiting".to_owned(),
                (None, _) => {
                    outcome.exit.map_or("failed".to_owned(), |code| format!("ended with exit code {code}"))
                }
            };
            let program = process.map_or("test", |process| process.program());
            let name = outcome.test.unwrap_or_else(|| program.to_owned());
            FailedTest { name, how, place: process.map(|process| (process, None)) }
        };
        Failures { tests: tests.into_iter().map(test).collect(), ..Failures::default() }
    }

    /// The tests that failed, by what their harness printed; test programs that died.
    fn tests(&self, results: &Results) -> Failures<'a> {
        let mut tests = self.find_tests(results);
        let mut crashed = self.killed(results);
        let map = MapFile::load(&self.run.map, &self.run.root).ok();
        crashed.retain(|process| match map.as_ref().and_then(|map| test_that_died(map, process, results)) {
            Some(ring) => {
                let name = ring.header.thread_name().unwrap_or_default().to_owned();
                tests.push(FailedTest {
                    name,
                    how: self.end_of(process),
                    place: Some((process, Some(ring))),
                });
                false
            }
            None => true,
        });
        let (documentation, unclear) = self.documentation(&results.failed, &mut tests);
        crashed.extend(documentation);
        let known = tests.iter().filter_map(|test| Some(test.place?.0)).chain(crashed.iter().copied());
        let known: Vec<&Process> = known.collect();
        let mut crashes = self.described(crashed);
        crashes.extend(self.failed_programs(results, &known));
        Failures { tests, crashes, unclear }
    }

    /// Test programs that failed and whose harness prints no results that are read, the newest first. Those of known
    /// processes are left out.
    fn failed_programs(&self, results: &Results, known: &[&Process]) -> Vec<Crash<'a>> {
        let mut crashes = Vec::new();
        for program in results.programs.iter().rev() {
            let is_its = |process: &&Process| program.is(process.program());
            if known.iter().any(is_its) {
                continue;
            }
            let mut its = self.processes.iter().filter(is_its);
            // The harness of libtest has a code of its own, and does not panic. It is not known which of its tests failed.
            let has_own = |process: &&Process| program.code.is_some() || process.has_panicked_in_main();
            let found =
                its.clone().rfind(has_own).or_else(|| its.next_back().filter(|_| results.failed.is_empty()));
            let Some(process) = found else { continue };
            let how = match (process.has_panicked_in_main(), program.code) {
                (false, Some(code)) => ended_with(code),
                (false, None) => "failed".to_owned(),
                (true, _) => self.end_of(process),
            };
            crashes.push(Crash { process, how });
        }
        crashes
    }

    fn described(&self, processes: Vec<&'a Process>) -> Vec<Crash<'a>> {
        let crash = |process| Crash { process, how: self.end_of(process) };
        processes.into_iter().map(crash).collect()
    }

    /// Each test with its thread: by the id that its panic message has, else by its name, unless others have that too.
    fn find_tests(&self, results: &Results) -> Vec<FailedTest<'a>> {
        let failed = &results.failed;
        let map = MapFile::load(&self.run.map, &self.run.root).ok();
        let mut taken: Vec<(&Path, usize)> = Vec::new();
        let mut find = |test: &Failed| {
            let all = self
                .processes
                .iter()
                .flat_map(|process| process.rings.iter().map(move |ring| (process, ring)));
            let mut places: Vec<(&Process, &Ring)> = all
                .filter(|(_, ring)| {
                    ring.header.thread_name().is_some_and(|thread| is_thread_of(thread, &test.name))
                })
                .filter(|(process, ring)| !taken.contains(&(process.path.as_path(), ring.number)))
                .collect();
            let messages = results.panicked.get(&test.name).into_iter().flatten().chain(&test.thread);
            let is_known = |ring: &Ring| messages.clone().any(|thread| *thread == ring.header.tid);
            let by_id = places.iter().find(|(_, ring)| is_known(ring)).copied();
            let is_whole = |ring: &Ring| ring.header.thread_name() == Some(test.name.as_str());
            places.sort_by_key(|(_, ring)| (!is_whole(ring), ring.header.status != Status::Panicked));
            let place = by_id.or_else(|| match places[..] {
                [] => None,
                [place] => Some(place),
                [place, ..] if is_whole(place.1) => Some(place),
                _ => find_function(map.as_ref()?, &test.name, &places),
            });
            taken.extend(place.map(|(process, ring)| (process.path.as_path(), ring.number)));
            let place = place.map(|(process, ring)| (process, Some(ring)));
            FailedTest { name: test.name.clone(), how: "failed".to_owned(), place }
        };
        let mut tests: Vec<(usize, &Failed)> = failed.iter().enumerate().collect();
        tests.retain(|(_, test)| !is_documentation(&test.name));
        // Tests with a known thread first: the others get what is left.
        let is_known = |test: &Failed| test.thread.is_some() || results.panicked.contains_key(&test.name);
        tests.sort_by_key(|(_, test)| !is_known(test));
        let found = tests.into_iter().map(|(at, test)| (at, find(test)));
        // In the order of the results.
        found.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    /// Test programs that a signal ended, according to cargo, or together with cargo.
    fn killed(&self, results: &Results) -> Vec<&'a Process> {
        let died: Vec<&Process> = self.with_end(End::Died).collect();
        let is_named = |process: &Process| results.killed.iter().any(|(name, _)| name == process.program());
        let is_its = |process: &&Process| is_named(process) || self.stopped_by(process).is_some();
        let named: Vec<&Process> = died.iter().copied().filter(is_its).collect();
        if named.is_empty() && results.failed.is_empty() { died } else { named }
    }

    /// The signal that ended the run while a test program ran: of that program cargo printed nothing.
    fn stopped_by(&self, process: &Process) -> Option<String> {
        let signal = self.ended.asked.map(signal_name).or_else(|| signal_of(self.ended.status))?;
        is_test_program(process.program()).then_some(signal)
    }

    /// Documentation tests that failed: their programs, by the ids in their panic messages. The programs that are not
    /// known to be those of one test are returned; without any id these are all that panicked or died, because one that
    /// panics as it should looks the same.
    fn documentation(
        &self,
        failed: &[Failed],
        tests: &mut Vec<FailedTest<'a>>,
    ) -> (Vec<&'a Process>, Option<usize>) {
        let failed: Vec<&Failed> = failed.iter().filter(|test| is_documentation(&test.name)).collect();
        let is_program =
            |process: &&Process| !failed.is_empty() && is_documentation_program(process.program());
        let bad = self.with_end(End::Panicked).chain(self.with_end(End::Died)).filter(is_program);
        let mut bad: Vec<&Process> = bad.collect();
        let (all, mut known) = (bad.len(), 0);
        for test in &failed {
            let at = bad.iter().position(|process| test.thread == Some(process.pid));
            let place = at.map(|at| (bad.remove(at), None));
            known += usize::from(place.is_some());
            tests.push(FailedTest { name: test.name.clone(), how: "failed".to_owned(), place });
        }
        if known > 0 {
            return (Vec::new(), None);
        }
        (bad, (all > failed.len()).then_some(all))
    }

    /// Whether a process is the program that replaced cargo, or the only one that cargo ran.
    fn is_own(&self, process: &Process) -> bool {
        let is_only = !system::RUN_REPLACES_CARGO && self.processes.len() == 1;
        self.run.kind == RunKind::Program && (is_only || process.pid == self.ended.pid)
    }

    /// How a process ended: as its rings show, unless the system reports a signal. A panic can end a process by a signal.
    fn end(&self, process: &Process) -> End {
        let is_killed = self.is_own(process) && signal_of(self.ended.status).is_some();
        if is_killed || self.is_aborted_test(process) { End::Died } else { process.end }
    }

    /// Whether a panic ended a test program by a signal, such as a panic while panicking.
    fn is_aborted_test(&self, process: &Process) -> bool {
        let is_named = |results: &Results| results.killed.iter().any(|(name, _)| name == process.program());
        let has_other = |other: &Process| other.end == End::Died && other.program() == process.program();
        process.end == End::Panicked
            && self.ended.results.as_ref().is_some_and(is_named)
            && !self.processes.iter().any(has_other)
    }

    fn with_end(&self, end: End) -> impl Iterator<Item = &'a Process> + use<'a, '_> {
        self.processes.iter().filter(move |process| self.end(process) == end)
    }

    fn end_of(&self, process: &Process) -> String {
        let is_own = self.is_own(process);
        let signal = if is_own { signal_of(self.ended.status) } else { self.signal_of_test(process) };
        match (self.end(process), signal, self.ended.status.code()) {
            (End::Died, Some(signal), _) => format!("died of {}", shown_signal(&signal)),
            (End::Died, None, Some(code)) if is_own => {
                format!("left by `_exit` or `exec`, exit code {code}: no exit handler ran")
            }
            (End::Died, None, _) => match self.stopped_by(process) {
                Some(signal) => format!("still ran when {} came", shown_signal(&signal)),
                None => "died of a signal, or left by `_exit` or `exec`".to_owned(),
            },
            (End::Panicked, ..) => "had a panic".to_owned(),
            (End::Clean, None, Some(code)) if is_own => ended_with(code),
            (End::Clean | End::Running, ..) => "ended".to_owned(),
        }
    }

    /// As cargo printed it of the program; unless several processes of that program died.
    fn signal_of_test(&self, process: &Process) -> Option<String> {
        let killed = &self.ended.results.as_ref()?.killed;
        let (_, signal) = killed.iter().find(|(name, _)| name == process.program())?;
        let same = self.with_end(End::Died).filter(|other| other.program() == process.program());
        (same.count() == 1).then(|| signal.clone())
    }
}

fn ended_with(code: i32) -> String {
    format!("ended with exit code {code}")
}

/// The thread of the test that ended its process, if it is known: the one that a signal ended, else the only test that had not
/// ended.
fn test_that_died<'a>(map: &MapFile, process: &'a Process, results: &Results) -> Option<&'a Ring> {
    let has_ended = |name: &str| {
        results.failed.iter().any(|test| test.name == name)
            || results.others.iter().any(|(test, _)| test == name)
    };
    let is_test = |ring: &&Ring| {
        let name = ring.header.thread_name().unwrap_or_default();
        !has_ended(name) && !map.statements_of(|function| is_function(function, name)).is_empty()
    };
    let is_killed = |ring: &Ring| ring.header.status == Status::Killed;
    let killed = process.rings.iter().find(|ring| is_killed(ring));
    if killed.is_some() {
        return killed.filter(is_test);
    }
    let open = |ring: &&Ring| matches!(ring.header.status, Status::Live | Status::Panicked);
    let tests = process.rings.iter().filter(open).filter(is_test);
    // Threads that a test starts have its name unless they get their own.
    let first = tests.clone().min_by_key(|ring| ring.header.start_time)?;
    tests
        .map(|ring| ring.header.thread_name())
        .all(|name| name == first.header.thread_name())
        .then_some(first)
}

/// Whether a function is that of a test. Paths of functions start at their file.
fn is_function(function: &str, test: &str) -> bool {
    let module = test.strip_suffix(function);
    module.is_some_and(|module| module.is_empty() || module.ends_with("::"))
}

/// The thread that ran the test's function, among threads whose names are truncated.
fn find_function<'a>(
    map: &MapFile,
    name: &str,
    places: &[(&'a Process, &'a Ring)],
) -> Option<(&'a Process, &'a Ring)> {
    let statements = map.statements_of(|function| is_function(function, name));
    places.iter().find(|(process, ring)| process.has_any(ring, &statements)).copied()
}
