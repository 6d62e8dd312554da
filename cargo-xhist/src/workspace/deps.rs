//! `--deps`: which dependencies are recorded too, and why some cannot be.
//!
//! Only packages that are part of programs can be recorded: procedural macros, build scripts and their dependencies run in
//! the compiler. So dependencies are followed from the members, as cargo resolves them for the targets of the build.

use std::collections::HashSet;
use std::path::PathBuf;

use cargo_metadata::{DependencyKind, Metadata, Package, PackageId, Target, TargetKind};

use crate::command::Command;
use crate::error::{Error, UsageError};
use crate::names::PACKAGES;
use crate::workspace::{self, Workspace};

/// The name that means every dependency that can be recorded.
const ALL: &str = "all";
/// Crates that the recorder is built on, and those that are built with them.
const STANDARD_LIBRARY: [&str; 5] = ["std", "core", "alloc", "proc_macro", "test"];
/// Most names that are suggested for an unknown one.
const SUGGESTIONS: usize = 5;
/// The Jaro-Winkler similarity that a suggestion needs, from 0 to 1.
const ALIKE: f64 = 0.75;

/// Adds the dependencies that the command names, as cargo resolves them for these targets.
pub(crate) fn add(workspace: &mut Workspace, command: &Command, targets: &[String]) -> Result<(), Error> {
    let metadata = resolved(command, targets)?;
    let programs = in_programs(&metadata);
    let names: Vec<&str> = command.own.deps.iter().map(String::as_str).filter(|name| *name != ALL).collect();
    for name in &names {
        if let Some(problem) = problem(name, &metadata, &programs) {
            return Err(UsageError::Dependency { name: (*name).to_owned(), problem }.into());
        }
    }
    let wants_all = names.len() < command.own.deps.len();
    let is_wanted = |package: &&Package| wants_all || names.iter().any(|name| same(name, &package.name));
    for package in recordable(&metadata, &programs).filter(is_wanted) {
        workspace.add(package, is_library)?;
        workspace.dependencies.extend(directory(package));
    }
    Ok(())
}

/// All packages and their dependencies, as cargo resolves them for these targets.
pub(super) fn resolved(command: &Command, targets: &[String]) -> Result<Metadata, Error> {
    let filters = targets.iter().flat_map(|target| ["--filter-platform".into(), target.into()]);
    let args = command.project_args().into_iter().chain(command.feature_args()).chain(filters);
    workspace::metadata(args, &mut cargo_metadata::MetadataCommand::new())
}

/// Path dependencies outside the workspace that could be recorded but are not: names and directories.
pub(crate) fn outside(
    workspace: &Workspace,
    command: &Command,
    targets: &[String],
) -> Result<Vec<(String, PathBuf)>, Error> {
    let metadata = resolved(command, targets)?;
    let programs = in_programs(&metadata);
    // Packages of registries and git have a source.
    let by_path = recordable(&metadata, &programs).filter(|package| package.source.is_none());
    let named = by_path.filter_map(|package| Some((package.name.to_string(), directory(package)?)));
    Ok(named.filter(|(_, directory)| !workspace.dependencies.contains(directory)).collect())
}

fn directory(package: &Package) -> Option<PathBuf> {
    Some(package.manifest_path.parent()?.as_std_path().to_path_buf())
}

/// The dependencies that can be recorded: their code is in programs, and the recorder does not use them.
fn recordable<'m>(
    metadata: &'m Metadata,
    programs: &HashSet<PackageId>,
) -> impl Iterator<Item = &'m Package> {
    let is_dependency = move |package: &&Package| {
        programs.contains(&package.id) && !metadata.workspace_members.contains(&package.id)
    };
    let packages = metadata.packages.iter().filter(is_dependency);
    packages.filter(|package| !PACKAGES.contains(&package.name.as_str()))
}

/// Packages whose code is in programs and tests of the members.
pub(super) fn in_programs(metadata: &Metadata) -> HashSet<PackageId> {
    let mut found = HashSet::new();
    let mut next: Vec<&PackageId> = metadata.workspace_members.iter().collect();
    while let Some(id) = next.pop() {
        let runs_in_compiler = metadata[id].targets.iter().any(Target::is_proc_macro);
        if runs_in_compiler || !found.insert(id.clone()) {
            continue;
        }
        let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let dependencies = nodes.filter(|node| node.id == *id).flat_map(|node| &node.deps);
        let is_used = |dependency: &&cargo_metadata::NodeDep| {
            dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Build)
        };
        next.extend(dependencies.filter(is_used).map(|dependency| &dependency.pkg));
    }
    found
}

/// Why no dependency of this name can be recorded; `None` if one can.
fn problem(name: &str, metadata: &Metadata, programs: &HashSet<PackageId>) -> Option<String> {
    if PACKAGES.iter().any(|own| same(own, name)) {
        return Some("the recorder itself uses this package; it cannot be recorded".into());
    }
    if STANDARD_LIBRARY.contains(&name) && !metadata.packages.iter().any(|package| same(&package.name, name))
    {
        return Some(
            "the standard library cannot be recorded: the recorder is built on it; calls into it show as statements of their caller"
                .into(),
        );
    }
    let mut named = metadata.packages.iter().filter(|package| same(&package.name, name)).peekable();
    if named.peek().is_none() {
        return Some(format!("no dependency has this name{}", suggestion(name, metadata, programs)));
    }
    let is_in_programs = named.any(|package| programs.contains(&package.id));
    (!is_in_programs).then(|| {
        "only procedural macros and build scripts use this package, in the compiler; they cannot be recorded"
            .into()
    })
}

/// The end of the message about an unknown name.
fn suggestion(name: &str, metadata: &Metadata, programs: &HashSet<PackageId>) -> String {
    let others = recordable(metadata, programs).map(|package| package.name.as_str());
    let mut alike: Vec<(f64, &str)> = others
        .map(|other| (strsim::jaro_winkler(name, other), other))
        .filter(|(similarity, _)| *similarity > ALIKE)
        .collect();
    // Versions of a package follow each other.
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.dedup();
    let names: Vec<&str> = alike.into_iter().map(|(_, name)| name).take(SUGGESTIONS).collect();
    match names.is_empty() {
        true => "; `cargo tree` shows all".into(),
        false => format!("; similar names: {}", names.join(", ")),
    }
}

/// Whether two names are the same to cargo, which does not distinguish `-` and `_` in typed names.
fn same(a: &str, b: &str) -> bool {
    a.replace('_', "-") == b.replace('_', "-")
}

/// Whether a target is a library: cargo builds nothing else of a dependency.
fn is_library(target: &Target) -> bool {
    let kinds =
        [TargetKind::Lib, TargetKind::RLib, TargetKind::DyLib, TargetKind::CDyLib, TargetKind::StaticLib];
    kinds.iter().any(|kind| target.is_kind(kind.clone()))
}
