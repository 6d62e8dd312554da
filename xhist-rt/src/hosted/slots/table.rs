//! The slots of the process: each has memory for a ring and its track, and keeps them when its thread has ended.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use qs_core::record::words::{UNIT, digit_of};
use qs_core::ring::Status;

use super::layout::place_in_file;
use crate::hosted::setup::config::Config;
use crate::hosted::setup::file::Opened;
use crate::hosted::system::mirror::Region;
use crate::hosted::system::shared_state::{Fact, Home, Numbers, Published, SlotOwner};
use crate::hosted::system::sys;
use crate::hosted::thread_state::{Handlers, Track, TrackPtr};
use crate::hosted::words::HostedHeader;
use crate::value::types;

/// If more threads than this live at once, the recorder does not record the others.
pub(crate) const MAX_RINGS: usize = 1024;

/// In [`Slot::lane`]: a handler recorded something.
const WRITTEN: u32 = 1 << 15;

/// Memory for one ring, and what the process knows of its thread.
pub(crate) struct Slot {
    pub(crate) header: Published<HostedHeader>,
    /// The track, in memory of its own.
    track: AtomicPtr<Track>,
    /// Whether the thread has ended.
    pub(crate) ended: SlotOwner,
    /// Which file the ring is in.
    pub(crate) home: Home,
    /// The signal handlers of the thread.
    handlers: AtomicPtr<Handlers>,
    /// Memory for the spectrum of the thread.
    pub(crate) spectrum: AtomicPtr<u8>,
    /// In a lane: the number of the ring that its handlers interrupt, their level, and [`WRITTEN`]; otherwise 0.
    lane: AtomicU32,
    /// Id of the thread if its end cannot be noticed; otherwise 0.
    watched: AtomicU32,
}

pub(crate) static SLOTS: [Slot; MAX_RINGS] = [const {
    Slot {
        header: Published::null(),
        track: AtomicPtr::new(null_mut()),
        ended: SlotOwner::new(),
        home: Home::new(),
        handlers: AtomicPtr::new(null_mut()),
        spectrum: AtomicPtr::new(null_mut()),
        lane: AtomicU32::new(0),
        watched: AtomicU32::new(0),
    }
}; MAX_RINGS];

/// The program records values. A program of tests has no `main` that would call this, so its first values do.
pub(crate) fn set_values() {
    if HAS_VALUES.get().is_none() {
        HAS_VALUES.announce(1, || SLOTS.iter().filter_map(Slot::ring).for_each(set_facts));
    }
}

/// Sets in a ring what is known of the program.
pub(crate) fn set_facts(header: &HostedHeader) {
    if let Some(hash) = MAP_HASH.get() {
        header.set_map_hash(hash);
    }
    if ENTRIES_ONLY.get().is_some() {
        header.set_entries_only();
    }
    if HAS_VALUES.get().is_some() {
        header.set_values();
    }
    header.set_anchor(types::anchor_address());
}

/// Numbers of slots that threads have taken so far.
pub(crate) static RINGS: Numbers = Numbers::new();
/// Number of threads that have ended.
pub(crate) static ENDED: AtomicU64 = AtomicU64::new(0);
/// The executed bitmap of this process.
pub(crate) static EXECUTED: Published<u8> = Published::null();
/// Hash of the map that the program was instrumented with; 0 = not set.
pub(crate) static MAP_HASH: Fact = Fact::new();
/// 1: the program records only entries of functions.
static ENTRIES_ONLY: Fact = Fact::new();
/// 1: the program records values.
static HAS_VALUES: Fact = Fact::new();

/// The first ring's memory, for debuggers: `dump binary memory dump.bin` from here on.
#[unsafe(no_mangle)]
pub(crate) static XHIST_RING: AtomicPtr<HostedHeader> = AtomicPtr::new(null_mut());
/// Number of bytes at [`XHIST_RING`], header included.
#[unsafe(no_mangle)]
pub(crate) static XHIST_RING_LEN: AtomicU64 = AtomicU64::new(0);

/// Zeroed memory for the handlers of the thread that has this slot.
pub(crate) fn memory_for_handlers(slot: u16) -> Option<*mut Handlers> {
    let place = &SLOTS.get(usize::from(slot))?.handlers;
    if place.load(Ordering::Relaxed).is_null() {
        place.store(sys::map_anonymous(size_of::<Handlers>())?.cast(), Ordering::Relaxed);
    }
    Some(place.load(Ordering::Relaxed))
}

