//! Places for rings: memory for a ring and its track, made when no ended thread has left one; which is next to be used
//! again. No locks and no allocation, because a first statement may run inside an allocator or a signal handler.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use qs_core::record::words::{UNIT, digit_of};
use qs_core::ring::{FLAG_EXACT, FLAG_MONOTONIC, FLAG_TIME_AUTO, Status};

use super::between::{Ended, take_first};
use super::config::{Config, Frames, Time};
use super::layout::{header_len, place_in_file, ring_len};
use super::mirror::{self, Region};
use super::{clock, file, fork, spare, stamp, sys, thread, ticker};
use crate::hot::{Handlers, Track};
use crate::ring::Ever;
use crate::words::{HostedHeader, Writer};

/// Rings of ended threads are reused once there are this many rings.
const ENOUGH_RINGS: usize = 64;
/// Threads beyond this many living ones are not recorded.
const MAX_RINGS: usize = 1024;

/// A place for a ring.
pub(super) struct Slot {
    header: AtomicPtr<HostedHeader>,
    /// Its track, in memory of its own.
    track: AtomicPtr<Track>,
    /// Whether its thread has.
    pub(super) ended: Ended,
    /// Its ring is in no file.
    in_memory: AtomicBool,
    /// The signal handlers of its thread.
    handlers: AtomicPtr<Handlers>,
    /// Id of its thread, where that cannot say that it ends; otherwise 0.
    watched: AtomicU32,
}

pub(super) static SLOTS: [Slot; MAX_RINGS] = [const {
    Slot {
        header: AtomicPtr::new(null_mut()),
        track: AtomicPtr::new(null_mut()),
        ended: Ended::new(),
        in_memory: AtomicBool::new(false),
        handlers: AtomicPtr::new(null_mut()),
        watched: AtomicU32::new(0),
    }
}; MAX_RINGS];
static RINGS: AtomicU32 = AtomicU32::new(0);
pub(super) static ENDED: AtomicU64 = AtomicU64::new(0);
/// The bitmap of this process.
pub(super) static EVER: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static MAP_HASH: AtomicU64 = AtomicU64::new(0);
/// The program records only entries of functions.
static ENTRIES_ONLY: AtomicBool = AtomicBool::new(false);

/// The first ring's memory, for debuggers: `dump binary memory dump.bin` from here on.
#[unsafe(no_mangle)]
pub(super) static XHIST_RING: AtomicPtr<HostedHeader> = AtomicPtr::new(null_mut());
/// Bytes from [`XHIST_RING`] on, header included.
#[unsafe(no_mangle)]
pub(super) static XHIST_RING_LEN: AtomicU64 = AtomicU64::new(0);

/// A slot with an empty ring: a new one, or that of the thread that ended first.
pub(super) fn acquire(config: &Config) -> Option<&'static Slot> {
    let is_enough = RINGS.load(Ordering::Relaxed) as usize >= ENOUGH_RINGS;
    if is_enough {
        SLOTS.iter().for_each(Slot::look_after);
    }
    if is_enough && let Some(slot) = reuse() {
        slot.lay_out_again(config);
        return Some(slot);
    }
    let number = RINGS.fetch_add(1, Ordering::Relaxed) as usize;
    let Some(slot) = SLOTS.get(number) else {
        RINGS.store(MAX_RINGS as u32, Ordering::Relaxed);
        return reuse().inspect(|slot| slot.lay_out_again(config));
    };
    let region = slot.map_track().and_then(|()| mirror::map(config.size as usize, header_len()));
    let Some(region) = region else {
        // The next thread may have more luck with it.
        let _ = RINGS.compare_exchange(number as u32 + 1, number as u32, Ordering::SeqCst, Ordering::SeqCst);
        return None;
    };
    let is_in_file = keep_in_file(|file| file.move_region(place_in_file(number, config), region, false));
    slot.in_memory.store(!is_in_file, Ordering::Relaxed);
    let header = region.header().cast::<HostedHeader>();
    if number == 0 {
        fork::set_owner();
        XHIST_RING_LEN.store(ring_len(config.size) as u64, Ordering::Relaxed);
        XHIST_RING.store(header, Ordering::Relaxed);
    }
    slot.ended.live();
    // SAFETY: the region is new, and was mapped with this size.
    unsafe { slot.lay_out(number, region, config) };
    slot.header.store(header, Ordering::SeqCst);
    count_rings();
    // Who came with something for every ring did not see this one.
    slot.ring().inspect(|header| {
        header.set_map_hash(map_hash(config));
        if ENTRIES_ONLY.load(Ordering::Relaxed) {
            header.set_entries_only();
        }
    });
    spare::report_lost();
    Some(slot)
}

