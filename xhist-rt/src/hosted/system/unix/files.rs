//! Files, apart from ring files.

use core::ffi::{CStr, c_int, c_void};

use super::errors::errno;

/// Renames a file, and replaces a file that has the new name.
pub(crate) fn rename(from: &CStr, to: &CStr) {
    // SAFETY: both are C strings.
    unsafe { libc::rename(from.as_ptr(), to.as_ptr()) };
}

pub(crate) fn identity(fd: c_int) -> Option<(u64, u64)> {
    // SAFETY: there is a place for the answer.
    stat_by(|stat| unsafe { libc::fstat(fd, stat) }).ok().map(|stat| identity_of(&stat))
}

pub(crate) fn identity_of(stat: &libc::stat) -> (u64, u64) {
    // The types differ from system to system.
    #[allow(clippy::unnecessary_cast)]
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// `ask` is one of the calls that describe a file. It returns 0 if it has written the description.
pub(crate) fn stat_by(ask: impl FnOnce(*mut libc::stat) -> c_int) -> Result<libc::stat, c_int> {
    let mut stat = core::mem::MaybeUninit::<libc::stat>::uninit();
    if ask(stat.as_mut_ptr()) != 0 {
        return Err(errno());
    }
    // SAFETY: the call returned 0, so it has written the description.
    Ok(unsafe { stat.assume_init() })
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
unsafe extern "C" {
    /// `write` past the hook: what the recorder writes is not the program's output.
    #[link_name = "__write"]
    pub(super) fn write(fd: c_int, bytes: *const c_void, len: usize) -> isize;
}
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::write;

/// Writes all bytes and continues after interruptions. Stops at an error.
pub(crate) fn write_all(fd: c_int, bytes: *const u8, len: usize) -> bool {
    let mut done = 0;
    while done < len {
        // SAFETY: the caller passes memory of `len` bytes. The kernel may read it while it changes.
        let n = unsafe { write(fd, bytes.add(done).cast::<c_void>(), len - done) };
        if n > 0 {
            done += n as usize;
        } else if n == 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return false;
        }
    }
    true
}
