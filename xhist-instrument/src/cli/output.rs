//! `--out-dir`: writes files there, and never into the input or through a link that leads out of the directory.

use super::folder::FolderSources;
use super::{Args, Fatal, OutDirError};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// The file that marks an output directory inside the input: searches and backups skip a directory with it.
const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &str =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Output of xhist-instrument --out-dir.\n";

/// The output directory.
#[derive(Debug)]
pub struct Output {
    /// As the user named it.
    pub dir: PathBuf,
    /// Links resolved as far as it exists.
    real: PathBuf,
    /// It is inside the input.
    inside: bool,
}

impl Output {
    /// The directory of `--out-dir`, checked to be separate from all input.
    pub fn of(args: &Args) -> Result<Option<Self>, Fatal> {
        let Some(dir) = &args.out_dir else { return Ok(None) };
        let mut output = Self { dir: dir.clone(), real: resolved(dir), inside: false };
        if output.real.exists() && !output.real.is_dir() {
            return Err(OutDirError::NotDirectory(dir.clone()).into());
        }
        for path in &args.paths {
            let Ok(input) = path.canonicalize() else { continue };
            let is_dir = input.is_dir();
            if is_dir && input.starts_with(&output.real) {
                return Err(OutDirError::ContainsInput { directory: dir.clone(), input: path.clone() }.into());
            }
            if is_dir && output.real.starts_with(&input) {
                output.inside = true;
                if !is_free(&output.real) {
                    return Err(
                        OutDirError::HoldsFiles { directory: dir.clone(), input: path.clone() }.into()
                    );
                }
            }
        }
        Ok(Some(output))
    }

    /// Fails if a file to write is an input file, is outside the directory, or would be written twice.
    pub fn check(&self, found: &FolderSources) -> Result<(), Fatal> {
        let inputs: HashSet<_> = found.sources.iter().filter_map(|source| number(&source.real)).collect();
        let mut places: HashMap<&Path, &Path> = HashMap::new();
        for source in &found.sources {
            if let Some(other) = places.insert(&source.below, &source.path) {
                let sources = [other.to_path_buf(), source.path.clone()];
                return Err(OutDirError::SamePlace { sources, place: self.dir.join(&source.below) }.into());
            }
            self.check_place(&source.below)?;
            let target = self.dir.join(&source.below);
            if number(&target).is_some_and(|number| inputs.contains(&number)) {
                return Err(OutDirError::IsInput(target).into());
            }
        }
        self.check_place(Path::new("xhist.map"))
    }

    /// Fails if a link on the path to this file leads out of the directory.
    fn check_place(&self, below: &Path) -> Result<(), Fatal> {
        let mut path = self.real.clone();
        for part in below.components() {
            path.push(part);
            let is_link = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink());
            if is_link && !path.canonicalize().is_ok_and(|real| real.starts_with(&self.real)) {
                return Err(OutDirError::LeadsOut(path).into());
            }
        }
        Ok(())
    }

    /// Makes the directory.
    pub fn make(&self) -> Result<(), Fatal> {
        let made = fs::create_dir_all(&self.dir).and_then(|()| {
            let tag = self.dir.join(TAG);
            if self.inside && !tag.exists() { fs::write(tag, TAG_TEXT) } else { Ok(()) }
        });
        made.map_err(|error| Fatal::Write(self.dir.clone(), error))
    }

    /// Copies a file, with its permissions.
    pub fn copy(&self, from: &Path, below: &Path) -> io::Result<()> {
        let mut source = File::open(from)?;
        let permissions = source.metadata()?.permissions();
        crate::files::atomic::create(&self.place(below)?, permissions, |copy| {
            io::copy(&mut source, copy).map(drop)
        })
    }

    /// Writes a file with the permissions of another.
    pub fn write(&self, like: &Path, below: &Path, content: &[u8]) -> io::Result<()> {
        let permissions = fs::metadata(like)?.permissions();
        crate::files::atomic::create(&self.place(below)?, permissions, |file| file.write_all(content))
    }

    fn place(&self, below: &Path) -> io::Result<PathBuf> {
        let path = self.dir.join(below);
        fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
        Ok(path)
    }
}

/// The path without `..`, links resolved as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut real = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => _ = real.pop(),
            part => real.push(part),
        }
        if let Ok(resolved) = real.canonicalize() {
            real = resolved;
        }
    }
    real
}

/// Whether the directory is missing, empty, or output of an earlier run.
fn is_free(dir: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(dir) else { return true };
    entries.next().is_none() || fs::read_to_string(dir.join(TAG)).is_ok_and(|text| text == TAG_TEXT)
}

/// Identifies a file whatever its name.
#[cfg(unix)]
fn number(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn number(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}
