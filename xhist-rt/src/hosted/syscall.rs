//! `syscall` under the name of the C library, so that a child that the program forks with it has a ring of its own at
//! once.
//!
//! The name is weak: a program with a `syscall` of its own keeps it. It makes system calls as the C library does,
//! without a frame, so a child on a new stack returns there.

#![cfg(all(
    not(feature = "portable"),
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use core::arch::naked_asm;
use core::ffi::{c_int, c_long};

use crate::hosted::rings::fork;
use crate::hosted::setup::owner;
use crate::hosted::system::sys;
use crate::hosted::system::weak::weak;

/// The kernel returned 0, as it does in a forked child.
extern "C" fn returned_zero() -> c_long {
    if owner::is_unseen_child() {
        sys::keeping_errno(|| fork::on_fork_in_child());
    }
    0
}

/// The kernel returned an error.
extern "C" fn failed(errno: c_int) -> c_long {
    // SAFETY: the C library returns the address of the calling thread's `errno`.
    unsafe { *libc::__errno_location() = errno };
    -1
}

weak! { syscall => call }

/// # Safety
/// The caller keeps the contract of the system call.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn call() {
    naked_asm!(
        ".cfi_startproc",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        "mov r9, qword ptr [rsp + 8]",
        "syscall",
        "cmp rax, -4095",
        "jae 2f",
        "test rax, rax",
        "jz {returned_zero}",
        "ret",
        "2: neg eax",
        "mov edi, eax",
        "jmp {failed}",
        ".cfi_endproc",
        failed = sym failed,
        returned_zero = sym returned_zero,
    )
}

/// # Safety
/// The caller keeps the contract of the system call.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn call() {
    naked_asm!(
        ".cfi_startproc",
        "mov x8, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "mov x3, x4",
        "mov x4, x5",
        "mov x5, x6",
        "svc 0",
        "cmn x0, #4095",
        "b.cs 2f",
        "cbz x0, 3f",
        "ret",
        "2: neg w0, w0",
        "b {failed}",
        "3: b {returned_zero}",
        ".cfi_endproc",
        failed = sym failed,
        returned_zero = sym returned_zero,
    )
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    #[test]
    fn calls_have_their_arguments_and_errors() {
        // SAFETY: both calls access no memory of the program.
        let (own, bad) = unsafe {
            (
                libc::syscall(libc::SYS_getpid),
                libc::syscall(libc::SYS_mmap, 0usize, 4096usize, 0, libc::MAP_PRIVATE, -1, 0usize),
            )
        };
        assert_eq!(own, libc::c_long::from(std::process::id() as libc::c_int));
        assert_eq!((bad, Error::last_os_error().raw_os_error()), (-1, Some(libc::EBADF)));
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
        // SAFETY: the second call removes the new mapping, which no code uses.
        let (unaligned, removed) = unsafe {
            let unaligned = libc::syscall(libc::SYS_mmap, 0usize, 4096usize, 0, flags, -1, 1usize);
            let at = libc::syscall(libc::SYS_mmap, 0usize, 4096usize, 0, flags, -1, 0usize);
            (unaligned, libc::syscall(libc::SYS_munmap, at, 4096usize))
        };
        assert_eq!((unaligned, removed), (-1, 0), "the sixth argument counts");
    }
}
