//! A track, the ring of a thread or of a level of its signal handlers: where the words of the thread go, who writes it,
//! and what it gets besides words.
//!
//! `act` changes a track on behalf of its thread. On top of it, `handlers` gives signal handlers rings of their own,
//! `events` appends events, and `pending` is what a thread catches up on at its next check.
//! `printed` knows which output is recorded already.

pub(crate) mod act;
pub(crate) mod events;
#[allow(unsafe_code)]
pub(crate) mod handlers;
#[allow(unsafe_code)]
pub(crate) mod pending;
#[allow(unsafe_code)]
pub(crate) mod printed;
