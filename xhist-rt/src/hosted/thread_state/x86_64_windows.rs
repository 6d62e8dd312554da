//! Where the state of a thread is on x86-64 Windows: in the storage that the loader gives the program. The standard library of the
//! GNU target would call functions for its own, and would give it back before the thread ends.

use core::arch::{asm, global_asm};

use super::state::{SCRATCH, ThreadState};

// The linker sorts these sections: `M` is between the begin and the end that the C library marks.
global_asm!(
    ".section .tls$M,\"dw\"",
    ".globl xhist_tls",
    ".p2align 3",
    "xhist_tls:",
    ".quad {scratch}",
    ".zero 24",
    ".text",
    scratch = sym SCRATCH,
);

const _: () = assert!(size_of::<ThreadState>() == 32);

/// The state of the calling thread.
#[inline(always)]
pub(crate) fn tls() -> *mut ThreadState {
    let tls: *mut ThreadState;
    // SAFETY: the code reads where the loader has put the program's storage of the calling thread, and adds an offset that the
    // linker knows. On one thread the sum never changes.
    unsafe {
        asm!(
            "mov {index:e}, dword ptr [rip + _tls_index]",
            "mov {tls}, qword ptr gs:[0x58]",
            "mov {tls}, qword ptr [{tls} + 8*{index}]",
            "lea {tls}, [{tls} + xhist_tls@SECREL32]",
            tls = out(reg) tls,
            index = out(reg) _,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    tls
}
