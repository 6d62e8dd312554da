//! How a test or a process ended, as the runner and the system report it.

use std::path::Path;
use std::process::ExitStatus;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::plan::write_if_changed;
use crate::system;

/// The file in the directory of a test that the runner ran.
pub(crate) const TEST_FILE: &str = "test.json";
/// A longer file was not written by this program.
const LONGEST: u64 = 1 << 16;

/// A failed test or a firmware, as the runner records it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunnerRecord {
    pub(crate) test: Option<String>,
    /// The process of the test. Others in its directory were started by it.
    pub(crate) pid: Option<u32>,
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<String>,
    /// The signal that asked the runner of a firmware to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<String>,
    /// The run of nextest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nextest_run: Option<String>,
}

impl RunnerRecord {
    /// Of a test with a directory of its own.
    pub(super) fn read(directory: &Path) -> Option<RunnerRecord> {
        let file = super::rings::open(&directory.join(TEST_FILE), false).ok()?;
        if file.metadata().ok()?.len() > LONGEST {
            return None;
        }
        serde_json::from_reader(std::io::BufReader::new(file)).ok()
    }

    /// Replaces the file atomically, or leaves the old one.
    pub(crate) fn write(&self, directory: &Path) {
        if let Ok(text) = serde_json::to_vec(self) {
            let _ = write_if_changed(&directory.join(TEST_FILE), &text);
        }
    }
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The name of the signal that ended it, or of the exception of Windows.
pub(crate) fn signal_of(status: ExitStatus) -> Option<String> {
    system::cause_of_death(status)
}

pub(super) fn signal_name(number: i32) -> String {
    system::signal_name(number).map_or_else(|| format!("signal {number}"), String::from)
}

/// `SIGSEGV (signal 11)`, `STATUS_ACCESS_VIOLATION (0xC0000005)`.
pub(super) fn shown_signal(name: &str) -> String {
    match (system::exception_code(name), system::signal_number(name)) {
        (Some(code), _) => format!("{name} ({code:#010X})"),
        (None, Some(number)) => format!("{name} (signal {number})"),
        (None, None) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names_and_numbers() {
        assert_eq!(shown_signal(&signal_name(11)), "SIGSEGV (signal 11)");
        assert_eq!(shown_signal(&signal_name(6)), "SIGABRT (signal 6)");
        assert_eq!(shown_signal(&signal_name(40)), "signal 40");
        assert_eq!(shown_signal("STATUS_ACCESS_VIOLATION"), "STATUS_ACCESS_VIOLATION (0xC0000005)");
    }
}
