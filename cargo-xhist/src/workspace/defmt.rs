//! The crate `defmt` of firmware: in a copy of it, log lines go through the recorder to the program's logger.
//!
//! Cargo takes the copy by its setting `paths`, which changes no lock file. Any logger works, because it is behind `defmt`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, PackageId};
use walkdir::WalkDir;

use crate::error::Error;
use crate::plan::write_if_changed;

const PACKAGE: &str = "defmt";
/// Its only version with a logger; 0.3 calls this one.
const MAJOR: u64 = 1;
/// The file that calls the logger, and how often it has each of the names.
const CALLS: (&str, usize) = ("src/export/mod.rs", 2);
/// The names of the logger's functions that begin, fill and end a line.
const NAMES: [&str; 3] = ["_defmt_acquire", "_defmt_write", "_defmt_release"];
/// In front of such a name it is the recorder's function.
const RECORDED: &str = "_xhist";
/// The linker script of `defmt`.
const SCRIPT: &str = "defmt.x.in";

/// What is done about `defmt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Defmt {
    /// Its lines are recorded: the directory of the package, and the name of the copy.
    Recorded(PathBuf, String),
    /// They are not, because of this.
    Unknown(String),
}

/// The package in programs, if there is one.
pub(super) fn find(metadata: &Metadata, programs: &HashSet<PackageId>) -> Option<Defmt> {
    let mut packages = metadata.packages.iter().filter(|package| programs.contains(&package.id));
    let package = packages.find(|package| package.name == PACKAGE && package.version.major == MAJOR)?;
    let directory = package.manifest_path.parent()?.as_std_path().to_path_buf();
    let version = &package.version;
    // A package of git or of a path may need what is beside it.
    let is_published = package.source.as_ref().is_some_and(|source| source.repr.starts_with("registry+"));
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).ok();
    let is_known = read(CALLS.0).and_then(|text| with_recorder(&text)).is_some() && read(SCRIPT).is_some();
    Some(match is_published && is_known {
        true => Defmt::Recorded(directory, format!("{PACKAGE}-{version}")),
        false => Defmt::Unknown(format!(
            "log lines of defmt {version} are not recorded: {}",
            if is_published { "it calls its logger in another way" } else { "it is not from a registry" }
        )),
    })
}

/// The source with the recorder's functions in place of the logger's, if it has the names where they are expected.
fn with_recorder(text: &str) -> Option<String> {
    let is_known = NAMES.iter().all(|name| text.matches(name).count() == CALLS.1);
    let text =
        NAMES.iter().fold(text.to_owned(), |text, name| text.replace(name, &format!("{RECORDED}{name}")));
    is_known.then_some(text)
}

/// The linker script, with the logger in place of a recorder that is not there.
fn with_default(script: &str) -> String {
    let lines = NAMES.map(|name| {
        format!("EXTERN({name});\nEXTERN({RECORDED}{name});\nPROVIDE({RECORDED}{name} = {name});\n")
    });
    format!("{}{script}", lines.concat())
}

/// Writes the copy below this directory. Returns its place.
pub(crate) fn write_copy(package: &Path, name: &str, home: &Path) -> Result<PathBuf, Error> {
    let copy = home.join(name);
    for entry in WalkDir::new(package).into_iter().filter_map(Result::ok) {
        let (path, inside) = (entry.path(), entry.path().strip_prefix(package).unwrap_or(entry.path()));
        if !entry.file_type().is_file() {
            continue;
        }
        let bytes = std::fs::read(path).map_err(Error::file("read", path))?;
        let text = || String::from_utf8_lossy(&bytes).into_owned();
        let bytes = match inside.to_str() {
            Some(name) if name == CALLS.0 => with_recorder(&text()).map_or(bytes, String::into_bytes),
            Some(SCRIPT) => with_default(&text()).into_bytes(),
            // Cargo shows warnings of a package with a path.
            Some("src/lib.rs") => format!("#![allow(warnings)] {}", text()).into_bytes(),
            // It is no member of the workspace around it.
            Some("Cargo.toml") => format!("{}\n[workspace]\n", text()).into_bytes(),
            _ => bytes,
        };
        write_if_changed(&copy.join(inside), &bytes)?;
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn _defmt_acquire(); _defmt_acquire() fn _defmt_write(b: &[u8]); _defmt_write(b) fn _defmt_timestamp(); fn _defmt_release(); _defmt_release()";

    #[test]
    fn the_logger_is_called_through_the_recorder() {
        let changed = with_recorder(SOURCE).expect("it is known");
        assert_eq!(changed.matches("_xhist_defmt_").count(), 6, "{changed}");
        assert!(changed.contains("fn _defmt_timestamp"), "{changed}");
        assert_eq!(with_recorder(&changed.replace("_defmt_write(b)", "send(b)")), None);
        assert_eq!(with_recorder(""), None);
        let script = with_default("SECTIONS {}");
        assert!(script.contains("PROVIDE(_xhist_defmt_write = _defmt_write);"), "{script}");
    }

    #[test]
    fn the_copy_has_all_files_and_is_no_member() {
        let directory = tempfile::tempdir().expect("a directory");
        let (package, home) = (directory.path().join("package"), directory.path().join("home"));
        let files = [
            ("Cargo.toml", "[package]"),
            ("src/lib.rs", "//! Text."),
            ("src/export/mod.rs", SOURCE),
            ("defmt.x.in", ""),
            ("build.rs", "fn main() {}"),
        ];
        for (name, text) in files {
            write_if_changed(&package.join(name), text.as_bytes()).expect("a file");
        }
        let copy = write_copy(&package, "defmt-1.0.0", &home).expect("a copy");
        let read = |name: &str| std::fs::read_to_string(copy.join(name)).expect("a file");
        assert_eq!(read("Cargo.toml"), "[package]\n[workspace]\n");
        assert_eq!(read("src/lib.rs"), "#![allow(warnings)] //! Text.");
        assert_eq!(read("build.rs"), "fn main() {}");
        assert!(read("src/export/mod.rs").contains("_xhist_defmt_release()"));
    }
}
