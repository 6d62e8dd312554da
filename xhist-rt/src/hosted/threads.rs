//! Which ring belongs to which thread: taken at a thread's first check, kept when the thread has ended.

use core::ffi::c_void;
use qs_core::record::EventKind;
use qs_core::ring::{NAME_LEN, Status};

use super::config::{self, Config, Frames, Time};
use super::slots::{ENDED, SLOTS, Slot, acquire, made, numbered_rings};
use super::{clock, foreign, fork, mirror, slots, spare, stamp, sys, thread, ticker, trigger};
use crate::hot::{self, Append, Track};
use crate::words::{HostedHeader, Place};

/// The first check of a thread, or any check of one that has no ring yet. Where it gets one, its words go there.
#[cold]
#[inline(never)]
pub(crate) fn first() {
    // Where it is not to have one, its words are counted later.
    if !has_ring() && !hot::is_off() && !trigger::is_stopped() {
        count_lost();
    }
}

/// Counts a statement or record that no ring has.
pub(crate) fn count_lost() {
    spare::count_lost(1);
}

/// Counts the words that this thread, which has no ring, has written in scratch memory up to its cursor.
pub(crate) fn count_lost_words(cursor: *mut u8) {
    if !config::is_off() && !trigger::is_stopped() {
        spare::count_lost(mirror::words_in_scratch(cursor));
    }
}

/// Whether this thread is recorded, now if not before.
#[cold]
fn has_ring() -> bool {
    // Making a ring takes a while; each handler that came in would make another.
    let make = || sys::while_signals_wait(|| hot::track().is_some() || attach());
    !hot::is_off() && sys::keeping_errno(make)
}

/// The track for the first record of a thread, or for any of one that is not recorded.
#[cold]
#[inline(never)]
pub(crate) fn first_record(is_always_on: bool) -> Option<*mut Track> {
    let is_set_up = config::is_read();
    let has_ring = has_ring();
    // It was let through before the environment said that nothing is recorded until a start.
    if !is_set_up && crate::qs::is_frozen() && !is_always_on {
        return None;
    }
    if !has_ring {
        count_lost();
    }
    hot::track()
}

/// The track of this thread, which a signal handler interrupts; made if that is to be.
#[cold]
pub(crate) fn track_in_handler() -> Option<*mut Track> {
    if hot::track().is_none() && has_ring() {
        // What is interrupted may go on in scratch memory.
        hot::ask();
    }
    hot::track()
}

/// Bytes of the longest record that the rings are to hold.
pub(crate) fn longest_record() -> usize {
    Config::get().map_or(0, |config| config.size as usize / 8)
}

/// Scratch memory for a thread whose words go nowhere, and whose cursor is there now.
pub(crate) fn scratch(cursor: *mut u8) -> Place {
    let scratch = mirror::scratch_again(cursor).unwrap_or_else(mirror::scratch);
    Place { cursor: scratch.cursor, limit: scratch.limit }
}

/// Gives the scratch memory back to which this cursor pointed.
pub(crate) fn leave_scratch(cursor: *mut u8) {
    mirror::give_back_scratch(cursor);
}

/// Gives this thread a ring. False when it has none now.
pub(super) fn attach() -> bool {
    let Some(config) = Config::get() else { return false };
    let slot = if config.on { acquire(&config) } else { None };
    let Some(slot) = slot else {
        hot::attach(None);
        if config.on {
            spare::report_no_memory(&config);
            // Any value but null, which would call nothing.
            thread::call_at_end(on_thread_exit, core::ptr::without_provenance_mut(1));
        }
        return false;
    };
    if hot::is_attached() {
        // A signal handler gave this thread a ring meanwhile.
        slot.ended.end(&ENDED);
        return true;
    }
    foreign::look_if_due();
    let is_end_noticed = slot.notice_end(on_thread_exit);
    hot::attach(Some(slot.track()));
    if is_end_noticed {
        let (cursor, limit) = hot::words();
        // SAFETY: words and ring are the calling thread's, and its end calls `on_thread_exit`.
        unsafe { ticker::register(slot.number(), cursor, limit, slot.watched(&config)) };
    }
    true
}

