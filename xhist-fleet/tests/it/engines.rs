//! The same rows by other engines.

use std::path::Path;
use std::process::Command;

use super::support::{python, whole};

pub fn duckdb() {
    compare("duckdb");
}

pub fn spark() {
    compare("spark");
}

fn compare(engine: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compare.py");
    let output = Command::new(python().unwrap())
        .arg(script)
        .args([Path::new(env!("CARGO_BIN_EXE_xhist-fleet")), whole(), Path::new(engine)])
        .output()
        .expect("Python starts");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let equal =
        text.lines().filter(|line| line.contains(&format!(" {engine} ")) && line.ends_with(" equal")).count();
    assert_eq!(equal, 8, "{text}");
}
