//! Real crates: the list of them beside the checkout, one unpacked, and its own tests, as they are and under
//! `cargo xhist test`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use crate::{Counts, Done, Need, Tree, instrument, online_cargo, test_counts};

/// The most tests that are named when they ended differently.
const NAMED: usize = 20;

/// A released crate.
#[derive(Clone, Debug)]
pub struct Crate {
    /// Its name.
    pub name: String,
    /// Its version; `None` for the newest.
    pub version: Option<String>,
    /// Which of its tests are run: arguments for `cargo test`.
    pub targets: String,
    /// Their counts when the list was made.
    pub baseline: Option<Counts>,
}

impl Crate {
    /// Every row of the list of real crates.
    ///
    /// # Errors
    /// There is no list, or something else in it.
    pub fn list() -> Result<Vec<Crate>, String> {
        let corpus = Need::corpus().ok_or("there is no ../shared/corpus/crates.tsv beside the checkout")?;
        let list = corpus.join("crates.tsv");
        let text = std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        rows.map(|row| Crate::row(row).ok_or_else(|| format!("{}: no row: {row}", list.display()))).collect()
    }

    fn row(row: &str) -> Option<Crate> {
        let fields: Vec<&str> = row.split('\t').collect();
        let [name, version, _, targets, passed, failed, ignored, ..] = fields[..] else { return None };
        let [passed, failed, ignored] = [passed.parse().ok()?, failed.parse().ok()?, ignored.parse().ok()?];
        Some(Crate {
            name: name.to_owned(),
            version: Some(version.to_owned()),
            targets: targets.to_owned(),
            baseline: Some(Counts { passed, failed, ignored }),
        })
    }

    /// A crate by `NAME` or `NAME@VERSION`, as the list has it if it does.
    pub fn named(spec: &str) -> Crate {
        let (name, version) =
            spec.split_once('@').map_or((spec, None), |(name, at)| (name, Some(at.to_owned())));
        let is_it = |row: &Crate| row.name == name && (version.is_none() || row.version == version);
        let listed = Crate::list().unwrap_or_default().into_iter().find(is_it);
        let targets = "--tests".to_owned();
        listed.unwrap_or_else(|| Crate { name: name.to_owned(), version, targets, baseline: None })
    }

    /// Its sources in the registry, which are not to be changed.
    pub fn sources(&self) -> PathBuf {
        let package = self.package();
        package.manifest_path.parent().expect("a directory").into()
    }

    /// What cargo knows of it after it was fetched.
    fn package(&self) -> cargo_metadata::Package {
        let name = &self.name;
        let requirement = self.version.as_ref().map_or("*".to_owned(), |version| format!("={version}"));
        let dummy = Tree::empty("fetch");
        dummy.write(
            "Cargo.toml",
            &format!("[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n{name} = \"{requirement}\"\n"),
        );
        dummy.write("src/lib.rs", "");
        online_cargo(dummy.path()).args("fetch --quiet").succeed();
        let metadata = online_cargo(dummy.path()).args("metadata --format-version 1 --offline").succeed();
        let metadata: cargo_metadata::Metadata = serde_json::from_str(&metadata.stdout).expect("metadata");
        let mut packages = metadata.packages.into_iter();
        packages.find(|package| package.name.as_str() == name).expect("the package")
    }

    /// From the registry, as a project of its own, with the list's lock file if it is a crate of the list; and its
    /// version.
    pub fn unpack(&self) -> (Tree, String) {
        let name = &self.name;
        let package = self.package();
        let tree = Tree::copy_of(package.manifest_path.parent().expect("a directory").as_std_path());
        let manifest = tree.read("Cargo.toml");
        tree.write("Cargo.toml", &format!("{manifest}\n[workspace]\n"));
        if let (Some(corpus), Some(_)) = (Need::corpus(), self.baseline) {
            let lock = corpus.join(format!("locks/{name}.lock"));
            tree.write("Cargo.lock", &std::fs::read_to_string(lock).expect("a lock file"));
        }
        let fetch = || online_cargo(tree.path()).args("fetch --quiet").done();
        let fetched = fetch();
        if fetched.code() != 0 && self.baseline.is_none() {
            // The lock file in a package may name what was withdrawn since; cargo itself never reads it.
            let _ = std::fs::remove_file(tree.join("Cargo.lock"));
            fetch().expect(0);
        } else {
            fetched.expect(0);
        }
        (tree, package.version.to_string())
    }

