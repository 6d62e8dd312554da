//! Signal handlers of the program, each run on a lane: words that a handler writes do not mix with those of the code that
//! it interrupts.
//!
//! `sigaction` and its relatives ([`calls`]) are ours. They give the kernel one of our entry functions ([`entries`]) in
//! place of a handler, with the program's flags and mask. The kernel therefore knows all that matters, in one step: no
//! table of ours can disagree with it, also in a `vfork` child, after `SA_RESETHAND`, or where threads race.
//!
//! [`lane`] moves the cursor to a lane and back. [`fault`] gives the recorder the first look at a signal of the processor.
//! All functions are safe to call from a signal handler.

mod calls;
mod entries;
mod fault;
mod lane;
#[cfg(test)]
mod tests;

pub(super) use entries::{foreign_handlers, is_foreign};
pub(super) use fault::catch;
pub(crate) use lane::{LANES, Lanes, Recorder, Words, frontier, set_recorder, turn_on_lane};
