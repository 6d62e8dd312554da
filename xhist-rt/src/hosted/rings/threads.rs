//! Which thread has which ring: a thread gets a ring at its first check, and the ring stays when the thread has ended.

use core::ffi::c_void;

use qs_core::record::EventKind;
use qs_core::ring::Status;

use crate::filters;
use crate::hosted::acquire::acquire;
use crate::hosted::setup::config::{self, Config, Frames, Time};
use crate::hosted::setup::{clock, owner, trigger_state};
use crate::hosted::slots::{self, ENDED, SLOTS, Slot, foreign, numbered_rings, spare, spectra};
use crate::hosted::slow_path::{self, Append};
use crate::hosted::system::{sys, thread};
use crate::hosted::thread_state::{ThisThread, TrackPtr};
use crate::hosted::timing::{stamp, ticker};
use crate::hosted::upcalls::{Recorder, Upcalls};
use crate::hosted::words::HostedHeader;

/// The first check of a thread, or any check of a thread without a ring. If the thread gets a ring, its words go there.
#[cold]
#[inline(never)]
pub(crate) fn first_check() {
    let has_ring = has_ring();
    let thread = ThisThread::get();
    if has_ring {
        // A handler made the ring meanwhile, and then gave this code its own place back.
        if thread.track().is_some_and(|track| !track.is_parked && !track.has(thread.cursor())) {
            slow_path::settle();
        }
    } else if !thread.is_off() && !trigger_state::is_stopped() {
        // If the thread is not to have a ring, its words are counted later.
        spare::count_lost(1);
    }
}

/// Whether this thread is recorded. Gives it a ring if it has none yet.
#[cold]
fn has_ring() -> bool {
    // It takes a while to make a ring, and each handler that came meanwhile would make another one.
    let make = || sys::with_signals_blocked(|| ThisThread::get().track().is_some() || attach());
    !ThisThread::get().is_off() && sys::keeping_errno(make)
}

/// The track for the first record of a thread, or for any record of a thread that is not recorded.
#[cold]
#[inline(never)]
pub(crate) fn first_record(is_always_on: bool) -> Option<TrackPtr> {
    let is_set_up = config::is_read();
    let has_ring = has_ring();
    // The filter let it through before the environment was read, which says that nothing is recorded until a start.
    if !is_set_up && filters::is_frozen() && !is_always_on {
        return None;
    }
    if !has_ring {
        spare::count_lost(1);
    }
    ThisThread::get().track()
}

/// Gives this thread a ring. Returns false if it has none now.
pub(crate) fn attach() -> bool {
    // The first statement of a child may be that of a thread without a ring.
    if owner::is_unseen_child() {
        Recorder::leave_parent();
    }
    let Some(config) = Config::get() else { return false };
    let slot = if config.on { acquire(&config, slow_path::roll_over_chunk) } else { None };
    let Some(slot) = slot else {
        slow_path::attach(None);
        if config.on {
            spare::report_no_memory(&config);
            // The value is not null, because for null the system would call nothing.
            thread::call_at_end(on_thread_exit, core::ptr::without_provenance_mut(1));
        }
        return false;
    };
    if ThisThread::get().is_attached() {
        // A signal handler gave this thread a ring meanwhile.
        slot.ended.end(&ENDED);
        return true;
    }
    spectra::begin(slot);
    foreign::look_if_due();
    let is_end_noticed = slot.notice_end(on_thread_exit);
    // SAFETY: `acquire` gave the slot to this thread, with a track that is laid out and stays mapped.
    slow_path::attach(Some(unsafe { TrackPtr::new(slot.track()) }));
    if is_end_noticed {
        let (cursor, limit) = ThisThread::get().addresses();
        // SAFETY: cursor, limit and ring are the calling thread's. Its end calls `on_thread_exit`, which unregisters
        // them.
        unsafe { ticker::register(slot.number(), cursor, limit, watched_ring(slot, &config)) };
    }
    true
}

/// The ring of a slot for the ticker, if the clock stamps it.
fn watched_ring(slot: &Slot, config: &Config) -> Option<ticker::WatchedRing> {
    let is_timed = config.time == Time::On && config.frames != Frames::Exact && !stamp::is_given();
    let region = slot.region().filter(|_| is_timed)?;
    Some(ticker::WatchedRing { header: region.header().cast(), addresses: region.addresses() })
}

extern "C" fn on_thread_exit(header: *mut c_void) {
    let is_its = |slot: &&Slot| slot.ring().is_some_and(|ring| core::ptr::eq(ring, header.cast()));
    let Some(slot) = SLOTS.iter().find(is_its) else {
        slow_path::count_lost_words();
        return slow_path::detach();
    };
    ticker::unregister(slot.number());
    // A handler that comes meanwhile would make another lane, which never ends.
    sys::with_signals_blocked(|| {
        slow_path::end_handlers(|lane| {
            if let Some(lane) = slots::of_track(lane) {
                lane.end(Status::Ended);
                lane.ended.end(&ENDED);
            }
        });
        slow_path::settle_at_end();
        declare_end();
        spectra::end(slot);
        foreign::look_if_due();
        slow_path::detach();
        slot.end(Status::Ended);
        slot.ended.end(&ENDED);
    });
}

/// Appends the time behind the last statement of this thread, as an upper bound of its time. Without times it closes
/// the chunk, so that a link can take it.
fn declare_end() {
    let is_timed = |config: Config| config.time == Time::On && config.frames != Frames::Exact;
    slow_path::append(match Config::get().is_some_and(is_timed) {
        true => Append::Event(EventKind::Until, stamp::ticks()),
        false => Append::Close,
    });
}

/// Every ring as memory: start and length. The spare ring if there is no other.
pub(crate) fn rings() -> impl Iterator<Item = (*const u8, usize)> {
    numbered_rings().map(|(_, start, len)| (start, len)).chain(spare::ring())
}

/// Number of bytes that earlier threads wrote into the ring of this number.
pub(crate) fn by_earlier(number: usize) -> u64 {
    SLOTS.get(number).and_then(Slot::ring).map_or(0, HostedHeader::earlier)
}

/// Publishes the rate of the clock in every ring, and the end of the process in the rings of living threads.
pub(crate) fn on_process_exit() {
    slow_path::settle_at_end();
    declare_end();
    spectra::end_of_process(own());
    foreign::look();
    stamp::publish_rate(clock::measure());
    SLOTS.iter().for_each(|slot| slot.end(Status::Exited));
}

/// The header of this thread's ring.
pub(crate) fn own() -> Option<&'static HostedHeader> {
    // SAFETY: the header of a track is laid out and stays mapped, and what changes in it is atomic.
    ThisThread::get().track().map(|track| unsafe { &*core::ptr::from_ref(track.writer.header()) })
}