/// The track of a new lane for handlers of this level that interrupt a ring. Signals wait. Stacks of handlers are small.
pub(crate) fn lane(interrupted: u16, level: usize) -> Option<*mut Track> {
    let slot = sys::on_large_stack(|| acquire(&Config::get()?))?;
    slot.ring().inspect(|header| header.set_lane(interrupted, level));
    Some(slot.track())
}

/// Zeroed memory for the handlers of the thread that has this slot.
pub(crate) fn memory_for_handlers(slot: u16) -> Option<*mut Handlers> {
    let place = &SLOTS.get(usize::from(slot))?.handlers;
    if place.load(Ordering::Relaxed).is_null() {
        place.store(sys::map_anonymous(size_of::<Handlers>())?.cast(), Ordering::Relaxed);
    }
    Some(place.load(Ordering::Relaxed))
}

/// The slot of this track.
pub(super) fn of_track(track: *mut Track) -> Option<&'static Slot> {
    SLOTS.iter().take(made()).find(|slot| slot.track() == track)
}

/// Puts a part of the rings into the file, if there is one; whether it is there. What the file has no room for is at
/// least one statement.
fn keep_in_file(put: impl FnOnce(super::ring_file::RingFile) -> bool) -> bool {
    let Some(file) = file::get() else { return false };
    let is_there = put(file);
    if !is_there {
        spare::count_lost(1);
        if SLOTS[0].ring().is_none() {
            file::has_no_room();
        }
    }
    is_there
}

/// Writes into the first ring how many there are. Two threads that come at once both look after their own ring is there,
/// so one of them sees both.
fn count_rings() {
    let newest = SLOTS.iter().rposition(|slot| slot.ring().is_some());
    if let (Some(first), Some(newest)) = (SLOTS[0].ring(), newest) {
        first.count_rings(newest as u16 + 1);
    }
}

/// Takes the slot of the thread that ended first; those that panicked only when there is no other.
fn reuse() -> Option<&'static Slot> {
    take_first(&SLOTS, |slot| &slot.ended, |slot, order| (slot.is(Status::Panicked), order))
}

/// The bitmap, if one is asked for. Made with the first ring.
pub(super) fn ever(config: &Config) -> Option<Ever> {
    if config.ever == 0 {
        return None;
    }
    let known = EVER.load(Ordering::Acquire);
    if !known.is_null() {
        // SAFETY: it was laid out, or is being laid out by another thread; the slots are there.
        return Some(unsafe { Ever::at(known, config.ever) });
    }
    let len = Ever::len(config.ever);
    let memory = sys::map_with_end(len)?;
    keep_in_file(|file| file.map_over(0, len, memory, false, usize::MAX));
    // When another thread came first, its mapping of the same bytes of the file is as good.
    let _ = EVER.compare_exchange(null_mut(), memory, Ordering::AcqRel, Ordering::Acquire);
    // SAFETY: the memory was mapped with this length.
    Some(unsafe { Ever::new(EVER.load(Ordering::Acquire), config.ever, map_hash(config), sys::pid()) })
}

pub(super) fn map_hash(config: &Config) -> u64 {
    match MAP_HASH.load(Ordering::Relaxed) {
        0 => config.map_hash,
        known => known,
    }
}

