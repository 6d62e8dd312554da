//! The key of a build, and the directories that depend on it. The key changes with everything that decides what crates are
//! compiled to, so cargo never takes the result of one choice for that of another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use xhist_instrument::{Detail, When};

use super::seed;
use crate::command::Command;
use crate::command::config;
use crate::error::Error;
use crate::keep::facts::sum;
use crate::plan::{self, Recorder, write_if_changed};
use crate::workspace::Workspace;

/// Cargo's output.
const BUILD: &str = "build";

/// A number that changes when the map is made again from nothing, and all file ids with it.
fn epoch(home: &Path, map_path: &Path) -> Result<u64, Error> {
    let path = epoch_file(home);
    let known = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
    match known.filter(|_| map_path.exists()) {
        Some(epoch) => Ok(epoch),
        None => {
            let now = SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let epoch = now.as_nanos() as u64;
            write_if_changed(&path, epoch.to_string().as_bytes())?;
            Ok(epoch)
        }
    }
}

/// Where that number is kept.
pub(crate) fn epoch_file(home: &Path) -> PathBuf {
    home.join("epoch")
}

/// The key of a build: everything that decides what crates are compiled to. Cargo looks at the path of the wrapper, not at
/// its contents, so the key is part of that path. What is inserted is not in it: cargo also watches the shadows, see
/// `RustcCall::restore_dep_info`.
pub(crate) fn key(
    command: &Command,
    workspace: &Workspace,
    recorders: &BTreeMap<String, Recorder>,
    home: &Path,
    map: &Path,
) -> Result<String, Error> {
    let program = program();
    let built: Vec<_> = recorders.values().map(|built| (&built.library, stamp(&built.library))).collect();
    let version = env!("CARGO_PKG_VERSION");
    let epoch = epoch(home, map)?;
    let wrapper = config::tool(command, "rustc-workspace-wrapper");
    let members: Vec<_> = workspace
        .packages
        .iter()
        .map(|member| {
            let manifests = member.settings.iter().map(|manifest| &manifest.settings);
            let dirs: Vec<_> = member.settings.iter().map(|manifest| &manifest.dir).collect();
            (command.own.settings.over(manifests.clone()), dirs, manifests.collect::<Vec<_>>())
        })
        .collect();
    let settings = serde_json::to_string(&(command.own.settings.over([]), members))
        .map_err(|error| Error::step("describing the settings", error))?;
    let choice = (settings, &workspace.dependencies, wrapper);
    Ok(hash_text(hash(&format!("{version} {program:?} {epoch} {built:?} {choice:?}"))))
}

/// This program, as far as a key depends on it. The time of its inode changes with each link that we make.
pub(super) fn program() -> Option<(u64, SystemTime)> {
    stamp(&plan::program().ok()?)
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    std::fs::metadata(path).and_then(|meta| Ok((meta.len(), meta.modified()?))).ok()
}

fn hash(text: &str) -> u64 {
    sum(text.as_bytes())
}

/// A hash as names and the map have it.
pub(crate) fn hash_text(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The directories of the shadow and of cargo's output. Cargo separates instrumented members from plain ones by the path of
/// their wrapper. It does not do so for dependencies, and assumes that they never change. So each choice of dependencies
/// has its own directory, which is removed when the key changes. It begins with what is the same in the default build.
pub(crate) fn places(
    command: &Command,
    workspace: &Workspace,
    home: &Path,
    key: &str,
) -> Result<(PathBuf, PathBuf), Error> {
    let settings = &command.own.settings;
    let shadow = match (settings.detail, settings.when) {
        (Some(Detail::Function), _) => "shadow-function",
        (_, Some(When::After)) => "shadow-after",
        _ => "shadow",
    };
    let shadow = &format!("{shadow}{}", if settings.values.is_empty() { "" } else { "-values" });
    if command.own.deps.is_empty() {
        return Ok((home.join(shadow), home.join(BUILD)));
    }
    let mut names = command.own.deps.clone();
    names.sort();
    names.dedup();
    let choice = home.join("deps").join(hash_text(hash(&format!("{names:?} {shadow}"))));
    let stamp = choice.join("key");
    if std::fs::read_to_string(&stamp).is_ok_and(|old| old != key) {
        std::fs::remove_dir_all(&choice).map_err(Error::file("remove", &choice))?;
    }
    let build = choice.join(BUILD);
    if !build.exists() {
        let recorded = workspace.packages.iter().map(|package| package.name.as_str()).collect();
        seed::seed(&home.join(BUILD), &build, &recorded);
    }
    write_if_changed(&stamp, key.as_bytes())?;
    Ok((choice.join(shadow), build))
}