    /// Runs its tests as they are, then under ours with its options.
    pub fn compare(&self, options: &CorpusOptions) -> Comparison {
        let (tree, version) = self.unpack();
        let test = |command: &str| {
            let start = Instant::now();
            let profile = if options.release { "--release" } else { "" };
            let arguments = format!("{command} {profile} --locked --no-fail-fast {}", self.targets);
            let done = online_cargo(tree.path()).args(&arguments).done();
            (test_counts(&done), start.elapsed().as_secs_f32(), done)
        };
        let (plain, plain_seconds, plain_done) = test("test");
        // Tests may write into the sources themselves, such as snapshots.
        let before = tree.fingerprint();
        let (ours, our_seconds, our_done) = test(&format!("xhist test {}", options.ours));
        let mut difference = String::new();
        if plain == Counts::default() {
            difference += "it has no tests to compare\n";
        }
        if let Some(baseline) = self.baseline.filter(|baseline| *baseline != plain) {
            difference += &format!("without xhist {plain:?}, in the list {baseline:?}\n");
        }
        if plain != ours || plain_done.code() != our_done.code() {
            difference += &format!("without xhist {plain:?}, with it {ours:?}\n");
            difference += &differing_tests(&plain_done, &our_done);
            difference += &our_done.summary();
        }
        let after = tree.fingerprint();
        let changed = before.changed(&after);
        if !changed.is_empty() {
            difference += &format!("changed: {changed:?}\n");
        }
        let reach = Reach::of(&tree, &our_done);
        // Some builds take gigabytes, and nothing looks at them again.
        let _ = std::fs::remove_dir_all(tree.join("target"));
        Comparison { version, plain, ours, plain_seconds, our_seconds, reach, difference }
    }
}

/// How the tests of a crate are run.
#[derive(Clone, Debug, Default)]
pub struct CorpusOptions {
    /// Both times with optimisation.
    pub release: bool,
    /// Options of `cargo xhist test`.
    pub ours: String,
}

/// A crate's tests without and with xhist.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The crate's version.
    pub version: String,
    /// Its test counts without xhist.
    pub plain: Counts,
    /// With it.
    pub ours: Counts,
    /// How long building and testing took without xhist.
    pub plain_seconds: f32,
    /// With it.
    pub our_seconds: f32,
    /// How much of the crate was recorded.
    pub reach: Reach,
    /// Every difference from what is expected.
    pub difference: String,
}

/// How much of a crate is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Statements that are recorded.
    pub statements: u32,
    /// Statements that are not.
    pub skipped: u32,
    /// Files that could not be instrumented.
    pub refused: usize,
}

impl Reach {
    /// What `xhist-instrument` prints about the files that `cargo xhist` instrumented.
    fn of(tree: &Tree, done: &Done) -> Reach {
        let map = tree.read("target/xhist/xhist.map");
        let lines = map.lines().map(|line| serde_json::from_str(line).expect("a line of the map"));
        let files = lines.filter_map(|line: serde_json::Value| {
            line.get("file")?;
            Some(line.get("path")?.as_str()?.to_owned())
        });
        let check = files.fold(instrument(tree.path()).arg("--check"), |check, file| check.arg(file)).done();
        let number = |behind: &str| {
            let words = check.stderr.lines().next()?.split_whitespace().collect::<Vec<_>>();
            let at = words.iter().position(|word| word.trim_end_matches(',') == behind)?;
            words[at.checked_sub(1)?].parse().ok()
        };
        let (statements, skipped) = (number("statements"), number("skipped"));
        check.check(statements.is_some() && skipped.is_some(), "the summary has statements and skips");
        let refused = done.stderr.lines().filter(|line| line.ends_with("this file runs without history"));
        Reach {
            statements: statements.unwrap_or_default(),
            skipped: skipped.unwrap_or_default(),
            refused: refused.count(),
        }
    }

    /// The recorded share of the statements in the files that were instrumented, in percent.
    pub fn share(self) -> f64 {
        f64::from(self.statements) * 100.0 / f64::from((self.statements + self.skipped).max(1))
    }
}

/// The tests that ended differently, as a diff.
fn differing_tests(plain: &Done, ours: &Done) -> String {
    let mut results = BTreeMap::new();
    for (done, weight) in [(plain, 1), (ours, -1)] {
        for line in done.stdout.lines().filter(|line| line.starts_with("test ") && line.contains(" ... ")) {
            *results.entry(line).or_insert(0) += weight;
        }
    }
    let differing = results.iter().filter(|(_, weight)| **weight != 0);
    let sign = |weight: i32| if weight > 0 { '-' } else { '+' };
    differing.take(NAMED).map(|(line, weight)| format!("{} {line}\n", sign(*weight))).collect()
}
