//! Threads that read dumps.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::SystemTime;

use crossbeam_channel::Sender;
use xhist_history::{Dump, DumpReader};

use super::labels::{Labels, labels_of};
use super::options::{AddOptions, Known};
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

    /// Starts the threads. They end with the list, or when the receiver is dropped.
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

/// Reads a dump. A panic of the reader is a loss of this dump, and not the end of all.
fn guarded(reader: &mut DumpReader, read: impl FnOnce(&mut DumpReader) -> Dump) -> Dump {
    std::panic::catch_unwind(AssertUnwindSafe(|| read(reader))).unwrap_or_else(|cause| {
        let texts =
            (cause.downcast_ref::<&str>().copied(), cause.downcast_ref::<String>().map(String::as_str));
        let text = texts.0.or(texts.1).unwrap_or("no message");
        Dump { notes: vec![format!("error: the reader panicked: {text}")], ..Dump::default() }
    })
}

/// Reads a dump, unless the data set has it.
fn read(
    source: &DumpSource,
    reader: &mut DumpReader,
    known: &Known,
    labels: &Labels,
) -> Result<Read, FleetError> {
    let (opened, written) = source.open()?;
    let id = content(&opened.image);
    if !known.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
        return Ok(Read::Known);
    }
    let beside = match source {
        DumpSource::File(_) | DumpSource::Packed(..) => opened.dir.clone(),
        DumpSource::Object(_) => None,
    };
    let dump = guarded(reader, |reader| reader.read(&opened, beside.as_deref()));
    let name = source.name();
    let facts = DumpFacts {
        id,
        labels: labels_of(&name, labels),
        source: name,
        written: written.unwrap_or_else(SystemTime::now),
        bytes: opened.image.len() as u64,
    };
    Ok(Read::Dump(Box::new(rows(&dump, &facts))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_loss_of_one_dump() {
        let mut reader = DumpReader::new(Vec::new(), 10);
        let dump = guarded(&mut reader, |_| panic!("index {}", 7));
        assert_eq!(dump.notes, ["error: the reader panicked: index 7"]);
    }
}
