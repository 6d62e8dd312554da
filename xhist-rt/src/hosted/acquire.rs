//! How a thread gets a slot with an empty ring, and how the parts of a ring get into the ring file. No locks and no
//! allocation, because a first statement may run inside an allocator or a signal handler.

use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use qs_core::ring::{Causes, Flags, Status};

use crate::hosted::executed::ExecutedBitmap;
use crate::hosted::setup::config::{Config, Frames, Time};
use crate::hosted::setup::{clock, file, owner};
use crate::hosted::slots::layout::{header_len, place_in_file, ring_len};
use crate::hosted::slots::{self, spare, spectra};
use crate::hosted::slots::{
    ENDED, EXECUTED, MAP_HASH, MAX_RINGS, RINGS, SLOTS, Slot, XHIST_RING, XHIST_RING_LEN, count_rings,
    map_hash, set_facts,
};
use crate::hosted::system::mirror::{self, Region};
use crate::hosted::system::shared_state::claim_longest_vacant;
use crate::hosted::system::sys;
use crate::hosted::thread_state::{Track, TrackPtr};
use crate::hosted::timing::stamp;
use crate::hosted::words::{HostedHeader, WordsWriter};

/// Threads take over the rings of ended threads as soon as there are this many rings.
const ENOUGH_RINGS: usize = 64;

/// A slot with an empty ring: a new one, or that of the thread that ended first.
pub(crate) fn acquire(config: &Config) -> Option<&'static Slot> {
    let is_enough = slots::made() >= ENOUGH_RINGS;
    if is_enough {
        SLOTS.iter().for_each(Slot::check_for_end);
    }
    let new = || RINGS.take(MAX_RINGS).map(|number| &SLOTS[number]);
    // A slot whose ring could not be made: the first one has to have a ring. Then the lane of an ended thread whose handlers
    // recorded nothing: no history is lost with it.
    let free = vacant(|slot| slot.ring().is_none()).or_else(|| vacant(Slot::is_silent));
    let slot = free.or_else(|| is_enough.then(reuse).flatten()).or_else(new).or_else(reuse)?;
    match slot.region() {
        Some(region) => lay_out_again(slot, region, config),
        None if make_ring(slot, config).is_none() => {
            // The next thread may find memory.
            slot.ended.end(&ENDED);
            return None;
        }
        None => {}
    }
    // Another thread may have announced something before this ring was published.
    slot.ring().inspect(|header| set_facts(header));
    Some(slot)
}

/// The first slot of which this holds and that no thread has.
fn vacant(is_it: impl Fn(&Slot) -> bool) -> Option<&'static Slot> {
    // The order first: it is another one when a thread has had the slot meanwhile.
    let claim = |slot: &&Slot| slot.ended.order().is_some_and(|order| is_it(slot) && slot.ended.take(order));
    SLOTS.iter().take(slots::made()).find(claim)
}

/// Makes the ring of a slot that the calling thread alone has. `None` without memory for it.
fn make_ring(slot: &Slot, config: &Config) -> Option<()> {
    slot.map_track()?;
    let region = mirror::map(config.size as usize, header_len(config.size))?;
    let number = slot.number();
    owner::set_owner();
    match file::get() {
        Some(opened) => {
            let is_there = opened.file.move_region(place_in_file(number, config), region, false);
            slot.home.put(is_there.then_some(opened.number));
            if !is_there {
                count_missing();
            }
        }
        None => slot.home.stay_in_memory(),
    }
    let header = region.header().cast::<HostedHeader>();
    // SAFETY: the region is new and was mapped with this size, and the calling thread alone has the slot.
    slot.header.publish(header, || unsafe { lay_out(slot, number, region, config) });
    if number == 0 {
        XHIST_RING_LEN.store(ring_len(config.size) as u64, Ordering::Relaxed);
        XHIST_RING.store(header, Ordering::Release);
    }
    count_rings();
    // The program may have named a file meanwhile.
    if let Some(opened) = file::get()
        && slot.home.is_to_move(opened.number)
        && !slot.move_to(opened, config)
    {
        count_missing();
    }
    spare::report_lost();
    Some(())
}

/// The track of a new lane for handlers of this level that interrupt a ring. Signals are blocked. Handlers may have
/// small stacks.
pub(crate) fn new_lane(interrupted: u16, level: usize) -> Option<TrackPtr> {
    let slot = sys::on_large_stack(|| acquire(&Config::get()?))?;
    slot.ring().inspect(|header| header.set_lane(interrupted, level));
    slot.set_lane(interrupted, level);
    spectra::share(slot, interrupted);
    // SAFETY: `acquire` gave the slot to this thread, with a track that is laid out and stays mapped.
    Some(unsafe { TrackPtr::new(slot.track()) })
}

/// The file has no room for a part of the rings: at least one statement is missing there.
fn count_missing() {
    spare::count_lost(1);
    match SLOTS[0].ring() {
        None => file::has_no_room(),
        Some(first) if file::is_closed() => first.add_cause(Causes::FILE_CLOSED),
        Some(_) => {}
    }
}

/// Takes the slot of the thread that ended first. Slots of threads that panicked come last.
fn reuse() -> Option<&'static Slot> {
    claim_longest_vacant(&SLOTS, |slot| &slot.ended, |slot, order| (slot.is(Status::Panicked), order))
}

