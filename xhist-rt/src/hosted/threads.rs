//! Which ring belongs to which thread: made at a thread's first statement, kept when the thread
//! has ended, reused oldest first once there are many. No locks and no allocation, because a first
//! statement may run inside an allocator or a signal handler.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use qs_core::record::EventKind;
use qs_core::ring::{FLAG_TIME_AUTO, HOSTED_HEADER_LEN, NAME_LEN, Status};

use super::config::{self, Config, Time};
use super::sys;
use crate::ring::{Header, Ring};

/// Rings of ended threads are reused once there are this many rings.
const ENOUGH_RINGS: usize = 64;
/// With `XHIST_TIME=coarse`, one statement of so many carries a time stamp.
const COARSE: u32 = 16;
/// Threads beyond this many living ones are not recorded.
const MAX_RINGS: usize = 1024;

/// A place for a ring.
struct Slot {
    header: AtomicPtr<Header>,
    /// 0: its thread lives. Otherwise the how-manieth thread to end it was.
    ended: AtomicU64,
}

static SLOTS: [Slot; MAX_RINGS] =
    [const { Slot { header: AtomicPtr::new(null_mut()), ended: AtomicU64::new(0) } }; MAX_RINGS];
static RINGS: AtomicU32 = AtomicU32::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);
/// Which statements carry time stamps: those whose sequence number has none of these bits.
static UNSTAMPED: AtomicU32 = AtomicU32::new(NO_STAMPS);
/// Set in every sequence number that is held against [`UNSTAMPED`].
const NO_STAMPS: u32 = 0x100;
static MAP_HASH: AtomicU64 = AtomicU64::new(0);
static EXIT_KEY: AtomicU64 = AtomicU64::new(NO_KEY);
static CLOCK_START: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

const NO_KEY: u64 = u64::MAX;

/// The first ring's memory, for debuggers: `dump binary memory dump.bin` from here on.
#[unsafe(no_mangle)]
static XHIST_RING: AtomicPtr<Header> = AtomicPtr::new(null_mut());
/// Bytes from [`XHIST_RING`] on, header included.
#[unsafe(no_mangle)]
static XHIST_RING_LEN: AtomicU64 = AtomicU64::new(0);

/// In [`CURRENT`]: this thread is not recorded.
const OFF: *mut Header = core::ptr::without_provenance_mut(8);

std::thread_local! {
    // Without a destructor, so that it works before the thread is set up and while it ends.
    static CURRENT: Cell<*mut Header> = const { Cell::new(null_mut()) };
}

/// Records that the statement `word` (file id and line) is about to run.
#[inline(never)]
pub fn record(word: u32) {
    let header = CURRENT.get();
    if header.addr() <= OFF.addr() {
        return first(word);
    }
    // SAFETY: `CURRENT` holds a laid-out ring that belongs to this thread until it ends.
    let ring = unsafe { Ring::new(header) };
    if (u32::from(ring.seq()) | NO_STAMPS) & UNSTAMPED.load(Ordering::Relaxed) == 0 {
        ring.append(word, Some(sys::ticks));
    } else {
        ring.append(word, None::<fn() -> u64>);
    }
}

/// The first statement of a thread, or any statement of one that is not recorded.
#[cold]
#[inline(never)]
fn first(word: u32) {
    if CURRENT.get() == OFF {
        return;
    }
    sys::keeping_errno(|| {
        if attach() {
            record(word);
        }
    });
}

/// Gives this thread a ring. False when it has none now.
fn attach() -> bool {
    let Some(config) = Config::get() else { return false };
    let slot = if config.on { acquire(&config) } else { None };
    let Some(slot) = slot else {
        CURRENT.set(OFF);
        return false;
    };
    if !CURRENT.get().is_null() {
        // A signal handler gave this thread a ring meanwhile.
        release(slot);
        return true;
    }
    let header = slot.header.load(Ordering::Relaxed);
    let key = exit_key();
    if key != NO_KEY {
        sys::set_thread_exit_key(key as _, header.cast());
    }
    CURRENT.set(header);
    true
}

