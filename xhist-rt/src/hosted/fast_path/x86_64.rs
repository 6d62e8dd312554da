//! A check that finds a chunk full, on x86-64 Linux: how it calls the slow path.
//!
//! `xhist_turn` keeps all general registers except the cursor's. The compiler takes the call for code that accesses
//! no memory, so it may keep the thread's cursor in a register across loops. The call passes the cursor and returns
//! the new one.

use core::arch::{asm, global_asm};

use crate::hosted::slow_path::roll_over;
use crate::hosted::thread_state::tls;

// The cursor is passed and returned in rax. The stack may have any alignment, because the compiler may call this
// before a function has set up its frame.
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
    "call {roll_over}",
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
    roll_over = sym roll_over,
);

/// Calls `xhist_turn`. Like any function, it does not keep vector registers.
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

/// Rolls over. Returns where the words continue.
#[expect(clippy::pointers_in_nomem_asm_block, reason = "the program reads nothing that a roll-over writes")]
#[inline(always)]
pub(super) fn call_roll_over(mut cursor: *mut u8) -> *mut u8 {
    // SAFETY: a roll-over accesses the ring and the state of this thread, which the program's own code does not
    // access. The only value of that state that the program holds in a register is the cursor, which is passed.
    unsafe { call_turn!(cursor, nomem) };
    cursor
}

/// [`call_roll_over`] for assembly that keeps the cursor in memory.
#[inline(always)]
pub(super) fn call_roll_over_in_asm() {
    let tls = tls();
    // SAFETY: `tls` points to the state of this thread, whose cursor only this thread accesses. The call passes it.
    unsafe {
        let mut cursor = (*tls).cursor;
        call_turn!(cursor,);
        (*tls).cursor = cursor;
    }
}
