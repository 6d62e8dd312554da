//! What a thread catches up on at its next check: a panic may have been caught, and a name may have come late.

use qs_core::ring::{NAME_LEN, Status};

use super::handlers;
use crate::hosted::system::sys;
use crate::hosted::thread_state::{Panic, Pending, ThisThread, TrackPtr};
use crate::hosted::words::HostedHeader;

/// The calling thread panics, and its ring has that status.
pub(crate) fn on_panic() {
    let panic = Panic { has_signal_stack: sys::has_signal_stack(), has_recorded: false };
    begin(|pending| pending.panic = Some(panic));
}

/// A handler has ended that came before the first statement of its thread, perhaps before the thread was named. If it
/// has recorded, its statements are the first ones of the thread's ring.
pub(crate) fn end_early(cursor: *mut u8) {
    let thread = ThisThread::get();
    if thread.is_attached() {
        handlers::keep_early(thread, cursor);
        begin(|pending| pending.name = true);
    }
}

fn begin(change: impl FnOnce(&mut Pending)) {
    let thread = ThisThread::get();
    if let Some(mut track) = thread.track() {
        change(&mut track.pending);
        thread.set_limit(0);
    }
}

/// The calling thread ends, or the process with it: what is pending is decided.
pub(crate) fn settle_at_end() {
    let Some(mut track) = ThisThread::get().track().filter(|track| !track.is_busy()) else { return };
    let at = ThisThread::get().cursor();
    let has_gone_on = track.has(at) && at != track.place.cursor;
    let pending = core::mem::take(&mut track.pending);
    if pending.name {
        read_name(track);
    }
    // Statements without a check behind them. If destructors have recorded, these may be theirs.
    if pending.panic.is_some_and(|panic| !panic.has_recorded) && has_gone_on && !std::thread::panicking() {
        take_back(track);
    }
}

/// At a check: does what is pending, and returns whether some of it has to wait for a later check.
#[inline(always)]
pub(crate) fn catch_up(track: TrackPtr) -> bool {
    (track.pending.name || track.pending.panic.is_some()) && catch_up_slow(track)
}

#[cold]
#[inline(never)]
fn catch_up_slow(mut track: TrackPtr) -> bool {
    if track.is_busy() {
        return false;
    }
    if core::mem::take(&mut track.pending.name) {
        read_name(track);
    }
    track.pending.panic = track.pending.panic.and_then(|panic| settle(track, panic));
    track.pending.panic.is_some()
}

/// At a check after a panic. Returns the panic while it is not decided.
fn settle(track: TrackPtr, panic: Panic) -> Option<Panic> {
    if std::thread::panicking() {
        return Some(Panic { has_recorded: true, ..panic });
    }
    // The standard library catches what the thread's function does not. Then only destructors of thread-local values
    // record, without the signal stack.
    if !panic.has_signal_stack || sys::has_signal_stack() {
        take_back(track);
    }
    None
}

/// The panic was caught.
fn take_back(track: TrackPtr) {
    let header = track.writer.header();
    if header.status_code() == Status::Panicked.code() {
        header.set_status(Status::Live);
    }
}

/// Reads the name of the calling thread again, for its ring and for its lanes.
fn read_name(track: TrackPtr) {
    let mut name = [0; NAME_LEN];
    let header = track.writer.header();
    sys::thread_name(&mut name);
    set_name(header, name);
    handlers::each_lane(|lane| set_name(lane.writer.header(), name));
}

/// Writes the name of the calling thread into the header of one of its rings.
pub(crate) fn set_name(header: &HostedHeader, name: [u8; NAME_LEN]) {
    // SAFETY: only this thread writes the name in the header of its ring. Readers of the ring expect that it changes.
    unsafe { (&raw const header.name).cast_mut().write_volatile(name) };
}
