//! How a thread changes its track, and where its words go afterwards: to the ring, or to scratch memory.

use core::ptr::null_mut;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::EventKind;

use crate::hosted::acquire;
use crate::hosted::setup::{config, trigger_state};
use crate::hosted::slots::{self, spare};
use crate::hosted::system::scratch::{self, give_back_scratch};
use crate::hosted::system::sys;
use crate::hosted::thread_state::{SCRATCH, TAKEN, ThisThread, Track, TrackPtr};
use crate::hosted::timing::pace::{self, Pace};
use crate::hosted::timing::stamp;
use crate::hosted::words::Place;
use crate::sync::fence;

/// Lets words continue at that position, unless a handler has taken another position.
pub(crate) fn may_move(moved: &AtomicU64, to: u64) -> bool {
    moved.fetch_update(Relaxed, Relaxed, |now| (now & TAKEN == 0).then_some(to)).is_ok()
}

/// Lets the words of this thread continue there.
#[inline(always)]
pub(crate) fn continue_at(thread: ThisThread, Place { cursor, limit }: Place, pace: Pace) {
    thread.set_cursor(cursor);
    thread.set_limit(if pace == Pace::Chunks { limit.addr() } else { 0 });
}

/// Scratch memory for a thread whose cursor is there now.
pub(crate) fn scratch(cursor: *mut u8) -> Place {
    let scratch = scratch::scratch_again(cursor).unwrap_or_else(scratch::scratch);
    Place { cursor: scratch.cursor, limit: scratch.limit }
}

/// Sends the words of this thread to scratch memory.
fn use_scratch(thread: ThisThread) {
    continue_at(thread, scratch(thread.cursor()), Pace::Chunks);
}

/// Gives this thread a track; `None` = the thread is not recorded.
pub(crate) fn attach(track: Option<TrackPtr>) {
    let thread = ThisThread::get();
    thread.set_track(track);
    fence();
    match track {
        Some(track) => resume(thread, track),
        None => use_scratch(thread),
    }
}

/// Sends the words to the ring, unless a trigger has stopped recording.
fn resume(thread: ThisThread, mut track: TrackPtr) {
    track.is_parked = trigger_state::is_stopped();
    match track.is_parked {
        true => use_scratch(thread),
        false => continue_at(thread, track.place, pace::pace()),
    }
}

/// Counts the words of a thread without a ring, and lets the thread overwrite them.
pub(crate) fn count_lost_words() {
    let thread = ThisThread::get();
    if thread.is_off() {
        count_lost_words_to(thread.cursor());
        use_scratch(thread);
    }
}

/// Counts the words that this thread, which has no ring, has written in scratch memory up to its cursor.
pub(crate) fn count_lost_words_to(cursor: *mut u8) {
    if !config::is_off() && !trigger_state::is_stopped() {
        spare::count_lost(scratch::words_in_scratch(cursor));
    }
}

/// Takes the track from this thread, which then is as at its start: its next check looks for a track.
pub(crate) fn detach() {
    let thread = ThisThread::get();
    give_back_scratch(thread.cursor());
    thread.reset();
}

/// The reason why the track changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A roll-over. Where nothing is recorded, the writer is not needed.
    RollOver,
    /// Something is appended, also where statements are not recorded.
    Append,
}

/// Calls the writer, and sends the thread's words to the place that it returns. If a handler has interrupted such a
/// call, its own call is counted as one loss.
#[inline(always)]
pub(crate) fn act(
    thread: ThisThread,
    mut track: TrackPtr,
    purpose: Purpose,
    mut call: impl FnMut(&mut Track, *mut u8) -> Place,
) {
    if track.is_busy() {
        spare::count_lost(1);
        return use_scratch(thread);
    }
    let mut at = thread.cursor();
    let is_here = !track.is_parked && track.has(at);
    let busy_at = track.writer.position(if is_here { at } else { track.place.cursor });
    track.begin(busy_at);
    slots::set_written(track);
    if !track.has_header() && !track.has_header_still() {
        begin_again(track, if is_here { at } else { track.place.cursor });
        at = if is_here { track.place.cursor } else { at };
    }
    let pace = pace::pace();
    if matches!(pace, Pace::Chunks | Pace::Checks) && is_here {
        track.place = call(&mut track, at);
        continue_at(thread, track.place, if track.is_lane { Pace::Checks } else { pace });
    } else {
        // What the closure captures is in memory here only.
        let mut call = call;
        act_slow(thread, &mut track, purpose, pace, &mut call);
    }
    track.end();
    check_for_move(thread, track);
}

