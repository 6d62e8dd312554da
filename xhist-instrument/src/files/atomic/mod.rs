//! Replaces a file completely or not at all, and preserves concurrent edits, owner, mode, extended attributes and
//! hard links.

mod attributes;
mod file;
mod journal;
mod stale;
mod temporary;

pub use file::ReplaceError;
pub use journal::{JournalError, UnfinishedCause};
pub use stale::remove_stale;

use file::{directory_of, has_content};
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::Path;
use temporary::TemporaryFile;

/// Replaces the content of a file that was `expected` when it was read. Symbolic links are resolved first.
///
/// A new file replaces the old one in one step. If that would drop hard links or attributes, the content is rewritten
/// in place. A journal then lets the next run finish an interrupted rewrite.
///
/// # Errors
/// The file changed since it was read, the file or its directory is read-only, the disk is full, or the like. The
/// file then keeps its content.
pub fn replace(path: &Path, expected: &[u8], content: &[u8]) -> Result<(), ReplaceError> {
    let path = path.canonicalize()?;
    let old = File::open(&path)?;
    let meta = old.metadata()?;
    check_writable(&path, Some(&meta))?;
    if attributes::hard_links(&meta) > 1 {
        return journal::rewrite(&path, expected, content);
    }
    let mut temporary = TemporaryFile::beside(&path, ".tmp")?;
    temporary.file.write_all(content)?;
    if !attributes::copy_attributes(&temporary.file, &old, &meta) {
        drop(temporary);
        return journal::rewrite(&path, expected, content);
    }
    temporary.file.sync_all()?;
    put_in_place(temporary, &path, expected)
}

/// Replaces the old file with the new one, unless the old one was edited since it was read.
///
/// The two files are exchanged in one step. The old file still exists afterwards, so edits up to that moment are
/// detected.
fn put_in_place(temporary: TemporaryFile, path: &Path, expected: &[u8]) -> Result<(), ReplaceError> {
    if !has_content(path, expected)? {
        return Err(ReplaceError::Changed);
    }
    swap(temporary, path, expected)
}

/// Exchanges the files, and undoes it if an edit came after the first check.
fn swap(temporary: TemporaryFile, path: &Path, expected: &[u8]) -> Result<(), ReplaceError> {
    if !exchange(&temporary.path, path)? {
        temporary.rename_to(path)?;
        return Ok(());
    }
    if has_content(&temporary.path, expected)? {
        return Ok(());
    }
    exchange(&temporary.path, path)?;
    Err(ReplaceError::Changed)
}

/// Exchanges two files atomically; false if the system does not support it.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Creates a file with these permissions, or replaces one. A symbolic link of that name is replaced, not followed.
///
/// # Errors
/// Errors of the system, and of `content`.
pub fn create(
    path: &Path,
    permissions: fs::Permissions,
    content: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut temporary = TemporaryFile::beside(path, ".tmp")?;
    content(&mut temporary.file)?;
    temporary.file.set_permissions(permissions)?;
    temporary.rename_to(path)
}

/// Writes the content to a new file, flushes it to the disk, and renames it over `path`. Only for files of this tool:
/// concurrent edits are overwritten. Symbolic links are resolved first; permissions stay. On an error the old file is
/// untouched and the new one is removed.
///
/// # Errors
/// The file or its directory is read-only, the disk is full, or the like.
pub fn write(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let path = match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_path_buf(),
        resolved => resolved?,
    };
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        // Write into a device or pipe; a file must never replace it.
        return content(&mut File::create(&path)?);
    }
    check_writable(&path, old.as_ref())?;
    let mut temporary = TemporaryFile::beside(&path, ".tmp")?;
    content(&mut temporary.file)?;
    match &old {
        // If the owner cannot be kept, the file belongs to the caller.
        Some(old) => _ = attributes::copy_attributes(&temporary.file, &File::open(&path)?, old),
        None => attributes::make_readable(&temporary.file)?,
    }
    temporary.file.sync_all()?;
    temporary.rename_to(&path)
}

/// Refuses read-only files, even for the superuser, who could write them.
fn check_writable(path: &Path, file: Option<&Metadata>) -> io::Result<()> {
    let refused = |what| Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    if file.is_some_and(|file| file.permissions().readonly()) {
        return refused("the file is read-only");
    }
    if fs::metadata(directory_of(path))?.permissions().readonly() {
        return refused("its directory is read-only");
    }
    Ok(())
}

/// Makes a write beyond the file-size limit fail with an error. The default action of SIGXFSZ would end the process
/// and leave a half-written temporary file.
pub fn ignore_sigxfsz() {
    #[cfg(unix)]
    {
        let noticed = std::sync::Arc::default();
        // If registering fails, the limit still protects the sources.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, noticed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_between_reading_and_replacing_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rs");
        fs::write(&path, "edited").unwrap();
        assert!(matches!(replace(&path, b"read", b"new"), Err(ReplaceError::Changed)));
        assert_eq!(fs::read(&path).unwrap(), b"edited");
        assert!(replace(&path, b"edited", b"new").is_ok());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_edit_during_the_exchange_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rs");
        fs::write(&path, "read").unwrap();
        let mut temporary = TemporaryFile::beside(&path, ".tmp").unwrap();
        temporary.file.write_all(b"new").unwrap();
        let other = dir.path().join("b.rs");
        fs::write(&other, "other").unwrap();
        let can_exchange = exchange(&path, &other).unwrap() && exchange(&path, &other).unwrap();
        fs::write(&path, "edited").unwrap();
        if can_exchange {
            assert!(matches!(swap(temporary, &path, b"read"), Err(ReplaceError::Changed)));
            assert_eq!(fs::read(&path).unwrap(), b"edited");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        }
    }
}
