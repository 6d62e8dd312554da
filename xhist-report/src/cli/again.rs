//! What `cargo xhist` needs to run a recorded test again: the test, and the comparison of two of its runs.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::answer::{self, Wanted};
use super::commands::run_from_cargo;
use super::diff::DiffArgs;
use super::values::ValueArgs;
use crate::suspects;
use xhist_history::ExitCode;
use xhist_history::notes::Notes;

pub use crate::suspects::{FailedTest, failed_test};

/// Prints the answer to a run on standard error, with the suspects of the run that it repeats.
pub fn print_answer(run: &Path, repeated: &Path) {
    let mut stderr = anstream::stderr();
    let wanted = Wanted { lines: None, values: &ValueArgs::default(), suspects_of: Some(repeated) };
    let answered = answer::answer(run, wanted, io::stderr().is_terminal(), &mut Notes::new(&mut stderr));
    match answered {
        // There is nowhere to report that stderr cannot be written.
        Ok((text, _)) => drop(stderr.write_all(&text)),
        Err(error) => Notes::new(&mut stderr).error(format_args!("{error}")),
    }
    let mut text = Vec::new();
    suspects::print_brief(repeated, false, &mut text, &mut Notes::new(&mut stderr));
    // As above.
    let _ = anstream::stderr().write_all(&text);
}

/// Prints where two histories part, on standard output.
pub fn print_parting(good: &OsStr, bad: &OsStr) -> ExitCode {
    run_from_cargo(vec![OsString::from("diff"), good.to_owned(), bad.to_owned()])
}

/// Whether two histories of one build part. False if they cannot be compared.
pub fn part(one: &OsStr, other: &OsStr) -> bool {
    let mut text = Vec::new();
    let mut nowhere = io::sink();
    let diff = DiffArgs::as_json(one, other);
    if diff.run(&mut text, &mut Notes::new(&mut nowhere)).is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.any(|line| matches!(line["kind"].as_str(), Some("parting" | "alone" | "only")))
}
