//! A statement in optimised code: plain stores, which the compiler may merge, and a cursor that it may keep in a
//! register.

use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::value::{MARK, TYPED, class_of, long_head, long_mark, mark};
use qs_core::record::words::UNIT;

use super::cpu::call_roll_over;
use super::value::{record_own, record_target};
use crate::hosted::slow_path::record_without_word;
use crate::hosted::thread_state::{ThreadState, tls};
use crate::pointer::Pointer;
use crate::value::payload::{put_eight, put_four, tops};
use crate::value::place::ValuePlace;
use crate::value::target::may_have_target;
use crate::value::types::{add_row, key};
use crate::value::{bytes, kept};

/// Records that a statement is about to run. Its number is that of a call with a long word, or with a short one.
#[inline(always)]
pub(crate) fn record<const IS_LONG: bool>(number: u64) {
    let tls = tls();
    // SAFETY: `tls` points to the state of this thread. Between two checks the cursor points to room for words: the
    // checks that `xhist-instrument` inserts bound the words between them, see `crate::hosted::words`.
    unsafe { put::<IS_LONG>(tls, (*tls).cursor, number) };
}

/// [`record`] after a check for room.
#[inline(always)]
pub(crate) fn entry<const IS_LONG: bool>(number: u64) {
    let tls = tls();
    // SAFETY: `tls` points to the state of this thread. After the check the cursor points to room for a word.
    unsafe {
        let mut cursor = (*tls).cursor;
        if cursor.addr() >= limit(tls) {
            cursor = call_roll_over(cursor);
        }
        put::<IS_LONG>(tls, cursor, number);
    }
}

/// The limit of this thread.
///
/// An atomic load would keep the compiler from moving and merging all stores around it, and a comparison with memory
/// takes one instruction less. The compiler cannot keep the value in a register, because a store of a word may change
/// any memory.
///
/// # Safety
/// `tls` points to the state of the calling thread.
#[inline(always)]
unsafe fn limit(tls: *const ThreadState) -> usize {
    const LOADS_ARE_WHOLE: bool = cfg!(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        target_os = "linux",
        not(feature = "portable")
    ));
    // SAFETY: the caller passes the state of its thread. Other threads only store whole aligned words here. These
    // processors load such a word as a whole, and the code works with each value that was ever stored.
    unsafe {
        match LOADS_ARE_WHOLE {
            true => (&raw const (*tls).limit).cast::<usize>().read(),
            false => (*tls).limit.load(Relaxed),
        }
    }
}

/// Stores the word and moves the cursor behind it.
///
/// # Safety
/// `tls` points to the state of the calling thread. At `cursor` there is room for a word.
#[inline(always)]
unsafe fn put<const IS_LONG: bool>(tls: *mut ThreadState, cursor: *mut u8, number: u64) {
    // SAFETY: the caller promises room for a word and the state of its thread. Neither store needs an aligned address.
    unsafe {
        if !IS_LONG {
            cursor.cast::<[u8; 2]>().write((number as u16).to_le_bytes());
            (*tls).cursor = cursor.add(2);
        } else if number as u32 != 0 {
            cursor.cast::<[u8; 4]>().write((number as u32).to_le_bytes());
            (*tls).cursor = cursor.add(4);
        } else {
            (*tls).cursor = cursor;
            record_without_word(number);
        }
    }
}

/// Records the first `MOST` bytes of a value.
#[inline(always)]
pub(crate) fn own<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(value: &T) {
    add_row::<NUMBER, IS_GENERIC, T>();
    let from = (&raw const *value).cast::<u8>();
    let tls = tls();
    // SAFETY: all bytes of a value may be read. `tls` points to the state of this thread, and between two checks its
    // cursor points to room for words, see `record`.
    unsafe {
        let read = match const { kept::<T>(MOST) } {
            0 => 0,
            1 => bytes::group::<1>(from),
            2 => bytes::group::<2>(from),
            3 => bytes::group::<3>(from),
            4 => bytes::group::<4>(from),
            5 => bytes::group::<5>(from),
            6 => bytes::group::<6>(from),
            7 => bytes::group::<7>(from),
            8 => bytes::group::<8>(from),
            _ => return record_own(const { &ValuePlace::new::<NUMBER, MOST, IS_GENERIC, T>() }, from),
        };
        match key::<IS_GENERIC, T>() {
            None => put_value::<NUMBER>(tls, const { class_of(kept::<T>(MOST)) }, read),
            Some(key) => put_typed::<NUMBER>(tls, const { kept::<T>(MOST) }, key, read),
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

/// Stores a value of this class and moves the cursor behind it. The mark comes last: without it the words end there.
///
/// # Safety
/// `tls` points to the state of the calling thread. At its cursor there is room for the value. `class` is a constant.
#[inline(always)]
unsafe fn put_value<const NUMBER: u32>(tls: *mut ThreadState, class: u32, value: u64) {
    // SAFETY: the caller promises room for a value and the state of its thread. No store needs an aligned address.
    unsafe {
        let cursor = (*tls).cursor;
        let payload = cursor.add(MARK);
        let len = match class {
            0 => 0,
            1 => {
                // The highest bit moves up, and the bit in its place is set anyway.
                let value = value as u16;
                payload.cast::<u16>().write_unaligned(((value + (value & 0x80)) | 0x8080).to_le());
                2
            }
            2 => {
                let high = (tops(value) & 3) << 16;
                payload.cast::<u32>().write_unaligned((value as u32 | high | 0x8080_8080).to_le());
                4
            }
            3 => put_four(payload, value),
            _ => put_eight(payload, value),
        };
        cursor.cast::<[u8; MARK]>().write(mark(NUMBER, class));
        (*tls).cursor = payload.add(len);
    }
}

/// [`put_value`] for `len` bytes with a type key.
///
/// # Safety
/// As for [`put_value`].
#[inline(always)]
unsafe fn put_typed<const NUMBER: u32>(tls: *mut ThreadState, len: usize, key: u32, value: u64) {
    // SAFETY: the caller promises room for a value and the state of its thread.
    unsafe {
        let cursor = (*tls).cursor;
        let mut end = cursor.add(MARK);
        end.cast::<[u8; UNIT]>().write(long_head(len, TYPED));
        end = end.add(UNIT);
        end = end.add(put_four(end, key.into()));
        if len > 0 {
            end = end.add(put_eight(end, value));
        }
        cursor.cast::<[u8; MARK]>().write(long_mark(NUMBER));
        (*tls).cursor = end;
    }
}
