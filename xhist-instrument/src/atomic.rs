//! Replaces a file as a whole or not at all, and loses neither an edit made meanwhile nor what else the file has:
//! owner, mode, extended attributes, hard links.

mod attributes;
mod journal;
mod temporary;

pub use temporary::remove_stale;

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use temporary::Temporary;

/// Why a file was not replaced.
#[derive(Debug)]
pub enum ReplaceError {
    /// It is not what it was when it was read.
    Changed,
    /// The system said no.
    Io(io::Error),
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Replaces the content of a file that was `expected` when it was read. Links are resolved first.
///
/// A new file takes the place of the old one in one step. Where that would lose something, the content is rewritten in
/// place, and a journal beside it lets the next run finish what a killed one began.
///
/// # Errors
/// The file changed meanwhile, the file or its directory is read-only, the disk is full, or the like. The file is
/// then as it was.
pub fn replace(path: &Path, expected: &[u8], content: &[u8]) -> Result<(), ReplaceError> {
    let path = path.canonicalize()?;
    let old = File::open(&path)?;
    let meta = old.metadata()?;
    check_writable(&path, Some(&meta))?;
    if attributes::links(&meta) > 1 {
        return journal::rewrite(&path, expected, content);
    }
    let mut temporary = Temporary::beside(&path, ".tmp")?;
    temporary.file.write_all(content)?;
    if !attributes::adopt(&temporary.file, &old, &meta) {
        drop(temporary);
        return journal::rewrite(&path, expected, content);
    }
    temporary.file.sync_all()?;
    put_in_place(temporary, &path, expected)
}

/// Puts the new file in the place of the old one, unless that was edited since it was read.
///
/// The two files change places in one step. So the old one is still there to be looked at afterwards, with all that was
/// written to it up to that moment.
fn put_in_place(temporary: Temporary, path: &Path, expected: &[u8]) -> Result<(), ReplaceError> {
    if !holds(path, expected)? {
        return Err(ReplaceError::Changed);
    }
    swap(temporary, path, expected)
}

/// The second half of [`put_in_place`], for an edit that came after the first look.
fn swap(temporary: Temporary, path: &Path, expected: &[u8]) -> Result<(), ReplaceError> {
    if !exchange(&temporary.path, path)? {
        temporary.rename_to(path)?;
        return Ok(());
    }
    if holds(&temporary.path, expected)? {
        return Ok(());
    }
    exchange(&temporary.path, path)?;
    Err(ReplaceError::Changed)
}

/// Whether a file has exactly this content.
fn holds(path: &Path, expected: &[u8]) -> io::Result<bool> {
    let mut content = Vec::with_capacity(expected.len() + 1);
    File::open(path)?.take(expected.len() as u64 + 1).read_to_end(&mut content)?;
    Ok(content == expected)
}

/// Lets two files change places; false where the system cannot do that.
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

/// A new file in the place of whatever has this name, with these permissions. A link of that name is replaced, not
/// followed.
///
/// # Errors
/// Those of the system, and of `content`.
pub fn create(
    path: &Path,
    permissions: fs::Permissions,
    content: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut temporary = Temporary::beside(path, ".tmp")?;
    content(&mut temporary.file)?;
    temporary.file.set_permissions(permissions)?;
    temporary.rename_to(path)
}

/// Has the new content written beside `path`, flushes it to the disk, and renames it over `path`. For a file of ours:
/// whatever it held is lost. Links are resolved first; permissions stay. On any error the old file is untouched and the
/// new one is removed.
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
        // A device or pipe is written to; it must never be replaced by a file.
        return content(&mut File::create(&path)?);
    }
    check_writable(&path, old.as_ref())?;
    let mut temporary = Temporary::beside(&path, ".tmp")?;
    content(&mut temporary.file)?;
    match &old {
        // Should the owner not be kept, it is a file of the caller's own.
        Some(old) => _ = attributes::adopt(&temporary.file, &File::open(&path)?, old),
        None => attributes::make_readable(&temporary.file)?,
    }
    temporary.file.sync_all()?;
    temporary.rename_to(&path)
}

/// The superuser could write, but what has no write bit was meant to stay as it is.
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

fn directory_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_path_buf()
}

/// Makes a write beyond the file-size limit an error like any other; the signal would end the process with a
/// half-written temporary file.
pub fn survive_size_limit() {
    #[cfg(unix)]
    {
        let noticed = std::sync::Arc::default();
        // Without the handler the limit still protects the sources, only less politely.
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
    fn an_edit_at_the_very_moment_of_replacing_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rs");
        fs::write(&path, "read").unwrap();
        let mut temporary = Temporary::beside(&path, ".tmp").unwrap();
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
