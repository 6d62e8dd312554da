//! What is printed after a run, and which rings belong to what failed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use qs_core::ring::{NAME_LEN, Status};

use super::listing::Listing;
use super::outcome::{TestOutcome, shown_signal, signal_of};
use super::rings::{End, Process, Ring};
use super::{Ended, Kind, Run};
use crate::cargo::results::{Failed, Results};
use crate::map::MapFile;
use crate::shell::{quoted, visible, word};

/// Statements shown of a thread.
const LINES: usize = 30;
/// Lines of all tests that failed; each of the first few has some.
const TEST_LINES: usize = 300;
const FEWEST_LINES: usize = 10;
/// Threads shown of a process.
const THREADS: usize = 3;
/// Threads named that are not shown.
const NAMES: usize = 10;
/// Processes shown.
const PROCESSES: usize = 3;

/// Prints it. Returns the ring files of what failed, the most relevant first.
pub(super) fn tell(run: &Run, ended: &Ended, processes: &[Process]) -> Vec<PathBuf> {
    let report = Report { run, ended, processes, map: MapFile::load(&run.map, &run.root).ok() };
    match (run.kind, ended.status.success()) {
        (Kind::Program, true) => report.program_succeeded(),
        // Tests make processes die and threads panic on purpose.
        (Kind::Tests | Kind::OneByOne, true) => Vec::new(),
        (Kind::Program, false) => report.program_failed(),
        (Kind::OneByOne, false) => report.one_by_one(),
        (Kind::Tests, false) => report.tests(ended.results.as_ref()),
    }
}

/// The command as a shell reads it.
pub(super) fn command_line(words: &[String]) -> String {
    words.iter().map(|text| quoted(OsStr::new(text))).collect::<Vec<_>>().join(" ")
}

struct Report<'a> {
    run: &'a Run,
    ended: &'a Ended,
    processes: &'a [Process],
    map: Option<MapFile>,
}

impl<'a> Report<'a> {
    /// Threads that panicked; processes that died are only counted: children often end by `_exit`.
    fn program_succeeded(&self) -> Vec<PathBuf> {
        let panicked: Vec<&Process> = self.with_end(End::Panicked).collect();
        self.print_newest(&panicked, |process| self.describe(process, false));
        let died = self.with_end(End::Died).count();
        if died > 0 {
            let what = if died == 1 { "1 process" } else { &format!("{died} processes") };
            eprintln!(
                "\nxhist: {what} of this run died of a signal or left by `_exit`: {}",
                shown_path(&self.run.directory)
            );
        }
        Vec::new()
    }

    fn program_failed(&self) -> Vec<PathBuf> {
        let mut bad: Vec<&Process> = self.with_end(End::Died).collect();
        bad.extend(self.with_end(End::Panicked));
        // The program itself, then the newest.
        bad.sort_by_key(|process| (self.is_own(process), self.end(process) == End::Died));
        bad.reverse();
        if bad.is_empty() {
            return self.no_reason();
        }
        let shown: Vec<&Process> = bad.iter().take(PROCESSES).rev().copied().collect();
        self.print_newest(&shown, |process| self.describe(process, self.end(process) == End::Died));
        self.more(bad.len() - shown.len());
        bad.iter().map(|process| process.path.clone()).collect()
    }

