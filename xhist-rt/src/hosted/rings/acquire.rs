//! How a thread gets a slot with an empty ring, and how the parts of a ring get into the ring file. No locks and no
//! allocation, because a first statement may run inside an allocator or a signal handler.

use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use qs_core::ring::{Flags, Status};

use super::layout::{header_len, place_in_file, ring_len};
use super::slots::{
    EXECUTED, MAP_HASH, MAX_RINGS, RINGS, SLOTS, Slot, XHIST_RING, XHIST_RING_LEN, count_rings, map_hash,
    set_facts,
};
use super::{spare, spectra};
use crate::executed::ExecutedBitmap;
use crate::hosted::setup::config::{Config, Frames, Time};
use crate::hosted::setup::{clock, file, owner};
use crate::hosted::system::mirror::{self, Region};
use crate::hosted::system::ring_file::RingFile;
use crate::hosted::system::shared_state::claim_longest_vacant;
use crate::hosted::system::{sys, thread};
use crate::hosted::timing::stamp;
use crate::slow_path;
use crate::thread_state::{Track, TrackPtr};
use crate::words::{HostedHeader, WordsWriter};

/// Threads take over the rings of ended threads as cleared_for_words as there are this many rings.
const ENOUGH_RINGS: usize = 64;

/// A slot with an empty ring: a new one, or that of the thread that ended first.
pub(crate) fn acquire(config: &Config) -> Option<&'static Slot> {
    let is_enough = RINGS.load(Ordering::Relaxed) as usize >= ENOUGH_RINGS;
    if is_enough {
        SLOTS.iter().for_each(Slot::check_for_end);
    }
    if is_enough && let Some(slot) = reuse() {
        lay_out_again(slot, config);
        return Some(slot);
    }
    let number = RINGS.fetch_add(1, Ordering::Relaxed) as usize;
    let Some(slot) = SLOTS.get(number) else {
        RINGS.store(MAX_RINGS as u32, Ordering::Relaxed);
        return reuse().inspect(|slot| lay_out_again(slot, config));
    };
    let region = slot.map_track().and_then(|()| mirror::map(config.size as usize, header_len()));
    let Some(region) = region else {
        // The next thread may find memory.
        let _ = RINGS.compare_exchange(number as u32 + 1, number as u32, Ordering::SeqCst, Ordering::SeqCst);
        return None;
    };
    let is_in_file = keep_in_file(|file| file.move_region(place_in_file(number, config), region, false));
    slot.in_memory.store(!is_in_file, Ordering::Relaxed);
    let header = region.header().cast::<HostedHeader>();
    if number == 0 {
        owner::set_owner();
        XHIST_RING_LEN.store(ring_len(config.size) as u64, Ordering::Relaxed);
        XHIST_RING.store(header, Ordering::Relaxed);
    }
    slot.ended.live();
    // SAFETY: the region is new and was mapped with this size. `fetch_add` gave the slot to this thread alone.
    unsafe { lay_out(slot, number, region, config) };
    slot.header.store(header, Ordering::SeqCst);
    count_rings();
    // A thread that set something for every ring may have missed this one.
    slot.ring().inspect(|header| {
        header.set_map_hash(map_hash(config));
        set_facts(header);
    });
    spare::report_lost();
    Some(slot)
}

/// The track of a new lane for handlers of this level that interrupt a ring. Signals are blocked. Handlers may have
/// small stacks.
pub(crate) fn new_lane(interrupted: u16, level: usize) -> Option<TrackPtr> {
    let slot = sys::on_large_stack(|| acquire(&Config::get()?))?;
    slot.ring().inspect(|header| header.set_lane(interrupted, level));
    spectra::share(slot, interrupted);
    // SAFETY: `acquire` gave the slot to this thread, with a track that is laid out and stays mapped.
    Some(unsafe { TrackPtr::new(slot.track()) })
}

/// Puts a part of the rings into the ring file, if there is one. Returns whether it is in the file. If the file has
/// no room, at least one statement is missing there.
fn keep_in_file(put: impl FnOnce(RingFile) -> bool) -> bool {
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

/// Takes the slot of the thread that ended first. Slots of threads that panicked come last.
fn reuse() -> Option<&'static Slot> {
    claim_longest_vacant(&SLOTS, |slot| &slot.ended, |slot, order| (slot.is(Status::Panicked), order))
}

