//! `run.json`, the description of a run: how it ended, its tests with their rings, and processes that crashed. `cargo xhist`
//! writes it, and every report reads it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

use qs_core::ring::NAME_LEN;
use serde::{Deserialize, Deserializer, Serialize};

use crate::source;

/// Name of the description in the directory of a run.
pub const FILE: &str = "run.json";
/// The note about a run without it.
pub const UNDESCRIBED: &str =
    "run.json is missing: `cargo xhist` still runs, or was killed; this is what the rings say";
/// The version that is written.
const VERSION: u32 = 1;
/// Ring files of what failed that are named.
const MOST_RINGS: usize = 1000;
/// Longest description. That of ten thousand tests has a few megabytes.
const MAX_LEN: u64 = 64 << 20;

/// The directory of the run that a path names: the path itself, or one above a ring file.
pub fn run_directory(path: &Path) -> PathBuf {
    let is_run = |directory: &&Path| directory.join(FILE).is_file();
    path.ancestors().take(3).find(is_run).unwrap_or(path).to_owned()
}

/// The description of a run. Older ones lack some of it, newer ones may have more. All paths are of files in its directory, and
/// are written as paths from there: names that lead out of it are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRecord {
    /// The version of the description.
    pub version: u32,
    /// The cargo command, as a shell reads it.
    pub command: String,
    /// The words behind `cargo xhist`, as they were typed: the command again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The directory that it was typed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// It repeats a test of an earlier run. That run stays the one that failed last.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// What nextest calls the run: the same in its own record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nextest_run: Option<String>,
    /// When it started, in milliseconds since 1970.
    pub started_ms: Option<u64>,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// The exit code of cargo.
    pub exit: Option<i64>,
    /// The signal that ended cargo, the program, or a test program.
    pub signal: Option<String>,
    /// Whether cargo reported a failure.
    pub failed: bool,
    /// Ring files of what failed, the most relevant first.
    pub failed_rings: Vec<PathBuf>,
    /// Its tests.
    pub tests: Vec<TestRecord>,
    /// Processes that crashed, the most relevant first.
    pub crashes: Vec<CrashRecord>,
    /// Files of the programs that recorded values, by the names in those of their rings.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, PathBuf>,
}

/// A test of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestRecord {
    /// Its name, as the harness prints it.
    pub name: String,
    /// How it ended.
    pub outcome: TestOutcome,
    /// How it failed.
    pub how: Option<String>,
    /// Its ring file.
    pub file: Option<PathBuf>,
    /// The number of its ring; `None`: the file has no ring of other tests.
    pub ring: Option<usize>,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TestOutcome {
    /// It failed.
    Failed,
    /// It passed.
    Passed,
    /// It did not run.
    Ignored,
    /// The description has a word that this version does not know, or none.
    #[default]
    Unknown,
}

/// A process that crashed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CrashRecord {
    /// Its program.
    pub program: String,
    /// Its number.
    pub pid: u32,
    /// How it ended.
    pub how: String,
    /// Its ring file.
    pub file: PathBuf,
}

impl CrashRecord {
    /// ` (process 7)`, behind the name of the program. Firmware has no process.
    pub fn process(&self) -> String {
        if self.pid == 0 { String::new() } else { format!(" (process {})", self.pid) }
    }
}

/// Why a directory has no description of a run.
#[derive(Debug)]
pub enum RunRecordError {
    /// The directory has no description: it is not of a run, or `cargo xhist` still runs, or was killed.
    Missing,
    /// It is not text, or too long.
    NoText,
    /// It is not what `cargo xhist` writes.
    Damaged(serde_json::Error),
}

impl fmt::Display for RunRecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunRecordError::Missing => write!(f, "no {FILE} there"),
            RunRecordError::NoText => f.write_str("is not text, or too long"),
            RunRecordError::Damaged(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunRecordError {}

impl<'de> Deserialize<'de> for TestOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TestOutcome, D::Error> {
        Ok(match String::deserialize(deserializer)?.as_str() {
            "failed" => TestOutcome::Failed,
            "passed" => TestOutcome::Passed,
            "ignored" => TestOutcome::Ignored,
            _ => TestOutcome::Unknown,
        })
    }
}

