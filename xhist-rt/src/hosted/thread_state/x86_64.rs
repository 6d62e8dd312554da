//! Where the state of a thread is on x86-64 Linux.
//!
//! The code finds it as a program's own code would (initial-exec model). In a library the compiler would call a
//! function for the address, which costs more than the rest of a statement. C libraries reserve room for a few such
//! bytes even when a program loads the library later.

use core::arch::asm;

use super::state::ThreadState;

/// The state of the calling thread.
#[inline(always)]
pub(crate) fn tls() -> *mut ThreadState {
    let tls: *mut ThreadState;
    // SAFETY: the code reads the thread's base address and an offset that the linker knows. On one thread the sum never
    // changes.
    unsafe {
        asm!(
            "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
            "add {tls}, qword ptr fs:[0]",
            tls = out(reg) tls,
            options(pure, nomem, nostack),
        );
    }
    tls
}
