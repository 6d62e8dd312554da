//! Locks: runs on one tree exclude each other. A run locks existing directories, so no lock file is left behind, and the
//! system releases the locks when the process ends.

use super::console;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Locks that are held until this is dropped.
#[derive(Debug, Default)]
pub struct Locks {
    _held: Vec<File>,
}

/// Directories to lock. Each process takes them in the order of their numbers, so two never wait for each other.
#[derive(Debug, Default)]
pub struct Wanted {
    by_number: BTreeMap<(u64, u64), Directory>,
}

#[derive(Debug)]
struct Directory {
    path: PathBuf,
    file: File,
    alone: bool,
}

impl Wanted {
    /// Adds this tree, or the directory of this file. `alone`: an exclusive lock, else a shared one.
    ///
    /// The directories above get a shared lock: a run on one of those works on this one too.
    pub fn tree(&mut self, path: &Path, alone: bool) {
        // An output directory may not be there yet.
        let absolute = std::path::absolute(path).unwrap_or_default();
        let Some(real) = absolute.ancestors().find_map(|path| path.canonicalize().ok()) else { return };
        let is_directory = real.is_dir();
        let top = if is_directory { &real } else { real.parent().unwrap_or(&real) };
        if is_directory || !is_shared_by_all(top) {
            self.add(top, alone);
        }
        let owner = owner(top);
        for above in top.ancestors().skip(1) {
            // Any user could hold a lock on those, and a run does not work on all of them.
            if above.parent().is_none() || is_shared_by_all(above) || self::owner(above) != owner {
                break;
            }
            self.add(above, false);
        }
    }

    /// Adds the directory of a map that is read and written.
    pub fn map(&mut self, map: &Path) {
        let directory =
            map.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_file = std::fs::metadata(map).map_or(true, |meta| meta.is_file());
        if is_file && !is_shared_by_all(directory) {
            self.add(directory, true);
        }
    }

    #[cfg(unix)]
    fn add(&mut self, path: &Path, alone: bool) {
        use std::os::unix::fs::MetadataExt as _;
        let Ok(file) = File::open(path) else { return };
        let Ok(meta) = file.metadata() else { return };
        if !meta.is_dir() {
            return;
        }
        let entry = self.by_number.entry((meta.dev(), meta.ino()));
        let directory = entry.or_insert_with(|| Directory { path: path.to_path_buf(), file, alone });
        directory.alone |= alone;
    }

    #[cfg(not(unix))]
    fn add(&mut self, _path: &Path, _alone: bool) {}

    /// Takes all locks, with a message if it has to wait. On a file system without locks it takes none.
    pub fn take(self) -> Locks {
        let mut held = Vec::new();
        for Directory { path, file, alone } in self.by_number.into_values() {
            let tried = if alone { file.try_lock() } else { file.try_lock_shared() };
            if let Err(TryLockError::WouldBlock) = tried {
                console::say(format_args!(
                    "another run of xhist-instrument is at work in {}; waiting for its end",
                    console::shown(&path)
                ));
                let _ = if alone { file.lock() } else { file.lock_shared() };
            }
            held.push(file);
        }
        Locks { _held: held }
    }
}

/// A directory such as /tmp, where every user may write and only owners may remove.
#[cfg(unix)]
fn is_shared_by_all(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).is_ok_and(|meta| meta.mode() & 0o1000 != 0)
}

#[cfg(not(unix))]
fn is_shared_by_all(_path: &Path) -> bool {
    false
}

#[cfg(unix)]
fn owner(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|meta| std::os::unix::fs::MetadataExt::uid(&meta))
}

#[cfg(not(unix))]
fn owner(_path: &Path) -> Option<u32> {
    None
}
