//! The calling thread: its number, its name, its stacks, and its end.

use core::ffi::{c_char, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

use qs_core::ring::NAME_LEN;

/// Thread id, as `ps -L` and debuggers show it.
pub(crate) fn tid() -> u32 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: has no conditions.
    return unsafe { libc::syscall(libc::SYS_gettid) as u32 };
    #[cfg(target_vendor = "apple")]
    {
        let mut number = 0;
        // SAFETY: 0 is the calling thread, and there is a place for the answer.
        unsafe { libc::pthread_threadid_np(0, &mut number) };
        return number as u32;
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    // SAFETY: has no conditions.
    return unsafe { libc::pthread_self() as usize as u32 };
}

/// Whether the calling thread is the one that the process began with.
pub(crate) fn is_main_thread() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return tid() == super::process::pid();
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: has no conditions.
    return unsafe { libc::pthread_main_np() } != 0;
}

/// Writes the calling thread's name.
pub(crate) fn thread_name(name: &mut [u8; NAME_LEN]) {
    /// Linux keeps at most this many bytes of a name.
    const KEPT: usize = 15;
    name.fill(0);
    if is_main_thread() {
        name[..4].copy_from_slice(b"main");
        return;
    }
    let len = kernel_name(name);
    // The standard library knows the rest. For a thread that it has not started it would allocate, and in a thread
    // that is ending it would panic. Only between the two does a thread have its signal stack.
    if len >= KEPT && has_signal_stack() {
        let thread = std::thread::current();
        let full = thread.name().map_or(&[][..], str::as_bytes);
        if full.starts_with(&name[..len]) {
            let len = full.len().min(NAME_LEN);
            name[..len].copy_from_slice(&full[..len]);
        }
    }
}

/// Writes the name that the kernel has for the thread (at most 15 bytes on Linux). Returns its length.
fn kernel_name(name: &mut [u8]) -> usize {
    // SAFETY: the buffer has the length that is passed, and both calls write a C string into it.
    unsafe { libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr().cast::<c_char>(), name.len()) };
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    name[end..].fill(0);
    end
}

/// Makes a key whose destructor runs when a thread that has set the key ends.
fn thread_exit_key(destructor: extern "C" fn(*mut c_void)) -> Option<u64> {
    let mut key = 0;
    // SAFETY: `key` is writable.
    let made = unsafe {
        let destructor =
            core::mem::transmute::<extern "C" fn(*mut c_void), unsafe extern "C" fn(*mut c_void)>(destructor);
        libc::pthread_key_create(&mut key, Some(destructor)) == 0
    };
    // The type of a key is another on each system; no key is negative.
    made.then_some(key as u64)
}

/// Sets a key of [`thread_exit_key`] in this thread.
fn set_thread_exit_key(key: libc::pthread_key_t, value: *mut c_void) {
    // SAFETY: the key exists.
    unsafe { libc::pthread_setspecific(key, value) };
}

/// Whether this thread has a stack of its own for signal handlers.
pub(crate) fn has_signal_stack() -> bool {
    let mut stack = core::mem::MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: no stack is set, and `stack` is writable. All zeros are a valid value.
    unsafe {
        libc::sigaltstack(core::ptr::null(), stack.as_mut_ptr()) == 0
            && stack.assume_init().ss_flags & libc::SS_DISABLE == 0
    }
}

/// Runs a function that may need more stack than a small thread has. On x86-64 Linux it gets a stack of its own.
/// Signals must be blocked meanwhile, because their handlers would run on that stack, too.
pub(crate) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        /// The unoptimised recorder needs a quarter of it.
        const LEN: usize = 128 * 1024;
        /// The function to run, and its result.
        type FunctionAndResult<F, T> = (Option<F>, Option<T>);
        // A panic never leaves an `extern "C"` function.
        extern "C" fn call<T, F: FnOnce() -> T>(call: *mut FunctionAndResult<F, T>) {
            // SAFETY: the caller has the only other pointer and waits for this call.
            let (run, result) = unsafe { &mut *call };
            *result = run.take().map(|run| run());
        }
        let function = call::<T, _> as extern "C" fn(*mut FunctionAndResult<_, T>);
        let mut both: FunctionAndResult<_, T> = (Some(run), None);
        let Some(stack) = super::memory::map_anonymous(LEN) else {
            function(&raw mut both);
            return both.1.expect("it ran");
        };
        // SAFETY: the stack pointer moves to the end of memory that nothing else uses, aligned as before a call. It
        // moves back from a register that the called function keeps.
        unsafe {
            core::arch::asm!(
                "mov r12, rsp",
                "mov rsp, {stack}",
                "call {function}",
                "mov rsp, r12",
                stack = in(reg) stack.add(LEN),
                function = in(reg) function,
                in("rdi") &raw mut both,
                out("r12") _,
                clobber_abi("C"),
            );
            libc::munmap(stack.cast::<c_void>(), LEN);
        }
        both.1.expect("it ran")
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    {
        run()
    }
}

/// Whether a thread of this process has that id.
pub(crate) fn has_thread(tid: u32) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: signal 0 only checks whether the thread exists.
    return unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, 0) } == 0
        || super::errors::errno() != libc::ESRCH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = tid;
        true
    }
}

static EXIT_KEY: AtomicU64 = AtomicU64::new(NO_KEY);

const NO_KEY: u64 = u64::MAX;
/// The GNU C library allocates if a thread uses keys from this one on, but the calling code may be an allocator.
const FREE_KEYS: u64 = if cfg!(target_env = "gnu") { 32 } else { NO_KEY };

/// Has a function called with this value when the calling thread ends. It is always the same function. Returns false
/// if that is not possible, and where the words of the thread are gone by then.
pub(crate) fn call_at_end(function: extern "C" fn(*mut c_void), value: *mut c_void) -> bool {
    let key = exit_key(function);
    if key < FREE_KEYS {
        set_thread_exit_key(key as _, value);
    }
    // Apple's loader has a key of its own for the thread-local variables of the program, and keys end in their order.
    key < FREE_KEYS && !cfg!(target_vendor = "apple")
}

fn exit_key(function: extern "C" fn(*mut c_void)) -> u64 {
    let key = EXIT_KEY.load(Ordering::Acquire);
    if key != NO_KEY {
        return key;
    }
    match thread_exit_key(function) {
        None => NO_KEY,
        Some(new) => {
            // Two threads may race. The key of the slower one then takes one of a thousand entries for nothing.
            let _ = EXIT_KEY.compare_exchange(NO_KEY, new, Ordering::AcqRel, Ordering::Acquire);
            EXIT_KEY.load(Ordering::Acquire)
        }
    }
}
