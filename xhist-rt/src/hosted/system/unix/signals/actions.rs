//! The actions that the kernel has for signals, as the recorder reads and sets them.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::{null, null_mut};
#[cfg(not(all(
    target_os = "linux",
    any(target_env = "gnu", all(target_env = "musl", target_feature = "crt-static"))
)))]
use core::sync::atomic::{AtomicUsize, Ordering};

/// A function that the kernel calls. A handler may jump away, end its thread, or unwind if the entry is assembly.
/// `C-unwind` would allow that everywhere, but a library with such calls cannot be linked into a program that aborts
/// at panics.
pub(crate) type Entry = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The kernel's action for a signal.
pub(crate) fn kernel_action(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the call sets nothing, and `action` is writable.
    (unsafe { real(signal, null(), action.as_mut_ptr()) } == 0)
        // SAFETY: the call has written the action, and all zeros are a valid action, too.
        .then(|| unsafe { action.assume_init() })
}

/// Sets the kernel's action. The recorder does not translate it.
pub(crate) fn set_kernel_action(signal: c_int, action: &libc::sigaction) -> bool {
    // SAFETY: the action is initialised. Its handler is the recorder's, the program's, or none.
    unsafe { real(signal, action, null_mut()) == 0 }
}

/// The C library's own `sigaction`.
///
/// # Safety
/// The caller keeps the contract of `sigaction`.
#[cfg(all(
    target_os = "linux",
    any(target_env = "gnu", all(target_env = "musl", target_feature = "crt-static"))
))]
pub(crate) unsafe fn real(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    unsafe extern "C" {
        // The C library reserves this name for itself.
        fn __sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    }
    // SAFETY: the caller keeps the contract of `sigaction`.
    unsafe { __sigaction(signal, new, old) }
}

/// The C library's own `sigaction`.
///
/// # Safety
/// The caller keeps the contract of `sigaction`.
#[cfg(not(all(
    target_os = "linux",
    any(target_env = "gnu", all(target_env = "musl", target_feature = "crt-static"))
)))]
pub(crate) unsafe fn real(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    // `catch` calls this before `main`, because in a handler `dlsym` would take the loader's lock.
    if FOUND.load(Ordering::Relaxed) == 0 {
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"sigaction".as_ptr()) };
        FOUND.store(found.addr(), Ordering::Relaxed);
    }
    match FOUND.load(Ordering::Relaxed) {
        0 => -1,
        // SAFETY: the C library's function of this name has this type. The caller keeps its contract.
        found => unsafe { core::mem::transmute::<usize, Sigaction>(found)(signal, new, old) },
    }
}
