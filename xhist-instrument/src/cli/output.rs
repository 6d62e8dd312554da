//! `--out-dir`: no file of it may be written into the input, nor out of the directory through a link in it.

use super::find::Found;
use super::{Args, Fatal, console};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// Marks a directory in the input as output of ours, and for the search and for backups as one to pass over.
const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &str =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Output of xhist-instrument --out-dir.\n";

/// Where everything is written.
#[derive(Debug)]
pub struct Output {
    /// As the user named it.
    pub dir: PathBuf,
    /// Links resolved as far as it exists.
    real: PathBuf,
    /// It lies in the input.
    inside: bool,
}

impl Output {
    /// The directory that was asked for, when it is apart from all input.
    pub fn of(args: &Args) -> Result<Option<Self>, Fatal> {
        let Some(dir) = &args.out_dir else { return Ok(None) };
        let mut output = Self { dir: dir.clone(), real: resolved(dir), inside: false };
        let shown = console::shown(dir);
        if output.real.exists() && !output.real.is_dir() {
            return Err(Fatal::Usage(format!("--out-dir {shown}: not a directory")));
        }
        for path in &args.paths {
            let Ok(input) = path.canonicalize() else { continue };
            let (input_shown, is_dir) = (console::shown(path), input.is_dir());
            if is_dir && input.starts_with(&output.real) {
                return Err(Fatal::Usage(format!(
                    "--out-dir {shown} is or contains the input {input_shown}, which must stay as it is; name another directory"
                )));
            }
            if is_dir && output.real.starts_with(&input) {
                output.inside = true;
                if !is_free(&output.real) {
                    return Err(Fatal::Usage(format!(
                        "--out-dir {shown} lies in the input {input_shown} and holds files of yours; name a new or empty directory"
                    )));
                }
            }
        }
        Ok(Some(output))
    }

    /// Fails when one of the files to write is one of the input, lies outside, or is the place of two.
    pub fn check(&self, found: &Found) -> Result<(), Fatal> {
        let inputs: HashSet<_> = found.sources.iter().filter_map(|source| number(&source.real)).collect();
        let mut places: HashMap<&Path, &Path> = HashMap::new();
        for source in &found.sources {
            if let Some(other) = places.insert(&source.below, &source.path) {
                return Err(Fatal::Usage(format!(
                    "{} and {} would both be written to {}; instrument them in runs of their own",
                    console::shown(other),
                    console::shown(&source.path),
                    console::shown(&self.dir.join(&source.below))
                )));
            }
            self.check_place(&source.below)?;
            let target = self.dir.join(&source.below);
            if number(&target).is_some_and(|number| inputs.contains(&number)) {
                return Err(Fatal::Usage(format!(
                    "{} is the same file as one of the input, which must stay as it is; name another directory",
                    console::shown(&target)
                )));
            }
        }
        self.check_place(Path::new("xhist.map"))
    }

    /// Fails when a link on the way to this file leads out of the directory.
    fn check_place(&self, below: &Path) -> Result<(), Fatal> {
        let mut path = self.real.clone();
        for part in below.components() {
            path.push(part);
            let is_link = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink());
            if is_link && !path.canonicalize().is_ok_and(|real| real.starts_with(&self.real)) {
                return Err(Fatal::Usage(format!(
                    "{} is a link that leads out of the output directory; remove it or name another directory",
                    console::shown(&path)
                )));
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
        made.map_err(|error| Fatal::Failed(format!("{}: {error}", console::shown(&self.dir))))
    }

    /// Copies a file, with its permissions.
    pub fn copy(&self, from: &Path, below: &Path) -> io::Result<()> {
        let mut source = File::open(from)?;
        let permissions = source.metadata()?.permissions();
        crate::atomic::create(&self.place(below)?, permissions, |copy| io::copy(&mut source, copy).map(drop))
    }

    /// Writes a file with the permissions of another.
    pub fn write(&self, like: &Path, below: &Path, content: &[u8]) -> io::Result<()> {
        let permissions = fs::metadata(like)?.permissions();
        crate::atomic::create(&self.place(below)?, permissions, |file| file.write_all(content))
    }

    fn place(&self, below: &Path) -> io::Result<PathBuf> {
        let path = self.dir.join(below);
        fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
        Ok(path)
    }
}

/// Without links as far as the path exists, and without `..`.
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

/// Not there, empty, or output of an earlier run.
fn is_free(dir: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(dir) else { return true };
    entries.next().is_none() || fs::read_to_string(dir.join(TAG)).is_ok_and(|text| text == TAG_TEXT)
}

/// What tells files apart, whatever their names.
#[cfg(unix)]
fn number(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn number(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}
