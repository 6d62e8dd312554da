//! How a run ended: `run.json` in its directory, which `xhist-report` reads.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::cargo::plan::write_if_changed;

/// The file in a run's directory.
pub(super) const FILE: &str = "run.json";
/// The file in the directory of a test that the runner ran.
pub(in crate::cargo) const TEST_FILE: &str = "test.json";
/// A file that is longer is not ours.
const LONGEST: u64 = 1 << 20;
/// Ring files that are named.
const MOST_RINGS: usize = 1000;

/// One run of `cargo xhist`. Field names and their order are what readers rely on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct Outcome {
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
}

/// One test that failed, by the runner.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::cargo) struct TestOutcome {
    pub(in crate::cargo) test: Option<String>,
    pub(in crate::cargo) exit: Option<i32>,
    pub(in crate::cargo) signal: Option<String>,
}

impl Outcome {
    /// Writes it whole, or leaves what was there.
    pub(super) fn write(&self, directory: &Path) {
        if let Ok(text) = serde_json::to_vec_pretty(self) {
            let _ = write_if_changed(&directory.join(FILE), &text);
        }
    }

    /// Of a run that is over. None when `cargo xhist` was ended before it could write it.
    pub(super) fn read(directory: &Path) -> Option<Outcome> {
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

    /// As [`Outcome::write`].
    pub(in crate::cargo) fn write(&self, directory: &Path) {
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
pub(in crate::cargo) fn signal_of(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().map(signal_name)
}

fn signal_name(number: i32) -> String {
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
        let mut outcome = Outcome {
            version: 1,
            command: "cargo test".into(),
            started_ms: 1,
            ended_ms: 2,
            signal: Some("SIGABRT".into()),
            failed: true,
            ..Outcome::default()
        };
        outcome.name_rings(directory.path(), &[directory.path().join("7/a-1.xhist"), "/else/b.xhist".into()]);
        outcome.write(directory.path());
        let text = std::fs::read_to_string(directory.path().join(FILE)).expect("a file");
        let text: String = text.split_whitespace().collect();
        assert_eq!(
            text,
            r#"{"version":1,"command":"cargotest","started_ms":1,"ended_ms":2,"exit":null,"signal":"SIGABRT","failed":true,"failed_rings":["7/a-1.xhist"]}"#
        );
        assert_eq!(Outcome::read(directory.path()), Some(outcome));
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
