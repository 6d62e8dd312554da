//! The recorder as its lower rooms call it, see [`Upcalls`].

use super::rings::{acquire, foreign, fork, slots, spare, threads, trigger};
use super::upcalls::{Recorder, Upcalls};
use crate::hosted::thread_state::{Handlers, TrackPtr};
use crate::trace::{self, Code, Severity};

impl Upcalls for Recorder {
    fn first_check() {
        threads::first_check();
    }

    fn first_record(is_always_on: bool) -> Option<TrackPtr> {
        threads::first_record(is_always_on)
    }

    fn new_lane(interrupted: u16, level: usize) -> Option<TrackPtr> {
        acquire::new_lane(interrupted, level)
    }

    fn lay_out_header_again(slot: u16, cursor: *mut u8) -> usize {
        acquire::lay_out_header_again(slot, cursor)
    }

    fn memory_for_handlers(slot: u16) -> Option<*mut Handlers> {
        slots::memory_for_handlers(slot)
    }

    fn count_lost(number: u32) {
        spare::count_lost(number);
    }

    fn look_for_foreign_handler() {
        foreign::look_at_one();
    }

    fn stop_after(statements: u64) {
        trigger::stop_after(statements);
    }

    fn publish_rate(rate: u32) {
        slots::publish_rate(rate);
    }

    fn report_no_memory(bytes: u64) {
        trace::noticed(Severity::Sw2, Code::ALLOCATION_FAILED, bytes);
    }

    extern "C" fn on_fork_in_child() {
        fork::on_fork_in_child();
    }

    fn leave_parent() {
        fork::leave_parent();
    }

    fn words_left_behind<'a>(cursor: *mut u8) -> Option<&'a [u8]> {
        fork::words_left_behind(cursor)
    }
}
