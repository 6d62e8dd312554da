//! The files that build scripts made, as far as crates include them: found by the wrapper, kept from build to build.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::keep::facts::{self, Fact};
use crate::names::FOUND;
use crate::plan::{FoundFile, GeneratedFile, write_if_changed};

/// The list.
const LIST: &str = "generated";

/// The files that are still there.
#[derive(Debug)]
pub(crate) struct Generated {
    files: BTreeSet<FoundFile>,
    list: PathBuf,
}

impl Generated {
    /// Reads the list.
    pub(crate) fn load(home: &Path) -> Generated {
        let list = home.join(LIST);
        let text = std::fs::read(&list).unwrap_or_default();
        let mut files: BTreeSet<FoundFile> = serde_json::from_slice(&text).unwrap_or_default();
        files.retain(|found| found.file.is_file());
        Generated { files, list }
    }

    /// Those of one build directory.
    pub(crate) fn of(home: &Path, build: &Path) -> Generated {
        let mut generated = Generated::load(home);
        generated.files.retain(|found| found.file.starts_with(build));
        generated
    }

    /// The list, as something that a preparation depends on.
    pub(crate) fn fact(&self) -> Fact {
        Fact::text(&self.list).0
    }

    /// The files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|found| found.file.as_path())
    }

    /// The directories of their build scripts.
    pub(crate) fn directories(&self) -> BTreeSet<PathBuf> {
        self.files.iter().map(|found| found.out_dir.clone()).collect()
    }

    /// What the wrapper compares. `has_shadow`: the file is recorded.
    pub(crate) fn described(
        &self,
        has_shadow: impl Fn(&Path) -> bool,
    ) -> impl Iterator<Item = (PathBuf, GeneratedFile)> {
        self.files().filter_map(move |file| {
            let sum = facts::sum(&std::fs::read(file).ok()?);
            Some((file.to_path_buf(), GeneratedFile { sum, is_recorded: has_shadow(file) }))
        })
    }
}

/// The files that compilers with these wrappers found, and that the preparation did not know as they are. The next one does.
pub(crate) fn take_found(home: &Path, wrappers: &Path) -> Result<BTreeSet<FoundFile>, Error> {
    let directory = wrappers.join(FOUND);
    let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| std::fs::read(entry.path()).ok());
    let found: BTreeSet<FoundFile> =
        texts.flat_map(|text| serde_json::from_slice::<Vec<_>>(&text).unwrap_or_default()).collect();
    if found.is_empty() {
        return Ok(found);
    }
    let Generated { mut files, list } = Generated::load(home);
    files.extend(found.iter().cloned());
    let text = serde_json::to_vec(&files).map_err(|error| Error::step("listing generated code", error))?;
    write_if_changed(&list, &text)?;
    std::fs::remove_dir_all(&directory).map_err(Error::file("remove", &directory))?;
    Ok(found)
}
