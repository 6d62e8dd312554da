//! `add` is killed at random moments, and started again.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::support::{command, dumps, number, query, run, truth};

/// How often it is killed while it adds this number of dumps, and both in a long run. Nothing is optimised here: 300 dumps take
/// seconds each time.
const USUAL: (usize, usize) = (15, 100);
const LONG: (usize, usize) = (100, 300);
/// Commits of a run that is not killed, about.
const COMMITS: i64 = 8;

/// Rows of each table.
fn rows(data_set: &Path) -> Vec<i64> {
    let tables = ["rings", "labels", "statements", "records", "recorded_values", "spectra", "losses"];
    let counts = tables.map(|table| format!("(SELECT COUNT(*) FROM {table}) AS {table}"));
    let rows = query(data_set, &format!("SELECT {}", counts.join(", ")));
    tables.map(|table| rows[0][table].as_i64().expect("a number")).into()
}

/// The arguments that add this number of dumps.
fn arguments(data_set: &Path, number: usize) -> Vec<PathBuf> {
    let some = truth().into_iter().take(number).map(|dump| dumps().join(&dump["path"]));
    let maps = ["--maps".into(), dumps().join("maps")];
    ["add".into(), data_set.to_owned()].into_iter().chain(some).chain(maps).collect()
}

pub fn nothing_is_lost_or_double() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    let is_long = std::env::var_os("XHIST_LONG").is_some_and(|long| long != "0");
    let (wanted, dumps) = if is_long { LONG } else { USUAL };
    let began = Instant::now();
    let added = run(arguments(&whole, dumps));
    assert_eq!(added.code, Some(0), "{}", added.err);
    let mut time = began.elapsed();
    let expected = rows(&whole);
    let commit = (expected.iter().sum::<i64>() / COMMITS).to_string();
    let data_set = dir.path().join("fleet");
    let add = || {
        let mut add = command(arguments(&data_set, dumps));
        add.args(["--commit", &commit]).stdout(Stdio::null()).stderr(Stdio::null());
        add
    };
    let (mut kills, mut rounds) = (0, 0);
    fastrand::seed(21);
    while kills < wanted {
        let mut child = add().spawn().unwrap();
        let (began, wait) = (Instant::now(), time.mul_f64(fastrand::f64()));
        let status = loop {
            match child.try_wait().unwrap() {
                None if began.elapsed() < wait => std::thread::sleep(Duration::from_millis(2)),
                status => break status,
            }
        };
        if let Some(status) = status {
            // The first run may have been slow beside other work; then hardly any kill would come in time.
            time = time.min(began.elapsed());
            // It was complete: compare, and start with an empty data set.
            assert!(status.success());
            assert_eq!(rows(&data_set), expected);
            std::fs::remove_dir_all(&data_set).unwrap();
            rounds += 1;
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    let last = run(add().get_args());
    assert_eq!(last.code, Some(0), "{}", last.err);
    assert_eq!(rows(&data_set), expected, "after {kills} kills and {rounds} complete runs");
    assert_eq!(number(&data_set, "SELECT COUNT(DISTINCT ring) FROM rings"), expected[0]);
    assert!(!data_set.join("_staging").exists());
    println!("{kills} kills, {rounds} complete runs");
}