impl RunRecord {
    /// Reads the description in the directory of a run.
    ///
    /// # Errors
    /// The directory has no description, or it cannot be read.
    pub fn read(directory: &Path) -> Result<RunRecord, RunRecordError> {
        let path = directory.join(FILE);
        let Some(text) = source::text_of(&path, MAX_LEN) else {
            return Err(if path.exists() { RunRecordError::NoText } else { RunRecordError::Missing });
        };
        let mut record: RunRecord = serde_json::from_str(&text).map_err(RunRecordError::Damaged)?;
        record.failed_rings = record.failed_rings.iter().filter_map(|name| inside(directory, name)).collect();
        for test in &mut record.tests {
            test.file = test.file.take().and_then(|name| inside(directory, &name));
        }
        for crash in std::mem::take(&mut record.crashes) {
            let file = inside(directory, &crash.file);
            record.crashes.extend(file.map(|file| CrashRecord { file, ..crash }));
        }
        Ok(record)
    }

    /// Reads the description of the run that a path names: its directory, or one of its ring files.
    ///
    /// # Errors
    /// As of [`RunRecord::read`].
    pub fn of(path: &Path) -> Result<RunRecord, RunRecordError> {
        RunRecord::read(&run_directory(path))
    }

    /// Writes the description into the directory of a run, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let from_there = |path: &Path| path.strip_prefix(directory).unwrap_or(path).to_owned();
        let mut record = RunRecord { version: VERSION, ..self.clone() };
        record.failed_rings.retain(|path| path.starts_with(directory));
        record.failed_rings.truncate(MOST_RINGS);
        let tests = record.tests.iter_mut().filter_map(|test| test.file.as_mut());
        let crashes = record.crashes.iter_mut().map(|crash| &mut crash.file);
        let rings = record.failed_rings.iter_mut();
        tests.chain(crashes).chain(rings).for_each(|path| *path = from_there(path));
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        serde_json::to_writer_pretty(io::BufWriter::new(&mut file), &record)?;
        file.persist(directory.join(FILE)).map_err(|error| error.error)?;
        Ok(())
    }

    /// The tests that failed.
    pub fn failed_tests(&self) -> impl Iterator<Item = &TestRecord> {
        self.tests.iter().filter(|test| test.outcome == TestOutcome::Failed)
    }
}

/// Whether a thread is that of a test. Its name may be cut: the system keeps 15 bytes of a name, a ring's header has room for
/// more. A character that is cut in two is left out.
pub fn is_thread_of(thread: &str, test: &str) -> bool {
    const SYSTEM: usize = 15;
    let is_cut = [SYSTEM, NAME_LEN - 1, NAME_LEN].iter().any(|len| (len - 3..=*len).contains(&thread.len()));
    thread == test || is_cut && test.starts_with(thread)
}

/// Whether this is the name of a documentation test: `src/lib.rs - item (line 3)`.
pub fn is_documentation(test: &str) -> bool {
    test.contains(" - ") && test.contains("(line ")
}

/// Whether a program is that of a documentation test. rustdoc gives all of them this name.
pub fn is_documentation_program(program: &str) -> bool {
    program.starts_with("rust_out")
}

