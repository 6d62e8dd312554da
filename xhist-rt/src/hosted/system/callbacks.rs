//! What the system calls in the recorder, besides lanes: the rooms above set it before `main`.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::written::Written;

/// Functions of the recorder, for what the program does: a system calls those whose occasions it sees. Each may be called in a
/// signal handler.
#[allow(dead_code, reason = "no system shows all of them")]
pub(crate) struct Callbacks {
    /// This process is a child that was forked just now.
    pub(crate) on_fork_in_child: extern "C" fn(),
    /// The calling thread ends the process by an exception that no code handles.
    pub(crate) on_death: fn(),
    /// This process may be a child that was forked without the C library.
    pub(crate) check_for_fork: fn(),
    /// The program enters a sandbox (first), or forbids the processor's counter (second).
    pub(crate) restrict: fn(bool, bool),
    /// The number for a thread that the calling thread is about to start; 0: none.
    pub(crate) number_for_thread: fn() -> u32,
    /// The calling thread has that number.
    pub(crate) on_thread: fn(u32),
    /// The calling thread has started this process.
    pub(crate) on_process: fn(u32),
    /// The calling thread has written this, past the macros that print or through them.
    pub(crate) on_output: fn(&Written<'_>),
}

static CALLBACKS: AtomicPtr<Callbacks> = AtomicPtr::new(null_mut());

/// From now on the system calls these. Must not be called in a signal handler.
pub(crate) fn set_callbacks(callbacks: &'static Callbacks) {
    CALLBACKS.store((&raw const *callbacks).cast_mut(), Ordering::Release);
    super::sys::at_fork_in_child(callbacks.on_fork_in_child);
}

/// `None` before they are set, and where the recorder is off.
#[allow(dead_code, reason = "macOS shows none but forks")]
#[allow(unsafe_code)]
pub(super) fn callbacks() -> Option<&'static Callbacks> {
    // SAFETY: `set_callbacks` stored a reference to a static.
    unsafe { CALLBACKS.load(Ordering::Acquire).as_ref() }
}
