//! The project according to cargo: members, their targets, editions and directories.

pub(crate) mod bare_recorder;
pub(crate) mod defmt;
pub(crate) mod deps;
pub(crate) mod kept_analyses;
mod kept_memory;
pub(crate) mod module_graph;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cargo_metadata::{Edition, Metadata, MetadataCommand, Package, TargetKind};

use xhist_instrument::select::{ManifestSettings, ValueFilter, ValueSelection, module_path};
use xhist_instrument::{Analysis, Settings};

use self::defmt::Defmt;
use crate::command::Command;
use crate::error::{Error, UsageError};
use crate::names::PACKAGES;
use xhist_instrument::files::normal::normal;

/// The user's project.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Cargo's own target directory.
    pub(crate) target_dir: PathBuf,
    pub(crate) packages: Vec<Member>,
    pub(crate) targets: Vec<CrateTarget>,
    /// The directories of instrumented packages that are not members.
    pub(crate) dependencies: Vec<PathBuf>,
    /// Some member is a dynamic library for other Rust crates: code that is inlined into those must reach the recorder.
    pub(crate) has_dylib: bool,
    /// There are packages outside the workspace that members name by a path, or that may patch others.
    pub(crate) has_outside: bool,
    /// Members that have the name of a package of the recorder: they are not recorded.
    pub(crate) of_recorder: Vec<String>,
    /// The recorder for firmware.
    pub(crate) bare: BareRecorder,
    /// `[workspace.metadata.xhist]`.
    settings: Option<ManifestSettings>,
}

/// How the recorder is built where there is no operating system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BareRecorder {
    /// Its features.
    pub(crate) features: BTreeSet<String>,
    /// Members name the recorder with its features.
    pub(crate) is_named: bool,
    /// The feature of the package critical-section that says what its functions return: all code of a program must agree.
    pub(crate) restore_state: Option<String>,
    /// Lines about what was chosen, such as a guess.
    pub(crate) notes: Vec<String>,
    /// The crate `defmt`, if it is in programs.
    pub(crate) defmt: Option<Defmt>,
}

/// A package whose targets are instrumented.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) directory: PathBuf,
    pub(crate) name: String,
    /// The tables `metadata.xhist` of its manifest and of the workspace's, in this order.
    pub(crate) settings: Vec<ManifestSettings>,
}

/// A crate to instrument.
#[derive(Clone, Debug)]
pub(crate) struct CrateTarget {
    /// Its root file.
    pub(crate) root: PathBuf,
    pub(crate) edition2015: bool,
    pub(crate) name: String,
    pub(crate) kinds: Vec<TargetKind>,
    pub(crate) package: String,
}

/// The table `metadata.xhist` of a manifest.
fn settings(
    directory: &Path,
    metadata: &serde_json::Value,
    table: &str,
) -> Result<Option<ManifestSettings>, Error> {
    let Some(value) = metadata.get("xhist") else { return Ok(None) };
    let manifest = directory.join("Cargo.toml");
    let wrong = |source| UsageError::Manifest { manifest, table: table.to_owned(), source };
    Ok(Some(ManifestSettings::new(directory, value).map_err(wrong)?))
}

/// Asks cargo about the members.
pub(crate) fn load(command: &Command) -> Result<Workspace, Error> {
    let metadata = metadata(command.project_args().into_iter(), MetadataCommand::new().no_deps())?;
    let mut workspace = Workspace {
        root: metadata.workspace_root.clone().into(),
        target_dir: metadata.target_directory.clone().into(),
        packages: Vec::new(),
        targets: Vec::new(),
        dependencies: Vec::new(),
        has_dylib: false,
        has_outside: has_patch(metadata.workspace_root.as_std_path()),
        of_recorder: Vec::new(),
        bare: BareRecorder::default(),
        settings: settings(metadata.workspace_root.as_std_path(), &metadata.workspace_metadata, "workspace")?,
    };
    let directories: Vec<&Path> = metadata
        .workspace_packages()
        .iter()
        .filter_map(|package| package.manifest_path.as_std_path().parent())
        .collect();
    let (mut features, mut is_named) = (BTreeSet::from(["trace".to_owned()]), false);
    for package in metadata.workspace_packages() {
        if PACKAGES.contains(&package.name.as_str()) {
            workspace.of_recorder.push(package.name.to_string());
        } else {
            workspace.has_dylib |=
                package.targets.iter().any(|target| target.kind.contains(&TargetKind::DyLib));
            let named = package.dependencies.iter().filter(|dependency| dependency.name == "xhist-rt");
            for dependency in named {
                is_named = true;
                features.extend(dependency.features.iter().cloned());
            }
            let by_path = package.dependencies.iter().filter_map(|dependency| dependency.path.as_ref());
            workspace.has_outside |=
                by_path.into_iter().any(|path| !directories.contains(&path.as_std_path()));
            workspace.add(package, |_| true)?;
        }
    }
    // Only programs on an operating system use these.
    features.retain(|feature| !["std", "auto", "portable"].contains(&feature.as_str()));
    workspace.bare = BareRecorder { features, is_named, ..BareRecorder::default() };
    Ok(workspace)
}

