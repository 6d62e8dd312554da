//! The shadow tree: instrumented copies of the sources, and links to everything beside them, so that
//! `include_str!("../x")` and `#[path]` find what they find in the user's tree.

pub(crate) mod program_sources;
pub(crate) mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::keep::facts::Fact;
use crate::plan::write_if_changed;
use crate::system;
use crate::system::place::place;

/// The shadow of the user's tree.
pub(crate) struct Shadow<'a> {
    root: &'a Path,
    /// Directories whose tree is mirrored down to the files: members and the workspace.
    bases: Vec<PathBuf>,
    /// Directories of build scripts: mirrored down to the files, and nothing around them.
    out_dirs: BTreeSet<PathBuf>,
    /// This directory is not linked: it contains the shadow.
    target_dir: &'a Path,
}

impl<'a> Shadow<'a> {
    /// A shadow tree at `root` that mirrors `bases` where files of theirs are instrumented.
    pub(crate) fn new(
        root: &'a Path,
        (bases, out_dirs): (Vec<PathBuf>, BTreeSet<PathBuf>),
        target_dir: &'a Path,
    ) -> Shadow<'a> {
        Shadow { root, bases, out_dirs, target_dir }
    }

    /// Makes the directories of the files that [`Shadow::write`] gets, which may then run in parallel.
    pub(crate) fn prepare<'p>(&self, mut files: impl Iterator<Item = &'p Path>) -> Result<(), Error> {
        files.try_for_each(|path| self.make_dirs(path))
    }

    /// The place of the copy of a file.
    pub(crate) fn place_of(&self, path: &Path) -> PathBuf {
        place(self.root, path)
    }

    /// Writes one instrumented file. Links come later, in [`Shadow::link`].
    pub(crate) fn write(&self, path: &Path, text: &[u8]) -> Result<(), Error> {
        write_if_changed(&self.place_of(path), text)
    }

    /// Links everything beside the `written` files on the way up to their base, and `data` files elsewhere. Removes links
    /// to what is no longer there. Returns what this depends on, and the directories of the shadow.
    pub(crate) fn link<'p>(
        &self,
        written: impl Iterator<Item = &'p Path>,
        data: &BTreeSet<PathBuf>,
    ) -> Result<Vec<Fact>, Error> {
        let mut directories: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        let written: BTreeSet<&Path> = written.collect();
        for path in written.iter().copied() {
            let base = self.base_of(path);
            let mut child = path;
            while let Some(directory) = child.parent() {
                directories.entry(directory.to_path_buf()).or_default().insert(child.to_path_buf());
                if Some(directory) == base.as_deref() || base.is_none() {
                    break;
                }
                child = directory;
            }
        }
        let mut facts = Vec::new();
        for (directory, real) in &directories {
            facts.push(Fact::names(directory));
            facts.extend(self.link_directory(directory, real)?);
        }
        for path in data.iter().filter(|path| self.base_of(path).is_none()) {
            facts.push(Fact::presence(path));
            self.make_dirs(path)?;
            let link = self.place_of(path);
            let mut behind = written.range(path.as_path()..);
            let holds_written = behind.next().is_some_and(|written| written.starts_with(path));
            if path.exists() && (!holds_written || link.symlink_metadata().is_err()) {
                facts.extend(self.link_to(path, &link)?);
            }
        }
        facts.extend(directories.keys().map(|directory| Fact::made(&self.place_of(directory))));
        Ok(facts)
    }

    /// The outermost mirrored directory that holds `path`.
    fn base_of(&self, path: &Path) -> Option<PathBuf> {
        if let Some(out_dir) = self.out_dirs.iter().find(|out_dir| path.starts_with(out_dir)) {
            return Some(out_dir.clone());
        }
        self.bases
            .iter()
            .filter(|base| path.starts_with(base))
            .min_by_key(|base| base.as_os_str().len())
            .cloned()
    }

    /// Makes the shadow's directories down to the file, in place of links that an earlier run made.
    fn make_dirs(&self, path: &Path) -> Result<(), Error> {
        let Some(directory) = path.parent() else { return Ok(()) };
        let shadow = self.place_of(directory);
        for part in shadow.ancestors().take_while(|part| *part != self.root) {
            if part.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                system::remove_link(part).map_err(Error::file("replace", part))?;
            }
        }
        std::fs::create_dir_all(&shadow).map_err(Error::file("create", &shadow))
    }

    /// Links what is in a directory, but for the files that are `real` in the shadow. Returns what had to be copied.
    fn link_directory(&self, directory: &Path, real: &BTreeSet<PathBuf>) -> Result<Vec<Fact>, Error> {
        let mirror = self.place_of(directory);
        let (mut names, mut copied) = (BTreeSet::new(), Vec::new());
        for entry in std::fs::read_dir(directory).map_err(Error::file("read", directory))? {
            let entry = entry.map_err(Error::file("read", directory))?;
            let path = entry.path();
            names.insert(entry.file_name());
            if !real.contains(&path) && !self.is_left_out(&path) {
                copied.extend(self.link_to(&path, &mirror.join(entry.file_name()))?);
            }
        }
        // A file that the user deleted must not stay in the shadow.
        for entry in std::fs::read_dir(&mirror).map_err(Error::file("read", &mirror))? {
            let entry = entry.map_err(Error::file("read", &mirror))?;
            if !names.contains(&entry.file_name()) {
                system::remove_link(&entry.path()).map_err(Error::file("remove", &entry.path()))?;
            }
        }
        Ok(copied)
    }

    /// Makes `link` lead to `path`, or a copy of it. Returns what was copied.
    fn link_to(&self, path: &Path, link: &Path) -> Result<impl Iterator<Item = Fact> + use<>, Error> {
        let copied = system::link(path, link, &|path| self.is_left_out(path));
        Ok(copied.map_err(Error::file("create", link))?.into_iter().map(|path| match path.is_dir() {
            true => Fact::names(&path),
            false => Fact::made(&path),
        }))
    }

    /// What has no place in the shadow.
    fn is_left_out(&self, path: &Path) -> bool {
        path == self.target_dir || path.file_name().is_some_and(|name| name == ".git")
    }
}
