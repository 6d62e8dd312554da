//! Temporary files beside their targets. The process that writes one holds a lock on it, so the next run can
//! recognise files of killed processes.

use super::file::directory_of;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Prefix of temporary files' names; [`LETTERS`] random letters and digits and a suffix follow.
pub(super) const PREFIX: &str = ".xhist-";
pub(super) const LETTERS: usize = 6;

/// A file that is removed on drop, unless it was renamed.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

impl TemporaryFile {
    /// Creates a locked file in the directory of `path`.
    pub(super) fn beside(path: &Path, suffix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(LETTERS).suffix(suffix);
        loop {
            let made = builder.tempfile_in(directory_of(path))?;
            let (file, path) = made.keep().map_err(|error| error.error)?;
            // On a file system without locks, other runs do not look for stale files either.
            let _ = file.try_lock();
            let this = Self { file, path };
            if is_same_file(&this.file, &this.path) {
                return Ok(this);
            }
            // Another run removed it as stale before it was locked; try again.
        }
    }

    /// Renames it to `path`.
    pub(super) fn rename_to(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }

    /// Keeps the file.
    pub(super) fn keep(mut self) {
        self.path = PathBuf::new();
    }

    /// Changes its suffix.
    pub(super) fn rename(&mut self, suffix: &str) -> io::Result<()> {
        let path = self.path.with_extension(suffix);
        fs::rename(&self.path, &path)?;
        self.path = path;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // Fails if the file was renamed, which is fine.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a path still refers to an open file.
#[cfg(unix)]
pub(super) fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |meta: fs::Metadata| (meta.dev(), meta.ino());
    let open = file.metadata().map(number).ok();
    open.is_some() && open == fs::symlink_metadata(path).map(number).ok()
}

#[cfg(not(unix))]
pub(super) fn is_same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}
