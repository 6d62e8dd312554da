//! Signal handlers of the program: each level of them writes a ring of its own, a lane, which says where in the interrupted
//! ring each handler came.

use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::EventKind;

use super::slow::{OFF, TAKEN, Track, cursor, is_inside, track};
use super::{Tls, tls};
use crate::recorder::{self, LANES, Lanes, Signals, Words, frontier};

/// The handlers of one thread. All zeros at first.
#[repr(C)]
pub(crate) struct Handlers {
    lanes: Lanes,
    /// The thread's own track.
    own: *mut Track,
    /// The track of each level that a handler has used.
    tracks: [*mut Track; LANES],
    /// The track that the thread had when the handler of each level came in: a handler may come in while another one that is
    /// over leaves its lane.
    before: [*mut Track; LANES],
    /// Handlers without a lane, and the track that the first of them has interrupted.
    aside: usize,
    interrupted: *mut Track,
    /// The thread got another track while its handlers ran.
    is_moved: bool,
}

/// What the lanes call.
static SIGNALS: Signals = Signals { thread, open, close, set_aside, lose };

/// From now on handlers have lanes.
pub(crate) fn set_up() {
    recorder::set_signals(&SIGNALS);
}

/// This thread's handlers, if any ran.
fn handlers(tls: *mut Tls) -> *mut Handlers {
    // SAFETY: the word is this thread's.
    unsafe { (&raw const (*tls).handlers).read_volatile() }
}

fn thread() -> Option<(*mut Words, *mut Lanes)> {
    let tls = tls();
    if recorder::is_unseen_child() && track().is_some() && !is_inside() {
        recorder::leave_parent();
    }
    if handlers(tls).is_null() {
        let track = recorder::track_in_handler()?;
        // SAFETY: a track in the thread's words is valid, and the word is this thread's.
        recorder::while_signals_wait(|| unsafe {
            // Another handler may have come first.
            if self::handlers(tls).is_null() {
                let handlers = recorder::memory_for_handlers((*track).slot)?;
                (*handlers).own = track;
                (&raw mut (*tls).handlers).write_volatile(handlers);
            }
            Some(())
        })?;
    }
    // SAFETY: the handlers of a thread live as long as the thread.
    Some((tls.cast(), unsafe { &raw mut (*handlers(tls)).lanes }))
}

/// The track that a handler of this level has interrupted.
///
/// # Safety
/// The handlers are the calling thread's.
unsafe fn interrupted_by(handlers: *mut Handlers, level: usize) -> *mut Track {
    // SAFETY: the caller's.
    unsafe {
        let below = level.checked_sub(2).map_or(null_mut(), |below| (*handlers).tracks[below]);
        if below.is_null() { (*handlers).own } else { below }
    }
}

fn open(level: usize, at: *mut u8) -> Words {
    let tls = tls();
    let handlers = handlers(tls);
    // SAFETY: `thread` has set up the handlers of this thread. Only this thread uses its tracks, and what a handler has
    // interrupted in the middle of a call is only looked at.
    unsafe {
        let parent = interrupted_by(handlers, level);
        (*handlers).before[level - 1] = (&raw const (*tls).track).read_volatile();
        let Some(lane) = lane(handlers, level, parent) else {
            if parent == OFF || !(*parent).is_parked {
                // As for a handler that found all lanes taken.
                (&raw mut (*tls).track).write_volatile(OFF);
            }
            let scratch = recorder::scratch(at);
            return Words { cursor: scratch.cursor, limit: scratch.limit };
        };
        let position = position(parent, at);
        let stamp = recorder::now();
        let place = (*lane).writer.append_event((*lane).place.cursor, EventKind::Handler, position, stamp);
        (*lane).place = place;
        (*parent).may_fold = false;
        (&raw mut (*tls).track).write_volatile(lane);
        Words { cursor: place.cursor, limit: null_mut() }
    }
}

/// Where in the interrupted ring a handler came.
///
/// # Safety
/// The track is this thread's.
unsafe fn position(track: *mut Track, at: *mut u8) -> u64 {
    // SAFETY: the caller's. A cursor of the ring has an end of words behind it.
    unsafe {
        if (&raw const (*track).is_busy).read_volatile() {
            return match (*track).moved.fetch_or(TAKEN, Relaxed) & !TAKEN {
                0 => (&raw const (*track).busy_at).read_volatile(),
                moved => moved,
            };
        }
        match (*track).has(at) {
            true => (*track).writer.position(frontier(at)),
            // It came while another handler took this lane, or left it.
            false => (*track).writer.position((*track).place.cursor),
        }
    }
}

/// The track of this level, made where there is none. Where nothing is recorded there is no need of one.
///
/// # Safety
/// Handlers and parent are the calling thread's.
unsafe fn lane(handlers: *mut Handlers, level: usize, parent: *mut Track) -> Option<*mut Track> {
    // SAFETY: the caller's.
    unsafe {
        if parent == OFF || (*parent).is_parked {
            return None;
        }
        let place = &raw mut (*handlers).tracks[level - 1];
        if (*place).is_null() {
            *place = recorder::lane((*parent).slot, level)?;
            (**place).is_lane = true;
            (**place).writer.be_slow();
        }
        // A call on it was left by a jump.
        (**place).is_busy = false;
        Some(*place)
    }
}

