//! What the nearest Cargo.toml says about a source file.

use crate::select::Wishes;
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
    /// It depends on xhist-rt, under any name.
    pub names_recorder: bool,
    /// What its manifest and its workspace's say about instrumenting; its own comes first.
    pub wishes: Vec<Wishes>,
}

/// Finds packages, each read once.
#[derive(Debug, Default)]
pub struct Packages {
    by_dir: HashMap<PathBuf, Option<Arc<Package>>>,
    /// What is wrong with tables `metadata.xhist`.
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
    Some(Package {
        dir: dir.to_path_buf(),
        name: text("name").unwrap_or_default().to_owned(),
        edition2015: edition == "2015",
        proc_macro: lib("proc-macro").or_else(|| lib("proc_macro")).unwrap_or(false),
        build: dir.join(text("build").unwrap_or("build.rs")),
        names_recorder: names_recorder(&table),
        wishes: wishes(dir, &table, errors),
    })
}

/// The tables of the package and of its workspace.
fn wishes(dir: &Path, table: &Table, errors: &mut Vec<String>) -> Vec<Wishes> {
    let mut found = Vec::new();
    let mut add = |dir: &Path, table: &Table, key: &str| {
        let value = table.get(key).and_then(|table| table.get("metadata")?.get("xhist"));
        match value.map(|value| Wishes::new(dir, value.clone())) {
            Some(Ok(wishes)) => found.push(wishes),
            Some(Err(error)) => {
                errors.push(format!("{}: [{key}.metadata.xhist]: {error}", dir.join("Cargo.toml").display()));
            }
            None => {}
        }
    };
    add(dir, table, "package");
    let workspace = |dir: &Path| manifest(dir).filter(|table| table.contains_key("workspace"));
    if let Some((dir, table)) = dir.ancestors().find_map(|dir| Some((dir, workspace(dir)?))) {
        add(dir, &table, "workspace");
    }
    found
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

/// Looks for the recorder in every `dependencies` table.
fn names_recorder(table: &Table) -> bool {
    table.iter().any(|(key, value)| match value {
        Value::Table(dependencies) if key.ends_with("dependencies") => {
            dependencies.iter().any(|(name, dependency)| {
                let renamed = dependency.get("package").and_then(Value::as_str);
                renamed.unwrap_or(name) == "xhist-rt"
            })
        }
        Value::Table(nested) if key != "workspace" && key != "patch" => names_recorder(nested),
        _ => false,
    })
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
    fn the_recorder_is_seen_in_every_form() {
        assert!(package("[dependencies]\nxhist-rt = \"1\"").names_recorder);
        assert!(package("[target.'cfg(unix)'.dependencies]\nx = { package = \"xhist-rt\" }").names_recorder);
        assert!(!package("[dependencies]\nother = \"1\"").names_recorder);
        assert!(package("[lib]\nproc-macro = true").proc_macro);
    }
}
