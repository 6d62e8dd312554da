//! Signal handlers of the program: each level of handlers writes a ring of its own, a lane. Each handler starts with an
//! event: the position in the interrupted ring at which it came. See `LaneUser` for the contract of these functions.

use core::ops::{Deref, DerefMut};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::EventKind;

use super::act::{begin_again, count_lost_words_to, scratch};
use crate::hosted::acquire::new_lane;
use crate::hosted::setup::trigger_state;
use crate::hosted::slots::{self, Slot, spare};
use crate::hosted::system::lanes::{LANES, Lanes, WriteRange, frontier, settle_lanes};
use crate::hosted::system::scratch::give_back_scratch;
use crate::hosted::system::sys;
use crate::hosted::thread_state::{Handlers, TAKEN, ThisThread, Track, TrackPtr, is_off};
use crate::hosted::timing::stamp;

/// The handlers of the calling thread, which live as long as the thread.
#[derive(Clone, Copy)]
struct HandlersPtr(*mut Handlers);

impl Deref for HandlersPtr {
    type Target = Handlers;

    fn deref(&self) -> &Handlers {
        // SAFETY: `of` and `make_handlers` only wrap memory of the calling thread, which alone uses it.
        unsafe { &*self.0 }
    }
}

impl DerefMut for HandlersPtr {
    fn deref_mut(&mut self) -> &mut Handlers {
        // SAFETY: `of` and `make_handlers` only wrap memory of the calling thread, which alone uses it.
        unsafe { &mut *self.0 }
    }
}

impl HandlersPtr {
    /// `None` if no handler of the thread has run.
    #[inline(always)]
    fn of(thread: ThisThread) -> Option<HandlersPtr> {
        let handlers = thread.handlers();
        (!handlers.is_null()).then_some(HandlersPtr(handlers))
    }

    fn lanes(self) -> *mut Lanes {
        // SAFETY: the pointer is valid, as above. This computes an address only.
        unsafe { &raw mut (*self.0).lanes }
    }

    /// The track that a handler of this level, from 1, has interrupted; `None` if the thread is not recorded.
    fn interrupted_by(self, level: usize) -> Option<TrackPtr> {
        let below = level.checked_sub(2).map_or(null_mut(), |below| self.tracks[below]);
        recorded_track(if below.is_null() { self.own } else { below })
    }
}

/// At the end of a thread whose state is gone, because the system gives thread-local variables back first: finds it again.
pub(crate) fn find_again(slot: &Slot) {
    let thread = ThisThread::get();
    if thread.is_attached() {
        return;
    }
    // SAFETY: the slot is the thread's, with a track that is laid out and stays mapped.
    let track = unsafe { TrackPtr::new(slot.track()) };
    thread.set_track(Some(track));
    thread.set_handlers(slot.handlers());
    if !track.is_parked {
        // SAFETY: the cursor is in the ring, where an end of words follows.
        thread.set_cursor(unsafe { frontier(track.place.cursor) });
    }
}

/// A track that this thread has stored; `None` for null and for a thread that is not recorded.
fn recorded_track(track: *mut Track) -> Option<TrackPtr> {
    // SAFETY: apart from null and the mark of a thread that is not recorded, `Handlers` and `ThreadState` only hold
    // tracks of their thread.
    (!track.is_null() && !is_off(track)).then(|| unsafe { TrackPtr::new(track) })
}

/// Cursor, limit and lanes of the calling thread. Makes the lanes if the thread has a ring.
pub(crate) fn thread() -> Option<(*mut WriteRange, *mut Lanes)> {
    let thread = ThisThread::get();
    let lanes = match HandlersPtr::of(thread) {
        Some(handlers) => handlers.lanes(),
        // The first statement makes the ring, and the handler may run none.
        None if !thread.is_attached() => null_mut(),
        None => make_handlers(thread)?.lanes(),
    };
    // A `ThreadState` begins with a `WriteRange`.
    Some((thread.as_ptr().cast(), lanes))
}

/// Memory for the handlers of this thread.
fn make_handlers(thread: ThisThread) -> Option<HandlersPtr> {
    let track = thread.track()?;
    sys::with_signals_blocked(|| {
        // A handler that came before the signals were blocked may have made it.
        if HandlersPtr::of(thread).is_none() {
            let mut handlers = HandlersPtr(slots::memory_for_handlers(track.slot)?);
            handlers.own = track.as_ptr();
            thread.set_handlers(handlers.0);
        }
        HandlersPtr::of(thread)
    })
}