/// The handler of this level is over. Whether the interrupted code has to take the turn at its next check.
fn close(level: usize, words: Words) -> bool {
    let tls = tls();
    let handlers = handlers(tls);
    // SAFETY: as in `open`.
    unsafe {
        let track = (&raw const (*tls).track).read_volatile();
        let parent = interrupted_by(handlers, level);
        keep(handlers, track, words.cursor);
        (&raw mut (*tls).track).write_volatile((*handlers).before[level - 1]);
        (*handlers).is_moved || recorder::is_stopped() != (*parent).is_parked
    }
}

/// The words of a handler on this track, which is over, end at that cursor.
///
/// # Safety
/// Handlers and track are the calling thread's, and no call on the track is under way.
unsafe fn keep(handlers: *mut Handlers, track: *mut Track, cursor: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        if track == OFF {
            recorder::count_lost_words(cursor);
        } else if (*track).has(cursor) && !(*track).is_parked {
            (*track).place.cursor = cursor;
            return;
        } else if (*handlers).is_moved && !(*track).is_parked {
            // A handler inside this one has forked, and this one has taken no turn since.
            bring(track, cursor);
        }
    }
    recorder::leave_scratch(cursor);
}

/// Has words in the place of a ring that the process has left go on in this one. Behind them nobody writes.
///
/// # Safety
/// The track is this thread's, and no call on it is under way.
unsafe fn bring(track: *mut Track, cursor: *mut u8) {
    let Some(words) = recorder::words_left_behind(cursor) else { return };
    // SAFETY: the caller's.
    unsafe {
        match (*track).writer.bring((*track).place.cursor, words) {
            Some(place) => (*track).place = place,
            None => recorder::count_lost(),
        }
    }
}

/// While a handler without a lane runs, the thread is as one that is not recorded: its turns must not touch the lane that it
/// has interrupted.
fn set_aside(is_begin: bool) {
    let tls = tls();
    let handlers = handlers(tls);
    // SAFETY: as in `open`.
    unsafe {
        if is_begin {
            if (*handlers).aside == 0 {
                (*handlers).interrupted = (&raw const (*tls).track).read_volatile();
                (&raw mut (*tls).track).write_volatile(OFF);
            }
            (*handlers).aside += 1;
            return;
        }
        keep(handlers, (&raw const (*tls).track).read_volatile(), cursor(tls));
        (*handlers).aside -= 1;
        if (*handlers).aside == 0 {
            (&raw mut (*tls).track).write_volatile((*handlers).interrupted);
        }
    }
}

/// A handler inside such ones is over.
fn lose(cursor: *mut u8) {
    let tls = tls();
    // SAFETY: as in `open`.
    unsafe { keep(handlers(tls), (&raw const (*tls).track).read_volatile(), cursor) };
}

/// For a turn: a thread whose handlers are gone is back in its own ring.
pub(super) fn settle(tls: *mut Tls) {
    let handlers = handlers(tls);
    let stack = 0usize;
    // SAFETY: the handlers of a thread live as long as the thread, and the words are this thread's.
    unsafe {
        if !handlers.is_null() && (*handlers).lanes.level() > 0 {
            recorder::turn_on_lane(tls.cast(), &raw mut (*handlers).lanes, (&raw const stack).addr());
        }
    }
}

/// Whether this thread has a track, also while a handler is not recorded.
pub(crate) fn has_track() -> bool {
    let handlers = handlers(tls());
    // SAFETY: the handlers of a thread live as long as the thread.
    track().is_some() || !handlers.is_null() && unsafe { (*handlers).own != OFF }
}

/// In a forked child: the thread has another track. What its handlers have interrupted goes on there.
pub(crate) fn moved() {
    let handlers = handlers(tls());
    if !handlers.is_null() {
        // SAFETY: as above.
        unsafe {
            (*handlers).own = (&raw const (*tls()).track).read_volatile();
            (*handlers).interrupted = (*handlers).own;
            (*handlers).tracks = [null_mut(); LANES];
            (*handlers).before = [(*handlers).own; LANES];
            (*handlers).is_moved = (*handlers).lanes.level() > 0;
        }
    }
}

/// The thread ends: its lanes are over. Gives them to `end`, and leaves the thread with its own track.
pub(crate) fn end(mut end: impl FnMut(*mut Track)) {
    let tls = tls();
    let handlers = handlers(tls);
    if handlers.is_null() {
        return;
    }
    // SAFETY: as above.
    unsafe {
        let track = (&raw const (*tls).track).read_volatile();
        let is_off = track == OFF;
        if is_off || (*track).is_lane {
            if !is_off {
                (*track).place.cursor = cursor(tls);
            }
            let own = (*handlers).own;
            (&raw mut (*tls).track).write_volatile(own);
            // What the handler interrupted has written words behind the place that is known.
            (&raw mut (*tls).cursor).write_volatile(frontier((*own).place.cursor));
        }
        (*handlers).tracks.into_iter().filter(|track| !track.is_null()).for_each(&mut end);
        (&raw mut (*tls).handlers).write_volatile(null_mut());
        handlers.write_bytes(0, 1);
    }
}