    /// It ended by an exit code of its own: that is no reason for a listing.
    fn no_reason(&self) -> Vec<PathBuf> {
        let own = self.processes.iter().find(|process| process.pid == self.ended.pid);
        let how = match (self.ended.status.code(), signal_of(self.ended.status)) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("ended by {}", shown_signal(&signal)),
            (None, None) => "it failed".to_owned(),
        };
        match (own.or(self.processes.last()), &self.run.chosen_file) {
            (Some(process), _) => {
                eprintln!("xhist: {how}; history: xhist-report {}", shown_path(&process.path));
                vec![process.path.clone()]
            }
            (None, Some(path)) => {
                eprintln!(
                    "xhist: {how}; history, if anything was recorded: xhist-report {}",
                    shown_path(path)
                );
                Vec::new()
            }
            (None, None) => Vec::new(),
        }
    }

    /// Each process is a test that failed.
    fn one_by_one(&self) -> Vec<PathBuf> {
        let lines = lines_of_each(self.processes.len());
        for (index, process) in self.processes.iter().enumerate() {
            let told = process.path.parent().and_then(TestOutcome::read).unwrap_or_default();
            let how = match (&told.signal, process.end) {
                (Some(signal), _) => format!("died of {}", shown_signal(signal)),
                (None, End::Panicked) => "had a panic".to_owned(),
                (None, End::Died) => "died without exiting".to_owned(),
                (None, _) => {
                    told.exit.map_or("failed".to_owned(), |code| format!("ended with exit code {code}"))
                }
            };
            match &told.test {
                Some(test) => eprintln!("\nxhist: test {} (process {}) {how}", visible(test), process.pid),
                None => eprintln!("\nxhist: {} (process {}) {how}", visible(process.program()), process.pid),
            }
            if index * lines < TEST_LINES {
                self.print_threads(process, lines);
            }
            eprintln!("whole history: xhist-report {}", shown_path(&process.path));
        }
        self.processes.iter().map(|process| process.path.clone()).collect()
    }

    /// The tests that failed, by what their harness printed; test programs that died.
    fn tests(&self, results: Option<&Results>) -> Vec<PathBuf> {
        let Some(results) =
            results.filter(|results| !results.failed.is_empty() || !results.killed.is_empty())
        else {
            return self.program_failed();
        };
        let found = self.find_tests(results);
        let lines = lines_of_each(found.len());
        for (index, test) in found.iter().enumerate() {
            self.print_test(test, if index * lines < TEST_LINES { lines } else { 0 });
        }
        let mut files: Vec<PathBuf> = Vec::new();
        let mut add = |path: &PathBuf| {
            if !files.contains(path) {
                files.push(path.clone());
            }
        };
        let killed = self.killed(results);
        self.print_newest(&killed, |process| self.describe(process, true));
        killed.iter().for_each(|process| add(&process.path));
        found.iter().filter_map(|test| test.place).for_each(|(process, _)| add(&process.path));
        self.documentation(&results.failed).iter().for_each(|process| add(&process.path));
        let whole = found.iter().filter_map(|test| test.place).map(|(process, _)| process);
        let mut whole: Vec<&Path> = whole.map(|process| process.path.as_path()).collect();
        whole.dedup();
        whole.iter().for_each(|path| eprintln!("whole history: xhist-report {}", shown_path(path)));
        files
    }

    /// Each test with its thread: by the id that its panic message has, else by its name, unless others have that too.
    fn find_tests(&self, results: &'a Results) -> Vec<FailedTest<'a>> {
        let failed = &results.failed;
        let mut taken: Vec<(&Path, usize)> = Vec::new();
        let mut find = |test: &'a Failed| {
            let all = self
                .processes
                .iter()
                .flat_map(|process| process.rings.iter().map(move |ring| (process, ring)));
            let mut places: Vec<(&Process, &Ring)> = all
                .filter(|(_, ring)| {
                    ring.header.thread_name().is_some_and(|thread| is_name(thread, &test.name))
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
                _ => self.find_function(&test.name, &places),
            });
            taken.extend(place.map(|(process, ring)| (process.path.as_path(), ring.number)));
            FailedTest { name: &test.name, place }
        };
        let mut tests: Vec<&Failed> = failed.iter().filter(|test| !is_documentation(&test.name)).collect();
        // Those that are certain first: what is left is then the others'.
        let is_known = |test: &Failed| test.thread.is_some() || results.panicked.contains_key(&test.name);
        tests.sort_by_key(|test| !is_known(test));
        let mut found: Vec<FailedTest<'a>> = tests.into_iter().map(&mut find).collect();
        let order =
            |test: &FailedTest<'_>| failed.iter().position(|other| other.name.as_ptr() == test.name.as_ptr());
        found.sort_by_key(order);
        found
    }

    /// Of threads whose names are cut: the one that ran the test's function.
    fn find_function(
        &self,
        name: &str,
        places: &[(&'a Process, &'a Ring)],
    ) -> Option<(&'a Process, &'a Ring)> {
        // Paths of functions start at their file.
        let is_it = |function: &str| {
            let module = name.strip_suffix(function);
            module.is_some_and(|module| module.is_empty() || module.ends_with("::"))
        };
        let statements = self.map.as_ref()?.statements_of(is_it);
        places.iter().find(|(process, ring)| process.has_any(ring, &statements)).copied()
    }

    fn print_test(&self, test: &FailedTest<'_>, lines: usize) {
        let name = visible(test.name);
        let Some((process, ring)) = test.place else {
            return eprintln!("\nxhist: test {name} failed; no ring is known to be its thread's");
        };
        eprintln!("\nxhist: test {name} failed");
        let to_panic = ring.header.status == Status::Panicked;
        if lines > 0 {
            Listing { process, ring, lines, to_panic }.print(self.map.as_ref());
        }
        eprintln!("its history: xhist-report --ring {} {}", ring.number, shown_path(&process.path));
    }

    /// Test programs that a signal ended, by what cargo printed.
    fn killed(&self, results: &Results) -> Vec<&'a Process> {
        let died: Vec<&Process> = self.with_end(End::Died).collect();
        let named: Vec<&Process> = died
            .iter()
            .filter(|process| results.killed.iter().any(|(name, _)| name == process.program()))
            .copied()
            .collect();
        if named.is_empty() && results.failed.is_empty() { died } else { named }
    }

    /// Programs of documentation tests that failed: by the ids in their panic messages. Without such, all that
    /// panicked or died: one that panics as it should looks the same.
    fn documentation(&self, failed: &[Failed]) -> Vec<&'a Process> {
        let failed: Vec<&Failed> = failed.iter().filter(|test| is_documentation(&test.name)).collect();
        failed
            .iter()
            .for_each(|test| eprintln!("\nxhist: documentation test {} failed", visible(&test.name)));
        let is_program = |process: &&Process| !failed.is_empty() && process.program().starts_with("rust_out");
        let is_known = |process: &&Process| failed.iter().any(|test| test.thread == Some(process.pid));
        let bad = self.with_end(End::Panicked).chain(self.with_end(End::Died)).filter(is_program);
        let mut bad: Vec<&Process> = bad.collect();
        if bad.iter().any(is_known) {
            bad.retain(is_known);
        } else if bad.len() > failed.len() {
            eprintln!("{} of the processes panicked or died; some of them should", bad.len());
        }
        self.print_newest(&bad, |process| self.describe(process, true));
        bad
    }

    /// The program itself, in whose place cargo was.
    fn is_own(&self, process: &Process) -> bool {
        self.run.kind == Kind::Program && process.pid == self.ended.pid
    }

    /// As the rings show, unless the system knows better: a thread that panics can end its process by a signal.
    fn end(&self, process: &Process) -> End {
        let is_killed = self.is_own(process) && signal_of(self.ended.status).is_some();
        if is_killed { End::Died } else { process.end }
    }

    fn with_end(&self, end: End) -> impl Iterator<Item = &'a Process> + use<'a, '_> {
        self.processes.iter().filter(move |process| self.end(process) == end)
    }

    /// At most a few, the last of them the newest or most relevant.
    fn print_newest(&self, processes: &[&Process], print: impl Fn(&Process)) {
        let more = processes.len().saturating_sub(PROCESSES);
        processes[more..].iter().for_each(|process| print(process));
        self.more(more);
    }

    fn more(&self, count: usize) {
        if count > 0 {
            eprintln!("\nxhist: the history of {count} more: {}", shown_path(&self.run.directory));
        }
    }

    /// What became of a process, the last statements of its threads, and where the rest is.
    fn describe(&self, process: &Process, with_threads: bool) {
        eprintln!(
            "\nxhist: {} (process {}) {}",
            visible(process.program()),
            process.pid,
            self.end_of(process)
        );
        if with_threads {
            self.print_threads(process, LINES);
        }
        eprintln!("whole history: xhist-report {}", shown_path(&process.path));
    }

    fn end_of(&self, process: &Process) -> String {
        let is_own = self.is_own(process);
        let signal = if is_own { signal_of(self.ended.status) } else { self.signal_of_test(process) };
        match (self.end(process), signal, self.ended.status.code()) {
            (End::Died, Some(signal), _) => format!("died of {}", shown_signal(&signal)),
            (End::Died, None, Some(code)) if is_own => {
                format!("left by `_exit` with exit code {code}: no exit handler ran")
            }
            (End::Died, None, _) => "died of a signal or left by `_exit`".to_owned(),
            (End::Panicked, ..) => "had a panic".to_owned(),
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

    /// The threads that explain the end, and the names of the others.
    fn print_threads(&self, process: &Process, lines: usize) {
        let mut rings: Vec<&Ring> = process.rings.iter().collect();
        rings.sort_by_key(|ring| (rank(ring), std::cmp::Reverse(ring.header.last_time)));
        let panicked = rings.iter().filter(|ring| ring.header.status == Status::Panicked).count();
        // A thread that panicked explains why the others were still at something.
        let shown = if panicked > 0 && self.end(process) == End::Panicked { panicked } else { rings.len() };
        let (shown, rest) = rings.split_at(shown.min(THREADS));
        for ring in shown {
            let to_panic = ring.header.status == Status::Panicked;
            Listing { process, ring, lines, to_panic }.print(self.map.as_ref());
        }
        let (ended, rest): (Vec<&Ring>, Vec<&Ring>) =
            rest.iter().partition(|ring| ring.header.status == Status::Ended);
        let names: Vec<String> = rest.iter().take(NAMES).map(|ring| ring.name()).collect();
        let more = rest.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        match rest.len() {
            0 => {}
            1 => eprintln!("1 more thread, not printed: {}", names[0]),
            count => eprintln!("{count} more threads, not printed: {}{more}", names.join(", ")),
        }
        if !ended.is_empty() {
            eprintln!("not printed either: {} that ended before", count_of(ended.len(), "thread"));
        }
    }
}

/// A test that failed, and the ring of its thread.
struct FailedTest<'a> {
    name: &'a str,
    place: Option<(&'a Process, &'a Ring)>,
}

