//! What `cargo xhist` prints after a run, on standard error: it calls these instead of starting a program.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::annotations;
use super::answer::{self, Wanted};
use super::values::ValueArgs;
use crate::causes::suspects;
use xhist_history::ExitCode;
use xhist_history::notes::Notes;

/// Prints the answer to a run or a ring file; `lines`: about that number for each thread.
pub fn print_answer(of: &Path, lines: Option<usize>) {
    print(of, Wanted { lines, values: &ValueArgs::default(), suspects_of: None, budget: None });
}

/// Prints an answer that shows this.
pub(super) fn print(of: &Path, wanted: Wanted<'_>) {
    let mut stderr = anstream::stderr();
    let is_terminal = io::stderr().is_terminal();
    let answered = answer::answer(of, wanted, is_terminal, &mut Notes::new(&mut stderr));
    match answered {
        // There is nowhere to report that stderr cannot be written.
        Ok((text, _)) => drop(stderr.write_all(&text)),
        Err(error) => Notes::new(&mut stderr).error(format_args!("{error}")),
    }
}

/// Prints the first suspects of a run, if it has any. It may be repeated with values.
pub fn print_suspects(run: &Path) {
    print_below(|out, notes| suspects::print_brief(run, true, out, notes));
}

/// The same of one failed test, which was repeated.
pub(super) fn print_suspects_of(run: &Path, test: &str) {
    print_below(|out, notes| suspects::print_brief_of(run, test, out, notes));
}

fn print_below(print: impl FnOnce(&mut dyn Write, &mut Notes<'_>) -> ExitCode) {
    let mut stderr = anstream::stderr();
    let mut text = Vec::new();
    print(&mut text, &mut Notes::new(&mut stderr));
    // As above.
    let _ = anstream::stderr().write_all(&text);
}

/// Prints annotations of the failures of a run for GitHub, on standard output.
pub fn print_annotations(run: &Path) {
    let mut stderr = anstream::stderr();
    let notes = &mut Notes::new(&mut stderr);
    if let Err(error) = annotations::run(run, &ValueArgs::default(), notes) {
        notes.error(format_args!("{error}"));
    }
}

/// Prints the answer to a run as one JSON document, on standard output.
pub fn print_document(of: &Path) {
    let mut stderr = anstream::stderr();
    let notes = &mut Notes::new(&mut stderr);
    let wanted = Wanted { lines: None, values: &ValueArgs::default(), suspects_of: None, budget: None };
    if let Err(error) = answer::document(of, wanted, &mut io::stdout().lock(), notes) {
        notes.error(format_args!("{error}"));
    }
}

/// The processes that tests of a run started which have ended, each with whether its test panicked.
pub fn processes_of_ended_tests(run: &Path) -> HashMap<u32, bool> {
    suspects::processes_of_ended_tests(run)
}