/// A file of the directory; `None` if its name leads out of it.
fn inside(directory: &Path, name: &Path) -> Option<PathBuf> {
    let is_inside = name.components().all(|part| matches!(part, Component::Normal(_)));
    (is_inside && name != Path::new("")).then(|| directory.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (tempfile::TempDir, Result<RunRecord, RunRecordError>) {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join(FILE), text).expect("a file");
        let record = RunRecord::read(directory.path());
        (directory, record)
    }

    #[test]
    fn names_that_lead_out_of_the_directory_are_ignored() {
        let text = r#"{"version":1,"new":1,"failed_rings":["a.xhist","../b.xhist"],"tests":[
            {"name":"a","outcome":"failed","how":"failed","file":"a.xhist","ring":2},
            {"name":"b","outcome":"failed","file":"../b.xhist"},
            {"name":"c","outcome":"passed","file":"a.xhist"}],
            "crashes":[{"program":"p","pid":7,"how":"died","file":"7/p.xhist"},{"file":"/etc/passwd"},{}]}"#;
        let (directory, record) = read(text.as_bytes());
        let (record, in_it) = (record.expect("a description"), |name| directory.path().join(name));
        let tests: Vec<_> =
            record.failed_tests().map(|test| (test.name.as_str(), test.file.clone(), test.ring)).collect();
        assert_eq!(tests, [("a", Some(in_it("a.xhist")), Some(2)), ("b", None, None)]);
        assert_eq!(record.failed_rings, [in_it("a.xhist")]);
        let crashes: Vec<_> = record.crashes.iter().map(|crash| crash.file.clone()).collect();
        assert_eq!(crashes, [in_it("7/p.xhist")]);
    }

    #[test]
    fn a_thread_is_known_by_the_start_of_a_long_name() {
        assert!(is_thread_of("a::b", "a::b") && !is_thread_of("a::b", "a::bc"));
        let long = "a_rather_long_module_name_here::".repeat(8);
        assert!(is_thread_of(&long[..NAME_LEN - 1], &long) && is_thread_of(&long, &long));
        assert!(is_thread_of("short::it_retur", "short::it_returns") && !is_thread_of(&long[..20], &long));
    }

    #[test]
    fn documentation_tests_are_known_by_their_names() {
        assert!(is_documentation("src/lib.rs - f (line 3)") && !is_documentation("a::line_3"));
    }

    #[test]
    fn what_is_written_has_the_fields_that_readers_rely_on() {
        let directory = tempfile::tempdir().expect("a directory");
        let ring = directory.path().join("7/a-1.xhist");
        let record = RunRecord {
            version: VERSION,
            command: "cargo test".into(),
            started_ms: Some(1),
            ended_ms: Some(2),
            signal: Some("SIGABRT".into()),
            failed: true,
            failed_rings: vec![ring.clone()],
            tests: vec![TestRecord {
                name: "a::b".into(),
                outcome: TestOutcome::Failed,
                how: Some("failed".into()),
                file: Some(ring.clone()),
                ring: Some(3),
            }],
            crashes: vec![CrashRecord {
                program: "a".into(),
                pid: 1,
                how: "died".into(),
                file: ring.clone(),
            }],
            ..RunRecord::default()
        };
        let elsewhere = vec![ring, "/else/b.xhist".into()];
        let written = RunRecord { failed_rings: elsewhere, ..record.clone() }.write(directory.path());
        written.expect("a directory that can be written");
        let text = std::fs::read_to_string(directory.path().join(FILE)).expect("a file");
        let text: String = text.split_whitespace().collect();
        assert_eq!(
            text,
            r#"{"version":1,"command":"cargotest","started_ms":1,"ended_ms":2,"exit":null,"signal":"SIGABRT","failed":true,"failed_rings":["7/a-1.xhist"],"tests":[{"name":"a::b","outcome":"failed","how":"failed","file":"7/a-1.xhist","ring":3}],"crashes":[{"program":"a","pid":1,"how":"died","file":"7/a-1.xhist"}]}"#
        );
        assert_eq!(RunRecord::read(directory.path()).expect("the same"), record);
        let files = std::fs::read_dir(directory.path()).expect("a directory").count();
        assert_eq!(files, 1, "no temporary file is left");
    }

    #[test]
    fn a_description_may_lack_anything_and_have_more() {
        let text =
            r#"{"version":9,"new":[1],"failed":true,"tests":[{"name":"b","outcome":"new","file":null},{}]}"#;
        let (_directory, record) = read(text.as_bytes());
        let record = record.expect("a description");
        assert!(record.failed && record.failed_rings.is_empty() && record.exit.is_none());
        assert_eq!(record.tests[0].outcome, TestOutcome::Unknown);
        assert_eq!((record.tests.len(), record.crashes.len()), (2, 0));
    }

    #[test]
    fn a_description_is_read_missing_or_damaged() {
        assert!(matches!(RunRecord::read(Path::new("/nowhere")), Err(RunRecordError::Missing)));
        assert!(matches!(read(b"\xFF").1, Err(RunRecordError::NoText)));
        for text in [&b"{\"exit\":1"[..], b"", b"7"] {
            assert!(matches!(read(text).1, Err(RunRecordError::Damaged(_))), "{text:?}");
        }
    }
}
