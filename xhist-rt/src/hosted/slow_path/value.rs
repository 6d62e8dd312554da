//! Records values with a length of their own: their own bytes, or those of what they point to.

use qs_core::record::value::{MARK, MAX_BYTES, TARGET, TYPED, long_head, long_mark};
use qs_core::record::words::UNIT;

use super::roll_over::roll_over;
use crate::hosted::slots::set_values;
use crate::hosted::thread_state::ThisThread;
use crate::pointer::Pointer;
use crate::sync::fence;
use crate::value::kept;
use crate::value::known::ValueTarget;
use crate::value::load::{LOADS_SHARED, loaded};
use crate::value::payload::{put_eight, put_four};
use crate::value::sized::{PointersTo, pointers_to};
use crate::value::target::{may_have_target, remember, target};
use crate::value::type_id::{IdOf, id_of};
use crate::value::types::key;

/// The mark of a value with a length.
type Mark = [u8; MARK];

/// Bytes that are loaded and coded together.
const GROUP: usize = 8;

/// Records the first `MOST` bytes of a value.
#[inline(always)]
pub(crate) fn record_long<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(value: &T) {
    let (key, from) = (key::<IS_GENERIC, T>(), &raw const *value as *const u8);
    // SAFETY: all bytes of a value may be read.
    unsafe {
        match const { MOST == MAX_BYTES } {
            true => put_own(const { long_mark(NUMBER) }, key, from, size_of::<T>(), pointers_to::<T>),
            false => put_bytes(const { long_mark(NUMBER) }, key, from, const { kept::<T>(MOST) }),
        }
    }
}

/// Records the target of a value, if its type has one. Returns whether it has.
#[inline(always)]
pub(crate) fn record_target<const NUMBER: u32, const IS_GENERIC: bool, T>(value: &T) -> bool {
    if const { !may_have_target::<T>() } {
        return false;
    }
    let (key, from) = (key::<IS_GENERIC, T>(), &raw const *value as *const u8);
    // SAFETY: the value has the type with this id. It was just bound, so no other code changes it.
    unsafe { put_target(const { long_mark(NUMBER) }, key, id_of::<T>, from, None) }
}

/// Records what a reference refers to, if it has one word, or else its target. Returns whether it did.
#[inline(always)]
pub(crate) fn record_pointee<const NUMBER: u32, const IS_GENERIC: bool, T: Pointer>(value: &T) -> bool {
    let Some(size) = value.size_of_pointee() else { return record_target::<NUMBER, IS_GENERIC, T>(value) };
    let (key, from) = (key::<IS_GENERIC, T>(), &raw const *value as *const u8);
    // SAFETY: as above.
    unsafe {
        put_target(
            const { long_mark(NUMBER) },
            key,
            id_of::<T>,
            from,
            Some((pointers_to::<T::Pointee>, size)),
        )
    }
}

/// Stores the own bytes of a value of this size, and remembers the size for pointers to such values.
///
/// # Safety
/// The bytes may be read.
#[inline(never)]
unsafe fn put_own(mark: Mark, key: Option<u32>, from: *const u8, size: usize, pointers: PointersTo) {
    remember(pointers, size);
    // SAFETY: the caller promises the bytes.
    unsafe { put_value(mark, key, None, from, size.min(MAX_BYTES)) };
}

/// [`put_value`] for own bytes.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn put_bytes(mark: Mark, key: Option<u32>, from: *const u8, len: usize) {
    // SAFETY: the caller promises the bytes.
    unsafe { put_value(mark, key, None, from, len) };
}

/// Stores the target of a value, if its type has one. Returns whether it has. `to`: the value is a reference to values of this
/// type and size.
///
/// # Safety
/// `value` points to a valid value of the type with this id, which no code changes meanwhile.
#[inline(never)]
unsafe fn put_target(
    mark: Mark,
    key: Option<u32>,
    id: IdOf,
    value: *const u8,
    to: Option<(PointersTo, usize)>,
) -> bool {
    if let Some((pointers, size)) = to {
        remember(pointers, size);
    }
    // SAFETY: the caller promises the value.
    let Some(target) = (unsafe { target(id, value) }) else { return false };
    let ValueTarget { from, bytes, elements, is_shared } = target;
    if is_shared && !LOADS_SHARED {
        return false;
    }
    let elements = u32::try_from(elements).unwrap_or(u32::MAX);
    // SAFETY: the target has this number of bytes.
    unsafe { put_value(mark, key, Some(elements), from, bytes.min(MAX_BYTES)) };
    true
}

/// Stores a value behind a check: at most [`MAX_BYTES`] from an address on.
///
/// # Safety
/// `len` bytes may be read there.
#[inline(always)]
unsafe fn put_value(mark: Mark, key: Option<u32>, target_len: Option<u32>, from: *const u8, len: usize) {
    set_values();
    let thread = ThisThread::get();
    if thread.cursor().addr() >= thread.limit() {
        roll_over(thread.cursor());
    }
    let cursor = thread.cursor();
    let flags = if key.is_some() { TYPED } else { 0 } | if target_len.is_some() { TARGET } else { 0 };
    // SAFETY: behind a check the cursor of this thread points to room for a value, which is far less than the slack.
    // The words end before the mark until that is stored.
    unsafe {
        let mut end = cursor.add(MARK);
        end.cast::<[u8; UNIT]>().write(long_head(len, flags));
        end = end.add(UNIT);
        if let Some(key) = key {
            end = end.add(put_four(end, key.into()));
        }
        if let Some(elements) = target_len {
            end = end.add(put_four(end, elements.into()));
        }
        let mut at = 0;
        while at < len {
            end = end.add(put_eight(end, loaded(from.add(at), len - at)));
            at += GROUP;
        }
        fence();
        cursor.cast::<[u8; MARK]>().write_volatile(mark);
        fence();
        thread.set_cursor(end);
    }
}
