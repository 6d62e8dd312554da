//! The hot path on x86-64 Linux: seven instructions and two constants in a loop.
//!
//! In assembly where an instruction must be one instruction, because handlers come in between two. The thread-local
//! words are reached as in a program's own code (initial-exec), because a call for their address, which is what the
//! compiler makes in a library, costs more than all the rest.
//!
//! Calls from here keep all general registers but five, so that a program which records looks for places for few of
//! its values.

use core::arch::{asm, global_asm};
use core::mem::offset_of;

use super::Tls;
use super::slow::{full, miss};
use crate::ring::{AT, Writer};
use crate::site::{HASH, PAGES_FROM, Site};

global_asm!(
    ".pushsection .tbss.xhist_tls,\"awT\",@nobits",
    ".globl xhist_tls",
    ".hidden xhist_tls",
    ".type xhist_tls,@object",
    ".size xhist_tls,32",
    ".p2align 5",
    "xhist_tls:",
    ".zero 32",
    ".popsection",
);

const _: () = assert!(size_of::<Tls>() == 32);

// Both are called with the thread's words in r9, the page in r10 and `Site::turn` in r11, on a stack that is aligned.
//
// `xhist_turn`: the page word was another. When that is a page, and the open frame knows the one asked for, this is a
// statement of two bytes: both are written by one instruction, if they are free. That instruction needs the page word
// to be no page, as it is, and nothing else, because handlers go on behind a byte that is not free. All else is `miss`.
//
// `xhist_full`: the byte at r8 was not free. What was added to it is taken back.
global_asm!(
    ".pushsection .text.xhist_turn,\"ax\",@progbits",
    ".globl xhist_turn",
    ".hidden xhist_turn",
    ".type xhist_turn,@function",
    ".globl xhist_full",
    ".hidden xhist_full",
    ".type xhist_full,@function",
    ".p2align 4",
    "xhist_turn:",
    ".cfi_startproc",
    // The writer first: one that is taken away leaves no page behind.
    "mov rax, qword ptr [r9 + {WRITER}]",
    // A page is a multiple of four from PAGES_FROM to twice that.
    "mov r8, qword ptr [r9 + {PAGE}]",
    "lea r8, [r8 + r10 - {PAGES_FROM}]",
    "test r8, -{PAGES_FROM} | 3",
    "jne 4f",
    "mov r8d, r11d",
    "and r8d, 15",
    "cmp dword ptr [rax + r8 * 4 + {PAGES_AT}], r10d",
    "jne 3f",
    "2:",
    "mov r8, qword ptr [r9 + {CURSOR}]",
    "cmp r8, qword ptr [rax + {MARK_AT}]",
    "jae 4f",
    "xor eax, eax",
    "cmpxchg word ptr [r8], r11w",
    "jne 4f",
    "add r8, 2",
    "mov qword ptr [r9 + {CURSOR}], r8",
    "mov qword ptr [r9 + {PAGE}], r10",
    "ret",
    // The other place.
    "3:",
    "xor r8d, 1",
    "xor r11d, 1",
    "cmp dword ptr [rax + r8 * 4 + {PAGES_AT}], r10d",
    "je 2b",
    // A page that the frame does not know. The step to it that another frame needed is written again, with the
    // statement: eight free bytes. Until they are, its place is that of no page, and so it stays when a handler came,
    // which may have opened another frame.
    "push rcx",
    ".cfi_def_cfa_offset 16",
    "push rdx",
    ".cfi_def_cfa_offset 24",
    "push rsi",
    ".cfi_def_cfa_offset 32",
    "imul ecx, r10d, {HASH}",
    "shr ecx, {OPENINGS_SHIFT}",
    "shl ecx, 4",
    "lea rcx, [rax + rcx + {OPENINGS_AT}]",
    "cmp dword ptr [rcx + 8], r10d",
    "je 8f",
    "xor rcx, 16",
    "cmp dword ptr [rcx + 8], r10d",
    "jne 7f",
    "8:",
    // As `Run::new_number`.
    "cmp dword ptr [rax + r8 * 4 + {PAGES_AT}], 0",
    "je 6f",
    "xor r8d, 1",
    "6:",
    "mov rdx, qword ptr [r9 + {CURSOR}]",
    "cmp rdx, qword ptr [rax + {MARK_AT}]",
    "jae 7f",
    "lea rsi, [rdx + 8]",
    "cmp rsi, qword ptr [rax + {LIMIT_AT}]",
    "ja 7f",
    "lea esi, [r8 + 1]",
    "shl esi, 8",
    "lea r8, [rax + r8 * 4 + {PAGES_AT}]",
    "or rsi, qword ptr [rcx]",
    "mov ecx, dword ptr [rcx + 12]",
    "mov eax, r11d",
    "shr eax, 8",
    "shl rax, cl",
    "or rsi, rax",
    "lea eax, [r10 + 1]",
    "mov dword ptr [r8], eax",
    "xor eax, eax",
    "cmpxchg qword ptr [rdx], rsi",
    "jne 7f",
    "lea eax, [r10 + 1]",
    "cmpxchg dword ptr [r8], r10d",
    "shr ecx, 3",
    "lea rdx, [rdx + rcx + 1]",
    "mov qword ptr [r9 + {CURSOR}], rdx",
    "mov qword ptr [r9 + {PAGE}], r10",
    "pop rsi",
    ".cfi_def_cfa_offset 24",
    "pop rdx",
    ".cfi_def_cfa_offset 16",
    "pop rcx",
    ".cfi_def_cfa_offset 8",
    "ret",
    "7:",
    ".cfi_def_cfa_offset 32",
    "pop rsi",
    ".cfi_def_cfa_offset 24",
    "pop rdx",
    ".cfi_def_cfa_offset 16",
    "pop rcx",
    ".cfi_def_cfa_offset 8",
    "4:",
    "lea rax, [rip + {miss}]",
    "jmp 5f",
    "xhist_full:",
    "mov eax, r11d",
    "shr eax, 8",
    "sub byte ptr [r8], al",
    "lea rax, [rip + {full}]",
    "5:",
    "push rcx",
    ".cfi_def_cfa_offset 16",
    "push rdx",
    ".cfi_def_cfa_offset 24",
    "push rsi",
    ".cfi_def_cfa_offset 32",
    "push rdi",
    ".cfi_def_cfa_offset 40",
    // The stack is aligned at calls.
    "sub rsp, 8",
    ".cfi_def_cfa_offset 48",
    "mov edi, r10d",
    "mov esi, r11d",
    "call rax",
    "add rsp, 8",
    ".cfi_def_cfa_offset 40",
    "pop rdi",
    ".cfi_def_cfa_offset 32",
    "pop rsi",
    ".cfi_def_cfa_offset 24",
    "pop rdx",
    ".cfi_def_cfa_offset 16",
    "pop rcx",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_endproc",
    ".size xhist_turn, . - xhist_turn",
    ".popsection",
    CURSOR = const offset_of!(Tls, cursor),
    PAGE = const offset_of!(Tls, page),
    WRITER = const offset_of!(Tls, writer),
    PAGES_FROM = const PAGES_FROM,
    PAGES_AT = const Writer::RUN_AT + AT.pages,
    HASH = const HASH,
    OPENINGS_SHIFT = const AT.openings_shift,
    OPENINGS_AT = const Writer::RUN_AT + AT.openings,
    MARK_AT = const Writer::RUN_AT + AT.mark_at,
    LIMIT_AT = const Writer::RUN_AT + AT.limit,
    miss = sym miss,
    full = sym full,
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

/// Calls one of the above. It keeps no vector registers, as any function.
macro_rules! call {
    ($name:literal, $tls:expr, $site:expr, $($cursor:tt)*) => {
        // SAFETY: as told above; all that the function does not keep is named.
        unsafe { asm!(
            concat!("call ", $name),
            $($cursor)*,
            inout("r9") $tls => _,
            inout("r10") u64::from($site.page()) => _,
            inout("r11") u64::from($site.turn()) => _,
            out("rax") _,
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
        ) }
    };
}

/// The steps of a statement, whose page and code are `const` operands or registers. Few pieces of assembly, because what is
/// between two of them an unoptimised build keeps on the stack.
macro_rules! hot_path {
    ($site:expr, {$($page:tt)*}, {$($code:tt)*}) => {
        let tls = tls();
        // SAFETY: the words are this thread's. While the lock is held the cursor points to a byte of the open frame, its
        // end, or a dead byte, all of them writable; a byte that is not free is put back as it was.
        unsafe {
            asm!(
                "sub qword ptr [{tls} + {PAGE}], {page}",
                "jne {turn}",
                tls = in(reg) tls,
                page = $($page)*,
                PAGE = const offset_of!(Tls, page),
                turn = label { return call!("xhist_turn", tls, $site, out("r8") _) },
                options(nostack),
            );
            let cursor: *mut u8;
            asm!(
                "mov {cursor}, qword ptr [{tls} + {CURSOR}]",
                tls = in(reg) tls,
                cursor = out(reg) cursor,
                CURSOR = const offset_of!(Tls, cursor),
                options(nostack, preserves_flags),
            );
            asm!(
                "add byte ptr [{cursor}], {code}",
                "jc {full}",
                "lea {next}, [{cursor} + 1]",
                "mov qword ptr [{tls} + {CURSOR}], {next}",
                "mov qword ptr [{tls} + {PAGE}], {page}",
                tls = in(reg) tls,
                cursor = in(reg) cursor,
                next = out(reg) _,
                page = $($page)*,
                code = $($code)*,
                CURSOR = const offset_of!(Tls, cursor),
                PAGE = const offset_of!(Tls, page),
                full = label { return call!("xhist_full", tls, $site, inout("r8") cursor => _) },
                options(nostack),
            );
        }
    };
}

/// Records that this statement is about to run.
#[inline(always)]
pub(crate) fn record<const FILE: u16, const LINE: u16>() {
    hot_path!(
        const { Site::new(FILE, LINE) },
        { const Site::new(FILE, LINE).page() },
        { const Site::new(FILE, LINE).code() }
    );
}

/// As [`record`], for a statement that is known at run time only.
#[inline(always)]
pub(crate) fn record_at(site: Site) {
    hot_path!(site, { in(reg) u64::from(site.page()) }, { in(reg_byte) site.code() });
}

/// Adds to the page word, as one instruction.
#[inline(always)]
pub(super) fn add_to_page(tls: *mut Tls, value: u64) {
    // SAFETY: the word is this thread's.
    unsafe {
        asm!("add qword ptr [{tls} + 8], {value}", tls = in(reg) tls, value = in(reg) value, options(nostack))
    };
}
