//! Everything that the fast path leaves out: roll-overs, records and events, threads without a ring, parked threads,
//! and signal handlers.
//!
//! `act` changes a track on behalf of its thread. On top of it, `roll_over` closes a chunk and opens the next one, `append` appends everything that is not a word,
//! `handlers` gives signal handlers rings of their own, and `pending` is what a thread catches up on at its next check.

mod act;
mod append;
mod handlers;
mod pending;
mod roll_over;

use crate::hosted::system::signals::{LaneUser, set_lane_user};

pub(crate) use act::{attach, count_lost_words, detach, settle};
pub use append::flush;
pub(crate) use append::publish;
pub(crate) use append::{
    Append, append, append_record, at, put_word, record_long, record_target, record_without_word,
};
pub use append::{stop, stop_after};
pub(crate) use handlers::{end_handlers, has_track, move_handlers};
pub(crate) use pending::{on_panic, set_name, settle_at_end};
pub(crate) use roll_over::{roll_over, roll_over_chunk};

/// What the lanes call.
static LANE_USER: LaneUser = LaneUser {
    thread: handlers::thread,
    open: |lane, interrupted| handlers::open(lane, interrupted, roll_over_chunk),
    close: handlers::close,
    set_aside: handlers::set_aside,
    lose: handlers::lose,
    end_early: pending::end_early,
};

/// From now on handlers have lanes.
pub(crate) fn set_up_handlers() {
    set_lane_user(&LANE_USER);
}