/// A slot with an empty ring: a new one, or that of the thread that ended first.
fn acquire(config: &Config) -> Option<&'static Slot> {
    if RINGS.load(Ordering::Relaxed) as usize >= ENOUGH_RINGS
        && let Some(slot) = reuse()
    {
        lay_out(slot.header.load(Ordering::Relaxed), config, None);
        return Some(slot);
    }
    let number = RINGS.fetch_add(1, Ordering::Relaxed) as usize;
    let Some(slot) = SLOTS.get(number) else {
        RINGS.store(MAX_RINGS as u32, Ordering::Relaxed);
        return reuse().inspect(|slot| lay_out(slot.header.load(Ordering::Relaxed), config, None));
    };
    let header = map_ring(number, config.size)?;
    if number == 0 {
        XHIST_RING_LEN.store(ring_len(config.size) as u64, Ordering::Relaxed);
        XHIST_RING.store(header, Ordering::Relaxed);
        CLOCK_START[0].store(sys::ticks(), Ordering::Relaxed);
        CLOCK_START[1].store(sys::nanos(), Ordering::Relaxed);
    }
    // One thread alone needs no clock: its order is that of its ring.
    match config.time {
        Time::On => UNSTAMPED.store(0, Ordering::Relaxed),
        Time::Auto if number > 0 => UNSTAMPED.store(0, Ordering::Relaxed),
        Time::Coarse if number > 0 => UNSTAMPED.store(COARSE - 1, Ordering::Relaxed),
        Time::Auto | Time::Coarse | Time::Off => {}
    }
    lay_out(header, config, Some(number as u32));
    slot.ended.store(0, Ordering::Relaxed);
    slot.header.store(header, Ordering::Release);
    Some(slot)
}

/// Takes the slot of the thread that ended first; those that panicked only when there is no other.
fn reuse() -> Option<&'static Slot> {
    loop {
        let ended = |slot: &&Slot| slot.ended.load(Ordering::Acquire) != 0;
        let rank = |slot: &&Slot| {
            let panicked = ring_of(slot).is_some_and(|ring| ring.status_code() == Status::Panicked.code());
            (panicked, slot.ended.load(Ordering::Relaxed))
        };
        let oldest = SLOTS.iter().filter(ended).min_by_key(rank)?;
        let order = oldest.ended.load(Ordering::Relaxed);
        if order != 0 && oldest.ended.compare_exchange(order, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            return Some(oldest);
        }
    }
}

fn release(slot: &Slot) {
    slot.ended.store(ENDED.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Release);
}

fn ring_len(size: u32) -> usize {
    HOSTED_HEADER_LEN + size as usize
}

fn map_ring(number: usize, size: u32) -> Option<*mut Header> {
    let len = ring_len(size);
    // Each ring is mapped by itself, so it starts a page.
    let stride = len.next_multiple_of(sys::page_size());
    let memory = config::file::get()
        .and_then(|file| file.map((number * stride) as u64, len))
        .or_else(|| sys::map_anonymous(len))?;
    Some(memory.cast())
}

/// Lays out an empty ring for the calling thread.
fn lay_out(header: *mut Header, config: &Config, number: Option<u32>) {
    let time_width = if config.time == Time::Off { 0 } else { 4 };
    let flags = if config.time == Time::On { 0 } else { FLAG_TIME_AUTO };
    let map_hash = match MAP_HASH.load(Ordering::Relaxed) {
        0 => config.map_hash,
        known => known,
    };
    // SAFETY: the memory was mapped with room for a ring and no thread writes it now.
    let ring = unsafe { Ring::new(header) };
    ring.with_header(|header| {
        header.init(config.size, time_width, flags, map_hash);
        header.pid = sys::pid();
        header.tid = sys::tid();
        header.number = number.unwrap_or(header.number);
        header.name = [0; NAME_LEN];
        if header.tid == header.pid {
            header.name[..4].copy_from_slice(b"main");
        } else {
            sys::thread_name(&mut header.name);
        }
    });
    ring.set_clock_hz(clock_hz());
}

/// Rate of the clock, from how far it and the system's clock came since the first ring was made.
fn clock_hz() -> u32 {
    let ticks = sys::ticks().saturating_sub(CLOCK_START[0].load(Ordering::Relaxed));
    let nanos = sys::nanos().saturating_sub(CLOCK_START[1].load(Ordering::Relaxed));
    // Less than this and the rate would be too coarse.
    if nanos < 1_000_000 {
        return 0;
    }
    u32::try_from(u128::from(ticks) * 1_000_000_000 / u128::from(nanos)).unwrap_or(0)
}

fn exit_key() -> u64 {
    let key = EXIT_KEY.load(Ordering::Acquire);
    if key != NO_KEY {
        return key;
    }
    match sys::thread_exit_key(on_thread_exit) {
        None => NO_KEY,
        Some(new) => {
            // Two threads may race; the loser's key is one more in a table of a thousand.
            let _ = EXIT_KEY.compare_exchange(NO_KEY, u64::from(new), Ordering::AcqRel, Ordering::Acquire);
            EXIT_KEY.load(Ordering::Acquire)
        }
    }
}

