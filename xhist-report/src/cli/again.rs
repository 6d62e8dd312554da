//! What `cargo xhist` needs to run a recorded test again: the test, and the comparison of two of its runs.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use super::after_run;
use super::answer::Wanted;
use super::commands::run_from_cargo;
use super::diff::DiffArgs;
use super::origin;
use super::values::ValueArgs;
use xhist_history::ExitCode;
use xhist_history::notes::Notes;

pub use crate::causes::suspects::{FailedTest, failed_firmware, failed_test};

/// Prints the answer to a run on standard error, with the origins of what its failed assertion compared, and the suspects of
/// this test in the run that it repeats.
pub fn print_answer(run: &Path, repeated: &Path, test: &str) {
    after_run::print(
        run,
        Wanted { lines: None, values: &ValueArgs::default(), suspects_of: Some(repeated), budget: None },
    );
    let origins = origin::of_failed_test(run, &ValueArgs::default());
    // There is nowhere to report that stderr cannot be written.
    let _ = anstream::stderr().write_all(&origins);
    after_run::print_suspects_of(repeated, test);
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
