//! The roll-over where each statement has a chunk of its own. A fast way does what most of these roll-overs need.

use super::roll_over::{roll_over_chunk, roll_over_slow};
use crate::hosted::setup::{owner, trigger_state};
use crate::hosted::thread_state::{RollOver, ThisThread, ThreadState, Track, TrackPtr};
use crate::hosted::timing::stamp;
use crate::hosted::words::{Stamps, WordsWriter};

/// How a track with this writer rolls over.
pub(crate) fn roll_over_of(writer: &WordsWriter) -> RollOver {
    match writer.stamps() {
        None => roll_over_chunk,
        Some(Stamps::Counter) => by_counter,
        Some(Stamps::Count) => by_count,
        Some(Stamps::Other) => by_other,
    }
}

/// Separate functions, because each needs few registers.
macro_rules! roll_over_by {
    ($name:ident, $is_patient:literal, $stamp:expr, $otherwise:expr) => {
        /// # Safety
        /// `tls` and `track` are those of the calling thread.
        #[inline(never)]
        unsafe fn $name(tls: *mut ThreadState, track: *mut Track, at: *mut u8) -> *mut u8 {
            // SAFETY: the caller passes the state and the track of its thread.
            unsafe {
                if !$is_patient && !(*track).writer.has_digits() {
                    return with_digits(tls, track, at, $name);
                }
                match try_roll_over::<$is_patient>(tls, TrackPtr::new(track), at, $stamp) {
                    Some(cursor) => cursor,
                    None => $otherwise(tls, track, at),
                }
            }
        }
    };
}

roll_over_by!(by_counter, false, stamp::by_counter, by_other);
roll_over_by!(by_count, false, stamp::by_count, by_other);
roll_over_by!(by_other, true, || Some(stamp::now()), |tls, _, at| roll_over_slow(
    ThisThread::from_ptr(tls),
    at
));

/// Computes the digits of the time first.
///
/// # Safety
/// `tls` and `track` are those of the calling thread.
#[cold]
#[inline(never)]
unsafe fn with_digits(tls: *mut ThreadState, track: *mut Track, at: *mut u8, roll_over: RollOver) -> *mut u8 {
    // SAFETY: the caller passes the state and the track of its thread. Only a busy track has another user.
    unsafe {
        if TrackPtr::new(track).is_busy() {
            return roll_over_slow(ThisThread::from_ptr(tls), at);
        }
        (*track).writer.compute_digits();
        let roll_over = if (*track).writer.has_digits() { roll_over } else { by_other };
        roll_over(tls, track, at)
    }
}

/// Rolls over where each statement has a chunk of its own and nothing else is to be done. Returns the new cursor, or
/// `None` if more is to be done.
///
/// # Safety
/// `tls` is the state of the calling thread.
#[inline(always)]
unsafe fn try_roll_over<const IS_PATIENT: bool>(
    tls: *mut ThreadState,
    mut track: TrackPtr,
    at: *mut u8,
    stamp: impl FnOnce() -> Option<u64>,
) -> Option<*mut u8> {
    let len = track.writer.single_to(at)?;
    let is_there = track.writer.header().is_there();
    if !is_there || track.is_busy() || owner::is_unseen_child() || !trigger_state::is_running() {
        return None;
    }
    track.begin(track.writer.first_word() + len as u64);
    let cursor = track.writer.try_roll_over::<IS_PATIENT>(len, stamp);
    if let Some(cursor) = cursor {
        track.place.cursor = cursor;
        track.may_fold = true;
        // SAFETY: the caller passes the state of its thread.
        unsafe { (&raw mut (*tls).cursor).write_volatile(cursor) };
    }
    track.end();
    cursor
}