/// Has every thread take the turn at its next check.
pub(super) fn call_all() {
    ticker::look_at_all(sys::tid());
}

extern "C" fn on_thread_exit(header: *mut c_void) {
    let is_its = |slot: &&Slot| slot.ring().is_some_and(|ring| core::ptr::eq(ring, header.cast()));
    let Some(slot) = SLOTS.iter().find(is_its) else {
        hot::count_lost_words();
        return hot::detach();
    };
    ticker::unregister(slot.number());
    hot::end(|lane| {
        if let Some(lane) = slots::of_track(lane) {
            lane.end(Status::Ended);
            lane.ended.end(&ENDED);
        }
    });
    declare_end();
    foreign::look_if_due();
    hot::detach();
    slot.end(Status::Ended);
    slot.ended.end(&ENDED);
}

/// Appends the time behind the last statement of this thread, so that it has an upper bound. Without times its chunk is
/// closed all the same, so that a link can take it.
fn declare_end() {
    let is_timed = |config: Config| config.time == Time::On && config.frames != Frames::Exact;
    hot::append(match Config::get().is_some_and(is_timed) {
        true => Append::Event(EventKind::Until, stamp::ticks()),
        false => Append::Close,
    });
}

/// Every ring there is, as memory: start and length. The spare one, where there is none.
pub(super) fn rings() -> impl Iterator<Item = (*const u8, usize)> {
    numbered_rings().map(|(_, start, len)| (start, len)).chain(spare::ring())
}

/// Bytes that earlier threads wrote into the ring of this number.
pub(super) fn by_earlier(number: usize) -> u64 {
    SLOTS.get(number).and_then(Slot::ring).map_or(0, HostedHeader::earlier)
}

/// Publishes the rate of the clock in every ring, and how the process ends in those of living threads.
pub(super) fn on_process_exit() {
    declare_end();
    foreign::look();
    publish_rate(clock::measure());
    SLOTS.iter().for_each(|slot| slot.end(Status::Exited));
}

/// Writes the rate of the clock to every ring.
pub(super) fn publish_rate(rate: u32) {
    for header in SLOTS.iter().take(made()).filter_map(Slot::ring) {
        header.set_clock_hz(stamp::clock_hz(rate));
    }
}

/// The header of this thread's ring.
pub(super) fn own() -> Option<&'static HostedHeader> {
    // SAFETY: a thread's track is valid, and its header stays mapped.
    hot::track().map(|track| unsafe { &*core::ptr::from_ref((*track).writer.header()) })
}

/// Appends an event to this thread's ring and notes it in its header, with the thread's full name.
pub(super) fn note(kind: EventKind, value: u64, status: Status, name: Option<&str>) {
    if fork::is_unseen_child() {
        fork::leave_parent();
    }
    let Some(header) = own() else { return };
    foreign::look();
    hot::append(Append::Event(kind, value));
    header.set_status(status);
    if let Some(name) = name {
        let len = name.len().min(NAME_LEN);
        let mut bytes = [0; NAME_LEN];
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        // SAFETY: this thread's ring, whose name only readers of the ring look at.
        unsafe { (&raw const header.name).cast_mut().write_volatile(bytes) };
    }
}

/// A copy of this thread's ring, header first.
pub(super) fn snapshot() -> Option<Vec<u8>> {
    let own = own()?;
    let slot = SLOTS.iter().find(|slot| slot.ring().is_some_and(|ring| core::ptr::eq(ring, own)))?;
    let region = slot.region()?;
    let mut copy = vec![0u8; region.len()];
    // SAFETY: the region has these bytes, and only this thread writes it, which is here now.
    unsafe { core::ptr::copy_nonoverlapping(region.header(), copy.as_mut_ptr(), copy.len()) };
    Some(copy)
}
