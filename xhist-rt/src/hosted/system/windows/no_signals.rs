//! Windows has no signals. A handler of Ctrl-C runs on a thread of its own, which has a ring like any other, and a handler of
//! exceptions has a lane.

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

/// What the system gives a handler of exceptions, which runs on the stack of the interrupted code.
pub(crate) mod context {
    use core::ffi::c_void;
    use core::ptr::{null_mut, without_provenance};

    use windows_sys::Win32::System::Diagnostics::Debug::{CONTEXT, ReadProcessMemory};
    use windows_sys::Win32::System::Threading::GetCurrentProcess;

    use crate::hosted::system::sys::errors::keeping_errno;

    /// Whether there is memory at this address.
    pub(crate) fn is_readable(address: usize) -> bool {
        let mut bytes = 0u64;
        let (from, to) = (without_provenance::<c_void>(address & !7), (&raw mut bytes).cast());
        // SAFETY: the system copies eight bytes, or refuses to.
        keeping_errno(|| unsafe {
            ReadProcessMemory(GetCurrentProcess(), from, to, size_of::<u64>(), null_mut()) != 0
        })
    }

    /// The stack pointer of the interrupted code, where the system shows it.
    ///
    /// # Safety
    /// `context` is the system's.
    pub(crate) unsafe fn interrupted_stack(context: *mut c_void) -> Option<usize> {
        let context = context.cast::<CONTEXT>();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller passes the system's context.
        return Some(unsafe { (*context).Rsp } as usize);
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the caller passes the system's context.
        return Some(unsafe { (*context).Sp } as usize);
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            let _ = context;
            None
        }
    }

    /// No thread has a stack of its own for handlers.
    pub(crate) const unsafe fn signal_stack(_: *mut c_void, _: usize) -> (usize, usize) {
        (0, 0)
    }
}
