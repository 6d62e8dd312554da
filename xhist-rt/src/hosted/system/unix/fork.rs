//! Forks: a child is noticed, or finds out by a page that the kernel wipes.

#[cfg(target_os = "linux")]
use super::memory::map_anonymous;
use super::memory::page_size;

/// Runs a function in every forked child. Must not be called in a signal handler that may have interrupted the same
/// call.
pub(crate) fn at_fork_in_child(function: extern "C" fn()) {
    // SAFETY: the function lives as long as the program and only makes async-signal-safe calls.
    unsafe {
        libc::pthread_atfork(
            None,
            None,
            Some(core::mem::transmute::<extern "C" fn(), unsafe extern "C" fn()>(function)),
        )
    };
}

/// A page that is zeroed in each forked child (Linux 4.14 and later).
pub(crate) fn map_wiped_on_fork() -> Option<*mut u8> {
    #[cfg(target_os = "linux")]
    {
        let len = page_size();
        let page = map_anonymous(len)?;
        // SAFETY: this function has just mapped the page, which is unused.
        unsafe {
            if libc::madvise(page.cast(), len, libc::MADV_WIPEONFORK) == 0 {
                return Some(page);
            }
            libc::munmap(page.cast(), len);
        }
    }
    None
}

/// Gives back a page of [`map_wiped_on_fork`] that no other thread knows.
pub(crate) fn unmap_wiped(page: *mut u8) {
    // SAFETY: the page is the caller's.
    unsafe { libc::munmap(page.cast(), page_size()) };
}
