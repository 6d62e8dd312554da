//! The recorder's first look at a signal of the processor, and then the program's handler or the default action, as
//! without us. One of the files that may be `unsafe`.
//!
//! Where the program wants the default action, the kernel has one of eight functions of ours, which remember the flags that
//! we change. A program that ignores the signal gets exactly that: the processes that it starts inherit it.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use super::entries::{self, Entry};
use crate::hosted::sys;

/// Looks at the address of a fault, with `si_code`; true when the instruction may run again.
pub(crate) type Look = fn(code: c_int, address: usize) -> bool;

/// A [`Look`] for each signal, or 0.
static LOOKS: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

/// Flags that differ between the kernel's action and the program's, where that is the default.
const CHANGED: [c_int; 3] = [libc::SA_SIGINFO, libc::SA_ONSTACK, libc::SA_RESETHAND];

static DEFAULTS: [Entry; 8] = [
    default_action::<0>,
    default_action::<1>,
    default_action::<2>,
    default_action::<3>,
    default_action::<4>,
    default_action::<5>,
    default_action::<6>,
    default_action::<7>,
];

/// Has `look` see each fault of this signal first. Once for each signal.
pub(in crate::hosted) fn catch(signal: c_int, look: Look) {
    if LOOKS[signal as usize].swap(look as usize, Ordering::Release) != 0 {
        return;
    }
    if let Some(mut action) = entries::kernels(signal) {
        let before = action.sa_sigaction;
        entries::to_kernel(signal, &mut action);
        if action.sa_sigaction != before {
            entries::set_kernels(signal, &action);
        }
    }
}

fn look_of(signal: c_int) -> Option<Look> {
    match LOOKS.get(signal as usize)?.load(Ordering::Acquire) {
        0 => None,
        // SAFETY: `catch` stored it.
        look => Some(unsafe { core::mem::transmute::<usize, Look>(look) }),
    }
}

/// The default action, of a signal that we look at first.
pub(super) fn to_kernel(signal: c_int, action: &mut libc::sigaction) {
    if look_of(signal).is_some() {
        let bits = CHANGED.iter().enumerate().filter(|(_, flag)| action.sa_flags & **flag != 0);
        let bits = bits.fold(0, |bits, (at, _)| bits | 1 << at);
        action.sa_sigaction = DEFAULTS[bits] as usize;
        action.sa_flags = action.sa_flags & !libc::SA_RESETHAND | libc::SA_SIGINFO | libc::SA_ONSTACK;
    }
}

/// False when the action is not one of [`to_kernel`].
pub(super) fn to_program(action: &mut libc::sigaction) -> bool {
    let Some(bits) = DEFAULTS.iter().position(|known| *known as usize == action.sa_sigaction) else {
        return false;
    };
    action.sa_sigaction = libc::SIG_DFL;
    for (at, flag) in CHANGED.iter().enumerate() {
        action.sa_flags = if bits >> at & 1 == 1 { action.sa_flags | flag } else { action.sa_flags & !flag };
    }
    true
}

/// Whether this is one of the functions for the default action.
pub(super) fn is_default(handler: usize) -> bool {
    DEFAULTS.iter().any(|known| *known as usize == handler)
}

/// Whether the recorder has made the instruction possible that raised the signal.
///
/// # Safety
/// `info` is the kernel's.
unsafe fn is_looked_after(look: Look, info: *mut libc::siginfo_t) -> bool {
    // SAFETY: the caller's.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    code > 0 && sys::keeping_errno(|| look(code, address))
}

/// The same, where the kernel has called `entry` for a handler of the program.
///
/// # Safety
/// `info` is the kernel's.
#[inline]
pub(super) unsafe fn is_taken(
    signal: c_int,
    info: *mut libc::siginfo_t,
    entry: usize,
    is_info: bool,
) -> bool {
    let Some(look) = look_of(signal) else { return false };
    // SAFETY: the caller's.
    let is_taken = unsafe { is_looked_after(look, info) };
    sys::keeping_errno(|| {
        // The kernel has already done what `SA_RESETHAND` asks for. It keeps the flags.
        let is_reset = |action: &libc::sigaction| {
            action.sa_sigaction == libc::SIG_DFL && action.sa_flags & libc::SA_RESETHAND != 0
        };
        if let Some(mut action) = entries::kernels(signal).filter(is_reset) {
            match is_taken {
                true => action.sa_sigaction = entry,
                false => {
                    // The entry's and not the program's.
                    action.sa_flags &= if is_info { !0 } else { !libc::SA_SIGINFO };
                    to_kernel(signal, &mut action);
                }
            }
            entries::set_kernels(signal, &action);
        }
    });
    is_taken
}

unsafe extern "C" fn default_action<const FLAGS: usize>(
    signal: c_int,
    info: *mut libc::siginfo_t,
    _: *mut c_void,
) {
    // The linker must not make one of several.
    core::hint::black_box(FLAGS);
    // SAFETY: the kernel calls with the signal's description.
    if look_of(signal).is_some_and(|look| unsafe { is_looked_after(look, info) }) {
        return;
    }
    sys::keeping_errno(|| {
        if let Some(mut action) = entries::kernels(signal) {
            to_program(&mut action);
            action.sa_sigaction = libc::SIG_DFL;
            entries::set_kernels(signal, &action);
        }
        // The instruction runs again and raises the signal again. A signal that was sent has to be sent again.
        // SAFETY: as above.
        let code = unsafe { (*info).si_code };
        if is_sent(signal, code) {
            send_again(signal, info);
        }
    });
}

/// Whether the signal is no consequence of the interrupted instruction.
fn is_sent(signal: c_int, code: c_int) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if signal == libc::SIGBUS && code == libc::BUS_MCEERR_AO {
        return true;
    }
    let _ = signal;
    code <= 0
}

/// Sends the signal to this thread once more, with the same description where the system can.
fn send_again(signal: c_int, info: *mut libc::siginfo_t) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the description is the kernel's own.
    if unsafe { libc::syscall(libc::SYS_rt_tgsigqueueinfo, libc::getpid(), sys::tid(), signal, info) } == 0 {
        return;
    }
    let _ = info;
    // SAFETY: has no conditions.
    unsafe { libc::raise(signal) };
}
