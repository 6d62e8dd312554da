//! Threads that read dumps.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::SystemTime;

use crossbeam_channel::Sender;
use xhist_report::DumpReader;

use super::{AddOptions, Known};
use crate::dump::{DumpFacts, DumpRows, content, rows};
use crate::error::FleetError;
use crate::sources::{DumpSource, Listing};

/// What a reader found.
pub enum Read {
    /// The rows of a dump.
    Dump(Box<DumpRows>),
    /// The data set has it.
    Known,
    /// It cannot be read.
    Unreadable(FleetError),
}

/// The threads that read.
pub struct Readers<'o> {
    options: &'o AddOptions,
    known: Known,
}

impl<'o> Readers<'o> {
    /// For these options.
    pub fn new(options: &'o AddOptions, known: Known) -> Readers<'o> {
        Readers { options, known }
    }

    /// Starts the threads. They end with the list, or when nobody receives what they send.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start<'s>(self, scope: &'s Scope<'s, '_>, listing: Listing, sender: Sender<Read>) -> io::Result<()>
    where
        'o: 's,
    {
        let listing = Arc::new(Mutex::new(listing));
        let labels = Arc::new(self.options.labels.clone());
        for number in 0..self.options.jobs.max(1) {
            let (listing, known, sender) = (Arc::clone(&listing), Arc::clone(&self.known), sender.clone());
            let (options, labels) = (self.options, Arc::clone(&labels));
            let body = move || {
                let mut reader = DumpReader::new(options.maps.clone(), options.entries);
                loop {
                    let next = listing.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(source) = next else { break };
                    let read = source.and_then(|source| read(&source, &mut reader, &known, &labels));
                    if sender.send(read.unwrap_or_else(Read::Unreadable)).is_err() {
                        break;
                    }
                }
            };
            std::thread::Builder::new().name(format!("reader {number}")).spawn_scoped(scope, body)?;
        }
        Ok(())
    }
}

/// Reads a dump, unless the data set has it.
fn read(
    source: &DumpSource,
    reader: &mut DumpReader,
    known: &Known,
    labels: &Arc<std::collections::BTreeMap<String, String>>,
) -> Result<Read, FleetError> {
    let (opened, written) = source.open()?;
    let id = content(&opened.image);
    if !known.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
        return Ok(Read::Known);
    }
    let beside = match source {
        DumpSource::File(_) => opened.dir.clone(),
        DumpSource::Object(_) => None,
    };
    let dump = reader.read(&opened, beside.as_deref());
    let facts = DumpFacts {
        id,
        source: source.name(),
        written: written.unwrap_or_else(SystemTime::now),
        bytes: opened.image.len() as u64,
        labels: Arc::clone(labels),
    };
    Ok(Read::Dump(Box::new(rows(&dump, &facts))))
}
