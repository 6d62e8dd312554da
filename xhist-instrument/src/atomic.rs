//! Replaces a file as a whole or not at all.

use std::fs::{self, Metadata};
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces the content of a file.
///
/// # Errors
/// As [`write()`].
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    write(path, |file| file.write_all(content))
}

/// Has the new content written beside `path`, flushes it to the disk, and renames it over `path`. Links are resolved
/// first; permissions stay. On any error the old file is untouched and the new one is removed.
///
/// # Errors
/// The file or its directory is read-only, the disk is full, or the like.
pub fn write(path: &Path, content: impl FnOnce(&mut fs::File) -> io::Result<()>) -> io::Result<()> {
    let path = match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_path_buf(),
        resolved => resolved?,
    };
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        // A device or pipe is written to; it must never be replaced by a file.
        return content(&mut fs::File::create(&path)?);
    }
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The superuser could, but a directory without a write bit was meant to stay as it is.
    if fs::metadata(directory)?.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "its directory is read-only"));
    }
    let mut temporary = tempfile::Builder::new().prefix(".xhist-").tempfile_in(directory)?;
    content(temporary.as_file_mut())?;
    adopt(temporary.as_file(), old.as_ref())?;
    temporary.as_file().sync_all()?;
    temporary.persist(&path)?;
    Ok(())
}

/// Gives a new file the permissions and, when allowed, the owner of the one it replaces.
#[cfg(unix)]
fn adopt(file: &fs::File, old: Option<&Metadata>) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    match old {
        Some(old) => {
            // Only the superuser may give files away; anybody else keeps their own.
            let _ = fchown(file, Some(old.uid()), Some(old.gid()));
            file.set_permissions(old.permissions())
        }
        None => file.set_permissions(fs::Permissions::from_mode(0o644)),
    }
}

#[cfg(not(unix))]
fn adopt(_file: &fs::File, _old: Option<&Metadata>) -> io::Result<()> {
    Ok(())
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
