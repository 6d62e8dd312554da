//! What stays for the next build: directories while they are in use, and the facts that results depend on.
//!
//! Marks a directory as used, and removes the oldest unused ones.

pub(crate) mod facts;

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// The file that marks a use. Its time is that of the last use; a process that uses the directory holds a lock on it.
const MARK: &str = "used";

/// Marks the directory as the newest and as used until the file is dropped. `None`: it cannot be marked, so it may be
/// removed.
pub(crate) fn hold(directory: &Path) -> Option<File> {
    let path = directory.join(MARK);
    // A directory that cannot be written can mostly not be removed either.
    let file = File::options().append(true).create(true).open(&path).or_else(|_| File::open(&path)).ok()?;
    let _ = file.set_modified(SystemTime::now());
    let _ = file.lock_shared();
    Some(file)
}

/// Whether a process uses the directory.
pub(crate) fn is_held(directory: &Path) -> bool {
    File::open(directory.join(MARK)).is_ok_and(|mark| mark.try_lock().is_err())
}

/// Removes the oldest directories in `parent` whose names begin with `begin`. The newest `kept` and those in use stay.
pub(crate) fn prune(parent: &Path, begin: &str, kept: usize) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(begin));
    let mut found: Vec<_> = named
        .map(|entry| {
            let path = entry.path();
            let meta = path.join(MARK).metadata().or_else(|_| path.metadata());
            (meta.and_then(|meta| meta.modified()).ok(), path)
        })
        .collect();
    found.sort();
    for (_, path) in found.iter().rev().skip(kept) {
        let mark = File::open(path.join(MARK));
        if mark.as_ref().is_ok_and(|mark| mark.try_lock().is_err()) {
            continue;
        }
        let _ = std::fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_oldest_go_unless_they_are_in_use() {
        let parent = tempfile::tempdir().expect("a directory");
        let names = ["r-a", "r-b", "r-c", "r-d", "other"];
        let mut held = None;
        for (age, name) in names.iter().enumerate() {
            let directory = parent.path().join(name);
            std::fs::create_dir(&directory).expect("a new directory");
            let mark = hold(&directory).expect("a mark");
            let age = Duration::from_secs(3600 * (age as u64 + 1));
            mark.set_modified(SystemTime::now() - age).expect("a time");
            if *name == "r-d" {
                held = Some(mark);
            }
        }
        let left = || names.map(|name| parent.path().join(name).is_dir());
        prune(parent.path(), "r-", 1);
        assert_eq!(left(), [true, false, false, true, true]);
        drop(held);
        prune(parent.path(), "r-", 1);
        assert_eq!(left(), [true, false, false, false, true]);
    }
}
