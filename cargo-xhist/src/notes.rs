//! Notes on a build: how to start the program so that it keeps its history, and which code is not recorded. A note of the
//! second kind is printed once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cargo_metadata::TargetKind;

use crate::command::{Command, Verb};
use crate::names::{GENERATED, program_file};
use crate::plan::{Recorder, write_if_changed};
use crate::prepare::prepared::Prepared;
use crate::prepare::recorder;
use crate::system;
use crate::workspace::defmt::Defmt;
use crate::workspace::deps;
use crate::workspace::{CrateTarget, Workspace};
use xhist_instrument::shell::word;

/// The most generated files that one line names.
const NAMED: usize = 4;

/// Names path dependencies outside the workspace that are not recorded.
pub(crate) fn outside(
    workspace: &Workspace,
    command: &Command,
    home: &Path,
    recorders: &BTreeMap<String, Recorder>,
) {
    if !workspace.has_outside || command.is_quiet() {
        return;
    }
    // Asking cargo takes some tenths of a second: only when the lock file or the question has changed.
    let lock = std::fs::metadata(workspace.root.join("Cargo.lock")).and_then(|meta| meta.modified()).ok();
    let question = format!("{lock:?} {:?} {:?}", command.own.deps, command.feature_args());
    let asked = home.join("asked");
    if std::fs::read_to_string(&asked).is_ok_and(|old| old == question) {
        return;
    }
    // Cargo itself reports what is wrong.
    let Ok(targets) = recorder::targets(command, recorders) else { return };
    let Ok(found) = deps::outside(workspace, command, &targets) else { return };
    let _ = write_if_changed(&asked, question.as_bytes());
    if !found.is_empty() {
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let places: Vec<String> =
            found.iter().map(|(name, path)| format!("{name} ({})", shown(path).display())).collect();
        let (many, places) = (if names.len() == 1 { "y" } else { "ies" }, places.join(", "));
        let line = format!(
            "not recorded: path dependenc{many} outside the workspace: {places}; add --deps {}",
            names.join(",")
        );
        say_once(home, &line);
    }
}

/// Members that are not recorded, what was chosen for the recorder and the user may want otherwise, and log lines that are not
/// recorded.
pub(crate) fn of_workspace(workspace: &Workspace, command: &Command, home: &Path) {
    let unknown = match &workspace.bare.defmt {
        Some(Defmt::Unknown(note)) => Some(note),
        _ => None,
    };
    for name in workspace.of_recorder.iter().filter(|_| !command.is_quiet()) {
        say_once(
            home,
            &format!("not recorded: the package {name}, because the recorder uses a package of this name"),
        );
    }
    for note in workspace.bare.notes.iter().chain(unknown).filter(|_| !command.is_quiet()) {
        say_once(home, note);
    }
}

/// Names generated code that crates include, from the notes of the wrapper.
pub(crate) fn generated(command: &Command, home: &Path, wrappers: &Path) {
    if command.is_quiet() {
        return;
    }
    let notes = std::fs::read_dir(wrappers.join(GENERATED)).into_iter().flatten().flatten();
    let texts: Vec<String> = notes.filter_map(|note| std::fs::read_to_string(note.path()).ok()).collect();
    let files: BTreeSet<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    if !files.is_empty() {
        let named = files.iter().copied().take(NAMED).collect::<Vec<_>>().join(", ");
        let more = match files.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        say_once(home, &format!("not recorded: code that a build script makes (in OUT_DIR): {named}{more}"));
    }
}

/// Prints a line unless it was printed before.
fn say_once(home: &Path, line: &str) {
    let path = home.join("said");
    let mut said = std::fs::read_to_string(&path).unwrap_or_default();
    if !said.lines().any(|old| old == line) {
        eprintln!("xhist: {line}");
        said += &format!("{line}\n");
        let _ = write_if_changed(&path, said.as_bytes());
    }
}

/// After a build: prints the command that runs the newest program so that its history is kept.
pub(crate) fn how_to_run(command: &Command, workspace: &Workspace, home: &Path, prepared: &Prepared) {
    if command.is_quiet() || command.verb == Verb::Check {
        return;
    }
    let recorders = prepared.kept.recorders.iter().filter(|(_, recorder)| recorder.is_hosted());
    let profile = command.profile_directory();
    let directories: Vec<PathBuf> =
        recorders.map(|(target, _)| prepared.build.join(target).join(&profile)).collect();
    let program = newest(programs(command, &workspace.targets, &directories));
    let Some(made) = program.clone().or_else(|| newest(libraries(workspace, &directories))) else { return };
    let here = std::env::current_dir().unwrap_or_default();
    // In this directory the command finds the newest file by itself.
    let (ring, report) = match here.ancestors().any(|directory| directory.join("target/xhist") == home) {
        true => (shown(home).join("%e-%p.xhist"), "cargo xhist history".to_owned()),
        false => {
            let ring = shown(home).join(made.with_extension("xhist").file_name().unwrap_or_default());
            let report = format!("cargo xhist history {}", word(&ring));
            (ring, report)
        }
    };
    let ring = word(&ring);
    match program.map(|program| shown(&program)) {
        Some(program) => {
            let start = system::with_variable("XHIST_FILE", &ring, &word(&program));
            eprintln!("xhist: to keep its history: {start}");
        }
        None => {
            let library = word(&shown(&made));
            eprintln!("xhist: to keep its history, start what loads {library} with XHIST_FILE={ring}");
        }
    }
    eprintln!("xhist: to read it then: {report}");
}

