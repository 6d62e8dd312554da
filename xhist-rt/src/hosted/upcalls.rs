//! How a thread begins, as the slow path sees it: a check or a record finds a thread without a ring, or a child that was
//! forked unseen. A thread that begins uses the slow path itself, so the two need each other. The top of the recorder
//! implements the trait for [`Recorder`], and the compiler resolves each call.

use crate::hosted::thread_state::TrackPtr;

/// The recorder as the lower rooms see it.
pub(crate) enum Recorder {}

pub(crate) trait Upcalls {
    /// The first check of a thread, or any check of a thread without a ring. If the thread gets a ring, its words go there.
    fn first_check();
    /// The track for the first record of a thread, or for any record of a thread that is not recorded.
    fn first_record(is_always_on: bool) -> Option<TrackPtr>;
    /// Gives a child rings of its own that was forked without the C library, once the child detects that.
    fn leave_parent();
}
