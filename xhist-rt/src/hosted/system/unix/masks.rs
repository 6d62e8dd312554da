//! Which signals a thread blocks, and the signal that writes the rings.

use core::ffi::c_int;
use core::ptr::null_mut;

/// Runs a function while signal handlers are blocked on this thread, except those of SIGBUS and SIGSEGV. If the program
/// blocks these two, as its own handlers of them do, they stay blocked: otherwise such a handler would interrupt itself.
pub(crate) fn with_signals_blocked<T>(run: impl FnOnce() -> T) -> T {
    let before = block_signals();
    let result = run();
    // SAFETY: `block_signals` has returned an initialised set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut()) };
    result
}

/// Blocks the signals of the calling thread. Returns what was blocked before.
fn block_signals() -> libc::sigset_t {
    let all = all_but_faults();
    let mut before = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is writable, and read only after it was written.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, before.as_mut_ptr());
        before.assume_init()
    }
}

/// All signals but SIGBUS and SIGSEGV: if SIGBUS were blocked, a cut ring file would end the program; with SIGSEGV, a
/// store behind a ring would.
pub(crate) fn all_but_faults() -> libc::sigset_t {
    let mut all = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is writable, and read only after it was written.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigdelset(all.as_mut_ptr(), libc::SIGBUS);
        libc::sigdelset(all.as_mut_ptr(), libc::SIGSEGV);
        all.assume_init()
    }
}

/// Handles a signal. Must not be called in a signal handler.
pub(crate) fn on_signal(signal: c_int, handler: extern "C" fn(c_int)) -> bool {
    // SAFETY: the action is initialised, and the handler only makes async-signal-safe calls.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, null_mut()) == 0
    }
}

/// The signal that writes the rings, unless the program names another one.
pub(crate) const EXPORT_SIGNAL: Option<c_int> = Some(libc::SIGUSR1);
