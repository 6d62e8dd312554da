//! Code that build scripts make. Only here, when its crate is compiled, is it there and up to date.
//!
//! A crate that includes such files is compiled with a copy of its `OUT_DIR` in the shadow. When a file is new to the
//! preparation, or has changed since, the compilation ends, and the build is repeated with the file.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::rustc_args::{pass, with_path, without_output};
use crate::error::Error;
use crate::keep::facts::sum;
use crate::names::{FOUND, GENERATED};
use crate::plan::{FoundFile, GeneratedFile, WrapperPlan, write_if_changed};

/// Most files of a directory that are looked at.
const MAX_FILES: usize = 10_000;

/// The directory in which a crate finds the code of its build script.
pub(super) enum OutDir {
    /// Cargo's, or none.
    Plain,
    /// Its copy.
    Copy(PathBuf),
    /// These files are not known to the plan as they are.
    Unknown(Vec<FoundFile>),
}

/// Finds out. `expand` runs the compiler up to the list of the files that it needs, and returns that list.
pub(super) fn out_dir(
    plan: &WrapperPlan,
    wrapper: &Path,
    dep_info: &Path,
    expand: impl FnOnce(&Path) -> Option<String>,
) -> OutDir {
    let Some(out_dir) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return OutDir::Plain };
    let mut sources = Vec::new();
    add_sources(&out_dir, &mut sources);
    let known: BTreeMap<&PathBuf, &GeneratedFile> =
        plan.generated.iter().filter(|(file, _)| file.starts_with(&out_dir)).collect();
    let found = |file: &PathBuf| FoundFile { out_dir: out_dir.clone(), file: file.clone() };
    let changed = known.iter().filter(|(file, known)| {
        let is_same = std::fs::read(file).is_ok_and(|text| sum(&text) == known.sum);
        !is_same || known.is_recorded && !has_all_beside(plan, &out_dir, file)
    });
    let mut unknown: Vec<FoundFile> = changed.map(|(file, _)| found(file)).collect();
    let new: Vec<&PathBuf> =
        sources.iter().filter(|file| !known.contains_key(file) && has_functions(file)).collect();
    if unknown.is_empty() && !new.is_empty() && plan.asks {
        let needed = needed(wrapper, dep_info, &out_dir, &new, expand);
        unknown.extend(new.into_iter().filter(|file| needed.contains(*file)).map(found));
    }
    let has_copy = known.values().any(|known| known.is_recorded);
    match unknown.is_empty() {
        true if has_copy => OutDir::Copy(plan.shadow_of(&out_dir)),
        false if plan.asks => OutDir::Unknown(unknown),
        _ => OutDir::Plain,
    }
}

/// Asks for a preparation with these files.
pub(super) fn ask(wrapper: &Path, dep_info: &Path, unknown: &[FoundFile]) -> Result<(), Error> {
    let text = serde_json::to_vec(unknown).map_err(|error| Error::step("naming generated code", error))?;
    write_if_changed(&wrapper.with_file_name(FOUND).join(dep_info.file_name().unwrap_or_default()), &text)
}

/// Those of `new` that the crate includes. A list of files of which it includes none is kept, so that the compiler is asked
/// once.
fn needed(
    wrapper: &Path,
    dep_info: &Path,
    out_dir: &Path,
    new: &[&PathBuf],
    expand: impl FnOnce(&Path) -> Option<String>,
) -> BTreeSet<PathBuf> {
    let list = wrapper.with_file_name("not-included").join(dep_info.file_name().unwrap_or_default());
    let names = format!("{new:?}");
    if std::fs::read_to_string(&list).is_ok_and(|known| known == names) {
        return BTreeSet::new();
    }
    // Where the compiler fails here, it fails again, and reports why.
    let Some(text) = expand(&list.with_extension("d")) else { return BTreeSet::new() };
    let needed: BTreeSet<PathBuf> =
        included(&text, &out_dir.to_string_lossy()).iter().map(|name| out_dir.join(name)).collect();
    if !new.iter().any(|file| needed.contains(*file)) {
        let _ = write_if_changed(&list, names.as_bytes());
    }
    needed
}

/// A run of the compiler that only writes the list of the files that it needs. Returns the list.
pub(super) fn expand(command: &mut Command, args: &[OsString], list: &Path) -> Option<String> {
    let directory = list.parent()?;
    std::fs::create_dir_all(directory).ok()?;
    let mut args = without_output(args);
    args.push(with_path("--emit=dep-info=", list));
    let _file = pass(command, &args, directory).ok()?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let is_done = command.status().is_ok_and(|status| status.success());
    let text = std::fs::read_to_string(list).ok().filter(|_| is_done);
    let _ = std::fs::remove_file(list);
    text
}

/// Writes down which generated files this crate includes that are not recorded: `cargo xhist` reports them.
pub(super) fn note_unrecorded(plan: &WrapperPlan, wrapper: &Path, dep_info: &Path, has_copy: bool) {
    let Some(out_dir) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let Ok(text) = std::fs::read_to_string(dep_info) else { return };
    let is_recorded = |name: &String| {
        has_copy && plan.generated.get(&out_dir.join(name)).is_some_and(|known| known.is_recorded)
    };
    let files = included(&text, &out_dir.to_string_lossy());
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let note = wrapper.with_file_name(GENERATED).join(dep_info.file_name().unwrap_or_default());
    let left = files.iter().filter(|name| !is_recorded(name) && has_functions(&out_dir.join(name)));
    let lines: String = left.map(|file| format!("{file} of {package}\n")).collect();
    // If the note cannot be written, the report is missing.
    let _ = match lines.is_empty() {
        true => std::fs::remove_file(&note).map_err(Error::file("remove", &note)),
        false => write_if_changed(&note, lines.as_bytes()),
    };
}

/// Sources in this directory that a dependency file names, relative to the directory.
fn included(dep_info: &str, out_dir: &str) -> BTreeSet<String> {
    let begin = out_dir.replace(' ', "\\ ");
    let below = |line| str::strip_prefix(line, &begin)?.strip_prefix(std::path::is_separator);
    let lines = dep_info.lines().filter_map(below);
    // Each file that a crate needs has a line of its own as well.
    let names = lines.filter_map(|line| line.strip_suffix(':')).filter(|name| name.ends_with(".rs"));
    names.map(|name| name.replace("\\ ", " ")).collect()
}

/// Whether a file may have functions. Tables and names have no statements.
fn has_functions(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|text| text.windows(3).any(|word| word == b"fn "))
}

/// Adds the sources in a directory and below. Links are not followed.
fn add_sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if found.len() >= MAX_FILES {
            return;
        }
        match kind {
            Ok(kind) if kind.is_dir() => add_sources(&path, found),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "rs") => found.push(path),
            _ => {}
        }
    }
}

/// Whether the copy has everything that is beside the file now.
fn has_all_beside(plan: &WrapperPlan, out_dir: &Path, file: &Path) -> bool {
    let directories = file.ancestors().skip(1).take_while(|directory| directory.starts_with(out_dir));
    directories.into_iter().all(|directory| {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.into_iter().all(|entry| plan.shadow_of(&entry.path()).symlink_metadata().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_sources_are_found_among_what_a_crate_needs() {
        let text = "/t/a.d: src/a.rs /t/my\\ out/b.rs /t/my\\ out/c.bin\n\nsrc/a.rs:\n/t/my\\ out/b.rs:\n/t/my\\ out/c.bin:\n";
        assert_eq!(included(text, "/t/my out"), ["b.rs".to_owned()].into());
    }
}
