//! Which of the statements that coverage saw run are in the history? For a released crate and its own tests.

mod profile;
mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use walkdir::WalkDir;

use crate::verdict::newest_run;
use crate::{Crate, Tree, online_cargo, report, rings_in};
use profile::Profile;
use statements::Statements;

/// Building and testing a crate ends by then.
const LIMIT: Duration = Duration::from_secs(1800);

/// Rings are not what is measured. A small one is enough; the bitmap of what ever ran lies beside it.
const SIZE: &str = "64k";

/// Pages of 96 lines of that bitmap.
const PAGES: &str = "4000";

/// Room for the rings of all test programs.
const KEEP: &str = "20g";

/// A line of a file of the crate.
pub type FileLine = (String, u32);

/// What coverage and the history know of a crate's tests.
#[derive(Clone, Debug)]
pub struct Share {
    /// The crate's version.
    pub version: String,
    /// Lines with a statement that ran, as coverage has it.
    pub executed: BTreeSet<FileLine>,
    /// Those of them that are not in the history, and what the map says of each.
    pub missing: BTreeMap<FileLine, String>,
}

impl Share {
    /// Runs the crate's tests with coverage, then with xhist.
    pub fn of(released: &Crate) -> Share {
        let (fresh, version) = released.unpack();
        let name = format!("share/{}-{version}", released.name);
        let tree = Tree::kept(&name, fresh.path(), str::to_owned);
        let arguments = format!("--locked --no-fail-fast {}", released.targets);
        let executed = executed(&tree, &Profile::of(&tree, &arguments));
        let recorded = recorded(&tree, &arguments);
        let skipped = skipped(&tree);
        let missing = executed.difference(&recorded).map(|place| {
            let (file, line) = place;
            let ranges = skipped.get(file).into_iter().flatten();
            let mut reason =
                ranges.filter(|(first, last, _)| (first..=last).contains(&line)).map(|(.., what)| what);
            (place.clone(), reason.next_back().cloned().unwrap_or_default())
        });
        let missing = missing.collect();
        Share { version, executed, missing }
    }

    /// In percent.
    pub fn percent(&self) -> f64 {
        let all = self.executed.len().max(1) as f64;
        100.0 * (all - self.missing.len() as f64) / all
    }
}

/// The lines of the crate's own code where a statement begins that ran.
fn executed(tree: &Tree, profile: &Profile) -> BTreeSet<FileLine> {
    let mut lines = BTreeSet::new();
    let mut for_tests: Vec<PathBuf> = Vec::new();
    let sources = WalkDir::new(tree.join("src")).sort_by_file_name();
    let files: Vec<PathBuf> = sources.into_iter().flatten().map(walkdir::DirEntry::into_path).collect();
    let files = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let parsed: Vec<(&PathBuf, Statements)> = files
        .filter_map(|path| Some((path, Statements::of(&std::fs::read_to_string(path).ok()?)?)))
        .collect();
    for (path, statements) in &parsed {
        let stem = path.file_stem().unwrap_or_default();
        let is_root = ["mod", "lib", "main"].iter().any(|root| stem == *root);
        let directory = if is_root { path.with_file_name("") } else { path.with_extension("") };
        let modules = statements.test_modules.iter().map(|module| directory.join(module));
        for_tests.extend(modules.flat_map(|module| [module.with_extension("rs"), module]));
    }
    for (path, statements) in parsed {
        if for_tests.iter().any(|module| path.starts_with(module)) {
            continue;
        }
        let file = path.strip_prefix(tree.path()).expect("below it").to_string_lossy().into_owned();
        let ran = statements.starts.iter().filter(|start| profile.ran(&file, **start));
        lines.extend(ran.map(|(line, _)| (file.clone(), *line as u32)));
    }
    lines
}

/// The lines that the histories of all test programs have.
fn recorded(tree: &Tree, arguments: &str) -> BTreeSet<FileLine> {
    let run = online_cargo(tree.path()).args(&format!("xhist test {arguments}"));
    let run =
        run.env("XHIST_EVER", PAGES).env("XHIST_SIZE", SIZE).env("XHIST_KEEP", KEEP).limit(LIMIT).done();
    let rings = rings_in(&tree.join("target/xhist/runs").join(newest_run(tree)));
    run.check(!rings.is_empty(), "the tests leave rings");
    rings.iter().flat_map(|ring| recorded_in(tree, ring)).collect()
}

/// Those that one of them has.
fn recorded_in(tree: &Tree, ring: &Path) -> BTreeSet<FileLine> {
    let lcov = report(tree.path()).arg("coverage").arg(ring).limit(LIMIT).done();
    // What is in no bitmap would pass for code that is not recorded.
    lcov.check(!lcov.stderr.contains("ever-executed bitmap"), "the bitmap has room");
    let (mut file, mut lines) = (String::new(), BTreeSet::new());
    for row in lcov.stdout.lines() {
        if let Some(path) = row.strip_prefix("SF:") {
            let path = Path::new(path);
            let inside = path.strip_prefix(tree.path().canonicalize().expect("a directory"));
            file = inside.unwrap_or(path).to_string_lossy().into_owned();
        } else if let Some((line, ran)) = row.strip_prefix("DA:").and_then(|fields| fields.split_once(','))
            && ran != "0"
        {
            lines.insert((file.clone(), line.parse().expect("a line")));
        }
    }
    lines
}

/// The lines of each file that the map calls skipped, and as what.
fn skipped(tree: &Tree) -> BTreeMap<String, Vec<(u32, u32, String)>> {
    let map = tree.read("target/xhist/xhist.map");
    let lines = map.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files = lines.filter_map(|line| {
        line.get("file")?;
        let ranges = line.get("skipped").and_then(|skipped| skipped.as_str()).unwrap_or_default();
        let ranges = ranges.split(", ").filter_map(|range| {
            let (lines, what) = range.split_once(' ').unwrap_or((range, "left alone"));
            let (first, last) = lines.split_once('-')?;
            Some((first.parse().ok()?, last.parse().ok()?, what.to_owned()))
        });
        Some((line.get("path")?.as_str()?.to_owned(), ranges.collect()))
    });
    files.collect()
}
