//! The nearest Cargo.toml of a source file: edition, kind of crate, and settings.

use crate::select::ManifestSettings;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::{Table, Value};

/// The package, or virtual workspace, around a file.
#[derive(Debug)]
pub struct Package {
    /// Directory of its Cargo.toml.
    pub dir: PathBuf,
    /// Its name; empty for a virtual workspace.
    pub name: String,
    /// It is of edition 2015.
    pub edition2015: bool,
    /// It is a procedural macro.
    pub proc_macro: bool,
    /// Its build script.
    pub build: PathBuf,
    /// The manifest itself.
    pub manifest: Table,
    /// The workspace around it, or in it: its directory and its manifest.
    pub workspace: Option<(PathBuf, Table)>,
    /// The tables `metadata.xhist` of its manifest and of its workspace's, in this order.
    pub settings: Vec<ManifestSettings>,
}

/// Finds packages, each read once.
#[derive(Debug, Default)]
pub struct Packages {
    by_dir: HashMap<PathBuf, Option<Arc<Package>>>,
    /// Errors in tables `metadata.xhist`.
    pub errors: Vec<String>,
}

impl Packages {
    /// The package of a file or directory, given by its absolute path.
    pub fn around(&mut self, path: &Path) -> Option<Arc<Package>> {
        if let Some(known) = self.by_dir.get(path) {
            return known.clone();
        }
        let found = read(path, &mut self.errors).map(Arc::new).or_else(|| self.around(path.parent()?));
        self.by_dir.insert(path.to_path_buf(), found.clone());
        found
    }
}

fn manifest(dir: &Path) -> Option<Table> {
    std::fs::read_to_string(dir.join("Cargo.toml")).ok()?.parse().ok()
}

fn read(dir: &Path, errors: &mut Vec<String>) -> Option<Package> {
    let table = manifest(dir)?;
    let package = table.get("package").or_else(|| table.get("project"));
    let get = |key| package.and_then(|package| package.get(key));
    let text = |key| get(key).and_then(Value::as_str);
    let lib = |key| table.get("lib").and_then(|lib| lib.get(key)).and_then(Value::as_bool);
    let edition = match (package, get("edition")) {
        (_, Some(Value::String(edition))) => edition.clone(),
        (_, Some(_)) => inherited_edition(dir, text("workspace")),
        (Some(_), None) => "2015".to_owned(),
        (None, None) => workspace_edition(&table).unwrap_or_else(|| "2021".to_owned()),
    };
    let workspace = workspace(dir, text("workspace"));
    Some(Package {
        dir: dir.to_path_buf(),
        name: text("name").unwrap_or_default().to_owned(),
        edition2015: edition == "2015",
        proc_macro: lib("proc-macro").or_else(|| lib("proc_macro")).unwrap_or(false),
        build: dir.join(text("build").unwrap_or("build.rs")),
        settings: settings(dir, &table, workspace.as_ref(), errors),
        manifest: table,
        workspace,
    })
}

/// The tables `metadata.xhist` of the package and of its workspace.
fn settings(
    dir: &Path,
    table: &Table,
    workspace: Option<&(PathBuf, Table)>,
    errors: &mut Vec<String>,
) -> Vec<ManifestSettings> {
    let mut found = Vec::new();
    let mut add = |dir: &Path, table: &Table, key: &str| {
        let value = table.get(key).and_then(|table| table.get("metadata")?.get("xhist"));
        match value.map(|value| ManifestSettings::new(dir, value.clone())) {
            Some(Ok(settings)) => found.push(settings),
            Some(Err(error)) => {
                errors.push(format!("{}: [{key}.metadata.xhist]: {error}", dir.join("Cargo.toml").display()));
            }
            None => {}
        }
    };
    add(dir, table, "package");
    if let Some((dir, table)) = workspace {
        add(dir, table, "workspace");
    }
    found
}

/// The workspace of a package: the one that it names, else the nearest.
fn workspace(dir: &Path, named: Option<&str>) -> Option<(PathBuf, Table)> {
    let named = named.map(|named| dir.join(named));
    let mut dirs = named.iter().map(PathBuf::as_path).chain(dir.ancestors());
    dirs.find_map(|dir| {
        Some((dir.to_path_buf(), manifest(dir).filter(|table| table.contains_key("workspace"))?))
    })
}

/// `edition.workspace = true`.
fn inherited_edition(dir: &Path, workspace: Option<&str>) -> String {
    let named = workspace.map(|workspace| dir.join(workspace));
    let tables = named.iter().map(PathBuf::as_path).chain(dir.ancestors()).filter_map(manifest);
    tables.filter_map(|table| workspace_edition(&table)).next().unwrap_or_else(|| "2021".to_owned())
}

fn workspace_edition(table: &Table) -> Option<String> {
    table.get("workspace")?.get("package")?.get("edition")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(manifest: &str) -> Package {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        read(dir.path(), &mut Vec::new()).unwrap()
    }

    #[test]
    fn no_edition_means_2015() {
        assert!(package("[package]\nname = \"a\"").edition2015);
        assert!(!package("[package]\nname = \"a\"\nedition = \"2018\"").edition2015);
        assert!(!package("[workspace]").edition2015);
    }

    #[test]
    fn an_inherited_edition_is_found_above() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("Cargo.toml"), "[workspace.package]\nedition = \"2015\"").unwrap();
        let member = dir.path().join("member");
        std::fs::create_dir(&member).unwrap();
        std::fs::write(member.join("Cargo.toml"), "[package]\nname = \"a\"\nedition.workspace = true")
            .unwrap();
        assert!(Packages::default().around(&member.join("src/lib.rs")).unwrap().edition2015);
    }

    #[test]
    fn a_procedural_macro_is_seen() {
        assert!(package("[lib]\nproc-macro = true").proc_macro);
    }
}
