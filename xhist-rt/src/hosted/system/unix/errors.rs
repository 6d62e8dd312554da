//! The number of the last error.

use core::ffi::c_int;
#[cfg(any(target_os = "linux", target_os = "android"))]
use libc::__errno_location as place;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use libc::__error as place;

pub(crate) fn errno() -> c_int {
    // SAFETY: the location is always valid for the calling thread.
    unsafe { *place() }
}

/// The number of this thread's last error.
pub(crate) fn last_error() -> u64 {
    errno().unsigned_abs().into()
}

/// Runs a function and restores the program's `errno` afterwards.
pub(crate) fn keeping_errno<T>(run: impl FnOnce() -> T) -> T {
    let saved = errno();
    let result = run();
    // SAFETY: the location is always valid for the calling thread.
    unsafe { *place() = saved };
    result
}

/// The number of the error that another thread does not finish.
pub(crate) const BUSY: u64 = libc::EBUSY.unsigned_abs() as u64;
