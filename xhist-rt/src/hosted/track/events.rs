//! Appends events to the ring of the calling thread, and stops recording, which an event may set off.
//!
//! A child that was forked unseen gets rings of its own before it comes here, see [`crate::hosted::threads`].

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use qs_core::record::{EventKind, RECORD_BASE, ids};

use super::act::{Purpose, act, count_lost_words, may_move, settle};
use crate::filters;
use crate::hosted::setup::config::Config;
use crate::hosted::setup::trigger_state::{
    COUNTING, LEFT, STATE, STOP_ON, STOP_ON_AFTER, STOPPED, is_stopped,
};
use crate::hosted::thread_state::{ThisThread, Track};
use crate::hosted::timing::pace::call_all;
use crate::hosted::timing::stamp;

/// What is appended besides statements and records.
#[derive(Clone, Copy)]
pub(crate) enum Append {
    /// An event with its value.
    Event(EventKind, u64),
    /// Nothing, but afterwards all words are in whole frames.
    Close,
}

/// Appends something that is neither a statement nor a record.
pub(crate) fn append(what: Append) {
    count_lost_words();
    let thread = ThisThread::get();
    if let Some(track) = thread.track() {
        act(thread, track, Purpose::Append, |track, at| {
            let at = date(track, at);
            match what {
                // Readers take value and stamp for one time.
                Append::Event(EventKind::Until, time) => {
                    track.writer.append_event(at, EventKind::Until, time, time)
                }
                Append::Event(kind, value) => track.writer.append_event(at, kind, value, stamp::now()),
                Append::Close => track.writer.close(at, stamp::now),
            }
        });
    }
    match what {
        // The events of triggers set off no triggers.
        Append::Event(EventKind::Started | EventKind::Stopped | EventKind::Armed, _) | Append::Close => {}
        Append::Event(..) => on_record(RECORD_BASE + ids::EVENT),
    }
}

/// A record of this id was appended.
pub(crate) fn on_record(id: u8) {
    if STOP_ON.load(Acquire) == u32::from(id) + 1 {
        stop_after(STOP_ON_AFTER.load(Relaxed));
    }
}

/// Stops recording, of records too.
pub(crate) fn stop() {
    if STATE.load(Acquire) != STOPPED {
        append(Append::Event(EventKind::Stopped, 0));
        STATE.store(STOPPED, Release);
        publish();
    }
    filters::freeze(true);
}

/// The state has changed: this thread acts at once, other threads at their next check.
pub(crate) fn publish() {
    settle();
    call_all();
}

/// Stops recording after this many more statements of all threads.
pub(crate) fn stop_after(statements: u64) {
    if statements == 0 {
        return stop();
    }
    let _ = Config::get();
    if is_stopped() {
        return;
    }
    LEFT.store(statements, Relaxed);
    append(Append::Event(EventKind::Armed, statements));
    STATE.store(COUNTING, Release);
    publish();
}

/// Gives the words up to the cursor their times, before something is appended behind them.
#[inline(always)]
pub(crate) fn date(track: &mut Track, at: *mut u8) -> *mut u8 {
    match at != track.place.cursor && track.may_fold && !track.is_lane {
        true => track.writer.date_words(at, &|to| may_move(&track.moved, to)),
        false => at,
    }
}
