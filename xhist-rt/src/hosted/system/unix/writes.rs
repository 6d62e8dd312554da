//! `write` and `writev` under the names of the C library: what the program prints past the macros is recorded, too.
//!
//! The names are weak: a program with a `write` of its own keeps it. The next functions of these names do the work, so
//! errors, interruptions and cancellation are theirs. Only the GNU C library as a shared library has next functions.
//! Other descriptors than 1 and 2 cost a comparison.

#![cfg(all(
    feature = "auto",
    not(feature = "portable"),
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static"),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::files::write as unhooked_write;
use super::process::before_main;
use super::threads::is_main_thread;
use crate::hosted::system::callbacks::callbacks;
use crate::hosted::system::sandbox;
use crate::hosted::system::sys::errors::keeping_errno;
use crate::hosted::system::sys::weak::weak;
use crate::hosted::system::written::{Written, WrittenPiece, is_output};

/// `write`.
///
/// A thread may be cancelled in it, which unwinds the frames below. They let it pass, because nothing in them has to be
/// cleaned up. With the ABI `C-unwind` this crate would not link with programs whose panics abort.
type Write = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;
/// `writev`.
type WritePieces = unsafe extern "C" fn(c_int, *const WrittenPiece, c_int) -> isize;

const _: () = assert!(size_of::<WrittenPiece>() == size_of::<libc::iovec>());

/// The next `write`; that of the C library until it is known.
static WRITE: AtomicPtr<c_void> = AtomicPtr::new(unhooked_write as *const () as *mut c_void);
/// The next `writev`, once it is known.
static WRITE_PIECES: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Looks for the next functions: a library that was loaded first may have its own.
extern "C" fn find_next() {
    let find = |name: &CStr, place: &AtomicPtr<c_void>| {
        // SAFETY: the name is a C string.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        if !next.is_null() {
            place.store(next, Ordering::Relaxed);
        }
    };
    find(c"write", &WRITE);
    find(c"writev", &WRITE_PIECES);
}

before_main!(find_next);

weak! {
    write => write,
    writev => write_pieces,
}

/// # Safety
/// The caller keeps the contract of `write`.
unsafe extern "C" fn write(fd: c_int, bytes: *const c_void, len: usize) -> isize {
    // SAFETY: functions of this name have this type.
    let next = unsafe { transmute::<*mut c_void, Write>(WRITE.load(Ordering::Relaxed)) };
    // SAFETY: the caller keeps the contract of `write`.
    let written = unsafe { next(fd, bytes, len) };
    if is_printed(fd) && written > 0 {
        let piece = WrittenPiece { start: bytes.cast(), len };
        // SAFETY: the device has read these bytes or ignored their address. Until this returns they are the caller's.
        unsafe { note(fd, &raw const piece, written) };
    }
    written
}

/// # Safety
/// The caller keeps the contract of `writev`.
unsafe extern "C" fn write_pieces(fd: c_int, pieces: *const WrittenPiece, count: c_int) -> isize {
    let next = WRITE_PIECES.load(Ordering::Relaxed);
    // SAFETY: functions of this name have this type. The caller keeps the contract of `writev`.
    let written = unsafe {
        match next.is_null() {
            true => libc::syscall(libc::SYS_writev, fd, pieces, count) as isize,
            false => transmute::<*mut c_void, WritePieces>(next)(fd, pieces, count),
        }
    };
    if is_printed(fd) && written > 0 {
        // SAFETY: as in `write`.
        unsafe { note(fd, pieces, written) };
    }
    written
}

/// Standard output or standard error.
#[inline(always)]
fn is_printed(fd: c_int) -> bool {
    fd == libc::STDOUT_FILENO || fd == libc::STDERR_FILENO
}

/// Records what was written. It does not unwind, so its callers need no cleanup.
///
/// # Safety
/// The contract of [`Written::new`], until this returns.
#[inline(never)]
unsafe extern "C" fn note(fd: c_int, pieces: *const WrittenPiece, len: isize) {
    // A sandbox may forbid to ask.
    if let Some(callbacks) = callbacks()
        && is_output(|| !sandbox::is_on() && is_main_thread())
    {
        // SAFETY: the caller keeps the contract.
        let written = unsafe { Written::new(fd == libc::STDERR_FILENO, pieces, len as usize) };
        keeping_errno(|| (callbacks.on_output)(&written));
    }
}
