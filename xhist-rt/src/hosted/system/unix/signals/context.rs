//! What the kernel gives a handler: the stacks of the thread, and whether memory there is left.

use core::ffi::c_void;
use core::ptr::null_mut;

#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::hosted::system::sys::errors::errno;
use crate::hosted::system::sys::errors::keeping_errno;

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
        let set = core::ptr::without_provenance::<libc::sigset_t>(address & !7);
        // SAFETY: the kernel copies the set first, and then refuses the unknown operation.
        keeping_errno(|| unsafe { libc::pthread_sigmask(-1, set, null_mut()) }) != libc::EFAULT
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
    #[cfg(all(target_vendor = "apple", target_arch = "x86_64"))]
    // SAFETY: the caller passes the kernel's context, which refers to the registers.
    return Some(unsafe { (*(*context.cast::<libc::ucontext_t>()).uc_mcontext).__ss.__rsp as usize });
    #[cfg(all(target_vendor = "apple", target_arch = "aarch64"))]
    // SAFETY: the caller passes the kernel's context, which refers to the registers.
    return Some(unsafe { (*(*context.cast::<libc::ucontext_t>()).uc_mcontext).__ss.__sp as usize });
    #[cfg(not(all(
        any(target_os = "linux", target_vendor = "apple"),
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
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
    #[cfg(not(target_vendor = "apple"))]
    // SAFETY: the caller passes the kernel's context, which describes the thread's signal stack.
    let stack = unsafe { (*context.cast::<libc::ucontext_t>()).uc_stack };
    // The stack of the context begins at the frame of the handler there.
    #[cfg(target_vendor = "apple")]
    let stack = {
        let _ = context;
        let mut stack = core::mem::MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: no stack is set, and `stack` is writable. All zeros are a valid value, without a stack.
        keeping_errno(|| unsafe {
            libc::sigaltstack(core::ptr::null(), stack.as_mut_ptr());
            stack.assume_init()
        })
    };
    let (start, end) = (stack.ss_sp.addr(), stack.ss_sp.addr().wrapping_add(stack.ss_size));
    if (start..end).contains(&address) { (start, end) } else { (0, 0) }
}
