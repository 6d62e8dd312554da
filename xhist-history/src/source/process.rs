//! Whether a process of Windows runs.

use std::io;

use windows_sys::Win32::Foundation::{CloseHandle, ERROR_ACCESS_DENIED, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_SYNCHRONIZE, WaitForSingleObject};

/// Whether the process with this number runs. Its number may be that of a later one.
pub fn is_running(pid: u32) -> bool {
    // SAFETY: the arguments are numbers.
    let process = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, pid) };
    if process.is_null() {
        // Without the right to wait for it it is there, too.
        return io::Error::last_os_error().raw_os_error() == Some(ERROR_ACCESS_DENIED.cast_signed());
    }
    // SAFETY: `process` is the handle that was just opened.
    let waited = unsafe { WaitForSingleObject(process, 0) };
    // SAFETY: the same handle, which nothing uses behind this.
    unsafe { CloseHandle(process) };
    waited == WAIT_TIMEOUT
}
