//! How a run ended: `run.json` in its directory, which `xhist-report` reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::plan::write_if_changed;
use crate::results::TestResult;

/// The file in a run's directory.
pub(super) const FILE: &str = "run.json";
/// The file in the directory of a test that the runner ran.
pub(crate) const TEST_FILE: &str = "test.json";
/// A longer file was not written by this program. That of ten thousand tests has a few megabytes. `xhist-report` has the same
/// limit.
const LONGEST: u64 = 64 << 20;
/// Ring files that are named.
const MOST_RINGS: usize = 1000;

/// One run of `cargo xhist`. Field names and their order are what readers rely on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct RunOutcome {
    pub(super) version: u32,
    /// The cargo command, as a shell reads it.
    pub(super) command: String,
    pub(super) started_ms: u64,
    pub(super) ended_ms: u64,
    /// Cargo's exit code; none when a signal ended it.
    pub(super) exit: Option<i32>,
    /// The signal that ended cargo, the program, or a test program.
    pub(super) signal: Option<String>,
    pub(super) failed: bool,
    /// Rings of what failed, the most relevant first, as paths from this directory.
    pub(super) failed_rings: Vec<String>,
    /// The tests of the run, those that failed first. Names of passed and ignored tests are there where the harness
    /// printed them.
    #[serde(default)]
    pub(super) tests: Vec<TestRow>,
    /// Processes that crashed or panicked, the most relevant first, unless they are those of tests above.
    #[serde(default)]
    pub(super) crashes: Vec<CrashRow>,
    /// The files of programs that recorded values, by the names in those of their rings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) programs: BTreeMap<String, PathBuf>,
}

/// A test of a run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct TestRow {
    pub(super) name: String,
    pub(super) outcome: TestResult,
    /// How it failed: `failed`, `died of SIGABRT (signal 6)`.
    pub(super) how: Option<String>,
    /// Its ring file, as a path from this directory; none if no ring is known to be its own.
    pub(super) file: Option<String>,
    /// The number of its ring, as `--ring` counts. None: all rings of the file are its own.
    pub(super) ring: Option<usize>,
}

/// A process that crashed or panicked.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct CrashRow {
    pub(super) program: String,
    pub(super) pid: u32,
    /// `had a panic`, `died of SIGSEGV (signal 11)`.
    pub(super) how: String,
    /// Its ring file, as a path from this directory.
    pub(super) file: String,
}

/// A failed test, as the runner records it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TestOutcome {
    pub(crate) test: Option<String>,
    /// The process of the test. Others in its directory were started by it.
    pub(crate) pid: Option<u32>,
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<String>,
}

impl RunOutcome {
    /// Replaces the file atomically, or leaves the old one.
    pub(super) fn write(&self, directory: &Path) {
        if let Ok(text) = serde_json::to_vec_pretty(self) {
            let _ = write_if_changed(&directory.join(FILE), &text);
        }
    }

    /// The outcome of a run. `None`: `cargo xhist` was killed before it could write one.
    pub(super) fn read(directory: &Path) -> Option<RunOutcome> {
        read(&directory.join(FILE))
    }

    /// The ring files of processes that failed, as this directory names them.
    pub(super) fn name_rings(&mut self, directory: &Path, rings: &[PathBuf]) {
        let inside = rings.iter().filter_map(|ring| ring.strip_prefix(directory).ok());
        let names = inside.map(|ring| ring.to_string_lossy().into_owned());
        self.failed_rings = names.take(MOST_RINGS).collect();
    }
}

impl TestOutcome {
    /// Of a test with a directory of its own.
    pub(super) fn read(directory: &Path) -> Option<TestOutcome> {
        read(&directory.join(TEST_FILE))
    }

    /// As [`RunOutcome::write`].
    pub(crate) fn write(&self, directory: &Path) {
        if let Ok(text) = serde_json::to_vec(self) {
            let _ = write_if_changed(&directory.join(TEST_FILE), &text);
        }
    }
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    let file = super::rings::open(path, false).ok()?;
    if file.metadata().ok()?.len() > LONGEST {
        return None;
    }
    serde_json::from_reader(std::io::BufReader::new(file)).ok()
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The name of the signal that ended it.
pub(crate) fn signal_of(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().map(signal_name)
}

pub(super) fn signal_name(number: i32) -> String {
    signal_hook::low_level::signal_name(number).map_or_else(|| format!("signal {number}"), String::from)
}

/// `SIGSEGV (signal 11)`.
pub(super) fn shown_signal(name: &str) -> String {
    let number = (1..=64).find(|number| signal_hook::low_level::signal_name(*number) == Some(name));
    number.map_or_else(|| name.to_owned(), |number| format!("{name} (signal {number})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_fields_that_readers_rely_on() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut outcome = RunOutcome {
            version: 1,
            command: "cargo test".into(),
            started_ms: 1,
            ended_ms: 2,
            signal: Some("SIGABRT".into()),
            failed: true,
            ..RunOutcome::default()
        };
        outcome.name_rings(directory.path(), &[directory.path().join("7/a-1.xhist"), "/else/b.xhist".into()]);
        outcome.tests = vec![TestRow {
            name: "a::b".into(),
            outcome: TestResult::Failed,
            how: Some("failed".into()),
            file: Some("7/a-1.xhist".into()),
            ring: Some(3),
        }];
        let file = "7/a-1.xhist".into();
        outcome.crashes = vec![CrashRow { program: "a".into(), pid: 1, how: "died".into(), file }];
        outcome.write(directory.path());
        let text = std::fs::read_to_string(directory.path().join(FILE)).expect("a file");
        let text: String = text.split_whitespace().collect();
        assert_eq!(
            text,
            r#"{"version":1,"command":"cargotest","started_ms":1,"ended_ms":2,"exit":null,"signal":"SIGABRT","failed":true,"failed_rings":["7/a-1.xhist"],"tests":[{"name":"a::b","outcome":"failed","how":"failed","file":"7/a-1.xhist","ring":3}],"crashes":[{"program":"a","pid":1,"how":"died","file":"7/a-1.xhist"}]}"#
        );
        assert_eq!(RunOutcome::read(directory.path()), Some(outcome));
        let files = std::fs::read_dir(directory.path()).expect("a directory").count();
        assert_eq!(files, 1, "no temporary file is left");
    }

    #[test]
    fn signals_have_names_and_numbers() {
        assert_eq!(shown_signal(&signal_name(11)), "SIGSEGV (signal 11)");
        assert_eq!(shown_signal(&signal_name(6)), "SIGABRT (signal 6)");
        assert_eq!(shown_signal(&signal_name(40)), "signal 40");
    }
}