/// Sets which map this program was instrumented with.
pub(crate) fn set_map_hash(hash: u64) {
    MAP_HASH.store(hash, Ordering::Relaxed);
    if !EVER.load(Ordering::Relaxed).is_null()
        && let Some(ever) = Config::get().and_then(|config| ever(&config))
    {
        ever.set_map_hash(hash);
    }
    SLOTS.iter().filter_map(Slot::ring).for_each(|header| header.set_map_hash(hash));
}

/// This program records only entries of functions.
pub(crate) fn set_entries_only() {
    ENTRIES_ONLY.store(true, Ordering::Relaxed);
    SLOTS.iter().filter_map(Slot::ring).for_each(HostedHeader::set_entries_only);
}

/// Rings made so far.
pub(super) fn made() -> usize {
    (RINGS.load(Ordering::Relaxed) as usize).min(MAX_RINGS)
}

/// In a forked child: there are no rings.
pub(super) fn forget_rings() {
    for slot in &SLOTS {
        slot.header.store(null_mut(), Ordering::Relaxed);
        slot.track.store(null_mut(), Ordering::Relaxed);
        slot.handlers.store(null_mut(), Ordering::Relaxed);
        slot.watched.store(0, Ordering::Relaxed);
        slot.ended.live();
    }
    RINGS.store(0, Ordering::Relaxed);
    EVER.store(null_mut(), Ordering::Relaxed);
}

impl Slot {
    /// Lays out an empty ring for the calling thread.
    ///
    /// # Safety
    /// The region has room for a ring of this configuration, the slot has memory for a track, and no other thread uses
    /// either.
    unsafe fn lay_out(&self, number: usize, region: Region, config: &Config) {
        let clock_flag = if clock::is_counter() { 0 } else { FLAG_MONOTONIC };
        let order_flag = if config.frames == Frames::Exact { FLAG_EXACT } else { FLAG_TIME_AUTO };
        let time_width = if config.time == Time::Off { 0 } else { 4 };
        let header = region.header().cast::<HostedHeader>();
        // SAFETY: the caller's.
        unsafe {
            (*header).number = number as u16;
            (*header).set_lane(0, 0);
            (*header).init(header_len(), config.size, time_width, clock_flag | order_flag, map_hash(config));
            if ENTRIES_ONLY.load(Ordering::Relaxed) {
                (*header).set_entries_only();
            }
            (*header).pid = sys::pid();
            (*header).tid = sys::tid();
            (*header).start_time = clock::ticks();
            thread::name(&mut (*header).name, (*header).tid == (*header).pid);
            (*header).set_clock_hz(stamp::clock_hz(clock::rate()));
            let (mut writer, place) =
                Writer::init(header, region.data(), region.size(), stamp::now(), ever(config));
            if config.frames != Frames::Packed {
                writer.be_single(stamp::source(config));
            }
            self.track().write(Track::new(writer, place, region.addresses(), number as u16));
        }
    }

    /// Lays out its ring anew for the calling thread, which has taken it.
    fn lay_out_again(&self, config: &Config) {
        let Some(region) = self.region() else { return };
        // The file came, or has room again, or was cut since the ring was made.
        if self.in_memory.load(Ordering::Relaxed) {
            self.move_to_file(config);
        } else if let Some(file) = file::get()
            && !file.restore(place_in_file(self.number(), config), ring_len(config.size))
        {
            region.unshare::<0>();
            self.in_memory.store(true, Ordering::Relaxed);
        }
        self.ring().inspect(|header| header.count_earlier());
        // SAFETY: a slot that was taken has all, and it is the caller's.
        unsafe { self.lay_out(self.number(), region, config) };
    }

    /// Memory for its track.
    fn map_track(&self) -> Option<()> {
        if self.track().is_null() {
            self.track.store(sys::map_anonymous(size_of::<Track>())?.cast(), Ordering::Relaxed);
        }
        Some(())
    }

