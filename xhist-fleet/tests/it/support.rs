//! Dumps, the program, and what it printed.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Dumps with a table of what they are.
    Dumps,
    /// Python with DuckDB.
    DuckDb,
    /// Python with PySpark, and Java.
    Spark,
}

impl Need {
    /// What is missing.
    pub fn missing(self) -> Option<&'static str> {
        let imports = |module| python().is_some_and(|python| succeeds(python, &["-c", module]));
        match self {
            Need::Dumps => {
                dumps_if_any().is_none().then_some("XHIST_FLEET_DUMPS names no dumps (tests/it/main.rs)")
            }
            Need::DuckDb => (!imports("import duckdb")).then_some("no Python with duckdb (XHIST_PYTHON)"),
            Need::Spark if !succeeds("java", &["-version"]) => Some("no java"),
            Need::Spark => (!imports("import pyspark")).then_some("no Python with pyspark (XHIST_PYTHON)"),
        }
    }
}

fn succeeds(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// The Python of other engines.
pub fn python() -> Option<PathBuf> {
    Some(std::env::var_os("XHIST_PYTHON").map_or_else(|| "python3".into(), PathBuf::from))
}

fn dumps_if_any() -> Option<PathBuf> {
    let dir = PathBuf::from(std::env::var_os("XHIST_FLEET_DUMPS")?);
    dir.join("truth.tsv").is_file().then_some(dir)
}

/// The directory of dumps, maps and their table.
pub fn dumps() -> PathBuf {
    dumps_if_any().expect("the test needs dumps")
}

/// The rows of the table of dumps, by column.
pub fn truth() -> Vec<HashMap<String, String>> {
    table("truth.tsv")
}

/// The rows of a table beside the dumps, by column.
pub fn table(name: &str) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(dumps().join(name)).expect("a table");
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let names = lines.next().expect("a header");
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}

/// What the program printed.
pub struct Printed {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The program with these arguments.
pub fn command<I: IntoIterator<Item: AsRef<OsStr>>>(arguments: I) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xhist-fleet"));
    command.args(arguments).env_remove("XHIST_FLEET");
    command
}

/// Runs the program.
pub fn run<I: IntoIterator<Item: AsRef<OsStr>>>(arguments: I) -> Printed {
    let output = command(arguments).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what is printed is UTF-8");
    Printed { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The arguments that add all dumps to a data set.
pub fn add_all(data_set: &Path) -> Vec<PathBuf> {
    let dumps = dumps();
    ["add".into(), data_set.to_owned(), dumps.join("dumps"), "--maps".into(), dumps.join("maps")].into()
}

/// A data set of all dumps, made once.
pub fn whole() -> &'static Path {
    static WHOLE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = WHOLE.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("fleet");
        let printed = run(add_all(&path));
        assert_eq!(printed.code, Some(0), "{}{}", printed.out, printed.err);
        (dir, path)
    });
    path
}

/// The rows of a query, as JSON.
pub fn query(data_set: &Path, sql: &str) -> Vec<serde_json::Value> {
    let printed =
        run([OsStr::new("query"), data_set.as_os_str(), sql.as_ref(), "--format".as_ref(), "json".as_ref()]);
    assert_eq!(printed.code, Some(0), "{sql}: {}", printed.err);
    printed.out.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

/// The number that a query answers.
pub fn number(data_set: &Path, sql: &str) -> i64 {
    let rows = query(data_set, &format!("SELECT ({sql}) AS number"));
    rows[0]["number"].as_i64().expect("a number")
}
