//! The report of a run: the answer to what failed, and how the run ended.

use std::ffi::OsStr;
use std::path::PathBuf;

use xhist_history::notes::typed::{command, shown_path};
use xhist_instrument::shell::{quoted, visible};
use xhist_report::cli::after_run::{print_annotations, print_answer, print_suspects};

use super::failures::Failures;
use super::outcome::{shown_signal, signal_name, signal_of};
use super::rings::{End, Process, Ring};
use super::run::{Ended, Run};

/// Processes shown.
const PROCESSES: usize = 3;
/// Lines of a program that chose its exit code.
const BRIEF_LINES: usize = 12;

/// Reports on a program that succeeded: threads that panicked. Processes that died are only counted, because children
/// often end by `_exit`.
pub(super) fn print_success(run: &Run, ended: &Ended, processes: &[Process]) {
    let with_tasks = processes.iter().rfind(|process| process.rings.iter().any(Ring::has_tasks));
    if let Some((signal, process)) = ended.asked.zip(with_tasks) {
        let (signal, path) = (signal_name(signal), shown_path(&process.path));
        eprintln!(
            "\nxhist: ended well after {signal}; its async tasks, also those that were cancelled: cargo xhist tasks {path}"
        );
    }
    let panicked: Vec<&Process> = processes.iter().filter(|process| process.end == End::Panicked).collect();
    let more = panicked.len().saturating_sub(PROCESSES);
    for process in &panicked[more..] {
        eprintln!("\nxhist: {} (process {}) had a panic", visible(process.program()), process.pid);
        print_answer(&process.path, None);
    }
    if more > 0 {
        eprintln!("\nxhist: the history of {more} more: {}", shown_path(&run.directory));
    }
    let died = processes.iter().filter(|process| process.end == End::Died).count();
    if died > 0 {
        let what = if died == 1 { "1 process" } else { &format!("{died} processes") };
        eprintln!(
            "\nxhist: {what} of this run died of a signal, or left by `_exit` or `exec`: {}",
            shown_path(&run.directory)
        );
    }
}

/// Firmware that ended well, or that its user left by a key of its emulator.
pub(super) fn print_histories(processes: &[Process]) {
    for process in processes {
        let history = command(format!("history {}", shown_path(&process.path)));
        eprintln!("\nxhist: the history of {}: {history}", visible(process.program()));
    }
}

/// The process whose exit code the run has.
pub(super) fn exited<'p>(ended: &Ended, processes: &'p [Process]) -> Option<&'p Process> {
    processes.iter().find(|process| process.pid == ended.pid).or(processes.last())
}

/// The program returned an exit code of its own: a short listing. Returns its ring file.
pub(super) fn print_exit(run: &Run, ended: &Ended, processes: &[Process]) -> Vec<PathBuf> {
    let how = match (signal_of(ended.status), ended.status.code()) {
        (Some(signal), _) => format!("ended by {}", shown_signal(&signal)),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "it failed".to_owned(),
    };
    match (exited(ended, processes), &run.chosen_file) {
        (Some(process), _) => {
            eprintln!("\nxhist: {how}");
            print_answer(&process.path, Some(BRIEF_LINES));
            vec![process.path.clone()]
        }
        (None, Some(path)) => {
            eprintln!(
                "xhist: {how}; history, if anything was recorded: cargo xhist history {}",
                shown_path(path)
            );
            Vec::new()
        }
        (None, None) => Vec::new(),
    }
}

/// Prints the answer to what failed. `run.json` names the files of a run, but not those that the user chose: of these there is
/// the answer to each file of a failure.
pub(super) fn print_failures(run: &Run, failures: &Failures<'_>, processes: &[Process]) {
    if run.chosen_file.is_some() {
        let named = failures.tests.iter().map(|test| format!("test {} {}", visible(&test.name), test.how));
        named.for_each(|line| eprintln!("\nxhist: {line}"));
        let mut files = failures.files();
        if files.is_empty() {
            files.extend(processes.last().map(|process| process.path.clone()));
        }
        files.iter().for_each(|file| print_answer(file, None));
        if run.annotates || run.prints_json {
            let what = if run.prints_json { "no JSON: it needs" } else { "no annotations: they need" };
            eprintln!("xhist: {what} a run without XHIST_FILE");
        }
        return;
    }
    print_answer(&run.directory, None);
    if let Some(count) = failures.unclear {
        eprintln!("{count} of the processes panicked or died; some of them should");
    }
    // Tests that passed on a target leave nothing to compare with.
    if !failures.tests.is_empty() && run.kind.has_spectra() {
        print_suspects(&run.directory);
    }
    if run.annotates {
        print_annotations(&run.directory);
    }
}

/// The command as a shell reads it.
pub(super) fn command_line(words: &[String]) -> String {
    words.iter().map(|text| quoted(OsStr::new(text))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_word_by_word() {
        let words = ["cargo", "test", "a b", "--", "--exact"].map(String::from);
        assert_eq!(command_line(&words), "cargo test 'a b' -- --exact");
    }
}