/// A handler starts on this lane.
pub(crate) fn open(level: usize, at: *mut u8) -> WriteRange {
    let thread = ThisThread::get();
    let nowhere = |at| {
        let scratch = scratch(at);
        WriteRange { cursor: scratch.cursor, limit: scratch.limit }
    };
    // `thread` made them before this call.
    let Some(mut handlers) = HandlersPtr::of(thread) else { return nowhere(at) };
    let parent = handlers.interrupted_by(level);
    handlers.previous[level - 1] = thread.stored_track();
    let lane = parent.and_then(|parent| lane(handlers, level, parent));
    let (Some(mut parent), Some(mut lane)) = (parent, lane) else {
        if parent.is_none_or(|parent| !parent.is_parked) {
            // The thread counts as not recorded, as while a handler without a lane runs.
            thread.set_track(None);
        }
        return nowhere(at);
    };
    let position = position(parent, at);
    let stamp = stamp::now();
    let cursor = lane.place.cursor;
    let place = lane.writer.append_event(cursor, EventKind::Handler, position, stamp);
    lane.place = place;
    parent.may_fold = false;
    thread.set_track(Some(lane));
    WriteRange { cursor: place.cursor, limit: null_mut() }
}

/// The position in the interrupted ring at which a handler came.
fn position(track: TrackPtr, at: *mut u8) -> u64 {
    if track.is_busy() {
        return match track.moved.fetch_or(TAKEN, Relaxed) & !TAKEN {
            0 => track.busy_at(),
            moved => moved,
        };
    }
    match track.has(at) {
        // SAFETY: the cursor is in the ring, and the ring has an end of words behind each cursor.
        true => track.writer.position(unsafe { frontier(at) }),
        // The handler came while another one took this lane, or left it.
        false => track.writer.position(track.place.cursor),
    }
}

/// The track of this level. Makes a missing one, except where nothing is recorded.
fn lane(mut handlers: HandlersPtr, level: usize, parent: TrackPtr) -> Option<TrackPtr> {
    if parent.is_parked {
        return None;
    }
    let mut lane = match recorded_track(handlers.tracks[level - 1]) {
        Some(lane) => lane,
        None => {
            let mut lane = new_lane(parent.slot, level)?;
            handlers.tracks[level - 1] = lane.as_ptr();
            lane.is_lane = true;
            lane.writer.append_slowly();
            lane
        }
    };
    // A handler that left by a jump may have left the track busy.
    lane.end();
    if !lane.has_header() && !lane.has_header_still() {
        begin_again(lane, lane.place.cursor);
    }
    Some(lane)
}

/// The handler of this level has ended. Returns whether the interrupted code has to roll over at its next check.
pub(crate) fn close(level: usize, words: WriteRange) -> bool {
    let thread = ThisThread::get();
    let Some(handlers) = HandlersPtr::of(thread) else { return false };
    let parent = handlers.interrupted_by(level);
    keep_words(handlers.is_moved, thread.stored_track(), words.cursor);
    thread.store_track(handlers.previous[level - 1]);
    let is_parked = parent.is_some_and(|parent| parent.is_parked);
    handlers.is_moved || trigger_state::is_stopped() != is_parked
}

/// Keeps the words of a handler on this track that has ended: they end at the cursor. Without a track they are counted as
/// lost. The track is not busy.
fn keep_words(is_moved: bool, stored: *mut Track, cursor: *mut u8) {
    match recorded_track(stored) {
        None => count_lost_words_to(cursor),
        Some(mut track) if track.has(cursor) && !track.is_parked => {
            if track.place.cursor != cursor {
                slots::set_written(track);
            }
            track.place.cursor = cursor;
            return;
        }
        // A nested handler has forked, and this handler has not rolled over since.
        Some(track) if is_moved && !track.is_parked => take_over(track, cursor),
        Some(_) => {}
    }
    give_back_scratch(cursor);
}

