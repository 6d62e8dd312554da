//! Where the state of a thread is on all other systems: in a thread-local variable of the standard library.

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicUsize;

use super::state::{SCRATCH, ThreadState};

std::thread_local! {
    // It has no destructor, so it works before the thread is set up and while the thread ends.
    static STATE: UnsafeCell<ThreadState> = const {
        UnsafeCell::new(ThreadState {
            cursor: SCRATCH.start(),
            limit: AtomicUsize::new(0),
            track: core::ptr::null_mut(),
            handlers: core::ptr::null_mut(),
        })
    };
}

/// The state of the calling thread.
#[inline(always)]
pub(crate) fn tls() -> *mut ThreadState {
    STATE.with(UnsafeCell::get)
}
