//! `sigaction`, `signal` and their relatives under the names of the C library, so that every caller in the program
//! comes here.
//!
//! Assembly makes the names weak: a program with a `sigaction` of its own keeps it, and its handlers have no lanes.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicU64, Ordering};

use super::actions::real;
use super::entries::{kept, to_kernel, to_program};
use crate::hosted::system::sys::weak::weak;

/// Signals that interrupt system calls after `siginterrupt`: bit n - 1 for signal n.
static INTERRUPTING: AtomicU64 = AtomicU64::new(0);
/// `SIG_HOLD` of `sigset`, which the `libc` crate does not have: as in `sys/signal.h` of each system.
const HOLD: libc::sighandler_t = if cfg!(target_vendor = "apple") {
    5
} else if cfg!(target_os = "freebsd") {
    3
} else {
    2
};

/// The C library's `sigaction`, with a lane for handlers.
///
/// # Safety
/// The caller keeps the contract of `sigaction`.
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let kept = kept(signal);
    // SAFETY: the caller passes null or an action.
    let mut action = unsafe { new.as_ref() }.copied();
    if let Some(action) = &mut action {
        to_kernel(signal, action);
    }
    // SAFETY: the caller keeps the contract of `sigaction`; `action` is a translated copy of its action.
    let result = unsafe { real(signal, action.as_ref().map_or(null(), |action| action), old) };
    // SAFETY: the caller passes null or a place for an action, which the call has written.
    if let (0, Some(old)) = (result, unsafe { old.as_mut() }) {
        to_program(old, kept);
    }
    result
}

/// An action with an empty mask.
fn action_of(handler: libc::sighandler_t, flags: c_int) -> libc::sigaction {
    // SAFETY: all zeros are a valid action, and its mask is writable.
    unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        libc::sigemptyset(&mut action.sa_mask);
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        action
    }
}

/// Installs an action. Returns the previous handler, or `SIG_ERR`.
fn install(signal: c_int, action: &libc::sigaction) -> libc::sighandler_t {
    let mut old = action_of(libc::SIG_ERR, 0);
    // SAFETY: both are actions.
    match unsafe { sigaction(signal, action, &mut old) } {
        0 => old.sa_sigaction,
        _ => libc::SIG_ERR,
    }
}

/// Sets `errno` for a wrong signal number of the caller, and returns `SIG_ERR`.
fn invalid() -> libc::sighandler_t {
    // Every C library refuses this number and sets `errno`.
    // SAFETY: the call neither sets nor returns an action.
    unsafe { real(-1, null(), null_mut()) };
    libc::SIG_ERR
}

fn bit(signal: c_int) -> u64 {
    1u64.checked_shl(signal.wrapping_sub(1) as u32).unwrap_or(0)
}

/// `signal` as in BSD: the handler stays installed, and system calls are restarted.
extern "C" fn signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    if handler == libc::SIG_ERR || signal < 1 {
        return invalid();
    }
    let is_interrupting = INTERRUPTING.load(Ordering::Relaxed) & bit(signal) != 0;
    let mut action = action_of(handler, if is_interrupting { 0 } else { libc::SA_RESTART });
    if cfg!(target_env = "gnu") {
        // SAFETY: the mask is initialised.
        unsafe { libc::sigaddset(&mut action.sa_mask, signal) };
    }
    install(signal, &action)
}

/// `signal` as in System V: the handler runs once, and the signal is not blocked meanwhile. musl does not have it
/// under this name.
extern "C" fn sysv_signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    /// An old flag that the GNU C library sets.
    const SA_INTERRUPT: c_int = 0x2000_0000;
    if !cfg!(target_env = "gnu") {
        return signal(number, handler);
    }
    if handler == libc::SIG_ERR || number < 1 {
        return invalid();
    }
    install(number, &action_of(handler, libc::SA_RESETHAND | libc::SA_NODEFER | SA_INTERRUPT))
}

/// Installs a handler and unblocks the signal, or blocks the signal.
extern "C" fn sigset(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    let (mut set, mut before) = (action_of(0, 0).sa_mask, action_of(0, 0).sa_mask);
    // SAFETY: both sets are initialised.
    unsafe {
        if libc::sigaddset(&mut set, signal) != 0 {
            return libc::SIG_ERR;
        }
        let old = if handler == HOLD {
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before);
            let mut action = action_of(libc::SIG_ERR, 0);
            sigaction(signal, null(), &mut action);
            action.sa_sigaction
        } else {
            let old = install(signal, &action_of(handler, 0));
            if old != libc::SIG_ERR {
                libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, &mut before);
            }
            old
        };
        if libc::sigismember(&before, signal) == 1 { HOLD } else { old }
    }
}

/// Ignores a signal.
extern "C" fn sigignore(signal: c_int) -> c_int {
    if install(signal, &action_of(libc::SIG_IGN, 0)) == libc::SIG_ERR { -1 } else { 0 }
}

/// Sets whether a signal interrupts system calls.
extern "C" fn siginterrupt(signal: c_int, is_interrupting: c_int) -> c_int {
    let mut action = action_of(0, 0);
    // SAFETY: `action` is writable.
    if unsafe { sigaction(signal, null(), &mut action) } != 0 {
        return -1;
    }
    if is_interrupting != 0 {
        INTERRUPTING.fetch_or(bit(signal), Ordering::Relaxed);
        action.sa_flags &= !libc::SA_RESTART;
    } else {
        INTERRUPTING.fetch_and(!bit(signal), Ordering::Relaxed);
        action.sa_flags |= libc::SA_RESTART;
    }
    // SAFETY: the action is initialised.
    unsafe { sigaction(signal, &action, null_mut()) }
}

/// The same functions without assembly, and in a Rust dynamic library, which exports only names that the compiler
/// knows.
macro_rules! strong {
    ($($name:ident => $inner:ident($($argument:ident: $kind:ty),*) -> $result:ty),* $(,)?) => {
        #[cfg(all(
            any(
                feature = "portable",
                not(target_os = "linux"),
                not(any(target_arch = "x86_64", target_arch = "aarch64"))
            )
        ))]
        mod strong {
            use super::*;
            $(
                /// The C library's function of this name.
                #[unsafe(no_mangle)]
                unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
                    // Only `sigaction` is unsafe.
                    #[allow(unused_unsafe)]
                    // SAFETY: the caller keeps the contract of `sigaction`.
                    unsafe { super::$inner($($argument),*) }
                }
            )*
        }
    };
}

weak! {
    sigaction => sigaction,
    signal => signal,
    bsd_signal => signal,
    ssignal => signal,
    sysv_signal => sysv_signal,
    __sysv_signal => sysv_signal,
    sigset => sigset,
    sigignore => sigignore,
    siginterrupt => siginterrupt,
}

strong! {
    sigaction => sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int,
    signal => signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t,
    bsd_signal => signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t,
    sysv_signal => sysv_signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t,
    __sysv_signal => sysv_signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t,
    sigset => sigset(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t,
    sigignore => sigignore(number: c_int) -> c_int,
    siginterrupt => siginterrupt(number: c_int, is_interrupting: c_int) -> c_int,
}
