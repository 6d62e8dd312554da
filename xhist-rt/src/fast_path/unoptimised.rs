//! A statement in unoptimised code: one piece of assembly, as short as the code that the optimiser makes.

use core::arch::asm;
use core::mem::offset_of;

use qs_core::record::value::{MARK, mark};
use qs_core::record::words::Word;

use super::cpu::call_roll_over_in_asm;
use super::word::word;
use crate::slow_path::{record_long, record_target, record_without_word};
use crate::thread_state::ThreadState;
use crate::value::kept;
use crate::value::types::add_row;

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

/// Records the first `MOST` bytes of a value.
#[inline(always)]
pub(crate) fn own<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(value: &T) {
    add_row::<NUMBER, IS_GENERIC, T>();
    // Loads a value, codes it behind the mark's place, and stores the mark last: without it the words end there.
    macro_rules! store {
        ($class:literal, $len:literal, [$($load:literal)*], [$($code:literal),*]) => {
            asm!(
                "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
                "mov {cursor}, qword ptr fs:[{tls}]",
                $($load,)*
                $($code,)*
                "mov dword ptr [{cursor}], {mark}",
                "add qword ptr fs:[{tls}], {len}",
                "/* {value} {more} {bits} {vector} */",
                value = in(reg) &raw const *value,
                bits = out(reg) _,
                more = out(reg) _,
                vector = out(xmm_reg) _,
                tls = out(reg) _,
                cursor = out(reg) _,
                mark = const u32::from_ne_bytes(mark(NUMBER, $class)),
                len = const MARK + $len,
                options(nostack),
            )
        };
    }
    macro_rules! store_1 {
        ($($load:literal)*) => {
            store!(1, 2, [$($load)*], [
                "mov {more:e}, {bits:e}",
                "and {more:e}, 0x80",
                "add {bits:e}, {more:e}",
                "or {bits:e}, 0x8080",
                "mov word ptr [{cursor} + 4], {bits:x}"
            ])
        };
    }
    macro_rules! store_2 {
        ($($load:literal)*) => {
            store!(2, 4, [$($load)*], [
                "movd {vector}, {bits:e}",
                "pmovmskb {more:e}, {vector}",
                "shl {more:e}, 16",
                "or {bits:e}, {more:e}",
                "or {bits:e}, 0x80808080",
                "mov dword ptr [{cursor} + 4], {bits:e}"
            ])
        };
    }
    macro_rules! store_4 {
        ($($load:literal)*) => {
            store!(3, 6, [$($load)*], [
                "movd {vector}, {bits:e}",
                "pmovmskb {more:e}, {vector}",
                "or {bits:e}, 0x80808080",
                "or {more:e}, 0x8080",
                "mov dword ptr [{cursor} + 4], {bits:e}",
                "mov word ptr [{cursor} + 8], {more:x}"
            ])
        };
    }
    macro_rules! store_8 {
        ($($load:literal)*) => {
            store!(4, 10, [$($load)*], [
                "movabs {more}, 0x8080808080808080",
                "movq {vector}, {bits}",
                "or {bits}, {more}",
                "mov qword ptr [{cursor} + 4], {bits}",
                "pmovmskb {more:e}, {vector}",
                "mov {bits:e}, {more:e}",
                "and {bits:e}, 0x80",
                "lea {more:e}, [{more} + {bits} + 0x8080]",
                "mov word ptr [{cursor} + 12], {more:x}"
            ])
        };
    }
    // SAFETY: the code reads the bytes that the value has, and stores words at the cursor of this thread. Between two
    // checks it points to room for words, see `record`.
    unsafe {
        match const { if IS_GENERIC { usize::MAX } else { kept::<T>(MOST) } } {
            0 => store!(0, 0, [], []),
            1 => store_1!("movzx {bits:e}, byte ptr [{value}]"),
            2 => store_2!("movzx {bits:e}, word ptr [{value}]"),
            3 => store_4!(
                "movzx {more:e}, byte ptr [{value} + 2]"
                "movzx {bits:e}, word ptr [{value}]"
                "shl {more:e}, 16"
                "or {bits:e}, {more:e}"
            ),
            4 => store_4!("mov {bits:e}, dword ptr [{value}]"),
            5 => store_8!(
                "movzx {more:e}, byte ptr [{value} + 4]"
                "mov {bits:e}, dword ptr [{value}]"
                "shl {more}, 32"
                "or {bits}, {more}"
            ),
            6 => store_8!(
                "movzx {more:e}, word ptr [{value} + 4]"
                "mov {bits:e}, dword ptr [{value}]"
                "shl {more}, 32"
                "or {bits}, {more}"
            ),
            7 => store_8!(
                "mov {more:e}, dword ptr [{value} + 3]"
                "mov {bits:e}, dword ptr [{value}]"
                "shl {more}, 24"
                "or {bits}, {more}"
            ),
            8 => store_8!("mov {bits}, qword ptr [{value}]"),
            _ => record_long::<NUMBER, MOST, IS_GENERIC, T>(value),
        }
    }
}

/// Records what a value refers to, or else the value.
#[inline(always)]
pub(crate) fn target<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(value: &T) {
    if !record_target::<NUMBER, IS_GENERIC, T>(value) {
        own::<NUMBER, MOST, IS_GENERIC, T>(value);
    }
}
