//! `add` is killed at random moments, and started again.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::support::{add_all, command, number, run, whole};

/// How often it is killed.
const KILLS: usize = 100;
/// Rows of a commit: several commits in each run.
const COMMIT: &str = "400000";

/// Rows of each table.
fn rows(data_set: &Path) -> Vec<i64> {
    let tables = ["rings", "labels", "statements", "records", "recorded_values", "spectra", "losses"];
    tables.map(|table| number(data_set, &format!("SELECT COUNT(*) FROM {table}"))).into()
}

pub fn nothing_is_lost_or_double() {
    let expected = rows(whole());
    let dir = tempfile::tempdir().unwrap();
    let data_set = dir.path().join("fleet");
    let add = || {
        let mut add = command(add_all(&data_set));
        add.args(["--commit", COMMIT]).stdout(Stdio::null()).stderr(Stdio::null());
        add
    };
    let (mut kills, mut longest, mut rounds) = (0, Duration::from_millis(400), 0);
    fastrand::seed(21);
    while kills < KILLS {
        let mut child = add().spawn().unwrap();
        std::thread::sleep(longest.mul_f64(fastrand::f64()));
        if let Some(status) = child.try_wait().unwrap() {
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
        // Longer than one commit takes, and shorter than all of them.
        longest = longest.max(Duration::from_millis(400 + 12 * (kills as u64 % 100)));
    }
    let last = run(add().get_args());
    assert_eq!(last.code, Some(0), "{}", last.err);
    assert_eq!(rows(&data_set), expected, "after {kills} kills and {rounds} complete runs");
    assert_eq!(number(&data_set, "SELECT COUNT(DISTINCT ring) FROM rings"), expected[0]);
    assert!(!data_set.join("_staging").exists());
    println!("{kills} kills, {rounds} complete runs");
}
