//! `pthread_create` under the name of the C library, so that a thread knows the thread that started it.
//!
//! The name is weak: a program with a `pthread_create` of its own keeps it, and its threads do not know. Only the GNU C
//! library as a shared library has the next function of that name.

#![cfg(all(
    not(feature = "portable"),
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static"),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::hosted::rings::spectra;
use crate::hosted::setup::spectra_file;
use crate::hosted::system::weak::weak;

/// What a thread runs. The recorder only jumps to it.
type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
/// `pthread_create`.
type Create =
    unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Routine, *mut c_void) -> c_int;

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

/// The C library's function, once it is known.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

fn real() -> Option<Create> {
    let mut real = REAL.load(Ordering::Relaxed);
    if real.is_null() {
        // SAFETY: the name is a C string.
        real = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
        REAL.store(real, Ordering::Relaxed);
    }
    // SAFETY: a function of this name has this type.
    (!real.is_null()).then(|| unsafe { transmute::<*mut c_void, Create>(real) })
}

weak! { pthread_create => create }

/// # Safety
/// The caller keeps the contract of `pthread_create`.
unsafe extern "C" fn create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let Some(real) = real() else { return libc::EAGAIN };
    let parent = if spectra_file::is_open() { spectra::origin() } else { 0 };
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
    spectra::set_parent(parent);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_function_of_that_name_is_found() {
        assert!(real().is_some());
        assert_eq!(std::thread::spawn(|| 7).join().expect("a thread"), 7);
    }
}
