//! What the kernel gives a handler: the stacks of the thread, and whether memory there is left.

use core::ffi::c_void;
#[cfg(any(target_os = "linux", target_os = "android"))]
use core::ptr::null_mut;

#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::hosted::system::sys::errors::{errno, keeping_errno};

/// Whether there is memory at this address.
pub(crate) fn is_readable(address: usize) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        /// Bytes of the kernel's signal sets.
        const SET: usize = 8;
        let (no_such_way, set) = (-1isize, address & !7);
        // SAFETY: the kernel reads the set, and then refuses the unknown operation.
        let result = keeping_errno(|| {
            let nothing = null_mut::<c_void>();
            // SAFETY: the kernel reads the set, and then refuses the unknown operation.
            match unsafe { libc::syscall(libc::SYS_rt_sigprocmask, no_such_way, set, nothing, SET) } {
                0 => 0,
                _ => errno(),
            }
        });
        result != libc::EFAULT
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = address;
        true
    }
}

/// The stack pointer of the interrupted code, where the system shows it.
///
/// # Safety
/// `context` is the kernel's.
pub(crate) unsafe fn interrupted_stack(context: *mut c_void) -> Option<usize> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    // SAFETY: the caller passes the kernel's context.
    return Some(unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RSP as usize] as usize
    });
    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    // SAFETY: the caller passes the kernel's context.
    return Some(unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.sp as usize });
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let _ = context;
        None
    }
}

/// The signal stack that contains an address; (0, 0) without one.
///
/// # Safety
/// `context` is the kernel's.
pub(crate) unsafe fn signal_stack(context: *mut c_void, address: usize) -> (usize, usize) {
    // SAFETY: the caller passes the kernel's context, which describes the thread's signal stack.
    let stack = unsafe { (*context.cast::<libc::ucontext_t>()).uc_stack };
    let (start, end) = (stack.ss_sp.addr(), stack.ss_sp.addr().wrapping_add(stack.ss_size));
    if (start..end).contains(&address) { (start, end) } else { (0, 0) }
}
