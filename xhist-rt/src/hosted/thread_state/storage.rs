//! Memory of a [`ThreadState`] in each thread, for the processors whose code finds it by an offset of the linker.

use core::arch::global_asm;

use super::state::{SCRATCH, ThreadState};

global_asm!(
    ".pushsection .tdata.xhist_tls,\"awT\",%progbits",
    ".globl xhist_tls",
    ".hidden xhist_tls",
    ".type xhist_tls,%object",
    ".size xhist_tls,32",
    ".p2align 5",
    "xhist_tls:",
    ".quad {scratch}",
    ".zero 24",
    ".popsection",
    scratch = sym SCRATCH,
);

const _: () = assert!(size_of::<ThreadState>() == 32);
