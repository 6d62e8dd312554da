//! What is done with a project that the product is tried on: real crates unpacked, tests counted, histories read.

use std::path::{Path, PathBuf};

use crate::{Done, Listing, Need, Tree, online_cargo, report};

/// The ring file that `cargo xhist` names last, read completely.
#[track_caller]
pub fn history_of(done: &Done, directory: &Path) -> Listing {
    const LEAD: &str = "whole history: xhist-report ";
    let file = done.stderr.lines().rev().find_map(|line| line.strip_prefix(LEAD));
    done.check(file.is_some(), "the ring file is named on stderr");
    Listing::parse(&report(directory).arg(file.unwrap_or_default()).succeed().stdout)
}

/// How many tests ended how.
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

/// The version of the crate in the list of real crates, where that is there and has it.
pub fn newest_version(name: &str, otherwise: &str) -> String {
    let list = Need::corpus().and_then(|corpus| std::fs::read_to_string(corpus.join("crates.tsv")).ok());
    let list = list.unwrap_or_default();
    let row = list.lines().map(|line| line.split('\t').collect::<Vec<_>>()).find(|row| row[0] == name);
    row.and_then(|row| row.get(1).map(|version| (*version).to_owned()))
        .unwrap_or_else(|| otherwise.to_owned())
}

/// A crate from the registry as a project of its own, with the lock file of the list where it has one.
pub fn unpack(name: &str, version: &str) -> Tree {
    let dummy = Tree::empty("fetch");
    dummy.write(
        "Cargo.toml",
        &format!("[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n{name} = \"={version}\"\n"),
    );
    dummy.write("src/lib.rs", "");
    online_cargo(dummy.path()).args("fetch --quiet").succeed();
    let metadata = online_cargo(dummy.path()).args("metadata --format-version 1 --offline").succeed();
    let metadata: cargo_metadata::Metadata = serde_json::from_str(&metadata.stdout).expect("metadata");
    let package =
        metadata.packages.iter().find(|package| package.name.as_str() == name).expect("the package");
    let source: PathBuf = package.manifest_path.parent().expect("a directory").into();
    let tree = Tree::copy_of(&source);
    let manifest = tree.read("Cargo.toml");
    tree.write("Cargo.toml", &format!("{manifest}\n[workspace]\n"));
    let lock =
        Need::corpus().map(|corpus| corpus.join(format!("locks/{name}.lock"))).filter(|lock| lock.is_file());
    if let Some(lock) = lock {
        tree.write("Cargo.lock", &std::fs::read_to_string(lock).expect("a lock file"));
    }
    online_cargo(tree.path()).args("fetch --quiet").succeed();
    tree
}