/// Copies a handler's words into this track from where a ring of the parent process was. No words follow them, and the
/// track is not busy.
fn take_over(mut track: TrackPtr, cursor: *mut u8) {
    let Some(words) = slots::words_left_behind(cursor) else { return };
    let at = track.place.cursor;
    slots::set_written(track);
    match track.writer.take_over(at, words) {
        Some(place) => track.place = place,
        None => spare::count_lost(1),
    }
}

/// A handler without a lane starts (`is_begin`) or has ended. Meanwhile its thread counts as not recorded: its roll-overs
/// must not change the lane that the handler has interrupted.
pub(crate) fn set_aside(is_begin: bool) {
    let thread = ThisThread::get();
    let Some(mut handlers) = HandlersPtr::of(thread) else { return };
    if is_begin {
        if handlers.without_lane == 0 {
            handlers.interrupted = thread.stored_track();
            thread.set_track(None);
        }
        handlers.without_lane += 1;
        return;
    }
    keep_words(handlers.is_moved, thread.stored_track(), thread.cursor());
    handlers.without_lane -= 1;
    if handlers.without_lane == 0 {
        thread.store_track(handlers.interrupted);
    }
}

/// A handler that found all levels in use has ended.
pub(crate) fn lose(cursor: *mut u8) {
    let thread = ThisThread::get();
    if let Some(handlers) = HandlersPtr::of(thread) {
        keep_words(handlers.is_moved, thread.stored_track(), cursor);
    }
}

/// A handler has ended that came before the first statement of its thread: its words in the thread's ring stay.
pub(crate) fn keep_early(thread: ThisThread, cursor: *mut u8) {
    let is_moved = HandlersPtr::of(thread).is_some_and(|handlers| handlers.is_moved);
    keep_words(is_moved, thread.stored_track(), cursor);
}

/// For a roll-over: if the handlers of a thread have ended, the thread is back in its own ring.
pub(crate) fn settle(thread: ThisThread) {
    // Its address is near the stack pointer.
    let stack = 0usize;
    if let Some(handlers) = HandlersPtr::of(thread)
        && handlers.lanes.level() > 0
    {
        // SAFETY: both are those of the calling thread: a `ThreadState` begins with a `WriteRange`.
        unsafe { settle_lanes(thread.as_ptr().cast(), handlers.lanes(), (&raw const stack).addr()) };
    }
}

/// Whether this thread has a track, also while a handler runs that is not recorded.
pub(crate) fn has_track() -> bool {
    let thread = ThisThread::get();
    thread.track().is_some() || HandlersPtr::of(thread).is_some_and(|handlers| !is_off(handlers.own))
}

/// In a forked child, whose thread has got another track: lets the code that its handlers interrupted continue there.
pub(crate) fn move_handlers() {
    let thread = ThisThread::get();
    if let Some(mut handlers) = HandlersPtr::of(thread) {
        let own = thread.stored_track();
        handlers.own = own;
        handlers.interrupted = own;
        handlers.tracks = [null_mut(); LANES];
        handlers.previous = [own; LANES];
        handlers.is_moved = handlers.lanes.level() > 0;
    }
}

/// Calls `act` for each lane of the calling thread.
pub(crate) fn each_lane(act: impl FnMut(TrackPtr)) {
    if let Some(handlers) = HandlersPtr::of(ThisThread::get()) {
        handlers.tracks.into_iter().filter_map(recorded_track).for_each(act);
    }
}

/// The thread ends, and so do its lanes. Calls `end` for each of them, and leaves the thread with its own track.
pub(crate) fn end_handlers(mut end: impl FnMut(TrackPtr)) {
    let thread = ThisThread::get();
    let Some(handlers) = HandlersPtr::of(thread) else { return };
    let current = recorded_track(thread.stored_track());
    if current.is_none_or(|track| track.is_lane)
        && let Some(own) = recorded_track(handlers.own)
    {
        if let Some(mut lane) = current {
            lane.place.cursor = thread.cursor();
        }
        thread.set_track(Some(own));
        // SAFETY: the cursor is in the ring. The interrupted code has written words behind it, and an end of words
        // follows.
        thread.set_cursor(unsafe { frontier(own.place.cursor) });
    }
    handlers.tracks.into_iter().filter_map(recorded_track).for_each(&mut end);
    thread.set_handlers(null_mut());
    // SAFETY: the memory is valid and only this thread uses it. All zeros are `Handlers` before any handler.
    unsafe { handlers.0.write_bytes(0, 1) };
}
