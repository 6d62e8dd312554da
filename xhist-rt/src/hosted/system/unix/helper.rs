//! A helper thread (Linux, x86-64 and 64-bit ARM): system calls without the C library, for a thread that the C library does not know. That thread has no thread-local
//! storage, so no function here accesses `errno` or calls a library.

use core::sync::atomic::AtomicU32;

use super::helper_types::{NotStarted, Piece};

/// Whether this system can have such threads.
pub(crate) const HAS_THREADS: bool = true;

/// Length in bytes of a signal set, as the kernel counts it.
const SIGNALS: usize = 8;

/// Makes a system call. Returns the kernel's result, where an error is a negative number.
///
/// # Safety
/// The caller keeps the contract of the call.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn call<const ARGS: usize>(number: i64, args: [usize; ARGS]) -> isize {
    let arg = |index: usize| args.get(index).copied().unwrap_or(0);
    let result: isize;
    // SAFETY: the kernel changes these three registers and what the documentation of the call names, for which
    // the caller is responsible.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arg(0),
            in("rsi") arg(1),
            in("rdx") arg(2),
            in("r10") arg(3),
            in("r8") arg(4),
            in("r9") arg(5),
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn call<const ARGS: usize>(number: i64, args: [usize; ARGS]) -> isize {
    let arg = |index: usize| args.get(index).copied().unwrap_or(0);
    let result: isize;
    // SAFETY: the kernel changes this register and what the documentation of the call names, for which the caller
    // is responsible.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") arg(0) as isize => result,
            in("x1") arg(1),
            in("x2") arg(2),
            in("x3") arg(3),
            in("x4") arg(4),
            in("x5") arg(5),
            options(nostack),
        );
    }
    result
}

/// Starts a thread: `clone(flags, stack, tid, tid)` with the two pointers in the order of the architecture.
///
/// # Safety
/// `stack` is the end of memory that only the new thread uses, aligned to 16 bytes. `run` ends the thread itself.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn clone(
    flags: usize,
    stack: *mut u8,
    tid: *const AtomicU32,
    run: extern "C" fn() -> !,
) -> isize {
    core::arch::naked_asm!(
        "mov r9, rcx",
        // The kernel writes the id to the first word, and clears the second one at the end.
        "mov r10, rdx",
        "xor r8d, r8d",
        "mov eax, {clone}",
        "syscall",
        "test rax, rax",
        "jz 2f",
        "ret",
        // The new thread has the registers of the old one, except the stack pointer. Stack traces end here.
        "2:",
        "xor ebp, ebp",
        "call r9",
        "ud2",
        clone = const libc::SYS_clone,
    )
}

#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn clone(
    flags: usize,
    stack: *mut u8,
    tid: *const AtomicU32,
    run: extern "C" fn() -> !,
) -> isize {
    core::arch::naked_asm!(
        "mov x9, x3",
        "mov x4, x2",
        "mov x3, xzr",
        "mov x8, {clone}",
        "svc 0",
        "cbz x0, 2f",
        "ret",
        "2:",
        "mov x29, xzr",
        "mov x30, xzr",
        "blr x9",
        "brk 1",
        clone = const libc::SYS_clone,
    )
}

/// Starts a thread that handles no signal. While it lives, `tid` holds its id. Then the kernel sets `tid` to 0
/// and wakes the threads that [`wait`] there. A kernel that refuses leaves `tid` unchanged.
///
/// # Safety
/// `stack` is the end of memory that only the new thread uses, aligned to 16 bytes. It stays mapped until `tid`
/// is 0. `run` uses no thread-local storage.
pub(crate) unsafe fn start(
    stack: *mut u8,
    tid: &'static AtomicU32,
    run: extern "C" fn() -> !,
) -> Result<(), NotStarted> {
    const FLAGS: i32 = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_CHILD_CLEARTID;
    let (all, mut before) = (u64::MAX, 0u64);
    let (set, old) = ((&raw const all).addr(), (&raw mut before).addr());
    // SAFETY: both sets have the length that is passed and live during the calls. The caller keeps the contract
    // of `stack` and `run`. The new thread inherits the mask, and this thread restores its own.
    unsafe {
        let held = call(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as usize, set, old, SIGNALS]);
        if held < 0 {
            return Err(NotStarted::ForGood);
        }
        let started = clone(FLAGS as usize, stack, tid, run);
        call(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as usize, old, 0, SIGNALS]);
        match started {
            1.. => Ok(()),
            error if error == -(libc::EAGAIN as isize) => Err(NotStarted::ForNow),
            _ => Err(NotStarted::ForGood),
        }
    }
}

/// Names the calling thread, and makes its waits exact: otherwise the kernel may add 50 microseconds.
#[inline(always)]
pub(crate) fn set_name(name: &'static [u8; 16]) {
    // SAFETY: the name is a C string of 16 bytes; the second call takes no pointer.
    unsafe {
        call(libc::SYS_prctl, [libc::PR_SET_NAME as usize, name.as_ptr().addr(), 0, 0]);
        call(libc::SYS_prctl, [libc::PR_SET_TIMERSLACK as usize, 1, 0, 0]);
    }
}

