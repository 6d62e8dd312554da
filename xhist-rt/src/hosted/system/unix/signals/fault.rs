//! The recorder sees a fault of the processor first. Then the program's handler or the default action follows, as
//! without the recorder.
//!
//! If the program wants the default action, the kernel has one of eight functions of the recorder, which encode the
//! flags that the recorder changes. If the program ignores the signal, the kernel ignores it as well, because the
//! program's child processes inherit that.
//!
//! While the recorder looks at a fault, the kernel blocks other signals. Their handlers would run on the signal stack,
//! which is small, and there they could meet the same fault. The program's handler then runs with the program's mask.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::actions::{Entry, kernel_action, set_kernel_action};
use crate::hosted::system::sys::errors::keeping_errno;
use crate::hosted::system::sys::masks::all_but_faults;
#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::hosted::system::sys::threads::tid;

/// Checks the address of a fault and its `si_code`. Returns whether the instruction may run again. A signal that was sent
/// has a code of at most 0, and no address.
pub(crate) type FaultCheck = fn(code: c_int, address: usize) -> bool;

/// A [`FaultCheck`] for each signal, or 0.
static CHECKS: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

/// Signals for which the program has asked that a handler runs once: bit n - 1 for signal n.
static ONCE: AtomicU64 = AtomicU64::new(0);

/// For a signal that has a check: the mask that the program has set with its last action, bit n - 1 for signal n.
static MASKS: [AtomicU64; 65] = [const { AtomicU64::new(0) }; 65];

/// Flags that may differ between the kernel's action and the program's, where the program wants the default.
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

/// Sets the check for faults of this signal. Returns false if the signal had one already.
pub(super) fn set_check(signal: c_int, check: FaultCheck) -> bool {
    CHECKS[signal as usize].swap(check as usize, Ordering::Release) == 0
}

fn check_of(signal: c_int) -> Option<FaultCheck> {
    match CHECKS.get(signal as usize)?.load(Ordering::Acquire) {
        0 => None,
        // SAFETY: only `set_check` stores here, apart from 0 at the start.
        check => Some(unsafe { core::mem::transmute::<usize, FaultCheck>(check) }),
    }
}

/// The bit of a signal in a mask.
fn bit(signal: c_int) -> u64 {
    1u64.checked_shl(signal.wrapping_sub(1) as u32).unwrap_or(0)
}

/// Notes whether the program asks that a handler of this signal runs once.
pub(crate) fn note_once(signal: c_int, action: &libc::sigaction) {
    if action.sa_flags & libc::SA_RESETHAND != 0 {
        ONCE.fetch_or(bit(signal), Ordering::Relaxed);
    }
}

/// Changes the default action of a signal that has a check.
pub(crate) fn to_kernel(signal: c_int, action: &mut libc::sigaction) {
    if check_of(signal).is_some() {
        let bits = CHANGED.iter().enumerate().filter(|(_, flag)| action.sa_flags & **flag != 0);
        let bits = bits.fold(0, |bits, (at, _)| bits | 1 << at);
        action.sa_sigaction = DEFAULTS[bits] as usize;
        action.sa_flags = action.sa_flags & !libc::SA_RESETHAND | libc::SA_SIGINFO | libc::SA_ONSTACK;
    }
}

/// The mask that the program has set with its last action; `None` for a signal without a check, where the kernel has it.
pub(super) fn mask_of(signal: c_int) -> Option<u64> {
    check_of(signal).map(|_| MASKS[signal as usize].load(Ordering::Relaxed))
}

/// If the signal has a check, blocks all other signals while the kernel calls the recorder.
pub(super) fn block_others(signal: c_int, action: &mut libc::sigaction) {
    if check_of(signal).is_some() {
        MASKS[signal as usize].store(bits_of(&action.sa_mask), Ordering::Relaxed);
        action.sa_mask = all_but_faults();
    }
}

/// Gives an action the mask with these bits.
pub(super) fn set_mask(action: &mut libc::sigaction, bits: u64) {
    // SAFETY: the mask is initialised.
    unsafe { libc::sigemptyset(&mut action.sa_mask) };
    add_bits(&mut action.sa_mask, bits);
}

/// The signals of a set: bit n - 1 for signal n.
fn bits_of(set: &libc::sigset_t) -> u64 {
    // SAFETY: the set is initialised.
    let is_in = |signal: &c_int| unsafe { libc::sigismember(set, *signal) } == 1;
    (1..=64).filter(is_in).fold(0, |bits, signal| bits | bit(signal))
}

fn add_bits(set: &mut libc::sigset_t, bits: u64) {
    for signal in (1..=64).filter(|signal| bits & bit(*signal) != 0) {
        // SAFETY: the set is initialised.
        unsafe { libc::sigaddset(set, signal) };
    }
}

