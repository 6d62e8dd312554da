//! What the kernel calls instead of a handler: one function for each handler that the program has ever installed.
//!
//! The handler that a function calls never changes. One compare-and-swap takes a free place, and no place becomes
//! free again.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::actions::{Entry, kernel_action, set_kernel_action};
use super::fault::{self, FaultCheck};
use crate::hosted::system::lanes;
use crate::hosted::system::sys::errors::keeping_errno;

/// The largest number of handlers of each kind.
const EACH: usize = 128;

/// The handlers; 0 = a free place. Even places have handlers with one argument, odd ones `SA_SIGINFO` handlers.
static HANDLERS: [AtomicUsize; 2 * EACH] = [const { AtomicUsize::new(0) }; 2 * EACH];

/// A call of a handler, on the stack of its entry. The entry sets the first four fields.
#[repr(C)]
struct Call {
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
    /// The place of the handler.
    place: usize,
    frame: lanes::HandlerFrame,
    entered: Option<lanes::Entered>,
}

#[cfg(all(not(feature = "portable"), target_os = "linux", target_arch = "x86_64"))]
mod cpu {
    use core::arch::naked_asm;
    use core::mem::offset_of;

    use super::{Call, after, before, c_int, c_void};

    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn entry<const PLACE: usize>(
        signal: c_int,
        info: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        naked_asm!("mov eax, {}", "jmp {}", const PLACE, sym run)
    }

    /// Calls the handler whose place is in eax. The kernel has aligned the stack as for any function.
    #[unsafe(naked)]
    unsafe extern "C" fn run() {
        naked_asm!(
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "sub rsp, {size}",
            "mov dword ptr [rsp + {signal}], edi",
            "mov qword ptr [rsp + {info}], rsi",
            "mov qword ptr [rsp + {context}], rdx",
            "mov qword ptr [rsp + {place}], rax",
            "mov rdi, rsp",
            "call {before}",
            "test rax, rax",
            "jz 2f",
            "mov edi, dword ptr [rsp + {signal}]",
            "mov rsi, qword ptr [rsp + {info}]",
            "mov rdx, qword ptr [rsp + {context}]",
            "call rax",
            "mov rdi, rsp",
            "call {after}",
            "2:",
            "leave",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            size = const size_of::<Call>().next_multiple_of(16),
            signal = const offset_of!(Call, signal),
            info = const offset_of!(Call, info),
            context = const offset_of!(Call, context),
            place = const offset_of!(Call, place),
            before = sym before,
            after = sym after,
        )
    }
}

#[cfg(all(not(feature = "portable"), target_os = "linux", target_arch = "aarch64"))]
mod cpu {
    use core::arch::naked_asm;
    use core::mem::offset_of;

    use super::{Call, after, before, c_int, c_void};

    /// Bytes of the registers that are saved below the call.
    const KEPT: usize = 16;

    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn entry<const PLACE: usize>(
        signal: c_int,
        info: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        naked_asm!("mov x9, {}", "b {}", const PLACE, sym run)
    }

    /// Calls the handler whose place is in x9.
    #[unsafe(naked)]
    unsafe extern "C" fn run() {
        naked_asm!(
            ".cfi_startproc",
            "stp x29, x30, [sp, -{size}]!",
            ".cfi_def_cfa_offset {size}",
            ".cfi_offset w29, -{size}",
            ".cfi_offset w30, 8 - {size}",
            "mov x29, sp",
            ".cfi_def_cfa w29, {size}",
            "str w0, [sp, {signal}]",
            "str x1, [sp, {info}]",
            "str x2, [sp, {context}]",
            "str x9, [sp, {place}]",
            "add x0, sp, {kept}",
            "bl {before}",
            "cbz x0, 2f",
            "mov x9, x0",
            "ldr w0, [sp, {signal}]",
            "ldr x1, [sp, {info}]",
            "ldr x2, [sp, {context}]",
            "blr x9",
            "add x0, sp, {kept}",
            "bl {after}",
            "2:",
            "ldp x29, x30, [sp], {size}",
            ".cfi_def_cfa wsp, 0",
            ".cfi_restore w29",
            ".cfi_restore w30",
            "ret",
            ".cfi_endproc",
            size = const size_of::<Call>().next_multiple_of(16) + KEPT,
            kept = const KEPT,
            signal = const KEPT + offset_of!(Call, signal),
            info = const KEPT + offset_of!(Call, info),
            context = const KEPT + offset_of!(Call, context),
            place = const KEPT + offset_of!(Call, place),
            before = sym before,
            after = sym after,
        )
    }
}

