//! Where a thread's words are on x86-64 Linux, and how the turn is called.
//!
//! The words are reached as in a program's own code (initial-exec), because a call for their address, which is what the
//! compiler makes in a library, costs more than all the rest. C libraries keep room for so little even where a program loads
//! us later.
//!
//! The turn keeps all general registers but the cursor's. The compiler takes it for code that touches no memory, so it may keep
//! the thread's cursor in a register around loops. It hands the cursor over, and takes the new one.

use core::arch::{asm, global_asm};

use super::slow::turned;
use super::{SCRATCH, Tls};

global_asm!(
    ".pushsection .tdata.xhist_tls,\"awT\",@progbits",
    ".globl xhist_tls",
    ".hidden xhist_tls",
    ".type xhist_tls,@object",
    ".size xhist_tls,32",
    ".p2align 5",
    "xhist_tls:",
    ".quad {scratch}",
    ".zero 24",
    ".popsection",
    scratch = sym SCRATCH,
);

const _: () = assert!(size_of::<Tls>() == 32);

// Cursor in rax, the new one too. The stack may be aligned in any way: the compiler may call from where a function has not set
// up its frame yet.
global_asm!(
    ".pushsection .text.xhist_turn,\"ax\",@progbits",
    ".globl xhist_turn",
    ".hidden xhist_turn",
    ".type xhist_turn,@function",
    ".p2align 4",
    "xhist_turn:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "and rsp, -16",
    "mov rdi, rax",
    "call {turned}",
    "lea rsp, [rbp - 64]",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size xhist_turn, . - xhist_turn",
    ".popsection",
    turned = sym turned,
);

/// This thread's words.
#[inline(always)]
pub(crate) fn tls() -> *mut Tls {
    let tls: *mut Tls;
    // SAFETY: reads the thread's base and an offset that the linker knows; always the same on a thread.
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

/// Calls the turn. It keeps no vector registers, as any function.
macro_rules! call_turn {
    ($cursor:ident, $($option:ident)*) => {
        asm!(
            "call xhist_turn",
            inout("rax") $cursor,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
            out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
            out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
            out("k0") _, out("k1") _, out("k2") _, out("k3") _,
            out("k4") _, out("k5") _, out("k6") _, out("k7") _,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            options($($option)*),
        )
    };
}

/// A chunk is full, or somebody asks for a turn: where the words go on.
#[expect(clippy::pointers_in_nomem_asm_block, reason = "the program reads nothing that the turn writes")]
#[inline(always)]
pub(super) fn turn(mut cursor: *mut u8) -> *mut u8 {
    // SAFETY: the turn touches the ring and this thread's words. The program's own memory is none of these, and the only value
    // of theirs that the program holds in a register is the cursor, which is handed over.
    unsafe { call_turn!(cursor, nomem) };
    cursor
}

/// The same from assembly that keeps the cursor in memory.
#[inline(always)]
pub(super) fn turn_in_asm() {
    let tls = tls();
    // SAFETY: the words are this thread's.
    unsafe {
        let mut cursor = (*tls).cursor;
        call_turn!(cursor,);
        (*tls).cursor = cursor;
    }
}
