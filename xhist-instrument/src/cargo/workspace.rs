//! What cargo says about the project: members, their targets, editions and directories.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cargo_metadata::{Edition, Metadata, MetadataCommand, Package};

use super::command::Command;
use super::error::Error;
use super::recorder::PACKAGES;

/// The project at hand.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    /// Cargo's own target directory.
    pub(super) target_dir: PathBuf,
    /// Directories of the packages whose targets are instrumented.
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

/// Asks cargo about the members.
pub(super) fn load(command: &Command) -> Result<Workspace, Error> {
    let metadata = metadata(command.project_args().into_iter(), MetadataCommand::new().no_deps())?;
    let mut workspace = Workspace {
        root: metadata.workspace_root.clone().into(),
        target_dir: metadata.target_directory.clone().into(),
        packages: Vec::new(),
        targets: Vec::new(),
    };
    for package in metadata.workspace_packages() {
        if !PACKAGES.contains(&package.name.as_str()) {
            workspace.add(package, |_| true);
        }
    }
    Ok(workspace)
}

/// What `cargo metadata` tells with these arguments.
pub(super) fn metadata(
    args: impl Iterator<Item = OsString>,
    command: &mut MetadataCommand,
) -> Result<Metadata, Error> {
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    command.other_options(args).exec().map_err(|error| match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            Error::step("reading the project (cargo metadata)", stderr.trim_start_matches("error: "))
        }
        other => Error::step("reading the project (cargo metadata)", other),
    })
}

impl Workspace {
    /// Those targets of a package that are wanted and run in the program: a build script and a proc macro run
    /// in the compiler's process.
    pub(super) fn add(&mut self, package: &Package, is_wanted: impl Fn(&cargo_metadata::Target) -> bool) {
        let directory = package.manifest_path.parent().map(|path| path.as_std_path());
        self.packages.extend(directory.map(Path::to_path_buf));
        let targets = package
            .targets
            .iter()
            .filter(|target| is_wanted(target) && !target.is_custom_build() && !target.is_proc_macro());
        self.targets.extend(targets.map(|target| Target {
            root: target.src_path.clone().into(),
            edition2015: target.edition == Edition::E2015,
        }));
    }
}
