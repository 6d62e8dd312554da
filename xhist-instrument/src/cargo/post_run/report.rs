//! The report of a run: the answer of `xhist-report` where that is installed, else the last statements of what failed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use qs_core::ring::Status;

use super::failures::{Crash, FailedTest, Failures, is_documentation};
use super::listing::Listing;
use super::outcome::{shown_signal, signal_of};
use super::reporter::{Found, Reporter};
use super::rings::{End, Process, Ring};
use super::run::{Ended, Run};
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

/// Reports on a program that succeeded: threads that panicked. Processes that died are only counted, because children
/// often end by `_exit`.
pub(super) fn print_success(run: &Run, processes: &[Process]) {
    let panicked: Vec<&Process> = processes.iter().filter(|process| process.end == End::Panicked).collect();
    let more = panicked.len().saturating_sub(PROCESSES);
    for process in &panicked[more..] {
        print_title(&format!("{} (process {}) had a panic", visible(process.program()), process.pid));
        print_whole(&process.path);
    }
    print_more(run, more);
    let died = processes.iter().filter(|process| process.end == End::Died).count();
    if died > 0 {
        let what = if died == 1 { "1 process" } else { &format!("{died} processes") };
        eprintln!(
            "\nxhist: {what} of this run died of a signal or left by `_exit`: {}",
            shown_path(&run.directory)
        );
    }
}

/// The program returned an exit code of its own: a short listing. Returns its ring file.
pub(super) fn print_exit(run: &Run, ended: &Ended, processes: &[Process]) -> Vec<PathBuf> {
    let own = processes.iter().find(|process| process.pid == ended.pid);
    let how = match (ended.status.code(), signal_of(ended.status)) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by {}", shown_signal(&signal)),
        (None, None) => "it failed".to_owned(),
    };
    match (own.or(processes.last()), &run.chosen_file) {
        (Some(process), _) => {
            let reporter = match run.chosen_file {
                None => Reporter::find(),
                Some(_) => Found::NotWanted,
            };
            match reporter {
                Found::Reporter(reporter) => {
                    eprintln!("\nxhist: {how}");
                    // It reports its own errors.
                    let _ = reporter.answer_briefly(&process.path);
                }
                _ => eprintln!("xhist: {how}; history: xhist-report {}", shown_path(&process.path)),
            }
            vec![process.path.clone()]
        }
        (None, Some(path)) => {
            eprintln!("xhist: {how}; history, if anything was recorded: xhist-report {}", shown_path(path));
            Vec::new()
        }
        (None, None) => Vec::new(),
    }
}

/// Prints the last statements of what failed.
pub(super) fn print_failures(run: &Run, failures: &Failures<'_>) {
    // `run.json` names the files of a run, not one that the user chose.
    let found = if run.chosen_file.is_none() { Reporter::find() } else { Found::NotWanted };
    let missing = match found {
        Found::Reporter(reporter) => match reporter.answer(&run.directory) {
            Ok(()) => {
                if !failures.tests.is_empty() {
                    reporter.suspects(&run.directory);
                }
                if run.annotates {
                    reporter.annotate(&run.directory);
                }
                return;
            }
            Err(why) => Some(why),
        },
        Found::NotWanted => None,
        Found::Missing(why) => Some(why),
    };
    ShortListing { run, map: MapFile::load(&run.map, &run.root).ok() }.print(failures);
    if let Some(why) = missing {
        eprintln!("\nxhist: {why}");
    }
    if run.annotates {
        eprintln!(
            "xhist: no annotations: they need xhist-report, and a run without XHIST_FILE and XHIST_REPORT"
        );
    }
}

/// The command as a shell reads it.
pub(super) fn command_line(words: &[String]) -> String {
    words.iter().map(|text| quoted(OsStr::new(text))).collect::<Vec<_>>().join(" ")
}

/// The last statements of threads, as they were recorded: places only, without functions and source text.
struct ShortListing<'a> {
    run: &'a Run,
    map: Option<MapFile>,
}