/// Blocks what the kernel would have blocked for the program's handler.
///
/// # Safety
/// `context` is the kernel's.
unsafe fn set_program_mask(signal: c_int, context: *mut c_void) {
    // SAFETY: the kernel has written its signals into the set. The calls change the mask of the calling thread.
    unsafe {
        let interrupted = &(*context.cast::<libc::ucontext_t>()).uc_sigmask;
        let mut now = core::mem::zeroed::<libc::sigset_t>();
        libc::pthread_sigmask(libc::SIG_BLOCK, core::ptr::null(), &mut now);
        // The kernel has blocked the signal itself, unless the program has asked it not to.
        let own = bits_of(&now) & bit(signal);
        let mut mask = core::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut mask);
        add_bits(&mut mask, bits_of(interrupted) | mask_of(signal).unwrap_or(0) | own);
        libc::pthread_sigmask(libc::SIG_SETMASK, &mask, null_mut());
    }
}

/// Changes an action of [`to_kernel`] back. Returns false for another action.
pub(crate) fn to_program(action: &mut libc::sigaction) -> bool {
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
pub(crate) fn is_default(handler: usize) -> bool {
    DEFAULTS.iter().any(|known| *known as usize == handler)
}

/// Whether the recorder has removed the cause of the signal, so that the instruction may run again.
///
/// # Safety
/// `info` is the kernel's description of the signal.
unsafe fn is_repaired(check: FaultCheck, info: *mut libc::siginfo_t) -> bool {
    // SAFETY: the caller passes the kernel's description.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    keeping_errno(|| check(code, address)) && code > 0
}

/// [`is_repaired`] where the kernel has called `entry` for a handler of the program. If it is false, the mask is the
/// program's.
///
/// # Safety
/// `info` is the kernel's description of the signal, and `context` the kernel's context.
#[inline]
pub(crate) unsafe fn is_taken(
    signal: c_int,
    (info, context): (*mut libc::siginfo_t, *mut c_void),
    entry: usize,
    is_info: bool,
) -> bool {
    let Some(check) = check_of(signal) else { return false };
    // SAFETY: the caller passes the kernel's description.
    let is_taken = unsafe { is_repaired(check, info) };
    // A filter of system calls may kill for a look at the action.
    if ONCE.load(Ordering::Relaxed) & bit(signal) != 0 {
        settle_once(signal, entry, is_info, is_taken);
    }
    if !is_taken {
        // SAFETY: the caller passes the kernel's context.
        keeping_errno(|| unsafe { set_program_mask(signal, context) });
    }
    is_taken
}

/// For a handler that runs once: keeps it if the recorder has taken the signal, and otherwise lets it be the last.
#[cold]
fn settle_once(signal: c_int, entry: usize, is_info: bool, is_taken: bool) {
    keeping_errno(|| {
        // The kernel has already carried out `SA_RESETHAND`. It keeps the flags.
        let is_reset = |action: &libc::sigaction| {
            action.sa_sigaction == libc::SIG_DFL && action.sa_flags & libc::SA_RESETHAND != 0
        };
        if let Some(mut action) = kernel_action(signal).filter(is_reset) {
            match is_taken {
                true => action.sa_sigaction = entry,
                false => {
                    // This flag belongs to the entry, not to the program.
                    action.sa_flags &= if is_info { !0 } else { !libc::SA_SIGINFO };
                    to_kernel(signal, &mut action);
                }
            }
            set_kernel_action(signal, &action);
        }
    });
}

unsafe extern "C" fn default_action<const FLAGS: usize>(
    signal: c_int,
    info: *mut libc::siginfo_t,
    _: *mut c_void,
) {
    // Otherwise the linker would merge the eight functions.
    core::hint::black_box(FLAGS);
    // SAFETY: the kernel passes the signal's description.
    if check_of(signal).is_some_and(|check| unsafe { is_repaired(check, info) }) {
        return;
    }
    keeping_errno(|| {
        if let Some(mut action) = kernel_action(signal) {
            to_program(&mut action);
            action.sa_sigaction = libc::SIG_DFL;
            set_kernel_action(signal, &action);
        }
        // The instruction runs again and raises the signal again. A signal that was sent has to be sent again.
        // SAFETY: the kernel passes the signal's description.
        let code = unsafe { (*info).si_code };
        if is_sent(signal, code) {
            send_again(signal, info);
        }
    });
}

/// Whether the signal was sent, and not caused by the interrupted instruction.
fn is_sent(signal: c_int, code: c_int) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if signal == libc::SIGBUS && code == libc::BUS_MCEERR_AO {
        return true;
    }
    let _ = signal;
    // Apple's kernel gives a sent SIGBUS or SIGSEGV the code of a fault.
    code <= 0 || cfg!(target_vendor = "apple")
}

/// Sends the signal to this thread once more, with the same description if the system supports that.
fn send_again(signal: c_int, info: *mut libc::siginfo_t) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the kernel has written the description itself.
    if unsafe { libc::syscall(libc::SYS_rt_tgsigqueueinfo, libc::getpid(), tid(), signal, info) } == 0 {
        return;
    }
    let _ = info;
    // SAFETY: has no conditions.
    unsafe { libc::raise(signal) };
}