/// The slot of this track.
pub(crate) fn of_track(track: TrackPtr) -> Option<&'static Slot> {
    SLOTS.iter().take(made()).find(|slot| slot.track() == track.as_ptr())
}

/// If this is the track of a lane, its handlers have recorded something.
#[inline(always)]
pub(crate) fn set_written(track: TrackPtr) {
    if track.is_lane
        && let Some(slot) = SLOTS.get(usize::from(track.slot))
        && slot.is_silent()
    {
        slot.lane.fetch_or(WRITTEN, Ordering::Relaxed);
    }
}

/// Writes the number of rings into the first ring. Each of two threads that come at once counts after its own ring is
/// there, so one of them counts both.
pub(crate) fn count_rings() {
    let newest = SLOTS.iter().rposition(|slot| slot.ring().is_some());
    if let (Some(first), Some(newest)) = (SLOTS[0].ring(), newest) {
        first.count_rings(newest as u16 + 1);
    }
}

/// The hash of the map that the program was instrumented with.
pub(crate) fn map_hash(config: &Config) -> u64 {
    MAP_HASH.get().unwrap_or(config.map_hash)
}

/// This program records only entries of functions.
pub(crate) fn set_entries_only() {
    ENTRIES_ONLY.announce(1, || SLOTS.iter().filter_map(Slot::ring).for_each(set_facts));
}

/// Number of slots from the first on that may have rings.
pub(crate) fn made() -> usize {
    RINGS.given(MAX_RINGS)
}

/// In a forked child: there are no rings.
pub(crate) fn forget_rings() {
    for slot in &SLOTS {
        slot.header.forget();
        slot.track.store(null_mut(), Ordering::Relaxed);
        slot.handlers.store(null_mut(), Ordering::Relaxed);
        slot.spectrum.store(null_mut(), Ordering::Relaxed);
        slot.watched.store(0, Ordering::Relaxed);
        slot.ended.live();
    }
    RINGS.forget();
    EXECUTED.forget();
}

/// Writes the rate of the clock to every ring, as a header has it.
pub(crate) fn publish_clock_hz(hz: u32) {
    for header in SLOTS.iter().take(made()).filter_map(Slot::ring) {
        header.set_clock_hz(hz);
    }
}

impl Slot {
    /// Maps memory for the track.
    pub(crate) fn map_track(&self) -> Option<()> {
        if self.track().is_null() {
            self.track.store(sys::map_anonymous(size_of::<Track>())?.cast(), Ordering::Relaxed);
        }
        Some(())
    }

    pub(crate) fn track(&self) -> *mut Track {
        self.track.load(Ordering::Relaxed)
    }

    /// Keeps what the header of a lane says. The header may be lost with the file.
    pub(crate) fn set_lane(&self, interrupted: u16, level: usize) {
        self.lane.store(u32::from(interrupted) << 16 | level as u32, Ordering::Relaxed);
    }

    /// The number of the ring that the handlers of this lane interrupt, and their level; level 0: it is not a lane.
    pub(crate) fn lane(&self) -> (u16, usize) {
        let lane = self.lane.load(Ordering::Relaxed);
        ((lane >> 16) as u16, (lane & (WRITTEN - 1)) as usize)
    }

    /// Whether it is a lane whose handlers have recorded nothing.
    pub(crate) fn is_silent(&self) -> bool {
        let lane = self.lane.load(Ordering::Relaxed);
        lane != 0 && lane & WRITTEN == 0
    }

    /// The memory for the signal handlers of the thread; null if none has run.
    pub(crate) fn handlers(&self) -> *mut Handlers {
        self.handlers.load(Ordering::Relaxed)
    }

    /// The number of the slot. The number in the ring's header may be lost with the file.
    pub(crate) fn number(&self) -> usize {
        SLOTS.iter().position(|slot| core::ptr::eq(slot, self)).unwrap_or(0)
    }

