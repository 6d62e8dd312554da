//! Results of a project under test: its test counts and its history.

use std::path::{Path, PathBuf};

use crate::{Done, Listing, Tree, report};

/// The ring file that `cargo xhist` names last.
#[track_caller]
pub fn ring_of(done: &Done) -> &str {
    const LEAD: &str = "whole history: cargo xhist history ";
    let file = done.stderr.lines().rev().find_map(|line| line.strip_prefix(LEAD));
    done.check(file.is_some(), "the ring file is named on stderr");
    file.unwrap_or_default()
}

/// The directory of its run.
#[track_caller]
pub fn run_of(tree: &Tree, done: &Done) -> PathBuf {
    tree.join(ring_of(done)).parent().expect("a directory").to_owned()
}

/// The ring file that `cargo xhist` names last, read completely.
#[track_caller]
pub fn history_of(done: &Done, directory: &Path) -> Listing {
    Listing::parse(&report(directory).arg(ring_of(done)).succeed().stdout)
}

/// Test results, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// Tests that were not run.
    pub ignored: u32,
}

/// Sums of all `test result:` lines.
#[track_caller]
pub fn test_counts(done: &Done) -> Counts {
    let mut counts = Counts::default();
    let results: Vec<&str> = done.stdout.lines().filter(|line| line.starts_with("test result:")).collect();
    done.check(!results.is_empty(), "tests ran");
    for result in results {
        let words: Vec<&str> = result.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u32>() else { continue };
            match pair[1] {
                "passed" => counts.passed += number,
                "failed" => counts.failed += number,
                "ignored" => counts.ignored += number,
                _ => {}
            }
        }
    }
    counts
}
