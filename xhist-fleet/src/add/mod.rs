//! Adds dumps to a data set: a list of sources, threads that read them, and one writer that commits.
//!
//! ```text
//! Listing ─► readers: open ─► identity ─► history ─► rows ─► writer: stage ─► commit
//! ```

mod labels;
mod options;
mod progress;
mod readers;

use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, bounded};

pub use self::options::{AddOptions, Added};
use self::progress::AddProgress;
use self::readers::{Read, Readers};
use crate::data_set::{LockedDataSet, Staging, known_dumps};
use crate::dump::DumpRows;
use crate::error::FleetError;
use crate::sources::Listing;
use crate::{engine, schema};

/// Bytes that staged files hold in memory.
const MEMORY: usize = 256 << 20;

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
