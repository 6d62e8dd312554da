//! What the lower rooms ask of the recorder above them, all of it rare. The top of the recorder implements the trait for
//! [`Recorder`], so the compiler resolves each call and no room imports a higher one.

use crate::hosted::thread_state::{Handlers, TrackPtr};

/// The recorder as the lower rooms see it.
pub(crate) enum Recorder {}

pub(crate) trait Upcalls {
    /// The first check of a thread, or any check of a thread without a ring. If the thread gets a ring, its words go there.
    fn first_check();
    /// The track for the first record of a thread, or for any record of a thread that is not recorded.
    fn first_record(is_always_on: bool) -> Option<TrackPtr>;
    /// The track of a new lane for handlers of this level that interrupt the ring in this slot. Signals are blocked.
    fn new_lane(interrupted: u16, level: usize) -> Option<TrackPtr>;
    /// The file of the ring in this slot was emptied: lays the header out again for the calling thread. Returns the
    /// number of bytes directly before the cursor that are words, written since.
    fn lay_out_header_again(slot: u16, cursor: *mut u8) -> usize;
    /// Zeroed memory for the handlers of the thread that has this slot.
    fn memory_for_handlers(slot: u16) -> Option<*mut Handlers>;
    /// Counts statements and records that no ring has.
    fn count_lost(number: u32);
    /// Looks for one handler that was installed without the C library.
    fn look_for_foreign_handler();
    /// Stops recording after this many more statements.
    fn stop_after(statements: u64);
    /// Writes the rate of the clock to every ring.
    fn publish_rate(rate: u32);
    /// Reports that there is no memory for a ring of this many bytes.
    fn report_no_memory(bytes: u64);
    /// Gives a forked child rings of its own.
    extern "C" fn on_fork_in_child();
    /// Gives a child rings of its own that was forked without the C library, once the child detects that.
    fn leave_parent();
    /// The words directly before this cursor, which a child has written where a ring of its parent was.
    fn words_left_behind<'a>(cursor: *mut u8) -> Option<&'a [u8]>;
}