extern "C" fn on_thread_exit(header: *mut c_void) {
    let header = header.cast::<Header>();
    let Some(slot) = SLOTS.iter().find(|slot| slot.header.load(Ordering::Relaxed) == header) else { return };
    CURRENT.set(null_mut());
    if let Some(ring) = ring_of(slot)
        && ring.status_code() == Status::Live.code()
    {
        ring.set_status(Status::Ended);
    }
    release(slot);
}

fn ring_of(slot: &Slot) -> Option<Ring> {
    let header = slot.header.load(Ordering::Acquire);
    // SAFETY: a slot's header is a laid-out ring; it is only looked at, or told a status.
    (!header.is_null()).then(|| unsafe { Ring::new(header) })
}

/// Every ring there is, as memory: start and length.
pub(super) fn rings() -> impl Iterator<Item = (*const u8, usize)> {
    let size = Config::get().map_or(0, |config| config.size);
    SLOTS.iter().filter_map(move |slot| {
        let header = slot.header.load(Ordering::Acquire);
        (!header.is_null()).then_some((header.cast_const().cast(), ring_len(size)))
    })
}

/// Tells the rate of the clock to every ring, and how the process ends to those of living threads.
pub(super) fn on_process_exit() {
    let hz = clock_hz();
    for ring in SLOTS.iter().filter_map(ring_of) {
        if hz != 0 {
            ring.set_clock_hz(hz);
        }
        if ring.status_code() == Status::Live.code() {
            ring.set_status(Status::Exited);
        }
    }
}

/// In a forked child: the parent's rings are the parent's; this thread gets a new one.
pub(super) extern "C" fn on_fork_in_child() {
    for slot in &SLOTS {
        slot.header.store(null_mut(), Ordering::Relaxed);
        slot.ended.store(0, Ordering::Relaxed);
    }
    RINGS.store(0, Ordering::Relaxed);
    if CURRENT.get() != OFF {
        CURRENT.set(null_mut());
    }
    config::file::reopen_in_child();
}

/// Appends an event to this thread's ring and notes it in its header, with the thread's full name.
pub(super) fn note(kind: EventKind, value: u64, status: Status, name: Option<&str>) {
    let header = CURRENT.get();
    if header.addr() <= OFF.addr() {
        return;
    }
    // SAFETY: as in `record`.
    let ring = unsafe { Ring::new(header) };
    ring.append_event(kind, value, has_clock().then_some(sys::ticks));
    ring.set_status(status);
    if let Some(name) = name {
        ring.with_header(|header| {
            let len = name.len().min(NAME_LEN);
            header.name = [0; NAME_LEN];
            header.name[..len].copy_from_slice(&name.as_bytes()[..len]);
        });
    }
}

fn has_clock() -> bool {
    UNSTAMPED.load(Ordering::Relaxed) != NO_STAMPS
}

/// A copy of this thread's ring, header first.
pub(super) fn snapshot() -> Option<Vec<u8>> {
    let header = CURRENT.get();
    if header.addr() <= OFF.addr() {
        return None;
    }
    let len = ring_len(Config::get()?.size);
    let mut copy = vec![0u8; len];
    // SAFETY: the ring has `len` bytes, and only this thread writes it, which is here now.
    unsafe { core::ptr::copy_nonoverlapping(header.cast::<u8>(), copy.as_mut_ptr(), len) };
    Some(copy)
}

/// Which map this program was instrumented with.
pub(crate) fn set_map_hash(hash: u64) {
    MAP_HASH.store(hash, Ordering::Relaxed);
    for ring in SLOTS.iter().filter_map(ring_of) {
        ring.set_map_hash(hash);
    }
}

/// Moves this thread's history, and all rings to come, into a file.
pub(super) fn move_to_file(path: &[u8]) -> bool {
    let Some(config) = Config::get().filter(|config| config.on) else { return false };
    if !config::file::open(path) {
        return false;
    }
    let old = CURRENT.get();
    if old.addr() <= OFF.addr() {
        return true;
    }
    let Some(slot) = SLOTS.iter().find(|slot| slot.header.load(Ordering::Relaxed) == old) else {
        return true;
    };
    let number = SLOTS.iter().position(|other| core::ptr::eq(other, slot)).unwrap_or(0);
    let Some(new) = map_ring(number, config.size) else { return false };
    // SAFETY: both are rings of the same size; only this thread writes the old one, which is here now.
    unsafe { core::ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast::<u8>(), ring_len(config.size)) };
    if number == 0 {
        XHIST_RING.store(new, Ordering::Relaxed);
    }
    slot.header.store(new, Ordering::Release);
    let key = exit_key();
    if key != NO_KEY {
        sys::set_thread_exit_key(key as _, new.cast());
    }
    CURRENT.set(new);
    true
}
