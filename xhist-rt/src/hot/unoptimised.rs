//! A statement where the compiler does not optimise: one piece of assembly, which is as short as what the optimiser makes.

use core::arch::asm;
use core::mem::offset_of;

use qs_core::record::words::Word;

use super::cpu::turn_in_asm;
use super::{Tls, word};

const LIMIT: usize = offset_of!(Tls, limit);

/// A word as a number, and how many bytes it has; 0 bytes where there is none.
const fn parts(file: u16, line: u16, number: u32) -> (u32, usize) {
    match word(file, line, number) {
        Some(Word::Short([a, b])) => (u32::from_ne_bytes([a, b, 0, 0]), 2),
        Some(Word::Long(bytes)) => (u32::from_ne_bytes(bytes), 4),
        None => (0, 0),
    }
}

/// Records that a statement is about to run.
#[inline(always)]
pub(crate) fn record<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
    // SAFETY: reads and writes the words of this thread, whose cursor points to room for a word, see `crate::words`.
    unsafe {
        match const { parts(FILE, LINE, NUMBER).1 } {
            2 => asm!(
                "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
                "mov {cursor}, qword ptr fs:[{tls}]",
                "mov word ptr [{cursor}], {word}",
                "add qword ptr fs:[{tls}], 2",
                tls = out(reg) _,
                cursor = out(reg) _,
                word = const parts(FILE, LINE, NUMBER).0,
                options(nostack),
            ),
            4 => asm!(
                "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
                "mov {cursor}, qword ptr fs:[{tls}]",
                "mov dword ptr [{cursor}], {word}",
                "add qword ptr fs:[{tls}], 4",
                tls = out(reg) _,
                cursor = out(reg) _,
                word = const parts(FILE, LINE, NUMBER).0,
                options(nostack),
            ),
            _ => super::slow::record_alone(FILE, LINE),
        }
    }
}

/// The same, behind a check for room.
#[inline(always)]
pub(crate) fn entry<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
    // SAFETY: as above; the turn keeps all registers but the cursor's.
    unsafe {
        asm!(
            "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
            "mov rax, qword ptr fs:[{tls}]",
            "cmp rax, qword ptr fs:[{tls} + {LIMIT}]",
            "jae {full}",
            tls = out(reg) _,
            out("rax") _,
            LIMIT = const LIMIT,
            full = label { turn_in_asm() },
            options(nostack),
        );
    }
    record::<FILE, LINE, NUMBER>();
}