    /// Moves the ring into this file, if that has room. No other thread writes the ring. It keeps its address, so its
    /// writer continues unchanged.
    pub(crate) fn move_to(&self, opened: &Opened, config: &Config) -> bool {
        let Some(region) = self.region() else { return false };
        let is_moved = opened.file.move_region(place_in_file(self.number(), config), region, true);
        self.home.put(is_moved.then_some(opened.number));
        is_moved
    }

    /// Has `function` called when the calling thread ends. Returns false if that is not possible; then
    /// [`Slot::check_for_end`] detects the end.
    pub(crate) fn notice_end(&self, function: extern "C" fn(*mut core::ffi::c_void)) -> bool {
        let is_noticed = sys::call_at_end(function, self.header.get().cast());
        if !is_noticed {
            self.watched.store(sys::tid(), Ordering::Release);
        }
        is_noticed
    }

    /// Checks whether a thread has ended whose end cannot be noticed.
    pub(crate) fn check_for_end(&self) {
        let tid = self.watched.load(Ordering::Acquire);
        let is_first = || self.watched.compare_exchange(tid, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if tid != 0 && !sys::has_thread(tid) && is_first() {
            self.end(Status::Ended);
            self.ended.end(&ENDED);
        }
    }

    /// The header of the ring, which is laid out.
    pub(crate) fn ring(&self) -> Option<&'static HostedHeader> {
        // SAFETY: `acquire` publishes a header that it has laid out. It stays mapped, and what changes in it is atomic.
        unsafe { self.header.get().as_ref() }
    }

    /// The memory of the ring.
    pub(crate) fn region(&self) -> Option<Region> {
        Region::of(self.header.get().cast())
    }

    pub(crate) fn is(&self, status: Status) -> bool {
        self.ring().is_some_and(|header| header.status_code() == status.code())
    }

    /// Publishes how the thread has ended, unless its ring already has a status.
    pub(crate) fn end(&self, status: Status) {
        if let Some(header) = self.ring().filter(|_| self.is(Status::Live)) {
            header.set_status(status);
        }
    }
}

/// The words directly before a cursor in a region, which only this thread writes.
pub(crate) fn words_before<'a>(region: Region, cursor: *mut u8) -> &'a [u8] {
    let mut len = 0;
    while cursor.addr() - len >= region.data().addr() + UNIT {
        // SAFETY: the unit lies between the start of the data and a cursor in the data or their mirror.
        let unit = unsafe { cursor.wrapping_sub(len + UNIT).cast::<[u8; UNIT]>().read_volatile() };
        if !unit.iter().all(|byte| digit_of(*byte).is_some()) {
            break;
        }
        len += UNIT;
    }
    // SAFETY: the loop has just read these bytes, and only the calling thread writes them.
    unsafe { core::slice::from_raw_parts(cursor.wrapping_sub(len), len) }
}

/// The words directly before this cursor, which a child has written where a ring was that it has left. Its memory
/// there is its own.
pub(crate) fn words_left_behind<'a>(cursor: *mut u8) -> Option<&'a [u8]> {
    // Scratch memory has no header.
    let region = Region::of(cursor).filter(|region| region.len() > region.size())?;
    let is_ring = SLOTS.iter().filter_map(Slot::region).any(|ring| ring.header() == region.header());
    (!is_ring).then(|| words_before(region, cursor))
}

/// Every ring as memory: its number, start and length. A ring keeps its number.
pub(crate) fn numbered_rings() -> impl Iterator<Item = (usize, *const u8, usize)> {
    let rings = SLOTS.iter().enumerate();
    rings.filter_map(|(number, slot)| {
        let region = slot.region()?;
        Some((number, region.header().cast_const(), region.len()))
    })
}

/// Number of bytes that earlier threads wrote into the ring of this number.
pub(crate) fn by_earlier(number: usize) -> u64 {
    SLOTS.get(number).and_then(Slot::ring).map_or(0, HostedHeader::earlier)
}

/// Copies bytes of the ring with this number, from this offset of its memory on.
pub(crate) fn read(number: usize, offset: usize, into: &mut [u8]) {
    let Some(region) = SLOTS.get(number).and_then(Slot::region) else { return };
    for (byte, place) in into.iter_mut().zip(offset..region.len()) {
        // SAFETY: the region has these bytes and stays mapped. Other threads write them, so they are read as volatile,
        // and used only as far as the header confirms them.
        *byte = unsafe { region.header().add(place).read_volatile() };
    }
}
