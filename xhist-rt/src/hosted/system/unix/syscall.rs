//! `syscall` and `prctl` under the names of the C library. A child that the program forks with `syscall` has a ring of
//! its own at once. When the program enters a sandbox, the recorder follows before it is too late.
//!
//! The names are weak: a program with a `syscall` of its own keeps it. It makes system calls as the C library does,
//! without a frame, so a child on a new stack returns there.

#![cfg(all(
    not(feature = "portable"),
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use core::arch::naked_asm;
use core::ffi::{c_int, c_long, c_ulong};

use crate::hosted::system::callbacks::callbacks;
use crate::hosted::system::sys::errors::keeping_errno;
use crate::hosted::system::sys::weak::weak;

/// The kernel returned 0, as it does in a forked child.
extern "C" fn returned_zero() -> c_long {
    if let Some(callbacks) = callbacks() {
        (callbacks.check_for_fork)();
    }
    0
}

/// The kernel returned an error.
extern "C" fn failed(errno: c_int) -> c_long {
    // SAFETY: the C library returns the address of the calling thread's `errno`.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// The first arguments of a call that may put the program into a sandbox.
extern "C" fn before_sandbox(number: c_long, operation: c_ulong, argument: c_ulong) {
    let set_strict = c_ulong::from(libc::SECCOMP_MODE_STRICT);
    let set_tsc = number == libc::SYS_prctl && operation == libc::PR_SET_TSC as c_ulong;
    let (is_filter, is_strict) = match number {
        libc::SYS_prctl if operation == libc::PR_SET_SECCOMP as c_ulong => (true, argument == set_strict),
        libc::SYS_seccomp if operation == c_ulong::from(libc::SECCOMP_SET_MODE_FILTER) => (true, false),
        libc::SYS_seccomp if operation == c_ulong::from(libc::SECCOMP_SET_MODE_STRICT) => (true, true),
        _ => (false, false),
    };
    let is_counter_forbidden = is_strict || set_tsc && argument == libc::PR_TSC_SIGSEGV as c_ulong;
    if !is_filter && !is_counter_forbidden {
        return;
    }
    if let Some(callbacks) = callbacks() {
        keeping_errno(|| (callbacks.restrict)(is_filter, is_counter_forbidden));
    }
}

/// # Safety
/// The caller keeps the contract of `prctl`.
unsafe extern "C" fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int {
    before_sandbox(libc::SYS_prctl, option as c_ulong, a);
    // SAFETY: the caller keeps the contract of the call.
    unsafe { libc::syscall(libc::SYS_prctl, c_long::from(option), a, b, c, d) as c_int }
}

weak! { syscall => call, prctl => prctl }

/// # Safety
/// The caller keeps the contract of the system call.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn call() {
    naked_asm!(
        ".cfi_startproc",
        "cmp rdi, {seccomp}",
        "je 3f",
        "cmp rdi, {prctl}",
        "je 3f",
        "5: mov rax, rdi",
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
        // The calls may put the program into a sandbox. They have at most five arguments, and do not return twice.
        "3: push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "push rdx",
        ".cfi_adjust_cfa_offset 8",
        "push rcx",
        ".cfi_adjust_cfa_offset 8",
        "push r8",
        ".cfi_adjust_cfa_offset 8",
        "push r9",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {before_sandbox}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop r9",
        ".cfi_adjust_cfa_offset -8",
        "pop r8",
        ".cfi_adjust_cfa_offset -8",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "pop rdx",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "jmp 5b",
        ".cfi_endproc",
        before_sandbox = sym before_sandbox,
        failed = sym failed,
        prctl = const libc::SYS_prctl,
        returned_zero = sym returned_zero,
        seccomp = const libc::SYS_seccomp,
    )
}

/// # Safety
/// The caller keeps the contract of the system call.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn call() {
    naked_asm!(
        ".cfi_startproc",
        "cmp x0, {seccomp}",
        "b.eq 4f",
        "cmp x0, {prctl}",
        "b.eq 4f",
        "5: mov x8, x0",
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
        // The calls may put the program into a sandbox. They do not return twice.
        "4: stp x29, x30, [sp, #-80]!",
        ".cfi_adjust_cfa_offset 80",
        ".cfi_rel_offset x30, 8",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "str x6, [sp, #64]",
        "bl {before_sandbox}",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldr x6, [sp, #64]",
        "ldp x29, x30, [sp], #80",
        ".cfi_adjust_cfa_offset -80",
        ".cfi_restore x30",
        "b 5b",
        ".cfi_endproc",
        before_sandbox = sym before_sandbox,
        failed = sym failed,
        prctl = const libc::SYS_prctl,
        returned_zero = sym returned_zero,
        seccomp = const libc::SYS_seccomp,
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
