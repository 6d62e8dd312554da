//! The plan: a file beside the compiler wrapper, through which `cargo xhist` controls it.
//!
//! It is not in the environment, which would reach the traced program, and whose changes cargo does not see.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::names::{
    DEPENDENCY_NAME, FIRMWARE_RUNNER_NAME, OUTER_NAME, RUNNER_NAME, UNOPTIMISED, WRAPPER_NAME, program_file,
};
use crate::system;
use crate::system::place::place;

const FILE_NAME: &str = "plan.json";

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WrapperPlan {
    /// The workspace as cargo names it; the path may be a link.
    pub(crate) root: PathBuf,
    /// The directory that contains the shadow of `/`.
    pub(crate) shadow: PathBuf,
    /// Root files that have a shadow.
    pub(crate) roots: BTreeSet<PathBuf>,
    /// The recorder for each target that the build names; for the host under "" if it names none.
    pub(crate) recorders: BTreeMap<String, Recorder>,
    /// The user's own wrapper of every compiler call, if ours replaces it.
    pub(crate) user_wrapper: Option<OsString>,
    /// The user's own wrapper for members, which ours always replaces.
    pub(crate) user_member_wrapper: Option<OsString>,
    /// Hash of the map, for `fn main`.
    pub(crate) map_hash: String,
    /// The map that is kept under this hash, for the program's file.
    pub(crate) map: PathBuf,
    /// The program records values: its debug information describes them.
    pub(crate) has_values: bool,
    /// Names of functions that lost the keyword `const`, and of macros whose rules have calls, those with a `!`.
    pub(crate) freed: BTreeSet<String>,
    /// Files that build scripts made, as they were when the shadow was written.
    pub(crate) generated: BTreeMap<PathBuf, GeneratedFile>,
    /// The wrapper asks for a preparation when it finds another one.
    pub(crate) asks: bool,
    /// Names of files, for programs that send them to a host: lines of an id, a blank and a path.
    pub(crate) file_names: String,
}

/// A file that a build script made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GeneratedFile {
    /// A sum of its text.
    pub(crate) sum: u64,
    /// It has a copy in the shadow. Others cannot be instrumented.
    pub(crate) is_recorded: bool,
}

/// A file that a build script made and a crate includes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FoundFile {
    /// The directory of the build script.
    pub(crate) out_dir: PathBuf,
    /// The file.
    pub(crate) file: PathBuf,
}

/// A built recorder.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recorder {
    pub(crate) library: PathBuf,
    /// The libraries it depends on.
    pub(crate) deps: BTreeSet<PathBuf>,
    /// The sources of all of them, each behind those that it depends on.
    pub(crate) sources: Vec<RecorderSource>,
}

/// A library of the recorder, to be compiled again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecorderSource {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    pub(crate) edition: String,
    pub(crate) features: Vec<String>,
}

impl Recorder {
    /// The library and those that it depends on.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &Path> {
        self.deps.iter().chain([&self.library]).map(PathBuf::as_path)
    }

    /// The library for a crate that is optimised or not. A statement is a few plain stores in one, and a piece of assembly in
    /// the other; both use the same recorder.
    pub(crate) fn library_for(&self, is_optimised: bool) -> &Path {
        let is_unoptimised = |library: &&PathBuf| {
            library.file_name().is_some_and(|name| name.to_string_lossy().contains(UNOPTIMISED))
        };
        self.deps.iter().find(is_unoptimised).filter(|_| !is_optimised).unwrap_or(&self.library)
    }

    /// Whether it was built for an operating system, where programs have files.
    pub(crate) fn is_hosted(&self) -> bool {
        let is_auto = |feature: &String| feature == "auto";
        self.sources.iter().any(|source| source.name == "xhist_rt" && source.features.iter().any(is_auto))
    }

    /// The recorder with each path changed by a function.
    pub(crate) fn with_paths(&self, change: impl Fn(&Path) -> PathBuf) -> Recorder {
        let of_source =
            |source: &RecorderSource| RecorderSource { root: change(&source.root), ..source.clone() };
        Recorder {
            library: change(&self.library),
            deps: self.deps.iter().map(|library| change(library)).collect(),
            sources: self.sources.iter().map(of_source).collect(),
        }
    }
}

impl WrapperPlan {
    /// Reads the plan beside the wrapper.
    pub(crate) fn beside(wrapper: &Path) -> Option<WrapperPlan> {
        let text = std::fs::read(wrapper.with_file_name(FILE_NAME)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The file of the plan in a directory.
    pub(crate) fn file(directory: &Path) -> PathBuf {
        directory.join(FILE_NAME)
    }

    /// Writes the plan into `directory`, and links this program there under its other names.
    pub(crate) fn install(&self, directory: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| Error::step("writing the plan", error))?;
        write_if_changed(&Self::file(directory), &text)?;
        let first = directory.join(program_file(WRAPPER_NAME));
        link_program(&first)?;
        [DEPENDENCY_NAME, OUTER_NAME, RUNNER_NAME, FIRMWARE_RUNNER_NAME]
            .iter()
            .try_for_each(|name| put_program(&first, true, &directory.join(program_file(name))))
    }

    /// The name that cargo has for a directory, given the system's: paths of files are relative to cargo's.
    pub(crate) fn named(&self, directory: PathBuf) -> PathBuf {
        let is_root = dunce::canonicalize(&self.root).is_ok_and(|root| root == directory);
        if is_root { self.root.clone() } else { directory }
    }

    /// The shadow of a file.
    pub(crate) fn shadow_of(&self, path: &Path) -> PathBuf {
        place(&self.shadow, path)
    }
}

/// Links or copies this program under another name. The wrapper must stay the same while cargo runs, even if another version
/// is installed.
pub(crate) fn link_program(name: &Path) -> Result<(), Error> {
    put_program(&program()?, system::LINKS_RUNNING_PROGRAMS, name)
}

/// Links a program, or copies it where it may not or cannot be linked.
fn put_program(program: &Path, may_link: bool, name: &Path) -> Result<(), Error> {
    let len = |path: &Path| path.symlink_metadata().ok().filter(Metadata::is_file).map(|meta| meta.len());
    // A directory is for one version, see `build_key.rs`.
    if program.metadata().is_ok_and(|meta| len(name) == Some(meta.len())) {
        return Ok(());
    }
    let directory = name.parent().unwrap_or(Path::new("."));
    let draft = tempfile::tempdir_in(directory).map_err(Error::file("write in", directory))?;
    let draft = draft.path().join("program");
    if !may_link || std::fs::hard_link(program, &draft).is_err() {
        std::fs::copy(program, &draft).map_err(Error::file("write", &draft))?;
    }
    std::fs::rename(&draft, name).map_err(Error::file("create", name))
}

/// The file of the running program.
pub(crate) fn program() -> Result<PathBuf, Error> {
    system::running_program().map_err(|error| Error::step("finding this program", error))
}

/// Replaces a file atomically. A file that has this text already is not touched.
pub(crate) fn write_if_changed(path: &Path, text: &[u8]) -> Result<(), Error> {
    let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    if !is_link && std::fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(Error::file("create", directory))?;
    let mut file =
        system::readable_files().tempfile_in(directory).map_err(Error::file("write in", directory))?;
    std::io::Write::write_all(&mut file, text).map_err(Error::file("write", path))?;
    file.persist(path).map_err(|error| Error::file("write", path)(error.error))?;
    Ok(())
}
