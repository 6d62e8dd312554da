//! Files, apart from ring files, and standard error.

use core::ffi::{CStr, c_int};
use core::ptr::null_mut;

use windows_sys::Win32::Storage::FileSystem::{MOVEFILE_REPLACE_EXISTING, MoveFileExW, WriteFile};
use windows_sys::Win32::System::Console::{GetStdHandle, STD_ERROR_HANDLE};

use super::errors::keeping_errno;
use super::text::wide;

/// Renames a file, and replaces a file that has the new name.
pub(crate) fn rename(from: &CStr, to: &CStr) {
    if let (Some(from), Some(to)) = (wide(from.to_bytes()), wide(to.to_bytes())) {
        // SAFETY: both names end with a zero.
        unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_REPLACE_EXISTING) };
    }
}

/// Writes all bytes to a descriptor of the C library. Stops at an error.
pub(crate) fn write_all(fd: c_int, bytes: *const u8, len: usize) -> bool {
    /// The C library counts in 32 bits.
    const PIECE: usize = 1 << 20;
    let mut done = 0;
    while done < len {
        let piece = PIECE.min(len - done);
        // SAFETY: the caller passes memory of `len` bytes. The system may read it while it changes.
        let n = unsafe { libc::write(fd, bytes.add(done).cast(), piece as u32) };
        let Some(n) = usize::try_from(n).ok().filter(|n| *n > 0) else { return false };
        done += n;
    }
    true
}

/// Standard error is found when it is written.
pub(crate) const fn remember_stderr() {}

/// Writes to standard error.
pub(crate) fn write_to_stderr(bytes: &[u8]) {
    keeping_errno(|| {
        let mut written = 0;
        // SAFETY: the bytes have this length. A handle that is not there is an error.
        unsafe {
            WriteFile(
                GetStdHandle(STD_ERROR_HANDLE),
                bytes.as_ptr(),
                bytes.len() as u32,
                &mut written,
                null_mut(),
            );
        }
    });
}
