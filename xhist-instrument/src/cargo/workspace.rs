//! What cargo says about the project: members, their targets, editions and directories.

use std::path::{Path, PathBuf};

use super::command::Command;
use super::error::Error;

/// Packages that must not record themselves.
const OWN_PACKAGES: [&str; 2] = ["xhist-rt", "qs-core"];

/// The project at hand.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    /// Cargo's own target directory.
    pub(super) target_dir: PathBuf,
    /// Directories of the members whose targets are instrumented.
    pub(super) packages: Vec<PathBuf>,
    pub(super) targets: Vec<Target>,
}

/// A crate to instrument.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Its root file.
    pub(super) root: PathBuf,
    pub(super) edition2015: bool,
}

/// Asks cargo.
pub(super) fn load(command: &Command) -> Result<Workspace, Error> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .no_deps()
        .other_options(
            command.project_args().iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>(),
        )
        .exec()
        .map_err(|error| match error {
            cargo_metadata::Error::CargoMetadata { stderr } => {
                Error::step("reading the project (cargo metadata)", stderr.trim_start_matches("error: "))
            }
            other => Error::step("reading the project (cargo metadata)", other),
        })?;
    let mut workspace = Workspace {
        root: metadata.workspace_root.clone().into(),
        target_dir: metadata.target_directory.clone().into(),
        packages: Vec::new(),
        targets: Vec::new(),
    };
    for package in metadata.workspace_packages() {
        if OWN_PACKAGES.contains(&package.name.as_str()) {
            continue;
        }
        let directory = package.manifest_path.parent().map(|path| path.as_std_path());
        workspace.packages.extend(directory.map(Path::to_path_buf));
        // A build script and a proc macro run inside the compiler's process, not in the program.
        let runs_elsewhere =
            |target: &&cargo_metadata::Target| !target.is_custom_build() && !target.is_proc_macro();
        workspace.targets.extend(package.targets.iter().filter(runs_elsewhere).map(|target| Target {
            root: target.src_path.clone().into(),
            edition2015: target.edition == cargo_metadata::Edition::E2015,
        }));
    }
    Ok(workspace)
}
