//! The recorder as its lower rooms call it, see [`Upcalls`].

use super::rings::{fork, threads};
use super::upcalls::{Recorder, Upcalls};
use crate::hosted::thread_state::TrackPtr;

impl Upcalls for Recorder {
    fn first_check() {
        threads::first_check();
    }

    fn first_record(is_always_on: bool) -> Option<TrackPtr> {
        threads::first_record(is_always_on)
    }

    fn leave_parent() {
        fork::leave_parent();
    }
}
