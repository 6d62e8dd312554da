//! Where the state of a thread is on 64-bit ARM Linux. The code finds it as on x86-64 (initial-exec model).

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
            "adrp {tls}, :gottprel:xhist_tls",
            "ldr {tls}, [{tls}, :gottprel_lo12:xhist_tls]",
            "mrs {base}, tpidr_el0",
            "add {tls}, {tls}, {base}",
            tls = out(reg) tls,
            base = out(reg) _,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    tls
}
