//! The number of the last error.

use windows_sys::Win32::Foundation::{ERROR_BUSY, GetLastError, SetLastError};

/// The number of the error that another thread does not finish.
pub(crate) const BUSY: u64 = ERROR_BUSY as u64;

/// The number of this thread's last error.
pub(crate) fn last_error() -> u64 {
    // SAFETY: has no conditions.
    unsafe { GetLastError() }.into()
}

/// Runs a function and restores the program's last error afterwards.
pub(crate) fn keeping_errno<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: has no conditions.
    let saved = unsafe { GetLastError() };
    let result = run();
    // SAFETY: has no conditions.
    unsafe { SetLastError(saved) };
    result
}