#[cfg(not(all(
    not(feature = "portable"),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod cpu {
    use super::{Call, Entry, after, before, c_int, c_void, lanes};

    pub(crate) unsafe extern "C" fn entry<const PLACE: usize>(
        signal: c_int,
        info: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        let mut call =
            Call { signal, info, context, place: PLACE, frame: lanes::HandlerFrame::new(), entered: None };
        // SAFETY: the kernel passes the signal's description and context. The program has installed a function of
        // this type, or of fewer arguments.
        unsafe {
            let handler = before(&mut call);
            if handler != 0 {
                core::mem::transmute::<usize, Entry>(handler)(signal, info, context);
                after(&mut call);
            }
        }
    }
}
use cpu::entry;

macro_rules! sixteen {
    ($row:literal) => {
        [
            entry::<{ $row * 16 }>,
            entry::<{ $row * 16 + 1 }>,
            entry::<{ $row * 16 + 2 }>,
            entry::<{ $row * 16 + 3 }>,
            entry::<{ $row * 16 + 4 }>,
            entry::<{ $row * 16 + 5 }>,
            entry::<{ $row * 16 + 6 }>,
            entry::<{ $row * 16 + 7 }>,
            entry::<{ $row * 16 + 8 }>,
            entry::<{ $row * 16 + 9 }>,
            entry::<{ $row * 16 + 10 }>,
            entry::<{ $row * 16 + 11 }>,
            entry::<{ $row * 16 + 12 }>,
            entry::<{ $row * 16 + 13 }>,
            entry::<{ $row * 16 + 14 }>,
            entry::<{ $row * 16 + 15 }>,
        ]
    };
}

static ENTRIES: [[Entry; 16]; 16] = [
    sixteen!(0),
    sixteen!(1),
    sixteen!(2),
    sixteen!(3),
    sixteen!(4),
    sixteen!(5),
    sixteen!(6),
    sixteen!(7),
    sixteen!(8),
    sixteen!(9),
    sixteen!(10),
    sixteen!(11),
    sixteen!(12),
    sixteen!(13),
    sixteen!(14),
    sixteen!(15),
];

const _: () = assert!(size_of_val(&ENTRIES) / size_of::<Entry>() == 2 * EACH);

/// Runs before a handler. Returns the handler's address, or 0 if the recorder has handled the signal itself.
///
/// # Safety
/// The arguments in the call are those of the kernel. The call stays where it is until [`after`], or until the thread
/// has left its entry in another way.
unsafe extern "C" fn before(call: *mut Call) -> usize {
    // SAFETY: the caller passes a valid call with the kernel's arguments.
    unsafe {
        let Call { signal, info, context, place, .. } = *call;
        if fault::is_taken(signal, (info, context), ENTRIES[place / 16][place % 16] as usize, place % 2 == 1)
        {
            return 0;
        }
        (&raw mut (*call).frame).write(lanes::HandlerFrame::new());
        (&raw mut (*call).entered).write(lanes::enter(&mut (*call).frame, info.cast(), context));
        HANDLERS[place].load(Ordering::Acquire)
    }
}

/// Runs after the handler has returned.
///
/// # Safety
/// [`before`] got the same call, on this thread.
unsafe extern "C" fn after(call: *mut Call) {
    // SAFETY: the caller passes the call of `before`, which has set these fields.
    unsafe { lanes::leave(&(*call).frame, (*call).entered.take()) };
}

/// The entry for a handler; `None` if all places are in use.
fn entry_of(handler: usize, is_info: bool) -> Option<usize> {
    for at in (usize::from(is_info)..2 * EACH).step_by(2) {
        let known = match HANDLERS[at].compare_exchange(0, handler, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => handler,
            Err(known) => known,
        };
        if known == handler {
            return Some(ENTRIES[at / 16][at % 16] as usize);
        }
    }
    None
}

