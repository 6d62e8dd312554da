//! The coverage of a crate's tests by the compiler's own instrumentation, read by LLVM's tools.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::LIMIT;
use super::statements::StatementStart;
use crate::{Done, Run, Tree, online_cargo};

/// How often each region of the sources ran.
pub(super) struct Profile {
    /// Of each file, where a count begins to hold; `None` outside of code.
    files: BTreeMap<String, BTreeMap<StatementStart, Option<u64>>>,
}

impl Profile {
    /// Of the tests that cargo runs with these arguments. It stays with what this compiler built: nothing of xhist is in it.
    pub fn of(tree: &Tree, arguments: &str) -> Profile {
        let kept = format!("target/coverage-{}.json", of_compiler("release"));
        if !tree.join(&kept).is_file() {
            tree.write(&kept, &Profile::export(tree, arguments));
        }
        Profile::read(&tree.read(&kept), tree.path())
    }

    /// Runs the tests; the counts of all regions as JSON.
    fn export(tree: &Tree, arguments: &str) -> String {
        let profiles = tree.join("target/profiles");
        let _ = std::fs::remove_dir_all(&profiles);
        let cargo = |arguments: &str| {
            let cargo = online_cargo(tree.path()).args(arguments).env("RUSTFLAGS", "-C instrument-coverage");
            let cargo = cargo.env("CARGO_TARGET_DIR", tree.join("target/coverage"));
            cargo.env("LLVM_PROFILE_FILE", profiles.join("%p-%m.profraw")).limit(LIMIT).done()
        };
        let built = cargo(&format!("test --no-run --message-format json {arguments}")).expect(0);
        cargo(&format!("test {arguments}"));
        let merged = profiles.join("merged");
        let raw = std::fs::read_dir(&profiles).into_iter().flatten().flatten().map(|entry| entry.path());
        let merge = tool("LLVM_PROFDATA", "llvm-profdata", tree).args("merge --sparse --output").arg(&merged);
        raw.fold(merge, Run::arg).limit(LIMIT).succeed();
        let export =
            tool("LLVM_COV", "llvm-cov", tree).args("export --skip-functions --instr-profile").arg(&merged);
        let export =
            programs(&built).iter().fold(export, |export, program| export.args("--object").arg(program));
        export.arg("--sources").arg(tree.join("src")).limit(LIMIT).succeed().stdout
    }

    fn read(text: &str, root: &Path) -> Profile {
        let text: Value = serde_json::from_str(text).expect("JSON");
        let number = |value: &Value| value.as_u64().expect("a number");
        let files = text["data"][0]["files"].as_array().into_iter().flatten().map(|file| {
            let path = Path::new(file["filename"].as_str().expect("a name"));
            let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
            let segments = file["segments"].as_array().into_iter().flatten().map(|segment| {
                let place = (number(&segment[0]) as usize, number(&segment[1]) as usize);
                let has_count = segment[3] == true;
                (place, has_count.then(|| number(&segment[2])))
            });
            (path, segments.collect())
        });
        Profile { files: files.collect() }
    }

    /// Whether what is at this place of a file ran.
    pub fn ran(&self, file: &str, place: StatementStart) -> bool {
        let before = self.files.get(file).and_then(|segments| segments.range(..=place).next_back());
        before.is_some_and(|(_, count)| count.is_some_and(|count| count > 0))
    }
}

/// The programs that cargo built.
fn programs(built: &Done) -> Vec<PathBuf> {
    let messages = built.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?))).collect()
}

/// One of LLVM's tools, of the version of the compiler: named in this variable, as for cargo-llvm-cov, or with the version
/// behind its name, as Debian has it.
fn tool(variable: &str, name: &str, tree: &Tree) -> Run {
    let version = of_compiler("LLVM version");
    let version = version.split('.').next().unwrap_or_default();
    let named = std::env::var_os(variable).map(PathBuf::from);
    Run::new(named.unwrap_or_else(|| format!("{name}-{version}").into()), tree.path())
}

/// What the compiler prints of itself behind these words.
fn of_compiler(what: &str) -> String {
    let rustc = Command::new("rustc").arg("-vV").stderr(Stdio::null()).output().expect("rustc");
    let text = String::from_utf8_lossy(&rustc.stdout).into_owned();
    let value = text.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "));
    value.unwrap_or_default().to_owned()
}
