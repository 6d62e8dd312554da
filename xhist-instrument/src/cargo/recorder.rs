//! Builds xhist-rt once for the compiler and target at hand, optimised also in dev builds.
//!
//! A recorder that every crate shares as one library can be inlined into all of them and still
//! be one recorder; cargo builds it in a package of its own, so the user's manifests and lock
//! file know nothing of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::command;
use super::error::Error;

/// The library, and the directory of those it depends on.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) library: PathBuf,
    pub(super) deps: PathBuf,
}

/// Builds, or finds built.
pub(super) fn build(command: &command::Command, home: &Path) -> Result<Recorder, Error> {
    let directory = home.join("recorder");
    write_package(&directory, has_std(command)?)?;
    let mut cargo = cargo();
    cargo
        .args(["build", "--release", "--message-format=json-render-diagnostics", "--quiet"])
        .arg("--manifest-path")
        .arg(directory.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(directory.join("target"))
        .args(command.build_args());
    // The user's wrapper is for the user's crates.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER");
    let output =
        cargo.stderr(Stdio::piped()).output().map_err(|error| Error::step("running cargo", error))?;
    if !output.status.success() {
        return Err(Error::step("building the recorder (xhist-rt)", String::from_utf8_lossy(&output.stderr)));
    }
    let library = library_in(&output.stdout)
        .ok_or_else(|| Error::step("building the recorder (xhist-rt)", "cargo named no library"))?;
    let deps = library.parent().map(Path::to_path_buf).unwrap_or_default();
    Ok(Recorder { library, deps })
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

/// A package whose only dependency is the recorder, from beside our own sources when they are
/// there, else from the registry.
fn write_package(directory: &Path, has_std: bool) -> Result<(), Error> {
    let features = if has_std { r#""auto""# } else { r#""trace""# };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("xhist-rt");
    let place = if sources.join("Cargo.toml").is_file() {
        format!("path = {}", toml::Value::String(sources.display().to_string()))
    } else {
        format!(r#"version = "={}""#, env!("CARGO_PKG_VERSION"))
    };
    // With `lto` set, libraries carry bitcode beside machine code: good for programs with and without it.
    let manifest = format!(
        r#"# Written by cargo xhist; changes are lost.
[package]
name = "xhist-recorder"
version = "0.0.0"
edition = "2021"

[workspace]

[lib]
path = "lib.rs"

[dependencies]
xhist-rt = {{ {place}, features = [{features}] }}

[profile.release]
lto = true
debug = "line-tables-only"
"#
    );
    super::plan::write_if_changed(&directory.join("Cargo.toml"), manifest.as_bytes())?;
    super::plan::write_if_changed(&directory.join("lib.rs"), b"#![no_std]\npub extern crate xhist_rt;\n")
}

/// Whether the target has an operating system that the hosted recorder knows.
fn has_std(command: &command::Command) -> Result<bool, Error> {
    let args = command.build_args();
    let mut words = args.iter();
    let mut target = None;
    while let Some(arg) = words.next() {
        if arg == "--target" {
            target = words.next().cloned();
        } else if let Some(value) = arg.to_str().and_then(|arg| arg.strip_prefix("--target=")) {
            target = Some(value.into());
        }
    }
    let Some(target) = target.filter(|target| target != "host-tuple") else { return Ok(true) };
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(rustc)
        .args(["--print", "cfg", "--target"])
        .arg(&target)
        .output()
        .map_err(|error| Error::step("running rustc", error))?;
    let cfg = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(Error::step("asking rustc about the target", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(!cfg.lines().any(|line| line == r#"target_os="none""#))
}

fn library_in(messages: &[u8]) -> Option<PathBuf> {
    cargo_metadata::Message::parse_stream(messages).filter_map(Result::ok).find_map(|message| match message {
        cargo_metadata::Message::CompilerArtifact(artifact) if artifact.target.name == "xhist_rt" => {
            artifact.filenames.into_iter().find(|name| name.extension() == Some("rlib")).map(PathBuf::from)
        }
        _ => None,
    })
}