/// The file that was written last.
fn newest(files: Vec<PathBuf>) -> Option<PathBuf> {
    let dated = files.into_iter().filter_map(|file| Some((written(&file)?, file)));
    dated.max().map(|(_, file)| file)
}

/// The programs of the command.
fn programs(command: &Command, targets: &[CrateTarget], directories: &[PathBuf]) -> Vec<PathBuf> {
    if !matches!(command.verb, Verb::Build | Verb::Run) {
        return directories.iter().flat_map(|directory| tests(targets, &directory.join("deps"))).collect();
    }
    let packages = command.values("--package", Some("-p"));
    let is = |target: &CrateTarget, kind| target.kinds.contains(&kind);
    let (binaries, examples) = (command.values("--bin", None), command.values("--example", None));
    let wants_examples =
        !examples.is_empty() || command.has("--examples", 0) || command.has("--all-targets", 0);
    let is_wanted = |target: &&CrateTarget| {
        let of_package =
            packages.is_empty() || packages.iter().any(|package| package.contains(&target.package));
        let named = if is(target, TargetKind::Bin) {
            binaries.is_empty() && examples.is_empty() || binaries.contains(&target.name)
        } else {
            is(target, TargetKind::Example)
                && wants_examples
                && (examples.is_empty() || examples.contains(&target.name))
        };
        of_package && named
    };
    let place = |target: &CrateTarget| match is(target, TargetKind::Bin) {
        true => PathBuf::from(program_file(&target.name)),
        false => Path::new("examples").join(program_file(&target.name)),
    };
    let places: Vec<PathBuf> = targets.iter().filter(is_wanted).map(place).collect();
    directories.iter().flat_map(|directory| places.iter().map(|place| directory.join(place))).collect()
}

/// The test programs, which have a hash behind their names.
fn tests(targets: &[CrateTarget], directory: &Path) -> Vec<PathBuf> {
    let names: BTreeSet<String> = targets.iter().map(|target| target.name.replace('-', "_")).collect();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_test = |name: &str| {
        let parts = name.rsplit_once('-').filter(|(_, hash)| hash.len() == 16 && !hash.contains('.'));
        parts.is_some_and(|(name, _)| names.contains(&name.replace('-', "_")))
    };
    let is_program = |entry: &DirEntry| {
        let (file, meta) = (entry.file_name(), entry.path().metadata());
        meta.is_ok_and(|meta| system::program_name(&file.to_string_lossy(), &meta).is_some_and(is_test))
    };
    entries.filter(is_program).map(|entry| entry.path()).collect()
}

/// The dynamic libraries for programs in other languages.
fn libraries(workspace: &Workspace, directories: &[PathBuf]) -> Vec<PathBuf> {
    let shared = workspace.targets.iter().filter(|target| target.kinds.contains(&TargetKind::CDyLib));
    let names: Vec<String> = shared
        .map(|target| {
            let (begin, end) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
            format!("{begin}{}{end}", target.name.replace('-', "_"))
        })
        .collect();
    directories.iter().flat_map(|directory| names.iter().map(|name| directory.join(name))).collect()
}

fn written(file: &Path) -> Option<SystemTime> {
    file.metadata().ok().filter(|meta| meta.is_file())?.modified().ok()
}

/// A path, relative to the working directory where that is shorter.
fn shown(path: &Path) -> PathBuf {
    let Ok(here) = std::env::current_dir() else { return path.to_path_buf() };
    if let Ok(inside) = path.strip_prefix(&here) {
        return inside.to_path_buf();
    }
    match here.parent().and_then(|above| path.strip_prefix(above).ok()) {
        Some(beside) if here.components().count() > 2 => Path::new("..").join(beside),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_for_a_shell() {
        assert_eq!(word(Path::new("target/xhist/%e-%p.xhist")), "target/xhist/%e-%p.xhist");
        assert_eq!(word(Path::new("a b/{c}")), "'a b/{c}'");
        assert_eq!(word(Path::new("it's")), r"'it'\''s'");
        assert_eq!(word(Path::new("$HOME")), "'$HOME'");
    }

    #[test]
    fn a_line_is_printed_once() {
        let home = tempfile::tempdir().expect("a directory");
        say_once(home.path(), "one");
        say_once(home.path(), "two");
        say_once(home.path(), "one");
        let said = std::fs::read_to_string(home.path().join("said")).expect("what was said");
        assert_eq!(said, "one\ntwo\n");
    }
}