    /// Its track.
    pub(super) fn track(&self) -> *mut Track {
        self.track.load(Ordering::Relaxed)
    }

    /// Its place among all. What its ring says of that may be lost.
    pub(super) fn number(&self) -> usize {
        SLOTS.iter().position(|slot| core::ptr::eq(slot, self)).unwrap_or(0)
    }

    /// Moves its ring, which nobody else writes, into the file, if there is one with room. It stays at its address, so
    /// its writer need not know.
    pub(super) fn move_to_file(&self, config: &Config) -> bool {
        let Some((file, region)) = file::get().zip(self.region()) else { return false };
        let is_moved = file.move_region(place_in_file(self.number(), config), region, true);
        self.in_memory.store(!is_moved, Ordering::Relaxed);
        is_moved
    }

    /// Has `function` called when the calling thread ends. False where that cannot be; then its end is found out later.
    pub(super) fn notice_end(&self, function: extern "C" fn(*mut core::ffi::c_void)) -> bool {
        let is_noticed = thread::call_at_end(function, self.header.load(Ordering::Relaxed).cast());
        if !is_noticed {
            self.watched.store(sys::tid(), Ordering::Release);
        }
        is_noticed
    }

    /// Finds out whether its thread has ended, where that could not say so.
    fn look_after(&self) {
        let tid = self.watched.load(Ordering::Acquire);
        let is_first = || self.watched.compare_exchange(tid, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if tid != 0 && !sys::has_thread(tid) && is_first() {
            self.end(Status::Ended);
            self.ended.end(&ENDED);
        }
    }

    /// The header of its ring, which is laid out.
    pub(super) fn ring(&self) -> Option<&'static HostedHeader> {
        // SAFETY: a slot's header is laid out and stays mapped, and what changes in it is atomic.
        unsafe { self.header.load(Ordering::SeqCst).as_ref() }
    }

    /// Its ring as the ticker knows it, if its stamps are those of the clock.
    pub(super) fn watched(&self, config: &Config) -> Option<ticker::Ring> {
        let is_timed = config.time == Time::On && config.frames != Frames::Exact && !stamp::is_given();
        let region = self.region().filter(|_| is_timed)?;
        Some(ticker::Ring { header: region.header().cast(), addresses: region.addresses() })
    }

    /// The memory of its ring.
    pub(super) fn region(&self) -> Option<Region> {
        Region::of(self.header.load(Ordering::SeqCst).cast())
    }

    fn is(&self, status: Status) -> bool {
        self.ring().is_some_and(|header| header.status_code() == status.code())
    }

    /// Publishes how the thread came to its end, unless something worse is known.
    pub(super) fn end(&self, status: Status) {
        if let Some(header) = self.ring().filter(|_| self.is(Status::Live)) {
            header.set_status(status);
        }
    }
}

/// The words directly before a cursor in a region, which only this thread writes.
pub(super) fn words_before<'a>(region: Region, cursor: *mut u8) -> &'a [u8] {
    let mut len = 0;
    while cursor.addr() - len >= region.data().addr() + UNIT {
        // SAFETY: the unit lies between the start of the data and a cursor behind them or their mirror.
        let unit = unsafe { cursor.wrapping_sub(len + UNIT).cast::<[u8; UNIT]>().read_volatile() };
        if !unit.iter().all(|byte| digit_of(*byte).is_some()) {
            break;
        }
        len += UNIT;
    }
    // SAFETY: these bytes were just read, and the caller's thread is the only one that writes them.
    unsafe { core::slice::from_raw_parts(cursor.wrapping_sub(len), len) }
}

/// Every ring there is, as memory: start and length, with a number that it keeps whatever rings come later.
pub(super) fn numbered_rings() -> impl Iterator<Item = (usize, *const u8, usize)> {
    let rings = SLOTS.iter().enumerate();
    rings.filter_map(|(number, slot)| {
        let region = slot.region()?;
        Some((number, region.header().cast_const(), region.len()))
    })
}
