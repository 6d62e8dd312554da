//! The product's commands, built once with the profile of the tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::Run;

/// The directory of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lies in the repository")
}

/// Cargo in this directory, with our commands installed: `cargo xhist` works. It has what building this
/// repository fetched, and no network.
pub fn cargo(directory: &Path) -> Run {
    online_cargo(directory).env("CARGO_NET_OFFLINE", "true")
}

/// As [`cargo`], with the registry.
pub fn online_cargo(directory: &Path) -> Run {
    other_cargo("cargo", directory)
}

/// As [`online_cargo`], with this cargo.
pub fn other_cargo(program: &str, directory: &Path) -> Run {
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        [bin_directory().to_owned()].into_iter().chain(std::env::split_paths(&directories)),
    );
    // Firmware wants debug information in release mode. Its macros would have it too, and take longer to compile.
    with_cache(Run::new(program, directory))
        .env("PATH", path.expect("a path without colons"))
        .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_DEBUG", "0")
}

/// Lets `cargo xhist` keep recorders with what tests keep, and not in the user's cache directory.
#[must_use]
pub fn with_cache(run: Run) -> Run {
    run.env("XHIST_CACHE", kept_builds().join("recorders"))
}

/// Where builds stay from run to run. It lies outside of the repository, whose aliases would hide the installed `cargo
/// xhist`; `.ci/run` names a place that the next checkout finds as well.
pub fn kept_builds() -> PathBuf {
    std::env::var_os("XHIST_TESTS_BUILDS").map(PathBuf::from).unwrap_or_else(|| {
        let checkout = repository().to_string_lossy().replace(std::path::MAIN_SEPARATOR, "-");
        std::env::temp_dir().join(format!("xhist-tests{checkout}"))
    })
}

/// `xhist-report` in this directory.
pub fn report(directory: &Path) -> Run {
    Run::new(bin_directory().join("xhist-report"), directory)
}

/// `xhist-instrument` in this directory.
pub fn instrument(directory: &Path) -> Run {
    Run::new(bin_directory().join("xhist-instrument"), directory)
}

/// Ring files in a directory, by name.
pub fn rings_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut rings: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "xhist")).collect();
    rings.sort();
    rings
}

/// Where the binaries are.
pub fn bin_directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        if let Some(directory) = std::env::var_os("XHIST_TESTS_TOOLS") {
            return directory.into();
        }
        build(&["cargo-xhist", "xhist-instrument", "xhist-report"])
    })
}

/// Builds these of the repository's binaries; their directory. No package is named, as in the aliases of .cargo/config.toml:
/// then features are those of all packages together, and what `cargo test` has built is not built once more.
fn build(binaries: &[&str]) -> PathBuf {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut cargo = Command::new(program);
    cargo.args(["build", "--quiet", "--message-format=json-render-diagnostics"]);
    cargo.args(binaries.iter().flat_map(|binary| ["--bin", binary]));
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.current_dir(repository()).stderr(Stdio::inherit()).output().expect("cargo");
    assert!(output.status.success(), "{binaries:?} do not build");
    let made: Vec<PathBuf> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
        .collect();
    for binary in binaries {
        assert!(made.iter().any(|path| path.ends_with(binary)), "cargo built no {binary}");
    }
    made[0].parent().expect("a directory").to_owned()
}

/// Copies a program, so that it can run at once. Another process does it: what this one has open for writing, a process that
/// another thread starts meanwhile has open, too, and then the system does not run the file.
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let copied = Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status().expect("cp runs");
    assert!(copied.success(), "{} is not copied to {}", from.as_ref().display(), to.as_ref().display());
}