/// The ring file was emptied: lays the header of this ring out again. Its history begins with the words that the thread
/// has written since, up to `at`. No handler uses the track meanwhile.
#[cold]
#[inline(never)]
pub(crate) fn begin_again(mut track: TrackPtr, at: *mut u8) {
    let since = (track.writer.position(at) - track.writer.first_word()) as usize;
    // The thread or the handler may have a small stack.
    let lay_out = || sys::on_large_stack(|| acquire::lay_out_header_again(track.slot, at));
    let kept = sys::with_signals_blocked(lay_out).min(since);
    let (place, has_kept) = track.writer.begin_again(at, kept, stamp::now());
    track.place = place;
    if !has_kept {
        spare::count_lost(1);
    }
}

/// A handler that came during a call on the track may have forked. Then its child has another track, which takes the
/// words over at the next check.
#[inline(always)]
pub(crate) fn check_for_move(thread: ThisThread, track: TrackPtr) {
    if thread.stored_track() != track.as_ptr() {
        thread.set_limit(0);
    }
}

/// [`act`] where recording is stopped or counted, or where the words went to other memory. It is compiled once for all callers.
#[inline(never)]
fn act_slow(
    thread: ThisThread,
    track: &mut Track,
    purpose: Purpose,
    pace: Pace,
    call: &mut dyn FnMut(&mut Track, *mut u8) -> Place,
) {
    let found = thread.cursor();
    let is_elsewhere = track.is_parked || !track.has(found);
    let mut at = if is_elsewhere { track.place.cursor } else { found };
    if is_elsewhere && !track.is_parked && found != SCRATCH.start() {
        // A handler gave the thread this ring, or the process was forked. The words went on at the old place.
        match slots::words_left_behind(found).and_then(|words| track.writer.take_over(at, words)) {
            Some(place) => at = place.cursor,
            None => spare::count_lost(1),
        }
    }
    let mut is_last = false;
    if let (Pace::Counted(left), false) = (pace, track.is_parked) {
        let counted = track.writer.count();
        if !track.writer.is_counting() {
            track.writer.mark(at);
        } else if let Some(place) = track.writer.trim_to(at, counted + left) {
            at = place.cursor;
        }
        is_last = pace::spend(track.writer.count() - counted);
        if is_last {
            track.writer.stop_counting();
            track.place = track.writer.append_event(at, EventKind::Stopped, 0, stamp::now());
            at = track.place.cursor;
        }
    }
    let pace = pace::pace();
    track.place.cursor = at;
    if !is_last && (purpose == Purpose::Append || pace != Pace::Stopped && !track.is_parked) {
        track.place = call(track, at);
    }
    if !matches!(pace, Pace::Counted(_)) {
        track.writer.stop_counting();
    }
    track.is_parked = pace == Pace::Stopped;
    match track.is_parked {
        true => use_scratch(thread),
        false => {
            if is_elsewhere {
                give_back_scratch(found);
            }
            continue_at(thread, track.place, if track.is_lane { Pace::Checks } else { pace });
        }
    }
}

/// Recording was started or stopped: sends the words of this thread to the ring or to scratch memory accordingly.
pub(crate) fn settle() {
    let thread = ThisThread::get();
    if let Some(track) = thread.track() {
        act(thread, track, Purpose::RollOver, |_, at| Place { cursor: at, limit: null_mut() });
    }
}
