//! Adds dumps to a data set: a list of sources, threads that read them, and one writer that commits.
//!
//! ```text
//! Listing ─► readers: open ─► identity ─► history ─► rows ─► writer: stage ─► commit
//! ```

mod progress;
mod readers;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, bounded};

use self::progress::AddProgress;
use self::readers::{Read, Readers};
use crate::data_set::{LockedDataSet, Staging, known_dumps};
use crate::dump::DumpRows;
use crate::error::FleetError;
use crate::sources::Listing;
use crate::{engine, schema};

/// Bytes that staged files hold in memory.
const MEMORY: usize = 256 << 20;

/// What to add.
#[derive(Clone, Debug)]
pub struct AddOptions {
    /// The data set.
    pub dir: PathBuf,
    /// Dumps: files, directories, URLs, or `-`.
    pub dumps: Vec<String>,
    /// Labels of all of them.
    pub labels: BTreeMap<String, String>,
    /// Directories that hold maps.
    pub maps: Vec<PathBuf>,
    /// The newest entries of a dump that are kept.
    pub entries: u64,
    /// Rows of a commit: a run that is killed reads at most these again.
    pub commit: usize,
    /// Threads that read.
    pub jobs: usize,
    /// Show progress.
    pub progress: bool,
}

/// What was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Dumps with a history.
    pub histories: u64,
    /// Dumps without one: they are rows of `losses`.
    pub damaged: u64,
    /// Dumps that the data set had already.
    pub known: u64,
    /// Sources that cannot be read.
    pub unreadable: u64,
    /// Rows of all tables.
    pub rows: u64,
}

/// Adds dumps. What cannot be read goes to `report`, a line each, and the rest is added.
///
/// # Errors
/// The data set cannot be written.
pub fn add(options: &AddOptions, report: &mut dyn FnMut(&str)) -> Result<Added, FleetError> {
    let locked = LockedDataSet::open_or_create(&options.dir)?;
    engine::write_views(&options.dir)?;
    let known = Arc::new(Mutex::new(known_dumps(&options.dir)?));
    let listing = Listing::new(options.dumps.clone())?;
    // A few dumps wait for the writer; more would only take memory.
    let (sender, receiver) = bounded(2 * options.jobs);
    let progress = AddProgress::new(options.progress);
    std::thread::scope(|scope| {
        let readers = Readers::new(options, Arc::clone(&known));
        readers.start(scope, listing, sender).map_err(FleetError::System)?;
        write_all(&locked, options.commit, &receiver, &progress, report)
    })
}

/// Writes what the readers send until they end.
fn write_all(
    locked: &LockedDataSet,
    rows_of_commit: usize,
    receiver: &Receiver<Read>,
    progress: &AddProgress,
    report: &mut dyn FnMut(&str),
) -> Result<Added, FleetError> {
    let mut added = Added::default();
    let mut staging: Option<Staging> = None;
    for read in receiver {
        match read {
            Read::Known => added.known += 1,
            Read::Unreadable(error) => {
                added.unreadable += 1;
                progress.suspend(|| report(&error.to_string()));
            }
            Read::Dump(rows) => {
                match has_history(&rows) {
                    true => added.histories += 1,
                    false => added.damaged += 1,
                }
                let stage = staging.get_or_insert_with(|| locked.stage());
                stage.add(&rows)?;
                if stage.rows() >= rows_of_commit || stage.memory() >= MEMORY {
                    added.rows += stage.rows() as u64;
                    staging.take().map_or(Ok(()), Staging::commit)?;
                }
            }
        }
        progress.show(&added);
    }
    if let Some(stage) = staging {
        added.rows += stage.rows() as u64;
        stage.commit()?;
    }
    progress.finish();
    Ok(added)
}

fn has_history(rows: &DumpRows) -> bool {
    rows.rows(schema::Table::Rings).len() > 0
}

/// Identities of dumps that are in the data set, or on their way there.
type Known = Arc<Mutex<HashSet<u128>>>;
