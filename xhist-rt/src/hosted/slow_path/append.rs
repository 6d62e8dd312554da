//! Appends records, and words that are known at run time only.

use qs_core::filter::Filter;
use qs_core::inserted::{StatementNumber, WordWidth};
use qs_core::record::value::{MARK, MAX_BYTES};
use qs_core::record::words::{UNIT, Word};
use qs_core::record::{RECORD_BASE, Statement, ids};

use super::roll_over::roll_over;
use crate::hosted::setup::{owner, trigger_state};
use crate::hosted::slots::set_values;
use crate::hosted::thread_state::{ThisThread, TrackPtr};
use crate::hosted::threads;
use crate::hosted::timing::pace::Pace;
use crate::hosted::timing::stamp;
use crate::hosted::track::act::{Purpose, act, check_for_move, continue_at};
use crate::hosted::track::events::{date, on_record};
use crate::pointer::Pointer;
use crate::record_size::SHORT;
use crate::sync::fence;
use crate::value::bytes::recorded;
use crate::value::kept;
use crate::value::known::ValueTarget;
use crate::value::load::copied;
use crate::value::sized::{PointersTo, pointers_to};
use crate::value::target::{may_have_target, remember, target};
use crate::value::type_id::{IdOf, id_of};
use crate::value::types::key;

/// Appends a record of QS, perhaps the first of a thread, see
/// [`WordsWriter::append_record`](crate::hosted::words::WordsWriter::append_record).
#[inline(never)]
pub(crate) fn append_record<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize) {
    let stamp = match ThisThread::get().track() {
        Some(track) if !owner::is_unseen_child() && !trigger_state::is_record_awaited() => {
            try_append_record::<LEN, TIMED>(track, bytes, len)
        }
        _ => Some(0),
    };
    if let Some(stamp) = stamp {
        append_record_slow::<LEN, TIMED>(bytes, len, stamp);
        on_record(bytes[1]);
    }
}

/// Appends a record if another record is the last entry of the ring, and skips what is needed rarely. Returns `None`
/// if it has appended the record, otherwise the stamp that it has read, 0 for none.
#[inline(always)]
fn try_append_record<const LEN: usize, const TIMED: bool>(
    mut track: TrackPtr,
    bytes: &[u8; LEN],
    len: usize,
) -> Option<u64> {
    let thread = ThisThread::get();
    if track.is_busy() || !track.writer.is_ready_at(thread.cursor()) || !track.writer.header().is_there() {
        return Some(0);
    }
    track.begin(track.writer.first_word());
    let mut left = Some(0);
    if trigger_state::is_running() {
        let stamp = if TIMED { stamp::now() } else { 0 };
        left = Some(stamp);
        if let Some(cursor) = track.writer.try_append_record::<LEN, TIMED>(bytes, len, stamp) {
            track.place.cursor = cursor;
            continue_at(thread, track.place, Pace::Chunks);
            left = None;
        }
    }
    track.end();
    check_for_move(thread, track);
    left
}

/// Appends a record in all cases. The stamp is 0 if no clock was read yet.
#[cold]
#[inline(never)]
fn append_record_slow<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize, stamp: u64) {
    threads::check_for_fork();
    let thread = ThisThread::get();
    let Some(track) = thread.track().or_else(|| threads::first_record(is_always_on(bytes[1]))) else {
        return;
    };
    act(thread, track, Purpose::Append, |track, at| {
        let at = date(track, at);
        let stamp = if TIMED && stamp == 0 { stamp::now() } else { stamp };
        track.writer.append_record::<LEN, TIMED>(at, bytes, len, stamp)
    });
}

/// Whether no trigger keeps this record out.
fn is_always_on(id: u8) -> bool {
    Filter::ALWAYS.has(id)
}

/// Records a statement whose numbers are known at run time only.
pub(crate) fn at(file: u16, line: u16) {
    match Word::new(Statement { file, line }, 0) {
        Some(Word::Short(bytes)) => put_word(bytes),
        Some(Word::Long(bytes)) => put_word(bytes),
        None => record_without_word(StatementNumber::new(Statement { file, line }, 0).value),
    }
}

/// Stores a word that is known at run time only, behind a check.
#[inline(never)]
pub(crate) fn put_word<const LEN: usize>(word: [u8; LEN]) {
    const { assert!(LEN <= 2 * UNIT) };
    let thread = ThisThread::get();
    if thread.cursor().addr() >= thread.limit() {
        roll_over(thread.cursor());
    }
    let cursor = thread.cursor();
    // SAFETY: behind a check the cursor of this thread points to room for a word, which is two units at most.
    unsafe { cursor.copy_from_nonoverlapping(word.as_ptr(), LEN) };
    thread.set_cursor(cursor.wrapping_add(LEN));
}