impl ShortListing<'_> {
    fn print(&self, failures: &Failures<'_>) {
        let lines = lines_of_each(failures.tests.len());
        for (index, test) in failures.tests.iter().enumerate() {
            self.print_test(test, if index * lines < TEST_LINES { lines } else { 0 });
        }
        if let Some(count) = failures.unclear {
            eprintln!("{count} of the processes panicked or died; some of them should");
        }
        // The newest or most relevant last.
        let shown: Vec<&Crash<'_>> = failures.crashes.iter().take(PROCESSES).rev().collect();
        let more = failures.crashes.len() - shown.len();
        shown.into_iter().for_each(|crash| self.print_crash(crash));
        print_more(self.run, more);
        let mut whole: Vec<&Path> = Vec::new();
        for (process, ring) in failures.tests.iter().filter_map(|test| test.place) {
            if ring.is_some() && !whole.contains(&process.path.as_path()) {
                whole.push(&process.path);
            }
        }
        whole.into_iter().for_each(print_whole);
    }

    fn print_test(&self, test: &FailedTest<'_>, lines: usize) {
        let (name, how) = (visible(&test.name), &test.how);
        let kind = if is_documentation(&test.name) { "documentation test" } else { "test" };
        match test.place {
            None if kind != "test" => print_title(&format!("{kind} {name} {how}")),
            None => print_title(&format!("{kind} {name} {how}; no ring is known to be its thread's")),
            Some((process, Some(ring))) => {
                print_title(&format!("{kind} {name} {how}"));
                self.print_listing(process, ring, lines);
                eprintln!("its history: xhist-report --ring {} {}", ring.number, shown_path(&process.path));
            }
            Some((process, None)) => {
                print_title(&format!("{kind} {name} (process {}) {how}", process.pid));
                if lines > 0 {
                    self.print_threads(process, process.end, lines);
                }
                print_whole(&process.path);
            }
        }
    }

    /// Prints how a process ended, the last statements of its threads, and where the rest is.
    fn print_crash(&self, Crash { process, how, end }: &Crash<'_>) {
        print_title(&format!("{} (process {}) {how}", visible(process.program()), process.pid));
        self.print_threads(process, *end, LINES);
        print_whole(&process.path);
    }

    /// The threads that explain the end, and the names of the others.
    fn print_threads(&self, process: &Process, end: End, lines: usize) {
        let mut rings: Vec<&Ring> = process.rings.iter().collect();
        rings.sort_by_key(|ring| (rank(ring), std::cmp::Reverse(ring.header.last_time)));
        let panicked = rings.iter().filter(|ring| ring.header.status == Status::Panicked).count();
        // A thread that panicked explains why the others did not finish.
        let shown = if panicked > 0 && end == End::Panicked { panicked } else { rings.len() };
        let (shown, rest) = rings.split_at(shown.min(THREADS));
        shown.iter().for_each(|ring| self.print_listing(process, ring, lines));
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

    fn print_listing(&self, process: &Process, ring: &Ring, lines: usize) {
        let to_panic = ring.header.status == Status::Panicked;
        if lines > 0 {
            Listing { process, ring, lines, to_panic }.print(self.map.as_ref());
        }
    }
}

fn print_title(title: &str) {
    eprintln!("\nxhist: {title}");
}

fn print_whole(path: &Path) {
    eprintln!("whole history: xhist-report {}", shown_path(path));
}

fn print_more(run: &Run, count: usize) {
    if count > 0 {
        eprintln!("\nxhist: the history of {count} more: {}", shown_path(&run.directory));
    }
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
    fn many_tests_share_the_lines() {
        assert_eq!([0, 5, 20, 1000].map(lines_of_each), [30, 30, 15, 10]);
    }

    #[test]
    fn a_command_is_quoted_word_by_word() {
        let words = ["cargo", "test", "a b", "--", "--exact"].map(String::from);
        assert_eq!(command_line(&words), "cargo test 'a b' -- --exact");
    }
}
