//! Builds xhist-rt once for the compiler and target at hand, optimised also in dev builds.
//!
//! A recorder that every crate shares as one library can be inlined into all of them and still
//! be one recorder; cargo builds it in a package of its own, so the user's manifests and lock
//! file know nothing of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use super::command;
use super::error::Error;
use super::plan::{Recorder, Source};

/// What the recorder is, and what it is made of: these cannot record themselves.
pub(super) const PACKAGES: [&str; 4] = ["xhist-rt", "qs-core", "critical-section", "libc"];

/// The profile of its own, and the directory that cargo names after it.
const PROFILE: &str = "recorder";

/// The name under which this program compiles the recorder.
pub(super) const COMPILER_NAME: &str = "xhist-rustc-recorder";

/// Builds, or finds built: one for each target, see [`super::plan::Plan::recorders`]. `for_dylibs`: one whose hot path
/// finds its words through a dynamic library as well.
pub(super) fn build(
    command: &command::Command,
    home: &Path,
    for_dylibs: bool,
    features: &BTreeSet<String>,
) -> Result<BTreeMap<String, Recorder>, Error> {
    let mut name = String::from(if for_dylibs { "recorder-portable" } else { "recorder" });
    features.iter().for_each(|feature| name = format!("{name}-{feature}"));
    let directory = home.join(name);
    let target_dir = directory.join("target");
    write_package(&directory, if for_dylibs { &["auto", "portable"] } else { &["auto"] }, features)?;
    let mut cargo = cargo();
    cargo
        .args(["build", "--profile", PROFILE, "--message-format=json-render-diagnostics", "--quiet"])
        .arg("--manifest-path")
        .arg(directory.join("Cargo.toml"))
        .args(command.build_args());
    build_in(&mut cargo, &target_dir);
    let compiler = directory.join(COMPILER_NAME);
    super::plan::link_program(&compiler)?;
    cargo.arg("--config").arg(config("build.rustc-wrapper", &compiler));
    // The user's wrappers are for the user's crates.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER").env_remove("RUSTC_WRAPPER");
    let output =
        cargo.stderr(Stdio::piped()).output().map_err(|error| Error::step("running cargo", error))?;
    if !output.status.success() {
        return Err(Error::step("building the recorder (xhist-rt)", String::from_utf8_lossy(&output.stderr)));
    }
    let recorders = recorders_in(&output.stdout, &target_dir);
    if recorders.is_empty() {
        return Err(Error::step("building the recorder (xhist-rt)", "cargo named no library"));
    }
    Ok(recorders)
}

/// As the compiler of the recorder: cargo would have it leave out either the machine code, which then no linker but
/// lld understands, or the bitcode, without which no program with `lto` can use it. `args`: its path, the compiler's
/// path, the compiler's arguments.
pub(super) fn compile(args: &[OsString]) -> ExitCode {
    let [_, rustc, args @ ..] = args else { return ExitCode::from(1) };
    let mut kept: Vec<&OsString> = Vec::new();
    for arg in args {
        if arg == "embed-bitcode=no" {
            kept.pop();
        } else {
            kept.push(arg);
        }
    }
    let error = Command::new(rustc).args(kept).exec();
    eprintln!("error: cannot run {}: {error}", rustc.display());
    ExitCode::from(101)
}

