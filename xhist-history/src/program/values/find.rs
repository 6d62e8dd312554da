//! Finds the file of the program that recorded a source.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::{DirEntry, WalkDir};

use crate::model::Ring;
use crate::options::{ProgramPlaces, ReadOptions};
use crate::program::values::types::Program;
use crate::runs::record::RunRecord;
use crate::source;

/// Directories below a directory of builds that programs are in.
const DEPTH: usize = 6;

/// Programs that are opened.
const OPENED: usize = 24;

/// A program's file that was found.
pub struct FoundProgram {
    /// Where it is.
    pub path: PathBuf,
    /// Its types.
    pub program: Program,
}

/// Why there is no program.
pub enum NoProgram {
    /// None was found.
    Missing,
    /// It is for Windows and has no types of values, as one of the MSVC target.
    ForWindows(PathBuf),
    /// The one that the user named cannot be used.
    Unfit(PathBuf, Unfit),
}

/// Why a file cannot be used as the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It cannot be read.
    Unreadable,
    /// It is a directory or a device.
    NoFile,
    /// It has no format of programs.
    NoProgram,
    /// It has no types of values.
    NoTypes,
    /// It has another build, or lacks the ring's anchor.
    OtherProgram,
}

impl Display for Unfit {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Unreadable => "cannot be read",
            Self::NoFile => "is not a file",
            Self::NoProgram => "is not a program",
            Self::NoTypes => "has no types of values: it was built without --values",
            Self::OtherProgram => "is not the program that recorded this",
        })
    }
}

/// The program of a ring: the file that the user named, or one that fits and has the types that are wanted.
pub fn find(
    ring: &Ring,
    options: &ReadOptions,
    has_types: &dyn Fn(&Program) -> bool,
) -> Result<FoundProgram, NoProgram> {
    if let Some(path) = options.programs.given.clone() {
        return match open(&path) {
            Err(Unfit::NoTypes) if is_for_windows(&path) => Err(NoProgram::ForWindows(path)),
            Err(why) => Err(NoProgram::Unfit(path, why)),
            Ok(program) if fits(&program, ring) => Ok(FoundProgram { path, program }),
            Ok(_) => Err(NoProgram::Unfit(path, Unfit::OtherProgram)),
        };
    }
    let programs =
        candidates(ring, options).filter_map(|path| Some(FoundProgram { program: open(&path).ok()?, path }));
    let fits = |found: &FoundProgram| fits(&found.program, ring) && !was_built_later(found, options);
    let mut first = None;
    for found in programs.filter(fits) {
        if has_types(&found.program) {
            return Ok(found);
        }
        first.get_or_insert(found);
    }
    first.ok_or_else(|| match named(ring, options).into_iter().find(|path| is_for_windows(path)) {
        Some(path) => NoProgram::ForWindows(path),
        None => NoProgram::Missing,
    })
}

/// Whether a program that does not name its build is newer than what it should have recorded, as after another build.
fn was_built_later(found: &FoundProgram, options: &ReadOptions) -> bool {
    let time = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let recorded = options.programs.source.as_deref().and_then(time);
    let built = time(&found.path);
    !found.program.names_build() && recorded.zip(built).is_some_and(|(recorded, built)| built > recorded)
}

/// Reads the types of a program.
fn open(path: &Path) -> Result<Program, Unfit> {
    let file = File::open(path).map_err(|_| Unfit::Unreadable)?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(Unfit::NoFile);
    }
    let image = source::Image::of_file(&file, &path.display().to_string()).map_err(|_| Unfit::Unreadable)?;
    let program = Program::read(Box::new(image)).ok_or(Unfit::NoProgram)?;
    if program.has_rows() { Ok(program) } else { Err(Unfit::NoTypes) }
}

/// Whether the ring may be one of the program: of the same build, and with its anchor.
fn fits(program: &Program, ring: &Ring) -> bool {
    !program.is_of_other_build(ring.map_hash) && program.slide(ring.anchor).is_ok()
}

/// Files that are named as the program: by the user, a core, the running process, the record of the run, or as met before.
pub fn named(ring: &Ring, options: &ReadOptions) -> Vec<PathBuf> {
    let ProgramPlaces { given, core, source } = &options.programs;
    let mut paths: Vec<PathBuf> = given.iter().chain(core).chain(&ring.program).cloned().collect();
    if options.live.is_some() && ring.pid != 0 && source::is_running(ring.pid) {
        paths.push(format!("/proc/{}/exe", ring.pid).into());
    }
    let names = ring_file_names(options);
    let of_run = source.as_deref().and_then(|ring| RunRecord::of(ring).ok());
    let of_run = of_run.map(|run| run.programs).unwrap_or_default();
    paths.extend(names.iter().filter_map(|name| of_run.get(*name).cloned()));
    paths
}

