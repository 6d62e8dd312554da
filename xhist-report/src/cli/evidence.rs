//! What other commands find out about the run of a history: suspects, the nearest passed test, how it failed. Views show it.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use super::diff::DiffArgs;
use super::values::ValueArgs;
use crate::causes::suspects;
use xhist_history::ReadOptions;
use xhist_history::model::{count, visible};
use xhist_history::notes::Notes;
use xhist_history::notes::typed;
use xhist_history::recording::RunEvidence;
use xhist_history::runs::record::{RunRecord, TestRecord, run_directory};
use xhist_history::source::Opened;

/// The longest that a view waits for it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Ranks of suspects that are shown.
const RANKS: usize = 20;

/// What is known of the run that a source belongs to; empty for other sources.
pub fn find(
    opened: &Opened,
    options: &ReadOptions,
    values: &ValueArgs,
    notes: &mut Notes<'_>,
) -> RunEvidence {
    let Some(path) = opened.path.clone() else { return RunEvidence::default() };
    let directory = run_directory(&path);
    let Ok(record) = RunRecord::read(&directory) else { return RunEvidence::default() };
    let failed = failed_test(&record, &path, options.rings.first().copied()).map(|test| test.name.clone());
    let message = message(&record, &path, failed.as_deref());
    let Some(failed) = failed else { return RunEvidence { message, ..RunEvidence::default() } };
    let (sender, receiver) = mpsc::channel();
    let (options, values) = (options.clone(), values.clone());
    std::thread::spawn(move || {
        let suspects = suspects::rows(&directory, RANKS, &options.maps, &options.source_roots);
        let _ = sender.send(RunEvidence { suspects, ..RunEvidence::default() });
        let diff = diff(&directory, &failed, &options, &values);
        let _ = sender.send(RunEvidence { diff, ..RunEvidence::default() });
    });
    let mut wait = || {
        receiver.recv_timeout(PATIENCE).inspect_err(|_| {
            notes.note(format_args!(
                "suspects and the nearest passed test take longer than {} s, so they are not all shown; \
             `{}` and `{}` print them",
                PATIENCE.as_secs(),
                typed::command("suspects"),
                typed::command("diff")
            ));
        })
    };
    let suspects = wait().map(|found| found.suspects);
    let diff =
        if suspects.is_ok() { wait().map(|found| found.diff).unwrap_or_default() } else { String::new() };
    RunEvidence { suspects: suspects.unwrap_or_default(), diff, message }
}

/// The failed test of a ring; of a file with several, the first.
fn failed_test<'r>(record: &'r RunRecord, path: &Path, ring: Option<usize>) -> Option<&'r TestRecord> {
    let is_here = |test: &&TestRecord| test.file.as_deref().is_some_and(|file| same(file, path));
    let is_asked = |test: &&TestRecord| ring.is_none() || test.ring.is_none() || test.ring == ring;
    record.failed_tests().filter(is_here).find(is_asked).or_else(|| match ring {
        Some(_) => None,
        None => record.failed_tests().next(),
    })
}

fn same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| -> Option<PathBuf> { std::fs::canonicalize(path).ok() };
    one == other || found(one).is_some_and(|one| found(other) == Some(one))
}

/// How the run failed, in one line; empty if it did not.
fn message(record: &RunRecord, path: &Path, failed: Option<&str>) -> String {
    let tests = record.failed_tests().count();
    if let Some(failed) = failed {
        let more =
            if tests > 1 { format!(", one of {}", count(tests, "failed test")) } else { String::new() };
        return format!("test {} failed{more} of `{}`", visible(failed), visible(&record.command));
    }
    let crash = record.crashes.iter().find(|crash| same(&crash.file, path));
    crash.map_or_else(String::new, |crash| {
        format!("{}{} {}", visible(&crash.program), crash.process(), visible(&crash.how))
    })
}

/// What `xhist-report diff` prints of a failed test; empty without a passed one.
fn diff(directory: &Path, failed: &str, options: &ReadOptions, values: &ValueArgs) -> String {
    let (mut out, mut nowhere) = (Vec::new(), std::io::sink());
    let compared =
        DiffArgs::of_test(directory, failed, options, values).run(&mut out, &mut Notes::new(&mut nowhere));
    match compared {
        Ok(_) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> RunRecord {
        let test = |name: &str, file: &str, ring| {
            format!(r#"{{"name":"{name}","outcome":"failed","file":"{file}","ring":{ring}}}"#)
        };
        let tests = [test("a", "one", 1), test("b", "two", 2), test("c", "two", 3)].join(",");
        let text = format!(
            r#"{{"command":"cargo test","tests":[{tests}],"crashes":[{{"program":"p","pid":7,"how":"died","file":"three"}}]}}"#
        );
        serde_json::from_str(&text).expect("a description")
    }

    #[test]
    fn the_failed_test_is_that_of_the_ring() {
        let record = record();
        let name =
            |path: &str, ring| failed_test(&record, Path::new(path), ring).map(|test| test.name.clone());
        assert_eq!(name("two", None).as_deref(), Some("b"));
        assert_eq!(name("two", Some(3)).as_deref(), Some("c"));
        assert_eq!(name("two", Some(9)), None);
        assert_eq!(name("other", None).as_deref(), Some("a"));
    }

    #[test]
    fn a_message_names_what_failed() {
        let record = record();
        let said = message(&record, Path::new("two"), Some("b"));
        assert_eq!(said, "test b failed, one of 3 failed tests of `cargo test`");
        assert_eq!(message(&record, Path::new("three"), None), "p (process 7) died");
        assert_eq!(message(&record, Path::new("four"), None), "");
    }
}
