//! Builds xhist-rt once for each user, compiler and set of compiler options. It is optimised in dev builds too.
//!
//! All crates share the recorder as one library, so it can be inlined into each of them and is still one recorder. Cargo
//! builds it in a separate package, so the user's manifests and lock file do not change.

pub(crate) mod cache;
mod compiler;
pub(crate) mod sources;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use qs_core::inserted::{RECORDINGS, VALUES};

use self::cache::{Cache, Kept};
use self::compiler::{Compiler, output};
use crate::command;
use crate::error::{Error, UsageError};
use crate::names::{COMPILER_NAME, PROFILE, UNOPTIMISED, program_file};
use crate::output::progress::Progress;
use crate::plan::{Recorder, RecorderSource, write_if_changed};
use crate::system;
use crate::workspace::BareRecorder;

/// The recorder's library and those that it is made of; each depends on earlier ones only.
const LIBRARIES: [&str; 8] = [
    "byteorder",
    "libc",
    "windows_link",
    "windows_sys",
    "critical_section",
    "qs_core",
    "xhist_rt",
    UNOPTIMISED,
];

/// What cargo prints where the project replaces the registry by another source, and that has no package of the recorder.
const REPLACED: &str = "(which is replacing registry `crates-io`)";

/// The format of the cache: changes when a cached recorder is made or stored differently.
const FORMAT: u32 = 5;

/// Finds the recorder of each target in a cache, or builds it there: in the user's cache, or else in this project's.
/// `for_dylibs`: a recorder whose fast path also works across dynamic libraries.
pub(crate) fn get(
    command: &command::Command,
    home: &Path,
    for_dylibs: bool,
    bare: &BareRecorder,
    progress: &Progress,
) -> Result<Kept, Error> {
    let mut hosted = vec!["auto"];
    hosted.extend(for_dylibs.then_some("portable"));
    hosted.extend(wants_each(|name| std::env::var(name).ok()).then_some("each"));
    let features = Features { hosted: &hosted, bare };
    let compiler = Compiler::get(&rustc(command), home)?;
    let caches = Cache::all(home.join("cache"));
    let mut kept = Kept::default();
    // However a target is named, and if it is not since it is the host, its recorder is the same.
    let named = crate::command::config::targets(command);
    if named.is_empty() {
        kept.add(of_target(command, &features, (compiler.host()?, &compiler), &caches, progress)?, Some(""));
    }
    for target in &named {
        let target = if target == "host-tuple" { compiler.host()? } else { target };
        kept.add(of_target(command, &features, (target, &compiler), &caches, progress)?, None);
    }
    Ok(kept)
}

/// The recorder of a target.
fn of_target(
    command: &command::Command,
    features: &Features<'_>,
    (target, compiler): (&str, &Compiler),
    caches: &[Cache],
    progress: &Progress,
) -> Result<Kept, Error> {
    let key = key(command, features, (target, compiler));
    if let Some(found) = caches.iter().find_map(|cache| cache.find(&key)) {
        return Ok(found);
    }
    let waits = || progress.long_step("waiting for another cargo xhist that builds the recorder");
    let mut problem = None;
    for cache in caches {
        let _lock = match cache.lock(waits) {
            Ok(lock) => lock,
            Err(error) => {
                problem = Some(Error::file("write in", cache.path())(error));
                continue;
            }
        };
        // The process that held the lock may have built it.
        if let Some(found) = cache.find(&key) {
            return Ok(found);
        }
        // A directory that was passed over is not silent.
        if let Some(problem) = &problem {
            progress.say(&problem.to_string());
        }
        let place = cache.path().display();
        progress.long_step(&format!("building the recorder, once for this compiler, into {place}"));
        let directory = cache.clear(&key)?;
        let package = directory.join("package");
        write_package(&package, &sources::write(&directory.join("src"))?, features)?;
        let draft = tempfile::Builder::new().prefix("build-").tempdir_in(&package);
        let draft = draft.map_err(Error::file("write in", &package))?;
        return cache.keep(&key, &build(command, target, &package, draft.path())?);
    }
    Err(problem.unwrap_or_else(|| Error::step("building the recorder", "there is no directory for it")))
}