/// The targets that these recorders are for.
pub(super) fn targets(recorders: &BTreeMap<String, Recorder>) -> Result<Vec<String>, Error> {
    let host = || {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
        let output =
            Command::new(rustc).arg("-vV").output().map_err(|error| Error::step("running rustc", error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        host.map(String::from).ok_or_else(|| Error::step("asking rustc about the host", text))
    };
    recorders.keys().map(|target| if target.is_empty() { host() } else { Ok(target.clone()) }).collect()
}

/// Lets cargo keep all it makes in this directory, whatever its configuration says.
pub(super) fn build_in(cargo: &mut Command, directory: &Path) {
    cargo.arg("--target-dir").arg(directory);
    cargo.arg("--config").arg(config("build.build-dir", directory));
}

/// A value of `--config`.
pub(super) fn config(key: &str, path: &Path) -> String {
    format!("{key}={}", toml::Value::String(path.display().to_string()))
}

/// The cargo that called us.
pub(super) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    // When this program itself is run by `cargo run`, cargo tells it about its own package.
    if std::env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME")) {
        let told = std::env::vars_os().map(|(name, _)| name);
        let own = |name: &OsString| {
            let name = name.to_string_lossy();
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "CARGO_BIN_NAME"
        };
        for name in told.filter(own) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// A package whose only dependency is the recorder with these features on an operating system, and those without one, from beside our own sources when they are
/// there, else from the registry.
fn write_package(directory: &Path, hosted: &[&str], bare: &BTreeSet<String>) -> Result<(), Error> {
    let quoted = |feature: &dyn std::fmt::Debug| format!("{feature:?}");
    let features = hosted.iter().map(|feature| quoted(feature)).collect::<Vec<_>>().join(", ");
    let bare = bare.iter().map(|feature| quoted(feature)).collect::<Vec<_>>().join(", ");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("xhist-rt");
    let place = if sources.join("Cargo.toml").is_file() {
        format!("path = {}", toml::Value::String(sources.display().to_string()))
    } else {
        format!(r#"version = "={}""#, env!("CARGO_PKG_VERSION"))
    };
    // A library that unwinds can be linked into programs that abort. The user's configuration may say otherwise for
    // `release`, so all that matters is set here.
    let manifest = format!(
        r#"# Written by cargo xhist; changes are lost.
[package]
name = "xhist-recorder"
version = "0.0.0"
edition = "2021"

[workspace]

[lib]
path = "lib.rs"

[target.'cfg(target_os = "none")'.dependencies]
xhist-rt = {{ {place}, features = [{bare}] }}

[target.'cfg(not(target_os = "none"))'.dependencies]
xhist-rt = {{ {place}, features = [{features}] }}

[profile.{PROFILE}]
inherits = "release"
opt-level = 3
lto = false
codegen-units = 1
panic = "unwind"
debug = "line-tables-only"
debug-assertions = false
overflow-checks = false
strip = "none"
"#
    );
    super::plan::write_if_changed(&directory.join("Cargo.toml"), manifest.as_bytes())?;
    super::plan::write_if_changed(&directory.join("lib.rs"), b"#![no_std]\npub extern crate xhist_rt;\n")
}

/// Whether this crate is one of [`PACKAGES`].
fn is_recorder(name: &str) -> bool {
    PACKAGES.iter().any(|package| package.replace('-', "_") == name)
}

/// The libraries that cargo names, by target: cargo keeps what it makes for a target that is named in a directory of
/// that name.
fn recorders_in(messages: &[u8], target_dir: &Path) -> BTreeMap<String, Recorder> {
    let mut recorders: BTreeMap<String, Recorder> = BTreeMap::new();
    for message in cargo_metadata::Message::parse_stream(messages).filter_map(Result::ok) {
        let cargo_metadata::Message::CompilerArtifact(artifact) = message else { continue };
        for file in artifact.filenames.iter().filter(|name| name.extension() == Some("rlib")) {
            let Ok(inside) = file.as_std_path().strip_prefix(target_dir) else { continue };
            let first = inside.iter().next().unwrap_or_default().to_string_lossy();
            let target = if first == PROFILE { String::new() } else { first.into_owned() };
            let recorder = recorders.entry(target).or_default();
            if artifact.target.name != "xhist_recorder" && is_recorder(&artifact.target.name) {
                recorder.sources.push(Source {
                    name: artifact.target.name.clone(),
                    root: artifact.target.src_path.clone().into(),
                    edition: artifact.target.edition.to_string(),
                    features: artifact.features.clone(),
                });
            }
            match artifact.target.name.as_str() {
                "xhist_rt" => recorder.library = file.into(),
                "xhist_recorder" => {}
                name if is_recorder(name) => _ = recorder.deps.insert(file.into()),
                // The standard library, with `-Zbuild-std`.
                _ => {}
            }
        }
    }
    recorders.retain(|_, recorder| recorder.library.is_absolute());
    // The others depend on nothing.
    recorders
        .values_mut()
        .for_each(|recorder| recorder.sources.sort_by_key(|source| source.name == "xhist_rt"));
    recorders
}
