//! Everything that the fast path leaves out: roll-overs, records and events, threads without a ring, parked threads,
//! and signal handlers.
//!
//! `act` changes a track on behalf of its thread. On top of it, `roll_over` closes a chunk and opens the next one, `single`
//! does that quickly where each statement has a chunk of its own, `append` appends everything that is not a word, and
//! `handlers` gives signal handlers rings of their own.

mod act;
mod append;
mod handlers;
mod roll_over;
mod single;

pub(crate) use act::{attach, count_lost_words, detach, settle};
pub use append::flush;
pub(crate) use append::{
    Append, append, append_record, at, put_word, record_long, record_target, record_without_word,
};
pub(crate) use handlers::{end_handlers, has_track, move_handlers, set_up_handlers};
pub(crate) use roll_over::roll_over;
pub(crate) use single::roll_over_of;