/// Records a value with a length of its own: its own bytes.
#[inline(always)]
pub(crate) fn record_long<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(value: &T) {
    let from = (&raw const *value).cast();
    let key = key::<IS_GENERIC, T>();
    // SAFETY: all bytes of a value may be read, and no more than these are kept.
    unsafe {
        match const { MOST == MAX_BYTES } {
            true => put_own(NUMBER, key, from, size_of::<T>(), pointers_to::<T>),
            false => put_value(NUMBER, key, None, from, kept::<T>(MOST)),
        }
    }
}

/// Records the target of a value, if its type has one. Returns whether it has.
#[inline(always)]
pub(crate) fn record_target<const NUMBER: u32, const IS_GENERIC: bool, T>(value: &T) -> bool {
    if const { !may_have_target::<T>() } {
        return false;
    }
    let from = (&raw const *value).cast();
    // SAFETY: the value has the type with this id. It was just bound, so no other code changes it.
    unsafe { put_target(NUMBER, key::<IS_GENERIC, T>(), id_of::<T>, from) }
}

/// Records what a reference refers to, if it has one word, or else its target. Returns whether it did.
#[inline(always)]
pub(crate) fn record_pointee<const NUMBER: u32, const IS_GENERIC: bool, T: Pointer>(value: &T) -> bool {
    let Some(size) = value.size_of_pointee() else { return record_target::<NUMBER, IS_GENERIC, T>(value) };
    remember(pointers_to::<T::Pointee>, size);
    let from = (&raw const *value).cast();
    // SAFETY: as above.
    unsafe { put_target(NUMBER, key::<IS_GENERIC, T>(), id_of::<T>, from) }
}

/// Stores the own bytes of a value of this size, and remembers the size for pointers to such values.
///
/// # Safety
/// The bytes may be read.
#[inline(never)]
unsafe fn put_own(number: u32, type_key: Option<u32>, from: *const u8, size: usize, pointers: PointersTo) {
    remember(pointers, size);
    // SAFETY: the caller promises the bytes.
    unsafe { put_value(number, type_key, None, from, size.min(MAX_BYTES)) };
}

/// Stores a value with a length of its own behind a check: the bytes from an address on.
///
/// # Safety
/// `len` bytes may be read there.
#[inline(never)]
unsafe fn put_value(
    number: u32,
    type_key: Option<u32>,
    target_len: Option<u32>,
    from: *const u8,
    len: usize,
) {
    set_values();
    // SAFETY: the caller promises the bytes.
    let value = unsafe { recorded(number, type_key, target_len, from, len) };
    let (word, len) = value.to_word();
    let thread = ThisThread::get();
    if thread.cursor().addr() >= thread.limit() {
        roll_over(thread.cursor());
    }
    let cursor = thread.cursor();
    // SAFETY: behind a check the cursor of this thread points to room for a value, which is far less than the slack.
    // The words end before the mark until that is stored.
    unsafe {
        cursor.add(MARK).copy_from_nonoverlapping(word.as_ptr().add(MARK), len - MARK);
        fence();
        cursor.cast::<[u8; MARK]>().write_volatile(*word.as_ptr().cast());
    }
    fence();
    thread.set_cursor(cursor.wrapping_add(len));
}

/// Stores the target of a value, if its type has one. Returns whether it has.
///
/// # Safety
/// `value` points to a valid value of the type with this id, which no code changes meanwhile.
#[inline(never)]
unsafe fn put_target(number: u32, type_key: Option<u32>, id: IdOf, value: *const u8) -> bool {
    // SAFETY: the caller promises the value.
    let Some(target) = (unsafe { target(id, value) }) else { return false };
    let ValueTarget { mut from, bytes, elements, is_shared } = target;
    let (len, elements) = (bytes.min(MAX_BYTES), u32::try_from(elements).unwrap_or(u32::MAX));
    let mut copy = [0; MAX_BYTES];
    if is_shared {
        // SAFETY: the target has this number of bytes.
        match copy.get_mut(..len).and_then(|copy| unsafe { copied(from, copy) }) {
            Some(()) => from = copy.as_ptr(),
            None => return false,
        }
    }
    // SAFETY: the target, or its copy, has this number of bytes.
    unsafe { put_value(number, type_key, Some(elements), from, len) };
    true
}

/// Records a statement that no word can represent, as a record of its own. The number is that of a call with a long word.
#[cold]
#[inline(never)]
pub(crate) fn record_without_word(number: u64) {
    let mut bytes = [0; SHORT];
    let number = StatementNumber { value: number, width: WordWidth::Long };
    let word = number.statement().to_word().to_le_bytes();
    bytes[1] = RECORD_BASE + ids::STATEMENT;
    bytes[2..6].copy_from_slice(&word);
    append_record::<SHORT, false>(&bytes, 2 + word.len());
}
