//! Links, or copies: Windows lets only administrators and developers make symbolic links.

use std::fs;
use std::io;
use std::os::windows::fs::{symlink_dir, symlink_file};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The system has refused a link.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Makes `link` lead to `path`, unless it does, or makes it a copy. `is_left_out`: what of a directory is not copied. Returns
/// the files and directories that were copied: a change to one of them is to be copied, too.
pub(crate) fn link(
    path: &Path,
    link: &Path,
    is_left_out: &dyn Fn(&Path) -> bool,
) -> io::Result<Vec<PathBuf>> {
    let mut copied = Vec::new();
    if fs::read_link(link).ok().as_deref() != Some(path) && !has_linked(path, link)? {
        copy(path, link, is_left_out, &mut copied)?;
    }
    Ok(copied)
}

/// Whether a symbolic link is there now. A system that only says so is not believed.
fn has_linked(path: &Path, link: &Path) -> io::Result<bool> {
    if REFUSED.load(Ordering::Relaxed) {
        return Ok(false);
    }
    remove_link(link)?;
    let made = if path.is_dir() { symlink_dir(path, link) } else { symlink_file(path, link) };
    let is_there = made.is_ok() && link.symlink_metadata().is_ok();
    REFUSED.store(!is_there, Ordering::Relaxed);
    Ok(is_there)
}

/// Makes a file a hard link or a copy, and a directory a directory of such. Another file system has no hard links.
fn copy(
    path: &Path,
    link: &Path,
    is_left_out: &dyn Fn(&Path) -> bool,
    copied: &mut Vec<PathBuf>,
) -> io::Result<()> {
    // What vanished meanwhile is not needed.
    let Ok(meta) = path.metadata() else { return Ok(()) };
    copied.push(path.to_path_buf());
    if !meta.is_dir() {
        return if is_same(path, link) { Ok(()) } else { replace(path, link) };
    }
    if !link.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        remove_link(link)?;
        fs::create_dir_all(link)?;
    }
    let names = |directory: &Path| -> io::Result<Vec<_>> {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    };
    let wanted = names(path)?;
    for name in wanted.iter().filter(|name| !is_left_out(&path.join(name))) {
        copy(&path.join(name), &link.join(name), is_left_out, copied)?;
    }
    names(link)?
        .iter()
        .filter(|name| !wanted.contains(name))
        .try_for_each(|name| remove_link(&link.join(name)))
}

fn replace(path: &Path, link: &Path) -> io::Result<()> {
    remove_link(link)?;
    // A copy has the time of what was copied.
    fs::hard_link(path, link).or_else(|_| fs::copy(path, link).map(drop))
}

/// Whether two files have the same length and time.
fn is_same(path: &Path, link: &Path) -> bool {
    let stamp = |path: &Path| {
        let meta = path.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
        Some((meta.len(), meta.modified().ok()?))
    };
    stamp(path).is_some_and(|one| stamp(link) == Some(one))
}

/// Makes `link` a library that is never written again. A compiler that reads an earlier one keeps it.
pub(crate) fn link_library(library: &Path, link: &Path) {
    if !is_same(library, link) {
        let new = link.with_extension(std::process::id().to_string());
        if replace(library, &new).is_ok() && fs::rename(&new, link).is_err() {
            let _ = fs::remove_file(&new);
        }
    }
}

/// Removes a link, a file, or a directory, if one is there; links are not followed.
pub(crate) fn remove_link(path: &Path) -> io::Result<()> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if meta.is_dir() {
        return fs::remove_dir_all(path);
    }
    // A link to a directory is removed as one.
    fs::remove_file(path).or_else(|error| fs::remove_dir(path).map_err(|_| error))
}
