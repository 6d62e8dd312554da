//! The directory of a data set: Parquet files by table, build and day, and what makes them appear all at once.
//!
//! ```text
//! DIR/xhist-fleet.json                                  the mark of a data set, with the version of its schema
//! DIR/rings/build=1.4.2/day=2026-11-23/part-….parquet   a table
//! DIR/sql/groups.sql                                    views, for every engine
//! DIR/_lock, DIR/_staging, DIR/_commits                 of `add`; engines skip names with an underscore
//! ```

mod commit;
mod known;
mod mark;
mod part_writer;
mod staging;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub use known::known_dumps;
pub use part_writer::{arrow_schema, arrow_type};
pub use staging::Staging;

use crate::error::FleetError;

/// The file whose lock the process that changes a data set has.
const LOCK: &str = "_lock";

/// A data set that exists.
#[derive(Clone, Debug)]
pub struct DataSet {
    dir: PathBuf,
}

/// A data set that only this process changes.
#[derive(Debug)]
pub struct LockedDataSet {
    dir: PathBuf,
    _lock: File,
}

impl DataSet {
    /// Opens the data set in a directory.
    ///
    /// # Errors
    /// The directory holds none, or one of a newer version.
    pub fn open(dir: &Path) -> Result<DataSet, FleetError> {
        mark::check(dir)?;
        Ok(DataSet { dir: dir.to_owned() })
    }

    /// Whether a directory holds a data set.
    pub fn is_at(dir: &Path) -> bool {
        dir.join(mark::FILE).is_file()
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

impl LockedDataSet {
    /// Opens the data set in a directory to change it, or makes a new one in a directory that is empty or does not exist.
    /// Finishes what an earlier run has committed, and removes what it has not.
    ///
    /// # Errors
    /// The directory holds something else, another process changes it, or it cannot be written.
    pub fn open_or_create(dir: &Path) -> Result<LockedDataSet, FleetError> {
        let at = |error: io::Error| FleetError::Write(dir.to_owned(), error);
        if !DataSet::is_at(dir) {
            fs::create_dir_all(dir).map_err(at)?;
            let has_files = fs::read_dir(dir).map_err(at)?.next().is_some();
            // The lock is the first file of a data set, which another process may be making now. So it is looked for last.
            if has_files && !dir.join(LOCK).is_file() {
                return Err(FleetError::Foreign(dir.to_owned()));
            }
        }
        let lock = File::options().create(true).append(true).open(dir.join(LOCK)).map_err(at)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(FleetError::Busy(dir.to_owned())),
            Err(fs::TryLockError::Error(error)) => return Err(at(error)),
        }
        let is_new = !DataSet::is_at(dir);
        if !is_new {
            mark::check(dir)?;
        }
        commit::recover(dir)?;
        if is_new {
            Staging::new(dir).commit_empty()?;
            mark::write(dir).map_err(at)?;
        }
        Ok(LockedDataSet { dir: dir.to_owned(), _lock: lock })
    }

    /// A place for new rows.
    pub fn stage(&self) -> Staging {
        Staging::new(&self.dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_other_files_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("notes.txt"), "mine").unwrap();
        assert!(matches!(LockedDataSet::open_or_create(dir.path()), Err(FleetError::Foreign(_))));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(matches!(DataSet::open(dir.path()), Err(FleetError::NoDataSet(_))));
    }

    #[test]
    fn a_data_set_that_is_being_made_is_busy_and_one_whose_maker_was_killed_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let maker = File::create(dir.path().join(LOCK)).unwrap();
        maker.lock().unwrap();
        for name in ["_staging", "rings/build=none"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        assert!(matches!(LockedDataSet::open_or_create(dir.path()), Err(FleetError::Busy(_))));
        drop(maker);
        LockedDataSet::open_or_create(dir.path()).unwrap();
        DataSet::open(dir.path()).unwrap();
    }

    #[test]
    fn two_processes_do_not_change_it_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let first = LockedDataSet::open_or_create(dir.path()).unwrap();
        assert!(matches!(LockedDataSet::open_or_create(dir.path()), Err(FleetError::Busy(_))));
        drop(first);
        LockedDataSet::open_or_create(dir.path()).unwrap();
    }
}
