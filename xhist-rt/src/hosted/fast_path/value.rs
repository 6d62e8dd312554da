//! Values with a length: their own bytes, or those of what they point to. One call for all types, which saves no registers
//! for what seldom happens.

use qs_core::record::value::{MARK, MAX_BYTES, TARGET, TYPED, long_head};
use qs_core::record::words::UNIT;

use super::cpu::call_roll_over;
use crate::hosted::slots::set_values;
use crate::hosted::thread_state::ThisThread;
use crate::sync::fence;
use crate::value::known::ValueTarget;
use crate::value::load::{LOADS_SHARED, loaded};
use crate::value::payload::{put_bytes, put_eight, put_four};
use crate::value::place::ValuePlace;
use crate::value::target::{FoundType, found, is_remembered, learn, remember};

/// Bytes of the shorter words.
const FOUR: usize = 4;

/// Records what the value of a place points to, or the value if its type leads to nothing.
///
/// # Safety
/// `value` points to a valid value of the place's type, which no other code changes meanwhile.
#[inline(never)]
pub(crate) unsafe fn record_target(place: &ValuePlace, value: *const u8) {
    // SAFETY: the caller promises the value.
    unsafe {
        match found(place) {
            Some(found) if found.needs_no_call() => put_target(place, value, found),
            Some(found) => record_called(place, value, found),
            None => record_first(place, value),
        }
    }
}

/// [`record_target`] for a type whose targets a function finds.
///
/// # Safety
/// As there. The values of the place have the type that was found.
#[inline(never)]
unsafe fn record_called(place: &ValuePlace, value: *const u8, found: FoundType) {
    // SAFETY: the caller promises the value.
    unsafe { put_target(place, value, found) };
}

/// [`record_target`] for a type of which nothing is remembered.
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn record_first(place: &ValuePlace, value: *const u8) {
    set_values();
    // SAFETY: the caller promises the value.
    unsafe { record_called(place, value, learn(place, value)) };
}

/// Records the value of a place by its own bytes.
///
/// # Safety
/// The bytes of a value of the place's type may be read there.
#[inline(never)]
pub(crate) unsafe fn record_own(place: &ValuePlace, value: *const u8) {
    // SAFETY: the caller promises the bytes.
    unsafe {
        match is_remembered(place) {
            true => put_own(place, value),
            false => record_own_first(place, value),
        }
    }
}

/// [`record_own`] for a type of which nothing is remembered.
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn record_own_first(place: &ValuePlace, value: *const u8) {
    set_values();
    remember(place);
    // SAFETY: the caller promises the bytes.
    unsafe { put_own(place, value) };
}

/// Stores the target of a value, or the value if it has none.
///
/// # Safety
/// As for [`record_called`].
#[inline(always)]
unsafe fn put_target(place: &ValuePlace, value: *const u8, found: FoundType) {
    // SAFETY: the caller promises the value. A target has the number of bytes that it says.
    unsafe {
        match found.target(value) {
            Some(ValueTarget { from, bytes, elements, is_shared }) if LOADS_SHARED || !is_shared => {
                let elements = u32::try_from(elements).unwrap_or(u32::MAX);
                put_value(place, Some(elements), from, bytes.min(MAX_BYTES));
            }
            _ => record_own(place, value),
        }
    }
}

/// Stores the own bytes of a value.
///
/// # Safety
/// As for [`record_own`].
#[inline(always)]
unsafe fn put_own(place: &ValuePlace, value: *const u8) {
    // SAFETY: the caller promises the bytes.
    unsafe {
        match place.short_mark {
            None => put_value(place, None, value, place.own),
            // A word, which had no target.
            Some(mark) => {
                let cursor = checked_cursor();
                let (payload, bytes) = (cursor.add(MARK), loaded(value, place.own));
                let len =
                    if place.own <= FOUR { put_four(payload, bytes) } else { put_eight(payload, bytes) };
                finish(cursor, mark, payload.add(len));
            }
        }
    }
}

/// Stores a value with a length: at most [`MAX_BYTES`] from an address on.
///
/// # Safety
/// `len` bytes may be read there.
#[inline(always)]
unsafe fn put_value(place: &ValuePlace, elements: Option<u32>, from: *const u8, len: usize) {
    let cursor = checked_cursor();
    let flags = if place.of_type.is_some() { TYPED } else { 0 } | if elements.is_some() { TARGET } else { 0 };
    // SAFETY: behind the check there is room for a value, which is far less than the slack. No value is longer.
    unsafe {
        core::hint::assert_unchecked(len <= MAX_BYTES);
        let mut end = cursor.add(MARK);
        end.cast::<[u8; UNIT]>().write(long_head(len, flags));
        end = end.add(UNIT);
        if let Some(of_type) = place.of_type {
            end = end.add(put_four(end, of_type as usize as u64));
        }
        if let Some(elements) = elements {
            end = end.add(put_four(end, elements.into()));
        }
        finish(cursor, place.mark, put_bytes(end, from, len));
    }
}

/// The cursor behind a check for room.
#[inline(always)]
fn checked_cursor() -> *mut u8 {
    let thread = ThisThread::get();
    let cursor = thread.cursor();
    if cursor.addr() >= thread.limit() { call_roll_over(cursor) } else { cursor }
}

/// Stores the mark of a value. The words end before it until then.
///
/// # Safety
/// A payload for the mark is behind its place at the cursor, up to `end`.
#[inline(always)]
unsafe fn finish(cursor: *mut u8, mark: [u8; MARK], end: *mut u8) {
    fence();
    // SAFETY: the caller promises a place for the mark.
    unsafe { cursor.cast::<[u8; MARK]>().write_volatile(mark) };
    fence();
    ThisThread::get().set_cursor(end);
}
