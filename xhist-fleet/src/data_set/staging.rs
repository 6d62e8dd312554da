//! New rows, in files that engines do not see yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::commit::{self, Move};
use super::part_writer::PartWriter;
use crate::dump::DumpRows;
use crate::error::FleetError;
use crate::schema::{TABLES, Table};

/// New rows of a data set. What is not committed does not exist.
pub struct Staging {
    dir: PathBuf,
    /// Names the files of this commit; no other commit has it.
    name: String,
    writers: BTreeMap<(Table, String, String), PartWriter>,
    rows: usize,
}

impl Staging {
    /// Without rows.
    pub(super) fn new(dir: &Path) -> Staging {
        Staging { dir: dir.to_owned(), name: name(), writers: BTreeMap::new(), rows: 0 }
    }

    /// Adds the rows of a dump.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn add(&mut self, dump: &DumpRows) -> Result<(), FleetError> {
        for row in &TABLES {
            let rows = dump.rows(row.table);
            if rows.len() == 0 {
                continue;
            }
            self.rows += rows.len();
            let key = (row.table, dump.build.clone(), dump.day.clone());
            let writer = match self.writers.entry(key) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let target = target(row.name, &dump.build, &dump.day, &self.name);
                    entry.insert(PartWriter::create(commit::staged(&self.dir, &target), row)?)
                }
            };
            for row in rows {
                writer.push(row)?;
            }
        }
        Ok(())
    }

    /// Commits a file without rows in each table, so that engines find a table where nothing was recorded.
    pub(super) fn commit_empty(mut self) -> Result<(), FleetError> {
        let (build, day) = ("none", "1970-01-01");
        for row in &TABLES {
            let target = target(row.name, build, day, &self.name);
            let writer = PartWriter::create(commit::staged(&self.dir, &target), row)?;
            self.writers.insert((row.table, build.to_owned(), day.to_owned()), writer);
        }
        self.commit()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        self.writers.values().map(PartWriter::memory).sum()
    }

    /// Makes all rows visible: at once, or after a crash when the data set is opened next.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn commit(self) -> Result<(), FleetError> {
        let mut moves = Vec::new();
        for ((table, build, day), writer) in self.writers {
            writer.finish()?;
            moves.push((table, target(table.row().name, &build, &day, &self.name)));
        }
        // Rows of `rings` appear last: what they name is there then.
        moves.sort_by_key(|(table, _)| table.index());
        let moves: Vec<Move> = moves.into_iter().map(|(_, target)| target).collect();
        commit::commit(&self.dir, &self.name, &moves)
    }
}

/// The path of a file in the data set.
fn target(table: &str, build: &str, day: &str, name: &str) -> PathBuf {
    let mut path = PathBuf::from(table);
    path.extend([format!("build={build}"), format!("day={day}"), format!("part-{name}.parquet")]);
    path
}

/// A name that no earlier commit has: by time and process.
fn name() -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{nanos:020}-{}", std::process::id())
}
