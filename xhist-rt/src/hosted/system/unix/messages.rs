//! Standard error, for the lines that the recorder prints.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

use super::errors::keeping_errno;
use super::files::{identity, write_all};

/// The file that standard error was when [`remember_stderr`] was called: device and inode.
static STDERR: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Remembers the file that standard error is now. Later a program may close it and open a file of its own in its
/// place.
pub(crate) fn remember_stderr() {
    if let Some((device, inode)) = identity(libc::STDERR_FILENO) {
        STDERR[0].store(device, Ordering::Relaxed);
        STDERR[1].store(inode, Ordering::Relaxed);
    }
}

/// Writes to standard error if it is still the same file. If its reader has gone or the file must not grow, no signal
/// is raised.
pub(crate) fn write_to_stderr(bytes: &[u8]) {
    let remembered = (STDERR[0].load(Ordering::Relaxed), STDERR[1].load(Ordering::Relaxed));
    if identity(libc::STDERR_FILENO) == Some(remembered) {
        keeping_errno(|| {
            without_signals_of_writes(|| write_all(libc::STDERR_FILENO, bytes.as_ptr(), bytes.len()));
        });
    }
}

/// Runs a function, and consumes the signals that its writes have raised.
fn without_signals_of_writes<T>(run: impl FnOnce() -> T) -> T {
    const RAISED: [c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];
    let empty = || {
        let mut set = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `set` is writable, and initialised by the call.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            set.assume_init()
        }
    };
    let pending = || {
        let mut set = empty();
        // SAFETY: `set` is writable.
        unsafe { libc::sigpending(&mut set) };
        // SAFETY: `set` is initialised.
        RAISED.map(|signal| unsafe { libc::sigismember(&set, signal) } == 1)
    };
    let (mut held, mut before) = (empty(), empty());
    // SAFETY: both sets are initialised.
    unsafe {
        RAISED.iter().for_each(|signal| {
            libc::sigaddset(&mut held, *signal);
        });
        libc::pthread_sigmask(libc::SIG_BLOCK, &held, &mut before);
    }
    let waited = pending();
    let result = run();
    for (at, signal) in RAISED.iter().enumerate() {
        if pending()[at] && !waited[at] {
            let (mut set, mut taken) = (empty(), 0);
            // SAFETY: the set is initialised and `taken` is writable. The signal is pending, so this does not wait.
            unsafe {
                libc::sigaddset(&mut set, *signal);
                libc::sigwait(&set, &mut taken);
            }
        }
    }
    // SAFETY: `before` is initialised.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut()) };
    result
}
