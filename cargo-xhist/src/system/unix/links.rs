//! Links: every user may make them, and they lead to what is there now.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Makes `link` lead to `path`, unless it does. Returns what was copied instead, which is nothing here.
pub(crate) fn link(path: &Path, link: &Path, _: &dyn Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    if std::fs::read_link(link).ok().as_deref() != Some(path) {
        remove_link(link)?;
        symlink(path, link)?;
    }
    Ok(Vec::new())
}

/// Makes `link` lead to a library that is never written again. Another process may do the same: the link is never missing.
pub(crate) fn link_library(library: &Path, link: &Path) {
    // A link to an earlier library may be dangling.
    if std::fs::read_link(link).ok().as_deref() != Some(library) {
        let new = link.with_extension(std::process::id().to_string());
        if symlink(library, &new).is_ok() {
            let _ = std::fs::rename(&new, link);
        }
    }
}

/// Removes a link, a file, or a directory, if one is there; links are not followed.
pub(crate) fn remove_link(path: &Path) -> io::Result<()> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if meta.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
}
