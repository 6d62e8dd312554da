//! `pthread_create`, `posix_spawn` and `posix_spawnp` under the names of the C library: a thread knows the thread that
//! started it, and the file of spectra knows which thread started a process.
//!
//! The names are weak: a program with functions of its own under these names keeps them, and nothing is known of what they
//! start. Only the GNU C library as a shared library has the next functions of these names.

#![cfg(all(
    not(feature = "portable"),
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static"),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use core::arch::naked_asm;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::hosted::system::callbacks::callbacks;
use crate::hosted::system::sys::weak::weak;

/// What a thread runs. The recorder only jumps to it.
type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
/// `pthread_create`.
type Create =
    unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Routine, *mut c_void) -> c_int;

/// `posix_spawn` and `posix_spawnp`.
type Spawn = unsafe extern "C" fn(
    *mut libc::pid_t,
    *const c_char,
    *const libc::posix_spawn_file_actions_t,
    *const libc::posix_spawnattr_t,
    *const *mut c_char,
    *const *mut c_char,
) -> c_int;

/// What a new thread gets.
struct Start {
    next: Next,
    parent: u32,
}

/// Where a new thread goes on. The assembly of [`run`] reads it.
#[repr(C)]
struct Next {
    routine: Routine,
    argument: *mut c_void,
}

/// A function of the C library, once it is known.
struct Real {
    name: &'static CStr,
    function: AtomicPtr<c_void>,
}

static CREATE: Real = Real::new(c"pthread_create");
static SPAWN: Real = Real::new(c"posix_spawn");
static SPAWN_BY_NAME: Real = Real::new(c"posix_spawnp");

impl Real {
    const fn new(name: &'static CStr) -> Real {
        Real { name, function: AtomicPtr::new(null_mut()) }
    }

    /// The function; null if the C library has no such function.
    fn get(&self) -> *mut c_void {
        let mut function = self.function.load(Ordering::Relaxed);
        if function.is_null() {
            // SAFETY: the name is a C string.
            function = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
            self.function.store(function, Ordering::Relaxed);
        }
        function
    }
}

fn real() -> Option<Create> {
    let real = CREATE.get();
    // SAFETY: a function of this name has this type.
    (!real.is_null()).then(|| unsafe { transmute::<*mut c_void, Create>(real) })
}

weak! {
    pthread_create => create,
    posix_spawn => spawn::<false>,
    posix_spawnp => spawn::<true>,
}

/// # Safety
/// The caller keeps the contract of `pthread_create`.
unsafe extern "C" fn create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let Some(real) = real() else { return libc::EAGAIN };
    let parent = callbacks().map_or(0, |callbacks| (callbacks.number_for_thread)());
    let start = match parent {
        0 => null_mut(),
        // SAFETY: has no conditions.
        _ => unsafe { libc::malloc(size_of::<Start>()) }.cast::<Start>(),
    };
    if start.is_null() {
        // SAFETY: the caller keeps the contract of `pthread_create`.
        return unsafe { real(thread, attributes, routine, argument) };
    }
    // SAFETY: the memory has room for a `Start`. The new thread frees it; if no thread starts, this function does. The
    // caller keeps the contract of `pthread_create` for the rest.
    unsafe {
        start.write(Start { next: Next { routine, argument }, parent });
        let error = real(thread, attributes, run, start.cast());
        if error != 0 {
            libc::free(start.cast());
        }
        error
    }
}

/// Starts a process, and notes which thread started it. `BY_NAME`: as `posix_spawnp`, which looks for the program.
///
/// # Safety
/// The caller keeps the contract of `posix_spawn` or `posix_spawnp`.
unsafe extern "C" fn spawn<const BY_NAME: bool>(
    pid: *mut libc::pid_t,
    file: *const c_char,
    actions: *const libc::posix_spawn_file_actions_t,
    attributes: *const libc::posix_spawnattr_t,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    let real = if BY_NAME { SPAWN_BY_NAME.get() } else { SPAWN.get() };
    if real.is_null() {
        return libc::ENOSYS;
    }
    let mut own = 0;
    let started = if pid.is_null() { &raw mut own } else { pid };
    // SAFETY: the function has this type, and the caller keeps its contract. `started` is writable.
    let error = unsafe {
        let real = transmute::<*mut c_void, Spawn>(real);
        real(started, file, actions, attributes, arguments, environment)
    };
    if let (0, Some(callbacks)) = (error, callbacks()) {
        // SAFETY: the call has just written the process id.
        let pid = unsafe { *started }.cast_unsigned();
        (callbacks.on_process)(pid);
    }
    error
}

/// The first function of a new thread: calls [`begin`] and jumps to the program's. None of its frames stays on the stack,
/// through which `pthread_exit` may unwind.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn run(start: *mut c_void) -> *mut c_void {
    naked_asm!(
        "sub rsp, 24",
        "mov rsi, rsp",
        "call {begin}",
        "mov rax, [rsp]",
        "mov rdi, [rsp + 8]",
        "add rsp, 24",
        "jmp rax",
        begin = sym begin,
    )
}

/// The first function of a new thread: calls [`begin`] and jumps to the program's. None of its frames stays on the stack,
/// through which `pthread_exit` may unwind.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
extern "C" fn run(start: *mut c_void) -> *mut c_void {
    naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "mov x29, sp",
        "add x1, sp, #16",
        "bl {begin}",
        "ldp x9, x0, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "br x9",
        begin = sym begin,
    )
}

/// Takes what the parent left for this thread.
///
/// # Safety
/// `start` is a `Start` that [`create`] allocated for this thread alone, and `next` is writable.
unsafe extern "C" fn begin(start: *mut Start, next: *mut Next) {
    // SAFETY: the caller passes a `Start` that this thread owns, and a place for `next`.
    let parent = unsafe {
        let Start { next: read, parent } = start.read();
        libc::free(start.cast());
        next.write(read);
        parent
    };
    if let Some(callbacks) = callbacks() {
        (callbacks.on_thread)(parent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_function_of_that_name_is_found() {
        assert!(real().is_some());
        assert_eq!(std::thread::spawn(|| 7).join().expect("a thread"), 7);
        assert!(!SPAWN.get().is_null() && !SPAWN_BY_NAME.get().is_null());
    }

    #[test]
    fn programs_are_started_and_errors_are_those_of_the_c_library() {
        use std::process::Command;
        let status = Command::new("sh").args(["-c", "exit 7"]).status().expect("a shell");
        assert_eq!(status.code(), Some(7));
        let none = Command::new("/nowhere/at/all").status().expect_err("there is no such program");
        assert_eq!(none.kind(), std::io::ErrorKind::NotFound);
    }
}
