//! Values with a length: their own bytes, or those of what they point to. One call for all types, which saves no registers
//! for what seldom happens.

use qs_core::record::value::{MARK, MAX_BYTES, TARGET, TYPED, coded, long_head};
use qs_core::record::words::UNIT;

use super::cpu::call_roll_over;
use crate::hosted::slots::set_values;
use crate::hosted::thread_state::ThisThread;
use crate::sync::fence;
use crate::value::known::{KnownType, ValueTarget};
use crate::value::load::{LOADS_SHARED, loaded};
use crate::value::payload::{put_bytes, put_eight, put_four};
use crate::value::place::ValuePlace;
use crate::value::target::{FoundType, found, found_at_once, is_remembered, learn, remember};

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
        match place.of_type {
            None => record_found::<false>(place, value),
            Some(_) => record_typed_target(place, value),
        }
    }
}

/// [`record_target`] at a place with type keys.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn record_typed_target(place: &ValuePlace, value: *const u8) {
    // SAFETY: the caller promises the value.
    unsafe { record_found::<true>(place, value) };
}

/// # Safety
/// As for [`record_target`].
#[inline(always)]
unsafe fn record_found<const IS_TYPED: bool>(place: &ValuePlace, value: *const u8) {
    // SAFETY: the caller promises the value, and the type is the one that was found.
    unsafe {
        let Some(found) = found_at_once(place) else { return record_sought(place, value) };
        if let Some(size) = found.size_of_pointee()
            && LOADS_SHARED
        {
            return match IS_TYPED {
                true => put_value(place, Some(1), pointer(value), size.min(MAX_BYTES)),
                false => put_pointee(place, pointer(value), size.min(MAX_BYTES)),
            };
        }
        let Some(known) = found.known() else {
            return match place.pointee_is_written() {
                true => record_sought(place, value),
                false => record_own(place, value),
            };
        };
        match known.is_wide && !IS_TYPED {
            true => put_target(place, known.wide_target(value)),
            false => record_known(place, value, known),
        }
    }
}

/// [`record_target`] for a type whose targets a function finds.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn record_known(place: &ValuePlace, value: *const u8, known: &KnownType) {
    // SAFETY: the caller promises the value.
    unsafe {
        match known.target(value) {
            Some(target) => put_target(place, target),
            None => record_own(place, value),
        }
    }
}

/// [`record_target`] for a type that was not found at once.
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn record_sought(place: &ValuePlace, value: *const u8) {
    // SAFETY: the caller promises the value.
    unsafe {
        let found = match found(place) {
            Some(found) => found,
            None => learn_first(place, value),
        };
        match (found.size_of_pointee(), found.known()) {
            (Some(size), _) if LOADS_SHARED => {
                put_value(place, Some(1), pointer(value), size.min(MAX_BYTES));
            }
            (None, Some(known)) => record_known(place, value, known),
            _ => record_own(place, value),
        }
    }
}

/// The address in a value that is an address and nothing else.
///
/// # Safety
/// `value` points to such a value.
#[inline(always)]
unsafe fn pointer(value: *const u8) -> *const u8 {
    // SAFETY: the caller promises an address.
    unsafe { value.cast::<*const u8>().read() }
}

/// Finds out about the type of a place. The program records values.
///
/// # Safety
/// As for [`record_target`].
#[cold]
#[inline(never)]
unsafe fn learn_first(place: &ValuePlace, value: *const u8) -> FoundType {
    set_values();
    // SAFETY: the caller promises the value.
    unsafe { learn(place, value) }
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

/// Stores a target.
///
/// # Safety
/// It has the number of bytes that it says.
#[inline(always)]
unsafe fn put_target(place: &ValuePlace, target: ValueTarget) {
    let elements = u32::try_from(target.elements).unwrap_or(u32::MAX);
    // SAFETY: the caller promises the bytes.
    unsafe { put_value(place, Some(elements), target.from, target.bytes.min(MAX_BYTES)) };
}

/// Stores a target of one element, at a place without type keys.
///
/// # Safety
/// `len` bytes may be read there.
#[inline(always)]
unsafe fn put_pointee(place: &ValuePlace, from: *const u8, len: usize) {
    /// Length and flags, and the number of elements.
    const HEAD: [u8; UNIT + 6] = {
        let [len, flags] = long_head(0, TARGET);
        let ([a, b, c, d, e, f, ..], _) = coded(1, FOUR);
        [len, flags, a, b, c, d, e, f]
    };
    let cursor = checked_cursor();
    // SAFETY: behind the check there is room for a value. The length of a value is one digit, which is higher by it.
    unsafe {
        core::hint::assert_unchecked(len <= MAX_BYTES);
        let head = u64::from_le_bytes(HEAD) + len as u64;
        cursor.add(MARK).cast::<u64>().write_unaligned(head.to_le());
        finish(cursor, &place.mark, put_bytes(cursor.add(MARK + HEAD.len()), from, len));
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
            Some(ref mark) => {
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
        finish(cursor, &place.mark, put_bytes(end, from, len));
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
unsafe fn finish(cursor: *mut u8, mark: &[u8; MARK], end: *mut u8) {
    fence();
    // SAFETY: the caller promises a place for the mark.
    unsafe { cursor.cast::<[u8; MARK]>().write_volatile(*mark) };
    fence();
    ThisThread::get().set_cursor(end);
}