/// Whether the environment asks for a stamp or a frame of each statement: then each statement has to check. The recorder
/// accepts the same values.
fn wants_each(variable: impl Fn(&str) -> Option<String>) -> bool {
    crate::command::config::wants_time(&variable) || crate::command::config::wants_frames(&variable)
}

/// The features that the recorder is built with.
#[derive(Debug)]
struct Features<'a> {
    /// On an operating system.
    hosted: &'a [&'a str],
    /// Without one.
    bare: &'a BareRecorder,
}

/// Hash of everything that decides about the machine code of the recorder.
fn key(
    command: &command::Command,
    features: &Features<'_>,
    (target, Compiler { identity, sysroot }): (&str, &Compiler),
) -> String {
    // Two builds of a compiler may have the same version.
    let program = sysroot.join("bin").join(program_file("rustc")).metadata();
    let stamp = program.and_then(|meta| Ok((meta.len(), meta.modified()?))).ok();
    let deciding = crate::command::config::deciding(command, sources::VARIABLES);
    // `deciding` includes `--config`.
    let args = command.unstable_args();
    let text = target.ends_with(".json").then(|| std::fs::read_to_string(target).ok());
    let whole = format!(
        "{FORMAT} {} {:x} {} {identity} {} {stamp:?} {deciding} {args:?} {target} {text:?}",
        env!("CARGO_PKG_VERSION"),
        sources::HASH,
        manifest("", features),
        sysroot.display()
    );
    let mut hash = qs_core::map::Hash::new();
    hash.update(whole.as_bytes());
    format!("{:016x}", hash.finish())
}

fn build(
    command: &command::Command,
    target: &str,
    package: &Path,
    target_dir: &Path,
) -> Result<BTreeMap<String, Recorder>, Error> {
    let mut output = run(command, target, package, target_dir, false)?;
    // The project has its packages beside it. Those of the recorder are elsewhere.
    if String::from_utf8_lossy(&output.stderr).contains(REPLACED) {
        output = run(command, target, package, target_dir, true)?;
    }
    if !output.status.success() {
        return Err(Error::step("building the recorder (xhist-rt)", String::from_utf8_lossy(&output.stderr)));
    }
    let recorders = recorders_in(&output.stdout, target_dir);
    if recorders.is_empty() {
        return Err(Error::step("building the recorder (xhist-rt)", "cargo named no library"));
    }
    Ok(recorders)
}

/// Runs cargo, in the project's directory or outside of it: there with that part of the project's configuration which decides
/// how crates are compiled, and not with the part that says where packages are.
fn run(
    command: &command::Command,
    target: &str,
    package: &Path,
    target_dir: &Path,
    is_outside: bool,
) -> Result<Output, Error> {
    let mut cargo = cargo();
    cargo
        .args(["build", "--profile", PROFILE, "--message-format=json-render-diagnostics", "--quiet"])
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"));
    if is_outside {
        cargo.current_dir(package);
        for (number, text) in
            crate::command::config::deciding_files(command, sources::VARIABLES).iter().enumerate()
        {
            let file = package.join(format!("config-{number}.toml"));
            write_if_changed(&file, text.as_bytes())?;
            cargo.arg("--config").arg(file);
        }
    }
    cargo.args(command.build_args()).args(["--target", target]);
    build_in(&mut cargo, command, target_dir)?;
    let compiler = target_dir.join(program_file(COMPILER_NAME));
    crate::plan::link_program(&compiler)?;
    cargo.arg("--config").arg(config("build.rustc-wrapper", &compiler));
    // The user's wrappers are for the user's crates only.
    cargo.arg("--config").arg(config("build.rustc-workspace-wrapper", Path::new("")));
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER").env_remove("RUSTC_WRAPPER");
    cargo.env_remove("CARGO_INCREMENTAL");
    cargo.stderr(Stdio::piped()).output().map_err(|error| Error::step("running cargo", error))
}

