//! Where a thread's words are on 64-bit ARM Linux, and how the turn is called: as any function.
//!
//! The words are reached as in a program's own code (initial-exec), see `x86_64`.

use core::arch::{asm, global_asm};

use super::slow::turned;
use super::{SCRATCH, Tls};

global_asm!(
    ".pushsection .tdata.xhist_tls,\"awT\",%progbits",
    ".globl xhist_tls",
    ".hidden xhist_tls",
    ".type xhist_tls,%object",
    ".size xhist_tls,32",
    ".p2align 5",
    "xhist_tls:",
    ".xword {scratch}",
    ".zero 24",
    ".popsection",
    scratch = sym SCRATCH,
);

const _: () = assert!(size_of::<Tls>() == 32);

/// This thread's words.
#[inline(always)]
pub(crate) fn tls() -> *mut Tls {
    let tls: *mut Tls;
    // SAFETY: reads the thread's base and an offset that the linker knows; always the same on a thread.
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

/// A chunk is full, or somebody asks for a turn: where the words go on.
#[cold]
#[inline(never)]
pub(super) fn turn(cursor: *mut u8) -> *mut u8 {
    turned(cursor)
}
