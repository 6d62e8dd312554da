//! Commits: all files of a commit become visible, or none.
//!
//! Files are written below `_staging`. A commit is the file `_commits/NAME.json`, which lists them; it appears by one
//! rename. Then the files move to their places. A process that dies before the rename leaves nothing; one that dies after
//! it leaves moves that [`recover`] finishes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::FleetError;

const STAGING: &str = "_staging";
const COMMITS: &str = "_commits";

/// The path of a file in the data set, which is also its path below `_staging`.
pub type Move = PathBuf;

/// Where a file is before its commit.
pub fn staged(dir: &Path, target: &Path) -> PathBuf {
    dir.join(STAGING).join(target)
}

/// Commits staged files, in this order.
pub fn commit(dir: &Path, name: &str, moves: &[Move]) -> Result<(), FleetError> {
    if moves.is_empty() {
        return Ok(());
    }
    let commits = dir.join(COMMITS);
    let journal = commits.join(format!("{name}.json"));
    let temporary = commits.join(format!("{name}.tmp"));
    let write = || -> io::Result<()> {
        fs::create_dir_all(&commits)?;
        let mut file = File::create(&temporary)?;
        file.write_all(&serde_json::to_vec(moves)?)?;
        file.sync_all()?;
        fs::rename(&temporary, &journal)?;
        sync(&commits)
    };
    write().map_err(|error| FleetError::Write(journal.clone(), error))?;
    apply(dir, &journal, moves)?;
    clear(dir)
}

/// Removes what was not committed.
fn clear(dir: &Path) -> Result<(), FleetError> {
    let staging = dir.join(STAGING);
    match fs::remove_dir_all(&staging) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FleetError::Write(staging, error)),
        _ => Ok(()),
    }
}

/// Moves the files of a commit that are not in their places yet, and forgets the commit.
fn apply(dir: &Path, journal: &Path, moves: &[Move]) -> Result<(), FleetError> {
    let mut last = None;
    for target in moves {
        let (from, to) = (staged(dir, target), dir.join(target));
        let at = |error| FleetError::Write(to.clone(), error);
        let parent = to.parent().unwrap_or(dir);
        if last.as_deref() != Some(parent) {
            fs::create_dir_all(parent).map_err(at)?;
            last = Some(parent.to_owned());
        }
        match fs::rename(&from, &to) {
            Ok(()) => {}
            // An earlier run moved it.
            Err(error) if error.kind() == io::ErrorKind::NotFound && to.is_file() => {}
            Err(error) => return Err(at(error)),
        }
    }
    let finish = || -> io::Result<()> {
        let mut parents: Vec<PathBuf> =
            moves.iter().filter_map(|target| Some(dir.join(target).parent()?.to_owned())).collect();
        parents.dedup();
        parents.iter().try_for_each(|parent| sync(parent))?;
        fs::remove_file(journal)
    };
    finish().map_err(|error| FleetError::Write(journal.to_owned(), error))
}

/// Finishes commits of runs that died, and removes files that were never committed.
pub fn recover(dir: &Path) -> Result<(), FleetError> {
    let commits = dir.join(COMMITS);
    if commits.is_dir() {
        let entries = fs::read_dir(&commits).map_err(|error| FleetError::Read(commits.clone(), error))?;
        let mut journals: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        journals.sort();
        for journal in journals {
            if journal.extension().is_none_or(|extension| extension != "json") {
                fs::remove_file(&journal).map_err(|error| FleetError::Write(journal.clone(), error))?;
                continue;
            }
            let text = fs::read(&journal).map_err(|error| FleetError::Read(journal.clone(), error))?;
            let moves: Vec<Move> = serde_json::from_slice(&text)
                .map_err(|error| FleetError::Read(journal.clone(), error.into()))?;
            if let Some(foreign) = moves.iter().find(|target| !is_inside(target)) {
                let why = io::Error::other(format!("{} leads out of the data set", foreign.display()));
                return Err(FleetError::Read(journal, why));
            }
            apply(dir, &journal, &moves)?;
        }
    }
    clear(dir)
}

/// Whether a path has only names.
fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// Waits until the names in a directory are on the disk.
fn sync(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(dir: &Path, name: &str) -> Move {
        let target = PathBuf::from("rings/build=1/day=2026-11-23").join(name);
        let path = staged(dir, &target);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
        target
    }

    #[test]
    fn a_commit_that_died_is_finished_and_the_rest_removed() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let moves = vec![stage(dir, "a"), stage(dir, "b")];
        let stray = stage(dir, "c");
        fs::create_dir_all(dir.join(COMMITS)).unwrap();
        fs::write(dir.join(COMMITS).join("1.json"), serde_json::to_vec(&moves).unwrap()).unwrap();
        fs::write(dir.join(COMMITS).join("2.tmp"), "half").unwrap();
        // It died after the first move.
        fs::create_dir_all(dir.join(&moves[0]).parent().unwrap()).unwrap();
        fs::rename(staged(dir, &moves[0]), dir.join(&moves[0])).unwrap();
        recover(dir).unwrap();
        assert!(moves.iter().all(|target| dir.join(target).is_file()));
        assert!(!dir.join(stray).exists() && !dir.join(STAGING).exists());
        assert_eq!(fs::read_dir(dir.join(COMMITS)).unwrap().count(), 0);
        recover(dir).unwrap();
    }

    #[test]
    fn a_journal_does_not_lead_out() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(COMMITS)).unwrap();
        fs::write(dir.path().join(COMMITS).join("1.json"), r#"["../x"]"#).unwrap();
        assert!(matches!(recover(dir.path()), Err(FleetError::Read(..))));
    }
}
