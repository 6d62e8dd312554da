//! `-Zbuild-std`: cargo compiles the core library together with the program. A recorder that was built with another core
//! library cannot be linked, so its few libraries are compiled again, with the core library of the program.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::names::UNSTABLE;
use crate::plan::{Recorder, RecorderSource};
use crate::wrapper::rustc_args::values_of;

/// The recorder for a program that is compiled with these arguments; `None`, with a message on stderr, if it does not compile.
pub(crate) fn recorder(
    rustc: &OsStr,
    args: &[OsString],
    built: Recorder,
    wrapper: &Path,
) -> Option<Recorder> {
    let std: Vec<OsString> = values_of(args, "--extern").filter(is_std).collect();
    if !std.iter().any(|value| value.to_string_lossy().contains(":core=")) {
        return Some(built);
    }
    let target: Vec<OsString> = values_of(args, "-C").filter(decides_for_target).collect();
    let mut hasher = DefaultHasher::new();
    (rustc, &std, &target, built.libraries().collect::<Vec<_>>()).hash(&mut hasher);
    let directory = wrapper.with_file_name(format!("recorder-{:016x}", hasher.finish()));
    if !directory.is_dir() {
        // Cargo may compile two crates at the same time: the recorder that is complete first is used.
        let draft = wrapper.with_file_name(format!("recorder-{}", std::process::id()));
        std::fs::create_dir_all(&draft).ok()?;
        for (index, source) in built.sources.iter().enumerate() {
            let mut command = Command::new(rustc);
            let made = &built.sources[..index];
            command.args(arguments(source, made, &draft, args, &std, &target)).envs(UNSTABLE);
            if !command.status().is_ok_and(|status| status.success()) {
                eprintln!(
                    "error: xhist cannot compile the recorder ({}) with this core library",
                    source.name
                );
                return None;
            }
        }
        let _ = std::fs::rename(&draft, &directory);
    }
    let library = |source: &RecorderSource| directory.join(file_name(&source.name));
    let deps: BTreeSet<PathBuf> = built.sources.iter().map(library).collect();
    Some(Recorder { library: directory.join(file_name("xhist_rt")), deps, sources: built.sources })
}

fn arguments(
    source: &RecorderSource,
    made: &[RecorderSource],
    directory: &Path,
    args: &[OsString],
    std: &[OsString],
    target: &[OsString],
) -> Vec<OsString> {
    let mut result: Vec<OsString> = [
        "--crate-name",
        &source.name,
        "--edition",
        &source.edition,
        "--crate-type",
        "rlib",
        "--cap-lints",
        "allow",
        "-C",
        "opt-level=s",
        "-C",
        "codegen-units=1",
        "-C",
        "metadata=xhist",
        "-C",
        "debuginfo=2",
        "-Z",
        "unstable-options",
    ]
    .map(OsString::from)
    .into();
    let mut add = |option: &str, value: OsString| result.extend([option.into(), value]);
    for feature in &source.features {
        add("--cfg", format!("feature={feature:?}").into());
    }
    add("--out-dir", directory.into());
    values_of(args, "--target").for_each(|value| add("--target", value));
    values_of(args, "-L").for_each(|value| add("-L", value));
    add("-L", directory.into());
    std.iter().for_each(|value| add("--extern", value.clone()));
    target.iter().for_each(|value| add("-C", value.clone()));
    for earlier in made {
        let mut named = OsString::from(format!("{}=", earlier.name));
        named.push(directory.join(file_name(&earlier.name)));
        add("--extern", named);
    }
    result.push(source.root.clone().into());
    result
}

/// Whether an `--extern` is part of the standard library: cargo marks those with `noprelude`.
#[allow(clippy::ptr_arg, reason = "a filter takes references to what it iterates over")]
fn is_std(value: &OsString) -> bool {
    value.to_string_lossy().split_once(':').is_some_and(|(options, _)| options.contains("noprelude"))
}

/// Whether an option decides about the processor, its features, or how panics end.
#[allow(clippy::ptr_arg, reason = "as above")]
fn decides_for_target(value: &OsString) -> bool {
    let value = value.to_string_lossy();
    ["target-", "panic=", "soft-float", "relocation-model", "code-model"]
        .iter()
        .any(|start| value.starts_with(start))
}

fn file_name(name: &str) -> String {
    format!("lib{name}.rlib")
}