/// The executed bitmap, if the configuration asks for one. It is made together with the first ring.
fn executed(config: &Config) -> Option<ExecutedBitmap> {
    if config.executed_slots == 0 {
        return None;
    }
    let known = EXECUTED.get();
    if !known.is_null() {
        // SAFETY: this or another thread has mapped memory of this length there, whose words are atomic.
        return Some(unsafe { ExecutedBitmap::at(known, config.executed_slots) });
    }
    let len = ExecutedBitmap::len(config.executed_slots);
    let memory = sys::map_with_end(len)?;
    let opened = file::get();
    if opened.is_some_and(|opened| !opened.file.map_over(0, len, memory, false, usize::MAX)) {
        count_missing();
    }
    // If another thread comes first, its mapping of the same bytes of the file serves as well.
    EXECUTED.publish_after(null_mut(), memory, || {
        // SAFETY: the memory was mapped with this length, and mappings are aligned to pages.
        unsafe { ExecutedBitmap::new(memory, config.executed_slots, map_hash(config), sys::pid()) };
    });
    let memory = EXECUTED.get();
    // The program may have named a file meanwhile.
    if let (None, Some(opened)) = (opened, file::get())
        && !opened.file.map_over(0, len, memory, true, usize::MAX)
    {
        count_missing();
    }
    // SAFETY: this or another thread has laid the bitmap out there.
    let executed = unsafe { ExecutedBitmap::at(memory, config.executed_slots) };
    if let Some(hash) = MAP_HASH.get() {
        executed.set_map_hash(hash);
    }
    Some(executed)
}

/// Sets which map this program was instrumented with.
pub(crate) fn set_map_hash(hash: u64) {
    MAP_HASH.announce(hash, || {
        if !EXECUTED.get().is_null()
            && let Some(executed) = Config::get().and_then(|config| executed(&config))
        {
            executed.set_map_hash(hash);
        }
        SLOTS.iter().filter_map(Slot::ring).for_each(|header| header.set_map_hash(hash));
    });
}

/// Lays out an empty ring for the calling thread.
///
/// # Safety
/// The region has room for a ring of this configuration, the slot has memory for a track, and no other thread uses
/// either.
unsafe fn lay_out(slot: &Slot, number: usize, region: Region, config: &Config) {
    let header = region.header().cast::<HostedHeader>();
    slot.set_lane(0, 0);
    region.take_cut();
    // SAFETY: the caller gives memory for header, ring and track that only this thread uses.
    unsafe {
        lay_out_header(header, number, config);
        let header = (header, header_len(config.size));
        let (mut writer, place) =
            WordsWriter::init(header, region.data(), region.size(), stamp::now(), executed(config));
        if config.frames != Frames::Packed {
            writer.append_slowly();
        }
        slot.track().write(Track::new(writer, place, region.addresses(), number as u16));
    }
}

/// Lays out the header of an empty ring for the calling thread.
///
/// # Safety
/// The memory is that of the header of a ring of this configuration, and only this thread writes it.
unsafe fn lay_out_header(header: *mut HostedHeader, number: usize, config: &Config) {
    let clock_flag = if clock::is_counter() { 0 } else { Flags::MONOTONIC.0 };
    let order_flag = if config.frames == Frames::Exact { Flags::EXACT.0 } else { Flags::TIME_AUTO.0 };
    let time_width = if config.time == Time::Off { 0 } else { 4 };
    // SAFETY: the caller gives memory for a header that only this thread uses.
    unsafe {
        (*header).number = number as u16;
        (*header).set_lane(0, 0);
        (*header).init(
            header_len(config.size),
            config.size,
            time_width,
            clock_flag | order_flag,
            map_hash(config),
        );
        set_facts(&*header);
        (*header).pid = sys::pid();
        (*header).tid = sys::tid();
        (*header).start_time = clock::ticks();
        (*header).start_wall = sys::wall_nanos();
        sys::thread_name(&mut (*header).name);
        (*header).set_clock_hz(stamp::clock_hz(clock::rate()));
    }
}

/// The file of the ring in this slot was emptied: lays the header out again for the calling thread. Returns the number
/// of bytes directly before the cursor that are words, written since.
pub(crate) fn lay_out_header_again(number: u16, cursor: *mut u8) -> usize {
    let slot = &SLOTS[usize::from(number)];
    let (Some(region), Some(config)) = (slot.region(), Config::get()) else { return 0 };
    if let Some(opened) = file::get().filter(|opened| slot.home.is_in(opened.number)) {
        opened.file.restore(place_in_file(slot.number(), &config), ring_len(config.size));
    }
    let header = region.header().cast::<HostedHeader>();
    let panicked = slot.is(Status::Panicked);
    // SAFETY: the slot belongs to the calling thread, and other threads only change what is atomic. Another process may
    // have left anything in the file.
    unsafe {
        header.write_bytes(0, 1);
        lay_out_header(header, slot.number(), &config);
    }
    if let (Some(header), (interrupted, level)) = (slot.ring(), slot.lane()) {
        header.set_lane(interrupted, level);
        if panicked {
            header.set_status(Status::Panicked);
        }
    }
    count_rings();
    if let Some(executed) = executed(&config) {
        executed.lay_out_again(map_hash(&config), sys::pid());
    }
    slots::words_before(region, cursor).len()
}

/// Lays out the ring of a slot again for the calling thread, which has claimed the slot.
fn lay_out_again(slot: &Slot, region: Region, config: &Config) {
    // Since the ring was made, the program may have named a file, the disk may have got room, or the file may have
    // been cut.
    match file::get() {
        Some(opened) if !slot.home.is_in(opened.number) => {
            slot.move_to(opened, config);
        }
        Some(opened) if !opened.file.restore(place_in_file(slot.number(), config), ring_len(config.size)) => {
            region.unshare::<0>();
            slot.home.put(None);
        }
        _ => {}
    }
    slot.ring().inspect(|header| header.count_earlier());
    let header = region.header().cast();
    // SAFETY: a slot that a thread has claimed has a region and a track, and belongs to that thread.
    slot.header.publish(header, || unsafe { lay_out(slot, slot.number(), region, config) });
}