/// The executed bitmap, if the configuration asks for one. It is made together with the first ring.
fn executed(config: &Config) -> Option<ExecutedBitmap> {
    if config.executed_slots == 0 {
        return None;
    }
    let known = EXECUTED.load(Ordering::Acquire);
    if !known.is_null() {
        // SAFETY: this or another thread has mapped memory of this length there, whose words are atomic.
        return Some(unsafe { ExecutedBitmap::at(known, config.executed_slots) });
    }
    let len = ExecutedBitmap::len(config.executed_slots);
    let memory = sys::map_with_end(len)?;
    keep_in_file(|file| file.map_over(0, len, memory, false, usize::MAX));
    // If another thread came first, its mapping of the same bytes of the file serves as well.
    let _ = EXECUTED.compare_exchange(null_mut(), memory, Ordering::AcqRel, Ordering::Acquire);
    let memory = EXECUTED.load(Ordering::Acquire);
    // SAFETY: the memory was mapped with this length, and mappings are aligned to pages.
    Some(unsafe { ExecutedBitmap::new(memory, config.executed_slots, map_hash(config), sys::pid()) })
}

/// Sets which map this program was instrumented with.
pub(crate) fn set_map_hash(hash: u64) {
    MAP_HASH.store(hash, Ordering::Relaxed);
    if !EXECUTED.load(Ordering::Relaxed).is_null()
        && let Some(executed) = Config::get().and_then(|config| executed(&config))
    {
        executed.set_map_hash(hash);
    }
    SLOTS.iter().filter_map(Slot::ring).for_each(|header| header.set_map_hash(hash));
}

/// Lays out an empty ring for the calling thread.
///
/// # Safety
/// The region has room for a ring of this configuration, the slot has memory for a track, and no other thread uses
/// either.
unsafe fn lay_out(slot: &Slot, number: usize, region: Region, config: &Config) {
    let clock_flag = if clock::is_counter() { 0 } else { Flags::MONOTONIC.0 };
    let order_flag = if config.frames == Frames::Exact { Flags::EXACT.0 } else { Flags::TIME_AUTO.0 };
    let time_width = if config.time == Time::Off { 0 } else { 4 };
    let header = region.header().cast::<HostedHeader>();
    // SAFETY: the caller gives memory for header, ring and track that only this thread uses.
    unsafe {
        (*header).number = number as u16;
        (*header).set_lane(0, 0);
        (*header).init(header_len(), config.size, time_width, clock_flag | order_flag, map_hash(config));
        set_facts(&*header);
        (*header).pid = sys::pid();
        (*header).tid = sys::tid();
        (*header).start_time = clock::ticks();
        thread::name(&mut (*header).name, (*header).tid == (*header).pid);
        (*header).set_clock_hz(stamp::clock_hz(clock::rate()));
        let (mut writer, place) =
            WordsWriter::init(header, region.data(), region.size(), stamp::now(), executed(config));
        if config.frames != Frames::Packed {
            writer.use_single_chunks(stamp::source(config));
        }
        let roll_over = slow_path::roll_over_of(&writer);
        slot.track().write(Track::new(writer, place, region.addresses(), number as u16, roll_over));
    }
}

/// Lays out the ring of a slot again for the calling thread, which has claimed the slot.
fn lay_out_again(slot: &Slot, config: &Config) {
    let Some(region) = slot.region() else { return };
    // Since the ring was made, the program may have named a file, the disk may have got room, or the file may have
    // been cut.
    if slot.in_memory.load(Ordering::Relaxed) {
        slot.move_to_file(config);
    } else if let Some(file) = file::get()
        && !file.restore(place_in_file(slot.number(), config), ring_len(config.size))
    {
        region.unshare::<0>();
        slot.in_memory.store(true, Ordering::Relaxed);
    }
    slot.ring().inspect(|header| header.count_earlier());
    // SAFETY: a slot that a thread has claimed has a region and a track, and belongs to that thread.
    unsafe { lay_out(slot, slot.number(), region, config) };
}
