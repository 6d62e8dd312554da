//! A statement in unoptimised code: one piece of assembly, as short as the code that the optimiser makes.

use core::arch::asm;
use core::mem::offset_of;

use qs_core::record::words::Word;

use super::cpu::call_roll_over_in_asm;
use super::word::word;
use crate::slow_path::record_without_word;
use crate::thread_state::ThreadState;

const LIMIT: usize = offset_of!(ThreadState, limit);

/// A word as a number, and its length in bytes; 0 bytes for a statement that no word can represent.
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
    macro_rules! store {
        ($kind:literal, $len:literal) => {
            asm!(
                "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
                "mov {cursor}, qword ptr fs:[{tls}]",
                concat!("mov ", $kind, " ptr [{cursor}], {word}"),
                "add qword ptr fs:[{tls}], {len}",
                tls = out(reg) _,
                cursor = out(reg) _,
                word = const parts(FILE, LINE, NUMBER).0,
                len = const $len,
                options(nostack),
            )
        };
    }
    // SAFETY: the code accesses the cursor of this thread. Between two checks it points to room for words: the checks
    // that `xhist-instrument` inserts bound the words between them, see `crate::words`.
    unsafe {
        match const { parts(FILE, LINE, NUMBER).1 } {
            2 => store!("word", 2),
            4 => store!("dword", 4),
            _ => record_without_word(FILE, LINE),
        }
    }
}

/// [`record`] after a check for room.
#[inline(always)]
pub(crate) fn entry<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
    // SAFETY: the code reads cursor and limit of this thread. The roll-over keeps all registers except the cursor's.
    unsafe {
        asm!(
            "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
            "mov rax, qword ptr fs:[{tls}]",
            "cmp rax, qword ptr fs:[{tls} + {LIMIT}]",
            "jae {full}",
            tls = out(reg) _,
            out("rax") _,
            LIMIT = const LIMIT,
            full = label { call_roll_over_in_asm() },
            options(nostack),
        );
    }
    record::<FILE, LINE, NUMBER>();
}
