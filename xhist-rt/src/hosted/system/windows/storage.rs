//! One word for each thread, in the storage that the loader gives the program. The standard library of the GNU target has
//! storage that it gives back before a thread ends.

use core::ffi::c_void;

/// Whether the words of a thread stay until its end.
pub(super) const HAS_STORAGE: bool =
    cfg!(any(all(target_arch = "x86_64", not(feature = "portable")), target_env = "msvc"));

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".section .tls$M,\"dw\"",
    ".globl xhist_at_end",
    ".p2align 3",
    "xhist_at_end:",
    ".quad 0",
    ".text",
);

#[cfg(target_arch = "x86_64")]
fn place() -> *mut *mut c_void {
    let place: *mut *mut c_void;
    // SAFETY: the code reads where the loader has put this program's storage of the calling thread.
    unsafe {
        core::arch::asm!(
            "mov {index:e}, dword ptr [rip + _tls_index]",
            "mov {place}, qword ptr gs:[0x58]",
            "mov {place}, qword ptr [{place} + 8*{index}]",
            "lea {place}, [{place} + xhist_at_end@SECREL32]",
            place = out(reg) place,
            index = out(reg) _,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    place
}

#[cfg(not(target_arch = "x86_64"))]
fn place() -> *mut *mut c_void {
    std::thread_local! {
        static VALUE: core::cell::Cell<*mut c_void> = const { core::cell::Cell::new(core::ptr::null_mut()) };
    }
    VALUE.with(core::cell::Cell::as_ptr)
}

/// The word of the calling thread; null at first.
pub(super) fn value() -> *mut c_void {
    // SAFETY: the word lives as long as its thread.
    unsafe { place().read() }
}

pub(super) fn set_value(value: *mut c_void) {
    // SAFETY: the word lives as long as its thread.
    unsafe { place().write(value) };
}
