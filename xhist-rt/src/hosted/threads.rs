//! Which thread has which ring: a thread gets a ring at its first check, and the ring stays when the thread has ended.
//! The rings of a parent stay with it, and the thread of a forked child gets a ring of its own.

use core::ffi::c_void;

use qs_core::record::EventKind;
use qs_core::ring::Status;

use crate::filters;
use crate::hosted::acquire::acquire;
use crate::hosted::executed::ExecutedBitmap;
use crate::hosted::setup::config::{self, Config, Frames, Time};
use crate::hosted::setup::{clock, file, owner, trigger_state};
use crate::hosted::slots::{self, ENDED, EXECUTED, SLOTS, Slot, foreign, spare, spectra};
use crate::hosted::system::lanes::{LaneUser, set_lane_user};
use crate::hosted::system::sys;
use crate::hosted::thread_state::{ThisThread, TrackPtr};
use crate::hosted::timing::{stamp, ticker};
use crate::hosted::track::events::{self, Append};
use crate::hosted::track::{act, handlers, pending};
use crate::hosted::words::HostedHeader;

/// Bytes of a header that are in use.
const HEADER: usize = size_of::<HostedHeader>();

/// The first check of a thread, or any check of a thread without a ring. If the thread gets a ring, its words go there.
#[cold]
#[inline(never)]
pub(crate) fn first_check() {
    let has_ring = has_ring();
    let thread = ThisThread::get();
    if has_ring {
        // A handler made the ring meanwhile, and then gave this code its own place back.
        if thread.track().is_some_and(|track| !track.is_parked && !track.has(thread.cursor())) {
            act::settle();
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
        leave_parent();
    }
    let Some(config) = Config::get() else { return false };
    let slot = if config.on { acquire(&config) } else { None };
    let Some(slot) = slot else {
        act::attach(None);
        if config.on {
            spare::report_no_memory(&config);
            // The value is not null, because for null the system would call nothing.
            sys::call_at_end(on_thread_exit, core::ptr::without_provenance_mut(1));
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
    act::attach(Some(unsafe { TrackPtr::new(slot.track()) }));
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

/// Leaves the parent's rings to the parent, if this is a child that was forked without the C library.
#[inline(always)]
pub(crate) fn check_for_fork() {
    if owner::is_unseen_child() && !ThisThread::get().is_busy() {
        leave_parent();
    }
}

/// In a child that was forked without the C library, once it detects that. Its first words may be in its parent's
/// ring, in the middle of an action of the parent. That ring counts them as one loss.
#[cold]
pub(crate) fn leave_parent() {
    sys::keeping_errno(|| {
        if let Some(header) = own() {
            header.count_dropped(1);
        }
        on_fork_in_child();
    });
}

/// In a forked child. Its thread gets a ring at once, because statements ask for one only at their next check.
pub(crate) extern "C" fn on_fork_in_child() {
    if owner::is_unseen_child() {
        owner::set_child();
    }
    spare::forget_lost();
    if config::is_off() || config::forget_others() || !config::is_read() {
        return;
    }
    let was_attached = handlers::has_track();
    leave_rings_to_parent();
    slots::forget_rings();
    ticker::after_fork_in_child();
    if ThisThread::get().is_attached() {
        act::detach();
    }
    spectra::note_fork();
    sys::with_signals_blocked(|| sys::on_large_stack(file::reopen_in_child));
    if was_attached {
        let _ = sys::with_signals_blocked(attach);
        handlers::move_handlers();
    }
}

/// A mapping keeps the lock of its file, as a descriptor does, so the child unshares all mappings. It keeps the
/// memory: a signal handler that forks may have interrupted a statement.
fn leave_rings_to_parent() {
    SLOTS.iter().filter_map(Slot::region).for_each(|region| region.unshare::<HEADER>());
    SLOTS.iter().filter_map(Slot::ring).for_each(HostedHeader::forget_prologue);
    let executed = EXECUTED.get();
    if let Some(config) = Config::get().filter(|_| !executed.is_null() && file::get().is_some()) {
        sys::unshare::<0>(executed, ExecutedBitmap::len(config.executed_slots));
    }
}

/// From now on handlers have lanes.
pub(crate) fn set_up_handlers() {
    static LANE_USER: LaneUser = LaneUser {
        thread: || {
            if ThisThread::get().track().is_some() {
                check_for_fork();
            }
            handlers::thread()
        },
        open: handlers::open,
        close: handlers::close,
        set_aside: handlers::set_aside,
        lose: handlers::lose,
        end_early: pending::end_early,
    };
    set_lane_user(&LANE_USER);
}

/// Appends something that is neither a statement nor a record.
pub(crate) fn append(what: Append) {
    check_for_fork();
    events::append(what);
}

/// Closes the chunk that this thread's statements are in, so that a link can take them.
pub fn flush() {
    append(Append::Close);
}

extern "C" fn on_thread_exit(header: *mut c_void) {
    let is_its = |slot: &&Slot| slot.ring().is_some_and(|ring| core::ptr::eq(ring, header.cast()));
    let Some(slot) = SLOTS.iter().find(is_its) else {
        act::count_lost_words();
        return act::detach();
    };
    ticker::unregister(slot.number());
    // A handler that comes meanwhile would make another lane, which never ends.
    sys::with_signals_blocked(|| {
        handlers::find_again(slot);
        handlers::end_handlers(|lane| {
            if let Some(lane) = slots::of_track(lane) {
                lane.end(Status::Ended);
                lane.ended.end(&ENDED);
            }
        });
        pending::settle_at_end();
        declare_end();
        spectra::end(slot);
        foreign::look_if_due();
        act::detach();
        slot.end(Status::Ended);
        slot.ended.end(&ENDED);
    });
}

/// Appends the time behind the last statement of this thread, as an upper bound of its time. Without times it closes
/// the chunk, so that a link can take it.
fn declare_end() {
    let is_timed = |config: Config| config.time == Time::On && config.frames != Frames::Exact;
    append(match Config::get().is_some_and(is_timed) {
        true => Append::Event(EventKind::Until, stamp::ticks()),
        false => Append::Close,
    });
}

/// Publishes the rate of the clock in every ring, and the end of the process in the rings of living threads.
pub(crate) fn on_process_exit() {
    pending::settle_at_end();
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

#[cfg(all(test, not(loom), target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::hosted::timing::ticker::tests::alone;

    /// As on Apple's systems, whose loader frees thread-local variables before the end of a thread is noticed.
    #[test]
    fn a_thread_whose_state_is_gone_still_has_an_end() {
        let _guard = alone();
        let ended = std::thread::spawn(|| {
            first_check();
            let thread = ThisThread::get();
            let mut cursor = thread.cursor();
            for number in [3u16, 4] {
                // SAFETY: after a check the cursor points to room for words.
                unsafe { cursor.cast::<[u8; 2]>().write_volatile((0x101 * number).to_le_bytes()) };
                cursor = cursor.wrapping_add(2);
            }
            let track = thread.track().expect("a ring");
            thread.reset();
            thread.set_handlers(core::ptr::null_mut());
            (track.slot, cursor.addr())
        });
        let (slot, end) = ended.join().expect("it ends");
        let slot = &SLOTS[usize::from(slot)];
        assert!(slot.is(Status::Ended));
        // SAFETY: the thread has ended, and its track stays mapped.
        let place = unsafe { TrackPtr::new(slot.track()) }.place;
        assert!(place.cursor.addr() > end, "something was appended behind the words");
    }
}