/// What is printed first: who panicked, `main`, then the others that were there at the end.
fn rank(ring: &Ring) -> u32 {
    match ring.header.status {
        Status::Killed => 0,
        Status::Panicked => 1,
        _ if ring.header.tid == ring.header.pid => 2,
        Status::Live | Status::Exited => 3,
        Status::Ended => 4,
    }
}

/// The header may hold the start of a long name only: what the system keeps of it, or what the header has room for.
fn is_name(thread: &str, test: &str) -> bool {
    const SYSTEM: usize = 15;
    // A character that is cut in two is left out.
    let is_cut = [SYSTEM, NAME_LEN - 1, NAME_LEN].iter().any(|len| (len - 3..=*len).contains(&thread.len()));
    thread == test || is_cut && test.starts_with(thread)
}

/// `src/lib.rs - item (line 3)`.
fn is_documentation(name: &str) -> bool {
    name.contains(" - ") && name.contains("(line ")
}

fn lines_of_each(tests: usize) -> usize {
    (TEST_LINES / tests.max(1)).clamp(FEWEST_LINES, LINES)
}

fn count_of(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// As a word of a command, relative to the working directory when that is shorter.
fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    word(path.strip_prefix(here).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_known_by_the_start_of_a_long_name() {
        assert!(is_name("a::b", "a::b") && !is_name("a::b", "a::bc"));
        let long = "a_rather_long_module_name_here::".repeat(8);
        assert!(
            is_name(&long[..NAME_LEN - 1], &long)
                && is_name(&long, &long)
                && is_name("short::it_retur", "short::it_returns")
                && !is_name(&long[..20], &long)
        );
    }

    #[test]
    fn documentation_tests_are_known_by_their_names() {
        assert!(is_documentation("src/lib.rs - f (line 3)") && !is_documentation("a::line_3"));
    }

    #[test]
    fn many_tests_share_the_lines() {
        assert_eq!([0, 5, 20, 1000].map(lines_of_each), [30, 30, 15, 10]);
    }

    #[test]
    fn a_command_is_quoted_word_by_word() {
        let words = ["cargo", "test", "a b", "--", "--exact"].map(String::from);
        assert_eq!(command_line(&words), "cargo test 'a b' -- --exact");
    }
}
