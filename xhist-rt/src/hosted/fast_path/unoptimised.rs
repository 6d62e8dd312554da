//! A statement in unoptimised code: one piece of assembly, as short as the code that the optimiser makes.

use core::arch::asm;
use core::mem::offset_of;

use qs_core::record::value::{MARK, TYPED, long_head, long_mark, mark};

use super::cpu::call_roll_over_in_asm;
use super::value::{record_own, record_target};
use crate::hosted::slow_path::record_without_word;
use crate::hosted::thread_state::ThreadState;
use crate::pointer::Pointer;
use crate::value::kept;
use crate::value::place::ValuePlace;
use crate::value::target::may_have_target;
use crate::value::types::{add_row, of_type};

const LIMIT: usize = offset_of!(ThreadState, limit);

/// Records that a statement is about to run. Its number is that of a call with a long word, or with a short one.
#[inline(always)]
pub(crate) fn record<const IS_LONG: bool>(number: u64) {
    macro_rules! store {
        ($kind:literal, $word:literal, $len:literal) => {
            asm!(
                "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
                "mov {cursor}, qword ptr fs:[{tls}]",
                concat!("mov ", $kind, " ptr [{cursor}], {word:", $word, "}"),
                "add qword ptr fs:[{tls}], {len}",
                tls = out(reg) _,
                cursor = out(reg) _,
                word = in(reg) number,
                len = const $len,
                options(nostack),
            )
        };
    }
    // SAFETY: the code accesses the cursor of this thread. Between two checks it points to room for words: the checks
    // that `xhist-instrument` inserts bound the words between them, see `crate::hosted::words`.
    unsafe {
        if !IS_LONG {
            store!("word", "x", 2);
        } else if number as u32 != 0 {
            store!("dword", "e", 4);
        } else {
            record_without_word(number);
        }
    }
}

/// [`record`] after a check for room.
#[inline(always)]
pub(crate) fn entry<const IS_LONG: bool>(number: u64) {
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
    record::<IS_LONG>(number);
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
    // A type key, and eight bytes.
    macro_rules! store_typed {
        ($($load:literal)*) => {
            asm!(
                "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
                "mov {cursor}, qword ptr fs:[{tls}]",
                $($load,)*
                "movabs {more}, 0x8080808080808080",
                "movq {vector}, {bits}",
                "or {bits}, {more}",
                "mov qword ptr [{cursor} + 12], {bits}",
                "pmovmskb {more:e}, {vector}",
                "mov {bits:e}, {more:e}",
                "and {bits:e}, 0x80",
                "lea {more:e}, [{more} + {bits} + 0x8080]",
                "mov word ptr [{cursor} + 20], {more:x}",
                "mov {bits}, qword ptr [rip + {of}@GOTPCREL]",
                "movd {vector}, {bits:e}",
                "pmovmskb {more:e}, {vector}",
                "or {bits:e}, 0x80808080",
                "or {more:e}, 0x8080",
                "mov dword ptr [{cursor} + 6], {bits:e}",
                "mov word ptr [{cursor} + 10], {more:x}",
                "mov word ptr [{cursor} + 4], {head}",
                "mov dword ptr [{cursor}], {mark}",
                "add qword ptr fs:[{tls}], 22",
                value = in(reg) &raw const *value,
                bits = out(reg) _,
                more = out(reg) _,
                vector = out(xmm_reg) _,
                tls = out(reg) _,
                cursor = out(reg) _,
                of = sym of_type::<T>,
                head = const u16::from_ne_bytes(long_head(kept::<T>(MOST), TYPED)),
                mark = const u32::from_ne_bytes(long_mark(NUMBER)),
                options(nostack),
            )
        };
    }
    // Reads no byte behind the value.
    macro_rules! load {
        (1 $store:ident) => {
            $store!("movzx {bits:e}, byte ptr [{value}]")
        };
        (2 $store:ident) => {
            $store!("movzx {bits:e}, word ptr [{value}]")
        };
        (3 $store:ident) => {
            $store!(
                "movzx {more:e}, byte ptr [{value} + 2]"
                "movzx {bits:e}, word ptr [{value}]"
                "shl {more:e}, 16"
                "or {bits:e}, {more:e}"
            )
        };
        (4 $store:ident) => {
            $store!("mov {bits:e}, dword ptr [{value}]")
        };
        (5 $store:ident) => {
            $store!(
                "movzx {more:e}, byte ptr [{value} + 4]"
                "mov {bits:e}, dword ptr [{value}]"
                "shl {more}, 32"
                "or {bits}, {more}"
            )
        };
        (6 $store:ident) => {
            $store!(
                "movzx {more:e}, word ptr [{value} + 4]"
                "mov {bits:e}, dword ptr [{value}]"
                "shl {more}, 32"
                "or {bits}, {more}"
            )
        };
        (7 $store:ident) => {
            $store!(
                "mov {more:e}, dword ptr [{value} + 3]"
                "mov {bits:e}, dword ptr [{value}]"
                "shl {more}, 24"
                "or {bits}, {more}"
            )
        };
        (8 $store:ident) => {
            $store!("mov {bits}, qword ptr [{value}]")
        };
    }
    // SAFETY: the code reads the bytes that the value has, and stores words at the cursor of this thread. Between two
    // checks it points to room for words, see `record`.
    unsafe {
        match const { (IS_GENERIC, kept::<T>(MOST)) } {
            (false, 0) => store!(0, 0, [], []),
            (false, 1) => load!(1 store_1),
            (false, 2) => load!(2 store_2),
            (false, 3) => load!(3 store_4),
            (false, 4) => load!(4 store_4),
            (false, 5) => load!(5 store_8),
            (false, 6) => load!(6 store_8),
            (false, 7) => load!(7 store_8),
            (false, 8) => load!(8 store_8),
            (true, 1) => load!(1 store_typed),
            (true, 2) => load!(2 store_typed),
            (true, 3) => load!(3 store_typed),
            (true, 4) => load!(4 store_typed),
            (true, 5) => load!(5 store_typed),
            (true, 6) => load!(6 store_typed),
            (true, 7) => load!(7 store_typed),
            (true, 8) => load!(8 store_typed),
            _ => record_own(
                const { &ValuePlace::new::<NUMBER, MOST, IS_GENERIC, T>() },
                (&raw const *value).cast(),
            ),
        }
    }
}

/// Records what a value refers to, or else the value.
#[inline(always)]
pub(crate) fn target<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(value: &T) {
    if const { !may_have_target::<T>() } {
        return own::<NUMBER, MOST, IS_GENERIC, T>(value);
    }
    add_row::<NUMBER, IS_GENERIC, T>();
    let place = const { &ValuePlace::new::<NUMBER, MOST, IS_GENERIC, T>() };
    // SAFETY: the value has the type of the place. It was just bound, so no other code changes it.
    unsafe { record_target(place, (&raw const *value).cast()) };
}

/// Records what a reference refers to, or else the reference.
#[inline(always)]
pub(crate) fn reference<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T: Pointer>(value: &T) {
    if const { size_of::<T>() > size_of::<usize>() } {
        return target::<NUMBER, MOST, IS_GENERIC, T>(value);
    }
    add_row::<NUMBER, IS_GENERIC, T>();
    let place = const { &ValuePlace::of_references::<NUMBER, MOST, IS_GENERIC, T>() };
    // SAFETY: as above.
    unsafe { record_target(place, (&raw const *value).cast()) };
}
