//! The files on the three walks through the product, measured: valgrind names the source file of each function that runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::CRATES;
use crate::tools::copy_program;
use crate::{Run, Tree, repository};

/// What is followed from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// `xhist-instrument -` rewrites a source file.
    SourceToInstrumented,
    /// `xhist-report FILE` prints the history in a ring file.
    DumpToListing,
    /// Calls in a program record statements in its ring, which is there already.
    CallToRing,
}

/// All walks, with their names.
pub const WALKS: [(Walk, &str); 3] = [
    (Walk::SourceToInstrumented, "source -> instrumented source"),
    (Walk::DumpToListing, "dump -> listing"),
    (Walk::CallToRing, "call -> ring"),
];

/// What is instrumented, the same in every checkout.
const SOURCE: &str = "samples/thread-pool/src/pool.rs";

/// The function whose calls are followed. The ring is made before it is called.
const RECORDED: &str = "recorded";

const PROGRAM: &str = include_str!("../../fixtures/walk/main.rs");

/// The product of a checkout in the dev profile, and a program that it instrumented.
pub struct Walks {
    checkout: PathBuf,
    binaries: PathBuf,
    tree: Tree,
}

impl Walks {
    /// Builds them, in the checkout's own target directory; the reason when valgrind is missing.
    pub fn prepare(checkout: &Path) -> Result<Walks, String> {
        let is_installed = std::process::Command::new("valgrind").arg("--version").output().is_ok();
        if !is_installed {
            return Err("valgrind is not installed".to_owned());
        }
        let target = checkout.join("target");
        let build = |directory: &Path, args: &str| {
            let cargo = Run::new("cargo", directory).args("build --quiet").args(args);
            cargo.arg("--target-dir").arg(&target).limit(Duration::from_secs(3600)).succeed();
        };
        build(checkout, "-p xhist-instrument -p xhist-report --bins");
        let walks = Walks {
            checkout: checkout.to_owned(),
            binaries: target.join("debug"),
            tree: Tree::empty("walks"),
        };
        let tree = &walks.tree;
        let recorder = checkout.join("xhist-rt");
        tree.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"walk\"\nedition = \"2024\"\n\n[dependencies]\n\
                 xhist-rt = {{ path = {recorder:?}, features = [\"std\", \"trace\"] }}\n\n[workspace]\n"
            ),
        );
        tree.write("src/main.rs", PROGRAM);
        walks.command("xhist-instrument").arg("src").succeed();
        build(tree.path(), "");
        copy_program(walks.binaries.join("walk"), tree.join("walk"));
        Run::new(tree.join("walk"), tree.path()).env("XHIST_FILE", tree.join("history.xhist")).succeed();
        Ok(walks)
    }

    fn command(&self, name: &str) -> Run {
        Run::new(self.binaries.join(name), self.tree.path())
    }

    /// The files whose functions run in a walk, below the checkout.
    pub fn files(&self, walk: Walk) -> BTreeSet<PathBuf> {
        let profile = self.tree.join("profile");
        let valgrind = Run::new("valgrind", self.tree.path()).args("-q --tool=callgrind");
        let valgrind = valgrind.arg(format!("--callgrind-out-file={}", profile.display()));
        match walk {
            Walk::SourceToInstrumented => {
                let source = std::fs::read_to_string(repository().join(SOURCE)).expect("the sample");
                let program = valgrind.arg(self.binaries.join("xhist-instrument")).arg("-");
                let mut started = program.with_input().start();
                started.write(&source);
                started.close_input();
                started.done().expect(0);
            }
            Walk::DumpToListing => {
                let program = valgrind.arg(self.binaries.join("xhist-report"));
                let done = program.arg("--map").arg("xhist.map").arg("history.xhist").succeed();
                done.check(done.stdout.contains("src/main.rs:"), "a listing");
            }
            Walk::CallToRing => {
                let program =
                    valgrind.arg(format!("--toggle-collect={RECORDED}")).arg(self.tree.join("walk"));
                program.env("XHIST_FILE", self.tree.join("again.xhist")).succeed();
            }
        }
        let text = std::fs::read_to_string(&profile).expect("a profile");
        self.product_files(&text)
    }

    /// The files of the product with costs in a profile. `fl`, `fi` and `fe` set the file of the lines behind them; a
    /// number in parentheses repeats the name that it came with first.
    fn product_files(&self, profile: &str) -> BTreeSet<PathBuf> {
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        let (mut file, mut is_call) = ("", false);
        let mut found = BTreeSet::new();
        for line in profile.lines() {
            if let Some((key, value)) = line.split_once('=') {
                is_call = key == "calls";
                let is_file = ["fl", "fi", "fe", "cfi", "cfl"].contains(&key);
                if is_file && let Some((number, name)) = value.split_once(')') {
                    if !name.is_empty() {
                        names.insert(number, name.trim());
                    }
                    if !key.starts_with('c') {
                        file = names.get(number).copied().unwrap_or_default();
                    }
                }
            } else if std::mem::take(&mut is_call) {
                // The cost of the function called: its file has lines of its own.
            } else if line.starts_with(|char: char| char.is_ascii_digit() || "+-*".contains(char)) {
                found.insert(file);
            }
        }
        found.into_iter().filter_map(|file| self.product_file(file)).collect()
    }

    fn product_file(&self, name: &str) -> Option<PathBuf> {
        let path = Path::new(name);
        let path = path.strip_prefix(&self.checkout).unwrap_or(path);
        let is_product = CRATES.iter().any(|name| path.starts_with(Path::new(name).join("src")));
        is_product.then(|| path.to_owned())
    }
}
