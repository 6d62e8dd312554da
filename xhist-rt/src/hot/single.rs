//! The turn where each statement has a chunk of its own: a short way for what most of these turns have to do.

use core::sync::atomic::Ordering::Relaxed;

use super::Tls;
use super::slow::{Track, TurnBy, turn_at_length, turn_of_chunks};
use crate::recorder;
use crate::sync::fence;
use crate::words::{Stamps, Writer};

/// The turn of a track with this writer.
pub(super) fn turn(writer: &Writer) -> TurnBy {
    match writer.stamps() {
        None => turn_of_chunks,
        Some(Stamps::Counter) => turn_by_counter,
        Some(Stamps::Count) => turn_by_count,
        Some(Stamps::Other) => turn_by_other,
    }
}

/// Functions of their own, because they need few registers.
macro_rules! turn_by {
    ($name:ident, $is_patient:literal, $stamp:expr, $otherwise:expr) => {
        /// # Safety
        /// `track` is this thread's.
        #[inline(never)]
        unsafe fn $name(tls: *mut Tls, track: *mut Track, at: *mut u8) -> *mut u8 {
            // SAFETY: the caller's.
            unsafe {
                if !$is_patient && !(*track).writer.has_digits() {
                    return with_digits(tls, track, at, $name);
                }
                match turn_at_once::<$is_patient>(tls, track, at, $stamp) {
                    Some(cursor) => cursor,
                    None => $otherwise(tls, track, at),
                }
            }
        }
    };
}

turn_by!(turn_by_counter, false, recorder::by_counter, turn_by_other);
turn_by!(turn_by_count, false, recorder::by_count, turn_by_other);
turn_by!(turn_by_other, true, || Some(recorder::now()), |tls, _, at| turn_at_length(tls, at));

/// # Safety
/// As that of the turn.
#[cold]
#[inline(never)]
unsafe fn with_digits(tls: *mut Tls, track: *mut Track, at: *mut u8, turn: TurnBy) -> *mut u8 {
    // SAFETY: the caller's. Nobody else uses the writer unless it is busy.
    unsafe {
        if (&raw const (*track).is_busy).read_volatile() {
            return turn_at_length(tls, at);
        }
        (*track).writer.compute_digits();
        let turn = if (*track).writer.has_digits() { turn } else { turn_by_other };
        turn(tls, track, at)
    }
}

/// The turn where each statement has a chunk of its own, and nothing else is to be done. Where the words go on; `None` where
/// that is not so.
///
/// # Safety
/// `track` is this thread's.
#[inline(always)]
unsafe fn turn_at_once<const IS_PATIENT: bool>(
    tls: *mut Tls,
    track: *mut Track,
    at: *mut u8,
    stamp: impl FnOnce() -> Option<u64>,
) -> Option<*mut u8> {
    // SAFETY: the caller's. While it is busy, nobody but this call uses the track.
    unsafe {
        let len = (*track).writer.single_to(at)?;
        let is_busy = (&raw const (*track).is_busy).read_volatile();
        if is_busy || recorder::is_unseen_child() || !recorder::is_running() {
            return None;
        }
        (&raw mut (*track).busy_at).write_volatile((*track).writer.first_word() + len as u64);
        (*track).moved.store(0, Relaxed);
        fence();
        (&raw mut (*track).is_busy).write_volatile(true);
        fence();
        let cursor = (*track).writer.turn_at_once::<IS_PATIENT>(len, stamp);
        if let Some(cursor) = cursor {
            (*track).place.cursor = cursor;
            (*track).may_fold = true;
            (&raw mut (*tls).cursor).write_volatile(cursor);
        }
        fence();
        (&raw mut (*track).is_busy).write_volatile(false);
        cursor
    }
}
