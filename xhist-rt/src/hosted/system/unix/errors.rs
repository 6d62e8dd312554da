//! The number of the last error.

use core::ffi::c_int;

pub(crate) fn errno() -> c_int {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the location is always valid for the calling thread.
    return unsafe { *libc::__errno_location() };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    return std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
}

/// The number of this thread's last error.
pub(crate) fn last_error() -> u64 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0).unsigned_abs().into()
}

/// Runs a function and restores the program's `errno` afterwards.
pub(crate) fn keeping_errno<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let saved = errno();
        let result = run();
        // SAFETY: `errno_location` is valid for the calling thread.
        unsafe { *libc::__errno_location() = saved };
        result
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    run()
}

/// The number of the error that another thread does not finish.
pub(crate) const BUSY: u64 = libc::EBUSY.unsigned_abs() as u64;