/// Waits until another thread wakes the waiters of this word, for at most `nanos` nanoseconds. Returns at once if
/// the word has another value. Returns false if the kernel does not know the call.
#[inline(always)]
pub(crate) fn wait(word: &AtomicU32, value: u32, nanos: Option<u32>) -> bool {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanos.unwrap_or(0).into() };
    let limit = if nanos.is_some() { (&raw const time).addr() } else { 0 };
    let args = [core::ptr::from_ref(word).addr(), libc::FUTEX_WAIT as usize, value as usize, limit];
    // SAFETY: the word is valid and aligned, and the time lives during the call.
    let result = unsafe { call(libc::SYS_futex, args) };
    const EXPECTED: [i32; 3] = [libc::EAGAIN, libc::EINTR, libc::ETIMEDOUT];
    result == 0 || EXPECTED.iter().any(|error| result == -(*error as isize))
}

/// Wakes all threads that wait at this word.
#[inline(always)]
pub(crate) fn wake(word: &AtomicU32) {
    let args = [core::ptr::from_ref(word).addr(), libc::FUTEX_WAKE as usize, i32::MAX as usize, 0];
    // SAFETY: the word is valid and aligned.
    unsafe { call(libc::SYS_futex, args) };
}

/// Whether this process has a thread with that id.
pub(crate) fn is_alive(tid: u32) -> bool {
    // SAFETY: signal 0 only checks whether the thread exists.
    unsafe {
        let pid = call(libc::SYS_getpid, [0; 4]);
        call(libc::SYS_tgkill, [pid as usize, tid as usize, 0, 0]) != -(libc::ESRCH as isize)
    }
}

/// The system's monotonic clock.
#[inline(always)]
pub(crate) fn clock_nanos() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time lives during the call.
    unsafe { call(libc::SYS_clock_gettime, [libc::CLOCK_MONOTONIC as usize, (&raw mut time).addr()]) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Reads two bytes of each of these pieces of this process's memory. Returns how many pieces were read, up to the
/// first one that is not memory, as behind the end of a file that was cut; or an error of [`transfer`].
#[inline(always)]
pub(crate) fn units(pieces: &[Piece], units: &mut [u16]) -> Result<usize, i32> {
    let len = size_of::<u16>() * pieces.len().min(units.len());
    // SAFETY: the kernel writes only to `units`, and at most their length.
    let read = unsafe {
        transfer(libc::SYS_process_vm_readv, [units.as_mut_ptr().addr(), len], pieces.as_ptr(), pieces.len())
    };
    read.map(|read| read / size_of::<u16>())
}

/// Stores two words in each of these pieces of this process's memory. Returns how many pieces were written, see
/// [`units`].
///
/// # Safety
/// All other users of the memory expect that other threads store words there.
#[inline(always)]
pub(crate) unsafe fn put_all(pieces: &[Piece], words: &[[u64; 2]]) -> Result<usize, i32> {
    let len = size_of::<[u64; 2]>() * pieces.len().min(words.len());
    // SAFETY: the words live during the call. The caller knows that the memory may be written.
    let put = unsafe {
        transfer(libc::SYS_process_vm_writev, [words.as_ptr().addr(), len], pieces.as_ptr(), pieces.len())
    };
    put.map(|put| put / size_of::<[u64; 2]>())
}

/// Stores words in this process's memory. Returns false if there is no memory at the address.
///
/// # Safety
/// All other users of the memory expect that other threads store words there.
#[inline(always)]
pub(crate) unsafe fn put<const LEN: usize>(address: usize, words: [u64; LEN]) -> bool {
    let len = size_of::<[u64; LEN]>();
    // SAFETY: the words live during the call. The caller knows that the memory may be written.
    let put = unsafe {
        transfer(libc::SYS_process_vm_writev, [(&raw const words).addr(), len], &[address, len], 1)
    };
    put == Ok(len)
}

/// Copies bytes within this process. Where there is no memory, no signal is raised. Returns how many bytes were
/// copied, 0 if the first piece is not memory; or the kernel's error.
///
/// # Safety
/// The kernel may read the local bytes or, with the call that reads, write them. `pieces` have that many bytes.
#[inline(always)]
unsafe fn transfer(number: i64, local: Piece, pieces: *const Piece, len: usize) -> Result<usize, i32> {
    let local = (&raw const local).addr();
    // SAFETY: the pieces live during the call. The caller knows that local bytes and pieces may be read or
    // written.
    let copied = unsafe {
        let pid = call(libc::SYS_getpid, [0; 0]) as usize;
        call(number, [pid, local, 1, pieces.addr(), len, 0])
    };
    if copied >= 0 {
        return Ok(copied as usize);
    }
    if copied == -(libc::EFAULT as isize) { Ok(0) } else { Err(-copied as i32) }
}

/// Ends the calling thread only.
#[inline(always)]
pub(crate) fn exit() -> ! {
    loop {
        // SAFETY: the thread needs nothing any more.
        unsafe { call(libc::SYS_exit, [0; 4]) };
    }
}