/// Runs as the compiler of the recorder, which must contain both machine code and bitcode. Cargo asks for one of them:
/// without machine code only lld can link it, and without bitcode a program with `lto` cannot use it. `args`: the path of
/// this program, the compiler's path, the compiler's arguments.
pub(crate) fn compile(args: &[OsString]) -> ExitCode {
    let [_, rustc, args @ ..] = args else { return ExitCode::from(1) };
    // Flash is small: without an operating system the recorder is optimised for size.
    let is_bare = args.iter().any(|arg| arg.to_string_lossy().contains("-none"));
    let size = OsString::from("opt-level=s");
    // `RUSTFLAGS="-D warnings"` is about the user's crates. As of any dependency, warnings about the recorder are not shown.
    let lints = ["--cap-lints", "allow"].map(OsString::from);
    let mut kept: Vec<&OsString> = Vec::new();
    for arg in args {
        if arg == "embed-bitcode=no" {
            kept.pop();
        } else if is_bare && arg == "opt-level=3" {
            kept.push(&size);
        } else {
            kept.push(arg);
        }
    }
    // Cargo also asks which crate types the target has, and learns those that it has not from warnings.
    let asks = args.iter().any(|arg| arg.to_string_lossy().starts_with("--print"));
    if !asks && !args.contains(&lints[0]) {
        kept.extend(&lints);
    }
    let error = system::become_program(Command::new(rustc).args(kept));
    eprintln!("error: cannot run {}: {error}", rustc.display());
    ExitCode::from(101)
}

/// The targets that these recorders are for.
pub(crate) fn targets(
    command: &command::Command,
    recorders: &BTreeMap<String, Recorder>,
) -> Result<Vec<String>, Error> {
    let host = || {
        let identity = output(Command::new(rustc(command)).arg("-vV"))?;
        Ok(compiler::host(&identity)?.to_owned())
    };
    recorders.keys().map(|target| if target.is_empty() { host() } else { Ok(target.clone()) }).collect()
}

/// Whether a `cfg(...)` of cargo's configuration holds for a target.
pub(crate) fn holds(command: &command::Command, target: &str, name: &str) -> bool {
    let Ok(platform) = name.parse::<cargo_platform::Platform>() else { return false };
    // Without an answer of the compiler, cargo ends with its message.
    let text = output(Command::new(rustc(command)).args(["--print", "cfg", "--target", target]));
    let cfgs: Vec<_> = text.unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect();
    platform.matches(target, &cfgs)
}

/// The compiler that cargo will call.
fn rustc(command: &command::Command) -> OsString {
    crate::command::config::tool(command, "rustc").unwrap_or_else(|| "rustc".into())
}

/// Makes cargo write all its output to this directory, whatever its configuration says.
pub(crate) fn build_in(
    cargo: &mut Command,
    command: &command::Command,
    directory: &Path,
) -> Result<(), Error> {
    cargo.arg("--target-dir").arg(directory);
    if let Some(value) = build_dir(command, directory)? {
        cargo.arg("--config").arg(config("build.build-dir", &value));
    }
    Ok(())
}

/// Cargo interprets braces in `build.build-dir` as placeholders, and they cannot be escaped. So a path with braces is given
/// relative to the working directory. `None`: cargo uses the directory without being asked.
fn build_dir(command: &command::Command, directory: &Path) -> Result<Option<PathBuf>, Error> {
    if !has_braces(directory) {
        return Ok(Some(directory.to_path_buf()));
    }
    if !crate::command::config::has_build_dir(command) {
        return Ok(None);
    }
    // Not with `..`: cargo would see another directory, and wait for its own lock.
    let here = std::env::current_dir().unwrap_or_default();
    match directory.strip_prefix(here) {
        Ok(inside) if !has_braces(inside) => Ok(Some(inside.to_path_buf())),
        _ => Err(UsageError::Braces(directory.to_path_buf()).into()),
    }
}

fn has_braces(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| b"{}".contains(byte))
}

/// A value of `--config`.
pub(crate) fn config(key: &str, path: &Path) -> String {
    format!("{key}={}", toml::Value::String(path.display().to_string()))
}

/// The cargo that called us.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    // `cargo run` sets variables that describe the package of this program: they must not reach the inner cargo.
    if std::env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME")) {
        let names = std::env::vars_os().map(|(name, _)| name);
        let own = |name: &OsString| {
            let name = name.to_string_lossy();
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "CARGO_BIN_NAME"
        };
        for name in names.filter(own) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Writes a package whose only dependency is the recorder at this place.