/// Whether the workspace has patches of packages.
fn has_patch(root: &Path) -> bool {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).ok().and_then(|text| text.parse().ok());
    manifest.is_some_and(|manifest: toml::Table| manifest.contains_key("patch"))
}

/// The output of `cargo metadata` with these arguments.
pub(crate) fn metadata(
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
    /// Adds the wanted targets of a package. Build scripts and procedural macros are left out: they run in the compiler.
    pub(crate) fn add(
        &mut self,
        package: &Package,
        is_wanted: impl Fn(&cargo_metadata::Target) -> bool,
    ) -> Result<(), Error> {
        let manifest = package.manifest_path.as_std_path();
        let directory = manifest.parent().unwrap_or(Path::new("/")).to_path_buf();
        let own = settings(&directory, &package.metadata, "package")?;
        let settings = own.into_iter().chain(self.settings.clone()).collect();
        self.packages.push(Member { directory, name: package.name.to_string(), settings });
        let targets = package
            .targets
            .iter()
            .filter(|target| is_wanted(target) && !target.is_custom_build() && !target.is_proc_macro());
        self.targets.extend(targets.map(|target| CrateTarget {
            root: normal(target.src_path.as_std_path()),
            edition2015: target.edition == Edition::E2015,
            name: target.name.clone(),
            kinds: target.kind.clone(),
            package: package.name.to_string(),
        }));
        Ok(())
    }

    /// All that is known of the project, as a text that is the same for the same project.
    pub(crate) fn description(&self) -> String {
        let Workspace { root, target_dir, packages, targets, dependencies, has_dylib, has_outside, .. } =
            self;
        let Workspace { bare, settings, .. } = self;
        let of_manifest = |manifest: &ManifestSettings| (manifest.dir.clone(), manifest.settings.clone());
        let of_package = |Member { directory, name, settings }: &Member| {
            format!("{directory:?} {name:?} {:?}", settings.iter().map(of_manifest).collect::<Vec<_>>())
        };
        let packages: Vec<_> = packages.iter().map(of_package).collect();
        let settings = settings.as_ref().map(of_manifest);
        let project = (root, target_dir, packages, targets, dependencies, settings);
        format!("{project:?} {has_dylib} {has_outside} {bare:?}")
    }

    /// The settings of all manifests.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = &ManifestSettings> {
        self.packages.iter().flat_map(|member| &member.settings)
    }

    /// The package that a file belongs to: the innermost one around it.
    fn around(&self, file: &Path) -> Option<&Member> {
        let holding = self.packages.iter().filter(|member| file.starts_with(&member.directory));
        holding.max_by_key(|member| member.directory.as_os_str().len())
    }

    /// The settings for a file: the command line's over those of its manifests.
    pub(crate) fn settings(&self, command_line: &Settings, file: &Path) -> Settings {
        let manifests = self.around(file).into_iter().flat_map(|member| &member.settings);
        command_line.over(manifests.map(|manifest| &manifest.settings))
    }

    /// Removes what its manifests do not select from the analysis of a file. `values`: patterns of the command line.
    pub(crate) fn select(&self, values: &ValueSelection, file: &Path, analysis: &mut Analysis) {
        let Some(member) = self.around(file) else { return };
        let module = module_path(&member.name, file.strip_prefix(&member.directory).unwrap_or(file));
        for manifest in &member.settings {
            if manifest.wants_file(file) {
                manifest.selection.apply(&module, manifest.thins_file(file), analysis);
            } else {
                analysis.leave_out(|_| true);
                analysis.main_at.clear();
            }
        }
        let own = values.of_file(file.strip_prefix(&self.root).unwrap_or(file));
        let filters: Vec<_> =
            member.settings.iter().map(|manifest| manifest.values_of(file)).chain([own]).collect();
        ValueFilter::apply(&filters, &module, analysis);
    }
}
