//! The words ring: statements as words in open chunks, other records as frames between them.
//!
//! This folder may be `unsafe`. It knows neither threads nor files nor how a clock is read. The thread's code stores its
//! words itself, see [`qs_core::record::words`]; a [`Writer`] does everything else: it opens and closes chunks, folds
//! loops, clears the room ahead and appends records.
//!
//! # At any instruction
//! A reader may look at the ring between any two stores, because the process may be killed there. Each store therefore
//! leaves a ring that yields exactly what was written. [`memory::step`] keeps the compiler from moving stores.
//!
//! - The header publishes `cleared` before the bytes that it gives up are zeroed.
//! - A chunk is complete before the state word counts it. Behind its words, checksum and flag look like its end anyway.
//! - No chunk is open while a record's frame is written, because its bytes would look like words.
//! - What is folded is counted first, with a mark that says that it is in the ring, too.
//!
//! # Time
//! A chunk's time is a lower bound for its words, and what came again before them ran before that time. A fold sets
//! the time to that of the fold, so what follows the loop is not dated back to its start. Only the first words of such a
//! chunk, which are less than one round of the loop, may have run shortly before its time. When more than 4 bytes of time
//! have passed since the stamp before, an event [`Time`](qs_core::record::EventKind::Time) comes before the chunk. A chunk
//! whose time moved that far by folding has the event directly behind it, with the chunk's own time in full. While no chunk is open, the newest frame's time is
//! less than 4 bytes of time before `last time`.

mod count;
mod fold;
mod frame;
mod header;
mod look;
mod memory;
mod pause;
mod record;
mod restructure;
mod single;
mod writer;

pub(crate) use header::HostedHeader;
pub(crate) use single::Stamps;
pub(crate) use writer::{MayMove, Place, Writer};

#[cfg(test)]
mod tests;
