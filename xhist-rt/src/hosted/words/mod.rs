//! The words ring: statements as words in open chunks, other records as frames between them.
//!
//! The thread's code stores its words itself, see [`qs_core::record::words`]. A [`WordsWriter`] does everything else:
//! it opens and closes chunks, folds loops, clears the room ahead and appends records.
//!
//! # At any instruction
//! A reader may look at the ring between any two stores, because the process may be killed there. Each store therefore
//! leaves a ring that yields exactly what was written. [`memory::step`] keeps the compiler from moving stores.
//!
//! - The header publishes `cleared` before the writer zeroes the bytes that it gives up.
//! - A chunk is complete before the state word counts it. Behind its words, checksum and flag look like the end of the words.
//! - No chunk is open while a record's frame is written, because the bytes of the frame would look like words.
//! - The writer counts a fold first, with a mark that says that the folded words are still in the ring.
//!
//! # Time
//! A chunk's time is a lower bound for its words, and a repetition before them ran before that time. A fold sets the
//! time to that of the fold, so what follows the loop is not dated back to the loop's start. Only the first words of
//! such a chunk, less than one round of the loop, may have run slightly before its time.
//!
//! If 4 bytes cannot represent the time since the previous stamp, an event [`Time`](qs_core::record::EventKind::Time)
//! precedes the chunk. If folding has moved a chunk's time that far, the event follows the chunk and has the chunk's
//! own full time. While no chunk is open, the newest frame's time is less than 4 bytes of time before `last time`.

mod count;
mod fold;
mod frame;
mod header;
mod memory;
mod overrun;
mod pause;
mod prologue;
mod record;
mod restructure;
mod scan;
mod writer;

pub(crate) use header::HostedHeader;
pub(crate) use writer::{MayMove, Place, WordsWriter};

#[cfg(test)]
mod tests;