fn write_package(directory: &Path, place: &str, features: &Features<'_>) -> Result<(), Error> {
    write_if_changed(&directory.join("Cargo.toml"), manifest(place, features).as_bytes())?;
    let names = RECORDINGS.iter().map(|call| call.name).chain(VALUES.iter().map(|call| call.name));
    let names = names.collect::<Vec<_>>().join(", ");
    // Names that are imported explicitly hide those of the glob.
    let root = format!(
        r#"#![no_std]
pub use xhist_rt::*;
#[cfg(not(target_os = "none"))]
pub use xhist_rt::unoptimised::{{{names}}};
"#
    );
    write_if_changed(&directory.join("lib.rs"), root.as_bytes())
}

/// The manifest of that package.
fn manifest(place: &str, features: &Features<'_>) -> String {
    let hosted = features.hosted.iter().map(|feature| format!("{feature:?}")).collect::<Vec<_>>().join(", ");
    let bare =
        features.bare.features.iter().map(|feature| format!("{feature:?}")).collect::<Vec<_>>().join(", ");
    // The program's own functions are called by name, so their types must be the same.
    let state = features.bare.restore_state.as_ref();
    let section = state
        .map(|state| format!("critical-section = {{ version = \"1.2\", features = [{state:?}] }}\n"))
        .unwrap_or_default();
    // A library that unwinds can be linked into programs that abort. The user's configuration may change the profile
    // `release`, so everything that matters is set here.
    format!(
        r#"# Written by cargo xhist; changes are lost.
[package]
name = "xhist-recorder"
version = "0.0.0"
edition = "2021"

[workspace]
resolver = "3"

[lib]
path = "lib.rs"

[target.'cfg(target_os = "none")'.dependencies]
xhist-rt = {{ {place}, features = [{bare}] }}
{section}
[target.'cfg(not(target_os = "none"))'.dependencies]
xhist-rt = {{ {place}, features = [{hosted}] }}

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
incremental = false
"#
    )
}

/// The place of a library in [`LIBRARIES`].
fn place(name: &str) -> Option<usize> {
    LIBRARIES.iter().position(|library| *library == name)
}

/// The libraries in cargo's messages, by target: the directory of a library is named after it.
fn recorders_in(messages: &[u8], target_dir: &Path) -> BTreeMap<String, Recorder> {
    let mut recorders: BTreeMap<String, Recorder> = BTreeMap::new();
    for message in cargo_metadata::Message::parse_stream(messages).filter_map(Result::ok) {
        let cargo_metadata::Message::CompilerArtifact(artifact) = message else { continue };
        for file in artifact.filenames.iter().filter(|name| name.extension() == Some("rlib")) {
            let Ok(inside) = file.as_std_path().strip_prefix(target_dir) else { continue };
            let target = inside.iter().next().unwrap_or_default().to_string_lossy();
            let recorder = recorders.entry(target.into_owned()).or_default();
            if place(&artifact.target.name).is_some() {
                recorder.sources.push(RecorderSource {
                    name: artifact.target.name.clone(),
                    root: artifact.target.src_path.clone().into(),
                    edition: artifact.target.edition.to_string(),
                    features: artifact.features.clone(),
                });
            }
            match artifact.target.name.as_str() {
                "xhist_rt" => recorder.library = file.into(),
                name if place(name).is_some() => _ = recorder.deps.insert(file.into()),
                // The standard library, with `-Zbuild-std`.
                _ => {}
            }
        }
    }
    recorders.retain(|_, recorder| recorder.library.is_absolute());
    recorders.values_mut().for_each(|recorder| recorder.sources.sort_by_key(|source| place(&source.name)));
    recorders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_may_ask_for_a_stamp_of_each_statement() {
        for (name, value, is) in [
            ("XHIST_TIME", "on", true),
            ("XHIST_TIME", " On ", true),
            ("XHIST_TIME", "1", true),
            ("XHIST_TIME", "off", false),
            ("XHIST_TIME", "exact", false),
            ("XHIST_FRAMES", "single", true),
            ("XHIST_FRAMES", "EXACT", true),
            ("XHIST_FRAMES", "packed", false),
            ("XHIST_FRAMES", "on", false),
            ("XHIST", "on", false),
        ] {
            let wants = wants_each(|asked| (asked == name).then(|| value.to_owned()));
            assert_eq!(wants, is, "{name}={value}");
        }
    }
}