/// The place of an entry.
fn place_of(entry: usize) -> Option<usize> {
    ENTRIES.as_flattened().iter().position(|known| *known as usize == entry)
}

/// Whether a handler is a function, and not a number with a special meaning.
fn is_function(handler: usize) -> bool {
    handler > 16 && handler != libc::SIG_ERR
}

/// Signals whose last handler has one argument and runs once: bit n - 1 for signal n. When the kernel removes the
/// handler it keeps the flags, those of the recorder included.
static ONCE: AtomicU64 = AtomicU64::new(0);

/// Changes the program's action to the kernel's.
pub(crate) fn to_kernel(signal: c_int, action: &mut libc::sigaction) {
    let bit = 1u64.checked_shl(signal.wrapping_sub(1) as u32).unwrap_or(0);
    if action.sa_flags & libc::SA_RESETHAND != 0 && action.sa_flags & libc::SA_SIGINFO == 0 {
        ONCE.fetch_or(bit, Ordering::Relaxed);
    } else {
        ONCE.fetch_and(!bit, Ordering::Relaxed);
    }
    fault::note_once(signal, action);
    if action.sa_sigaction == libc::SIG_DFL {
        fault::to_kernel(signal, action);
    } else if is_function(action.sa_sigaction)
        && !is_ours(action.sa_sigaction)
        && let Some(entry) = entry_of(action.sa_sigaction, action.sa_flags & libc::SA_SIGINFO != 0)
    {
        action.sa_sigaction = entry;
        action.sa_flags |= libc::SA_SIGINFO;
    }
    if is_ours(action.sa_sigaction) {
        fault::block_others(signal, action);
    }
}

/// What the kernel's table does not have of the program's last action for a signal.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    /// The handler has one argument and runs once.
    is_once: bool,
    /// The mask, if the kernel has another one.
    mask: Option<u64>,
}

/// To be read before an action is set.
pub(crate) fn kept(signal: c_int) -> Kept {
    let once = ONCE.load(Ordering::Relaxed).checked_shr(signal.wrapping_sub(1) as u32);
    Kept { is_once: once.is_some_and(|bits| bits & 1 == 1), mask: fault::mask_of(signal) }
}

/// Changes an action back to the program's, as it was before [`to_kernel`].
pub(crate) fn to_program(action: &mut libc::sigaction, Kept { is_once, mask }: Kept) {
    if let Some(bits) = mask.filter(|_| is_ours(action.sa_sigaction)) {
        fault::set_mask(action, bits);
    }
    if fault::to_program(action) {
        return;
    }
    let is_reset = action.sa_sigaction == libc::SIG_DFL && action.sa_flags & libc::SA_RESETHAND != 0;
    if is_reset && is_once {
        action.sa_flags &= !libc::SA_SIGINFO;
    }
    if let Some(place) = place_of(action.sa_sigaction) {
        action.sa_sigaction = HANDLERS[place].load(Ordering::Acquire);
        if place % 2 == 0 {
            action.sa_flags &= !libc::SA_SIGINFO;
        }
    }
}

/// Lets `check` see each fault of this signal first. To be called once for each signal.
pub(crate) fn catch(signal: c_int, check: FaultCheck) {
    let kept = kept(signal);
    if !fault::set_check(signal, check) {
        return;
    }
    if let Some(mut action) = kernel_action(signal) {
        to_program(&mut action, kept);
        to_kernel(signal, &mut action);
        if is_ours(action.sa_sigaction) {
            set_kernel_action(signal, &action);
        }
    }
}

/// Whether the kernel calls a function of the recorder.
fn is_ours(handler: usize) -> bool {
    place_of(handler).is_some() || fault::is_default(handler)
}

/// Whether the handler of a signal was installed without the C library. Such a handler has no lane, nor has a handler
/// that found all places in use. This is a system call.
pub(crate) fn is_foreign(signal: c_int) -> bool {
    kernel_action(signal)
        .is_some_and(|action| is_function(action.sa_sigaction) && !is_ours(action.sa_sigaction))
}

/// All signals with such handlers: bit n - 1 for signal n.
pub(crate) fn foreign_handlers() -> u64 {
    keeping_errno(|| {
        (1..=64).filter(|signal| is_foreign(*signal)).fold(0, |mask, signal| mask | 1 << (signal - 1))
    })
}