/// Files that may be the program, the best first. Directories are searched only if no file is named that fits.
pub fn candidates(ring: &Ring, options: &ReadOptions) -> impl Iterator<Item = PathBuf> {
    named(ring, options).into_iter().chain(iter::once_with(|| built(options)).flatten()).take(OPENED)
}

/// Programs in directories of builds: those of the ring file's name first, the newest first.
fn built(options: &ReadOptions) -> Vec<PathBuf> {
    let names = ring_file_names(options);
    let mut found: Vec<(bool, SystemTime, PathBuf)> = Vec::new();
    for dir in directories(options) {
        let entries = WalkDir::new(dir).max_depth(DEPTH).into_iter();
        let entries = entries.filter_entry(|entry| !is_other(entry)).filter_map(Result::ok);
        for entry in entries.filter(is_executable) {
            let Some(made) = entry.metadata().ok().and_then(|metadata| metadata.modified().ok()) else {
                continue;
            };
            // What was built later did not record this.
            if options.written.is_none_or(|written| made <= written) {
                let own = entry.path();
                let own = if is_for_windows(own) { own.file_stem() } else { own.file_name() };
                let is_named = names.iter().any(|name| own.is_some_and(|own| own == *name));
                found.push((is_named, made, entry.into_path()));
            }
        }
    }
    found.sort();
    found.into_iter().rev().map(|(.., path)| path).collect()
}

/// Whether it is a program for Windows, by its name.
fn is_for_windows(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "exe")
}

/// Whether something in a directory of builds has no programs.
fn is_other(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    matches!(&*name, "incremental" | ".fingerprint" | "runs" | "maps" | "shadow" | "wrapper")
        || name.starts_with("build-script-")
}

/// Whether a file may be a program.
fn is_executable(entry: &DirEntry) -> bool {
    if !entry.file_type().is_file() {
        return false;
    }
    if is_for_windows(entry.path()) {
        return true;
    }
    if entry.path().extension().is_some_and(|kind| kind != "elf") {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        entry.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    true
}

fn ring_file_names(options: &ReadOptions) -> Vec<&str> {
    options.programs.source.as_deref().map(names).unwrap_or_default()
}

/// Names that a program may have whose ring file has this path: `NAME-PID.xhist`, or `NAME.xhist`.
fn names(ring_file: &Path) -> Vec<&str> {
    let name = ring_file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.split(".xhist").next().unwrap_or_default();
    let program = stem.rsplit_once('-').map(|(program, _)| program);
    program.into_iter().chain([stem]).filter(|name| !name.is_empty()).collect()
}

/// Directories with builds: those of `cargo xhist`, and cargo's own.
fn directories(options: &ReadOptions) -> Vec<PathBuf> {
    let absolute = |dir: &PathBuf| std::fs::canonicalize(dir).ok();
    let given = [&options.maps.dump_dir, &options.maps.work_dir].into_iter().flatten();
    let mut dirs = Vec::new();
    for dir in given.filter_map(absolute) {
        for above in dir.ancestors() {
            let is_home =
                above.file_name().is_some_and(|name| name == "xhist") && above.join("maps").is_dir();
            let targets = [above.join("target/xhist"), above.join("target")];
            let home = is_home.then(|| above.to_owned());
            dirs.extend(home.into_iter().chain(targets).filter(|dir| dir.is_dir()));
        }
    }
    dirs.dedup();
    // The nearest are enough: a directory of builds may be large.
    dirs.truncate(2);
    dirs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_for_windows_without_types_is_named_as_such() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.exe");
        let found = || {
            let mut options = ReadOptions::default();
            options.programs.given = Some(path.clone());
            find(&Ring::default(), &options, &|_| true).map(|_| ()).err()
        };
        assert!(matches!(found(), Some(NoProgram::Unfit(_, Unfit::Unreadable))));
        // Two headers, no section.
        let mut program = vec![0; 328];
        for (at, bytes) in
            [(0, &b"MZ"[..]), (60, &[64]), (64, b"PE"), (68, &[0x64, 0x86]), (84, &[240]), (88, &[0x0b, 2])]
        {
            program[at..at + bytes.len()].copy_from_slice(bytes);
        }
        std::fs::write(&path, program).expect("a file");
        assert!(matches!(found(), Some(NoProgram::ForWindows(found)) if found == path));
    }

    #[test]
    fn ring_files_are_named_after_their_programs() {
        assert_eq!(names(Path::new("a/app-1f2e-77.xhist")), ["app-1f2e", "app-1f2e-77"]);
        assert_eq!(names(Path::new("app.xhist")), ["app"]);
        assert!(names(Path::new(".xhist")).is_empty());
    }
}
