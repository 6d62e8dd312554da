//! Temporary files beside the files they are for: each is locked by the process that writes it, so the next run can
//! tell which ones a killed process left.

use super::{directory_of, journal};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// How the names of temporary files begin; [`LETTERS`] random letters and digits and a suffix follow.
const PREFIX: &str = ".xhist-";
const LETTERS: usize = 6;

/// A file that is removed unless it is renamed.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

impl Temporary {
    /// A new file in the directory of `path`, open and locked.
    pub(super) fn beside(path: &Path, suffix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(LETTERS).suffix(suffix);
        loop {
            let made = builder.tempfile_in(directory_of(path))?;
            let (file, path) = made.keep().map_err(|error| error.error)?;
            // A file system without locks has no other runs that look for them either.
            let _ = file.try_lock();
            let this = Self { file, path };
            if is_same_file(&this.file, &this.path) {
                return Ok(this);
            }
            // Another run took it for a left one before it was locked.
        }
    }

    /// Takes the place of `path`.
    pub(super) fn rename_to(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }

    /// Stays where it is.
    pub(super) fn leave(mut self) {
        self.path = PathBuf::new();
    }

    /// Has another name in the same directory from now on.
    pub(super) fn rename(&mut self, suffix: &str) -> io::Result<()> {
        let path = self.path.with_extension(suffix);
        fs::rename(&self.path, &path)?;
        self.path = path;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Not there any longer when it was renamed.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |meta: fs::Metadata| (meta.dev(), meta.ino());
    let open = file.metadata().map(number).ok();
    open.is_some() && open == fs::symlink_metadata(path).map(number).ok()
}

#[cfg(not(unix))]
fn is_same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// What a killed run left in a directory.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    /// Content that never took its place.
    Temporary,
    /// What a file was to become that was being rewritten in place.
    Journal,
}

impl Left {
    /// By its name. Without a suffix it is one of an older version of this tool: then words of small letters, which a
    /// user may have chosen, do not count.
    fn of(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(PREFIX)?;
        let (letters, suffix) = rest.split_once('.').unwrap_or((rest, ""));
        let is_random = letters.len() == LETTERS && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match suffix {
            "tmp" if is_random => Some(Self::Temporary),
            "redo" if is_random => Some(Self::Journal),
            "" if is_random && rest == letters => {
                letters.bytes().any(|byte| !byte.is_ascii_lowercase()).then_some(Self::Temporary)
            }
            _ => None,
        }
    }
}

/// Removes what killed runs left in this directory, after finishing what they had begun. Files of processes that are at
/// work stay. Gives what could not be finished.
pub fn remove_stale(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut problems = Vec::new();
    for entry in entries.flatten() {
        let Some(left) = entry.file_name().to_str().and_then(Left::of) else { continue };
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_err() || !is_same_file(&file, &path) {
            continue;
        }
        if left == Left::Journal
            && let Err(problem) = journal::finish(&path)
        {
            problems.push(problem);
            continue;
        }
        let _ = fs::remove_file(&path);
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_left_files_of_ours_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let ours = [".xhist-a1B2c3.tmp", ".xhist-Ab3dEf", ".xhist-abcdef.tmp"];
        let others = [
            ".xhist-backup",
            ".xhist-notes",
            ".xhist-a1B2c3.txt",
            ".xhist-Ab3dEf.",
            "xhist-Ab3dEf",
            ".xhist-",
        ];
        for name in ours.iter().chain(&others) {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        fs::create_dir(dir.path().join(".xhist-Zz9Zz9.tmp")).unwrap();
        let at_work = Temporary::beside(&dir.path().join("a.rs"), ".tmp").unwrap();
        assert_eq!(remove_stale(dir.path()), Vec::<String>::new());
        for name in ours {
            assert!(!dir.path().join(name).exists(), "{name}");
        }
        for name in others {
            assert!(dir.path().join(name).exists(), "{name}");
        }
        assert!(at_work.path.exists() && dir.path().join(".xhist-Zz9Zz9.tmp").exists());
        drop(at_work);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), others.len() + 1);
    }
}
