//! Windows has no signals. A handler of Ctrl-C runs on a thread of its own, which has a ring like any other.

/// No signal writes the rings.
pub(crate) const EXPORT_SIGNAL: Option<i32> = None;

/// No signal can be handled.
pub(crate) const fn on_signal(_: i32, _: extern "C" fn(i32)) -> bool {
    false
}

/// Runs a function: no handler comes meanwhile.
pub(crate) fn with_signals_blocked<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// No handler was installed without the C library.
pub(crate) const fn foreign_handlers() -> u64 {
    0
}

/// See [`foreign_handlers`].
pub(crate) const fn is_foreign(_: i32) -> bool {
    false
}

/// No thread has a stack for signals.
pub(crate) const fn has_signal_stack() -> bool {
    false
}

/// What a kernel gives a handler.
pub(crate) mod context {
    use core::ffi::c_void;

    pub(crate) const fn is_readable(_: usize) -> bool {
        true
    }

    pub(crate) const unsafe fn interrupted_stack(_: *mut c_void) -> Option<usize> {
        None
    }

    pub(crate) const unsafe fn signal_stack(_: *mut c_void, _: usize) -> (usize, usize) {
        (0, 0)
    }
}
