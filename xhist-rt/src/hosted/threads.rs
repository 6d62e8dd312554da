//! Which ring belongs to which thread: made at a thread's first statement, kept when the thread
//! has ended, reused oldest first once there are many. No locks and no allocation, because a first
//! statement may run inside an allocator or a signal handler.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use qs_core::record::EventKind;
use qs_core::ring::{
    FLAG_EXACT, FLAG_MONOTONIC, FLAG_PACKED, FLAG_TIME_AUTO, HOSTED_HEADER_LEN, NAME_LEN, Status,
};

use super::between::{Ended, take_first};
use super::config::{self, Config, Frames, Time};
use super::layout::{place_in_file, ring_len};
use super::{clock, file, sys, thread, trigger};
use crate::hot;
use crate::ring::{self, Append, Clock, Ever, Header, HostedHeader, Ticks, Writer};
use crate::site::Site;
use crate::trace::{self, Code, Severity};

/// Rings of ended threads are reused once there are this many rings.
const ENOUGH_RINGS: usize = 64;
/// Threads beyond this many living ones are not recorded.
const MAX_RINGS: usize = 1024;

/// A place for a ring.
pub(super) struct Slot {
    header: AtomicPtr<HostedHeader>,
    /// Its writer, in memory of its own.
    writer: AtomicPtr<Writer>,
    /// Whether its thread has.
    pub(super) ended: Ended,
    /// Its ring is in no file.
    in_memory: AtomicBool,
    /// Id of its thread, where that cannot say that it ends; otherwise 0.
    watched: AtomicU32,
}

pub(super) static SLOTS: [Slot; MAX_RINGS] = [const {
    Slot {
        header: AtomicPtr::new(null_mut()),
        writer: AtomicPtr::new(null_mut()),
        ended: Ended::new(),
        in_memory: AtomicBool::new(false),
        watched: AtomicU32::new(0),
    }
}; MAX_RINGS];
static RINGS: AtomicU32 = AtomicU32::new(0);
/// Statements and records that no ring has, until the first ring is told.
static LOST: AtomicU32 = AtomicU32::new(0);
/// Says so while there is no ring.
static SPARE: ring::Spare = ring::Spare::new();
static HAS_SPARE: AtomicBool = AtomicBool::new(false);
/// The process that has these rings, as opposed to a child of it that the C library does not know of.
static OWNER: sys::ForkMark = sys::ForkMark::new();
pub(super) static ENDED: AtomicU64 = AtomicU64::new(0);
/// The bitmap of this process.
pub(super) static EVER: AtomicPtr<u8> = AtomicPtr::new(null_mut());
/// There is more than one thread, so frames tell the time more often.
static SEVERAL: AtomicBool = AtomicBool::new(false);
static MAP_HASH: AtomicU64 = AtomicU64::new(0);
/// A clock that the program has given, `fn() -> u32`.
static CLOCK: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// The first ring's memory, for debuggers: `dump binary memory dump.bin` from here on.
#[unsafe(no_mangle)]
static XHIST_RING: AtomicPtr<HostedHeader> = AtomicPtr::new(null_mut());
/// Bytes from [`XHIST_RING`] on, header included.
#[unsafe(no_mangle)]
static XHIST_RING_LEN: AtomicU64 = AtomicU64::new(0);

/// How a statement is to be appended.
#[inline]
pub(crate) fn statement(site: Site) -> Append<'static> {
    match config::frames() {
        Frames::Packed => Append::Statement(site),
        Frames::Single => Append::Single(site, None),
        Frames::Timed => Append::Single(site, Some(ticks())),
        Frames::Exact => Append::Single(site, Some(clock::ticket())),
    }
}

/// The first statement of a thread, or any statement of one that is not recorded.
#[cold]
#[inline(never)]
pub(crate) fn first(site: Site) {
    if has_ring() {
        return hot::record_at(site);
    }
    if !trigger::is_stopped() {
        count_lost();
    }
}

/// The first ring tells of what its file lacks: what threads did that have no ring.
fn count_lost() {
    if !config::is_off() {
        LOST.fetch_add(1, Ordering::SeqCst);
        tell_lost();
    }
}

/// Tells the first ring what was lost; the spare one, where there is none.
fn tell_lost() {
    if let Some(header) = SLOTS[0].ring() {
        // SAFETY: a slot's header is a laid-out ring.
        unsafe { ring::count_dropped(header, LOST.swap(0, Ordering::SeqCst)) };
    } else if HAS_SPARE.load(Ordering::Acquire) {
        SPARE.set_dropped(LOST.load(Ordering::SeqCst));
    }
}

/// Whether this thread is recorded, now if not before.
#[cold]
fn has_ring() -> bool {
    // Making a ring takes a while; each handler that came in would make another.
    let make = || sys::while_signals_wait(|| hot::writer().is_some() || attach());
    !hot::is_off() && sys::keeping_errno(make)
}

/// The first record of a thread, or any of one that is not recorded.
#[cold]
#[inline(never)]
pub(crate) fn first_record(what: Append<'_>) {
    let is_set_up = config::is_read();
    let has_ring = has_ring();
    // It was let through before the environment said that nothing is recorded until a start.
    if !is_set_up && crate::qs::is_frozen() && !what.is_always_on() {
        return;
    }
    if has_ring {
        return hot::append(what);
    }
    count_lost();
}

/// Bytes of the longest record that the rings are to hold.
pub(crate) fn longest_record() -> usize {
    Config::get().map_or(0, |config| config.size as usize / 8)
}

/// Gives the time stamps another clock.
pub(crate) fn set_time(time: fn() -> u32) {
    CLOCK.store(time as *mut (), Ordering::Release);
    publish_rate(0);
}

/// Gives this thread a ring. False when it has none now.
fn attach() -> bool {
    let Some(config) = Config::get() else { return false };
    let slot = if config.on { acquire(&config) } else { None };
    let Some(slot) = slot else {
        hot::attach(None);
        if config.on {
            tell_no_memory(&config);
        }
        return false;
    };
    if hot::is_attached() {
        // A signal handler gave this thread a ring meanwhile.
        slot.ended.end(&ENDED);
        return true;
    }
    slot.tell_exit();
    hot::attach(Some(slot.writer.load(Ordering::Relaxed)));
    true
}

/// Once, since the event may want a ring itself. Without any ring, nothing else says so.
#[cold]
fn tell_no_memory(config: &Config) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if SLOTS[0].ring().is_none() && !HAS_SPARE.load(Ordering::Relaxed) {
        SPARE.init(sys::pid(), map_hash(config));
        HAS_SPARE.store(true, Ordering::Release);
        XHIST_RING_LEN.store(ring::Spare::LEN as u64, Ordering::Relaxed);
        XHIST_RING.store(SPARE.header(), Ordering::Relaxed);
        let line = b"xhist: there is no memory for a ring (XHIST_SIZE): this thread is not recorded\n";
        sys::write_all(2, line.as_ptr(), line.len());
    }
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        trace::noticed(Severity::Sw2, Code::ALLOCATION_FAILED, ring_len(config.size) as u64);
    }
}

/// A slot with an empty ring: a new one, or that of the thread that ended first.
fn acquire(config: &Config) -> Option<&'static Slot> {
    let is_enough = RINGS.load(Ordering::Relaxed) as usize >= ENOUGH_RINGS;
    if is_enough {
        SLOTS.iter().for_each(Slot::look_after);
    }
    if is_enough && let Some(slot) = reuse() {
        slot.lay_out(config);
        return Some(slot);
    }
    let number = RINGS.fetch_add(1, Ordering::Relaxed) as usize;
    let Some(slot) = SLOTS.get(number) else {
        RINGS.store(MAX_RINGS as u32, Ordering::Relaxed);
        return reuse().inspect(|slot| slot.lay_out(config));
    };
    let place = place_in_file(number, config);
    let memory = slot.map_writer().and_then(|_| map(place, ring_len(config.size), HOSTED_HEADER_LEN));
    let Some((memory, in_file)) = memory else {
        // The next thread may have more luck with it.
        let _ = RINGS.compare_exchange(number as u32 + 1, number as u32, Ordering::SeqCst, Ordering::SeqCst);
        return None;
    };
    let (header, writer) = (memory.cast::<HostedHeader>(), slot.writer.load(Ordering::Relaxed));
    slot.in_memory.store(!in_file, Ordering::Relaxed);
    if number == 0 {
        OWNER.set();
        XHIST_RING_LEN.store(ring_len(config.size) as u64, Ordering::Relaxed);
        XHIST_RING.store(header, Ordering::Relaxed);
    }
    SEVERAL.fetch_or(number > 0, Ordering::Relaxed);
    slot.ended.live();
    // SAFETY: the memory was mapped with room for both, and is zero.
    unsafe { lay_out(number, header, writer, config) };
    slot.header.store(header, Ordering::SeqCst);
    count_rings();
    // Who came with something for every ring did not see this one.
    // SAFETY: a slot's header is a laid-out ring, and the word is atomic.
    unsafe { (*header).set_map_hash(map_hash(config)) };
    tell_lost();
    Some(slot)
}

/// Says in the first ring how many there are. Two threads that come at once both look after their own ring is there, so
/// one of them sees both.
fn count_rings() {
    let newest = SLOTS.iter().rposition(|slot| slot.ring().is_some());
    if let (Some(first), Some(newest)) = (SLOTS[0].ring(), newest) {
        // SAFETY: a slot's header is a laid-out ring, and the word is atomic.
        unsafe { (*first).count_rings(newest as u16 + 1) };
    }
}

/// Takes the slot of the thread that ended first; those that panicked only when there is no other.
fn reuse() -> Option<&'static Slot> {
    take_first(&SLOTS, |slot| &slot.ended, |slot, order| (slot.is(Status::Panicked), order))
}

/// Memory that outlives the process where there is a file, and whether it does. What the file has no room for is at
/// least one statement. Frames begin at `frames_at` of it.
fn map(offset: u64, len: usize, frames_at: usize) -> Option<(*mut u8, bool)> {
    let memory = sys::map_with_end(len)?;
    let Some(file) = file::get() else { return Some((memory, false)) };
    let is_mapped = file.map_over(offset, len, memory, false, frames_at);
    if !is_mapped {
        count_lost();
        if SLOTS[0].ring().is_none() {
            file::has_no_room();
        }
    }
    Some((memory, is_mapped))
}

/// The bitmap, if one is asked for. Made with the first ring.
fn ever(config: &Config) -> Option<Ever> {
    if config.ever == 0 {
        return None;
    }
    let known = EVER.load(Ordering::Acquire);
    if !known.is_null() {
        // SAFETY: it was laid out, or is being laid out by another thread; the slots are there.
        return Some(unsafe { Ever::at(known, config.ever) });
    }
    let (memory, _) = map(0, Ever::len(config.ever), usize::MAX)?;
    // When another thread came first, its mapping of the same bytes of the file is as good.
    let _ = EVER.compare_exchange(null_mut(), memory, Ordering::AcqRel, Ordering::Acquire);
    // SAFETY: the memory was mapped with this length.
    Some(unsafe { Ever::new(EVER.load(Ordering::Acquire), config.ever, map_hash(config), sys::pid()) })
}

fn map_hash(config: &Config) -> u64 {
    match MAP_HASH.load(Ordering::Relaxed) {
        0 => config.map_hash,
        known => known,
    }
}

/// Lays out an empty ring for the calling thread.
///
/// # Safety
/// There is room for a ring and a writer, and no thread uses them now.
unsafe fn lay_out(number: usize, header: *mut HostedHeader, writer: *mut Writer, config: &Config) {
    let time_width = if config.time == Time::Off { 0 } else { 4 };
    let clock_flag = if clock::is_counter() { 0 } else { FLAG_MONOTONIC };
    let flags = clock_flag
        | match config.frames {
            Frames::Packed => FLAG_TIME_AUTO | FLAG_PACKED,
            Frames::Single => FLAG_TIME_AUTO,
            Frames::Timed => 0,
            Frames::Exact => FLAG_EXACT,
        };
    let clock = (time_width > 0).then_some(Clock { now, marks: &SEVERAL });
    // SAFETY: the caller's.
    unsafe {
        (*header).number = number as u16;
        (*header).init(config.size, time_width, flags, map_hash(config));
        (*header).pid = sys::pid();
        (*header).tid = sys::tid();
        (*header).start_time = clock::ticks();
        thread::name(&mut (*header).name, (*header).tid == (*header).pid);
        ring::set_clock_hz(header, clock_hz(clock::rate()));
        Writer::init(writer, header.cast::<Header>(), clock, ever(config));
    }
}

/// The time for stamps; where there is one order for all threads, the next place in it.
fn now() -> Ticks {
    if config::frames() == Frames::Exact {
        return Ticks::Whole(clock::ticket());
    }
    let given = CLOCK.load(Ordering::Acquire);
    if given.is_null() {
        return Ticks::Whole(ticks());
    }
    // SAFETY: `set_time` stored such a function.
    let given: fn() -> u32 = unsafe { core::mem::transmute(given) };
    Ticks::Low(given())
}

/// The clock, whose rate is measured when that is due.
#[inline(always)]
fn ticks() -> u64 {
    // The result passes through the rare call, so that nothing is saved for it.
    let ticks = clock::ticks();
    if clock::is_due(ticks) { measured_at(ticks) } else { ticks }
}

#[cold]
#[inline(never)]
fn measured_at(ticks: u64) -> u64 {
    publish_rate(clock::measure());
    ticks
}

/// The rate for headers; 0 where the program has given a clock of its own.
fn clock_hz(rate: u32) -> u32 {
    if CLOCK.load(Ordering::Relaxed).is_null() { rate } else { 0 }
}

/// Writes the rate of the clock to every ring.
fn publish_rate(rate: u32) {
    let made = RINGS.load(Ordering::Relaxed) as usize;
    for header in SLOTS.iter().take(made).filter_map(Slot::ring) {
        // SAFETY: a slot's header is a laid-out ring.
        unsafe { ring::set_clock_hz(header, clock_hz(rate)) };
    }
}

extern "C" fn on_thread_exit(header: *mut c_void) {
    let header = header.cast::<HostedHeader>();
    let Some(slot) = SLOTS.iter().find(|slot| slot.header.load(Ordering::Relaxed) == header) else { return };
    tell_end();
    hot::detach();
    slot.end(Status::Ended);
    slot.ended.end(&ENDED);
}

/// Tells the time behind the last statement of this thread, so that it has an upper bound. Without times its frame is
/// closed all the same, so that a link can take it.
fn tell_end() {
    let is_timed = |config: Config| config.time == Time::On && config.frames != Frames::Exact;
    hot::append(match Config::get().is_some_and(is_timed) {
        true => Append::Event(EventKind::Time, ticks()),
        false => Append::Close,
    });
}

impl Slot {
    /// Lays out its ring anew for the calling thread, which has taken it.
    fn lay_out(&self, config: &Config) {
        // The file came, or has room again, or was cut since the ring was made.
        if self.in_memory.load(Ordering::Relaxed) {
            self.move_to_file(config);
        } else if let Some(file) = file::get()
            && !file.restore(place_in_file(self.number(), config), ring_len(config.size))
            && let Some(header) = self.ring()
        {
            sys::unshare::<0>(header.cast(), ring_len(config.size));
            self.in_memory.store(true, Ordering::Relaxed);
        }
        let (header, writer) = (self.header.load(Ordering::Relaxed), self.writer.load(Ordering::Relaxed));
        // SAFETY: a slot that was taken has both, and they are the caller's.
        unsafe {
            ring::count_earlier(header);
            lay_out(self.number(), header, writer, config);
        }
    }

    /// Memory for its writer.
    fn map_writer(&self) -> Option<()> {
        if self.writer.load(Ordering::Relaxed).is_null() {
            self.writer.store(sys::map_anonymous(size_of::<Writer>())?.cast(), Ordering::Relaxed);
        }
        Some(())
    }

    /// Its place among all. What its ring says of that may be lost.
    fn number(&self) -> usize {
        SLOTS.iter().position(|slot| core::ptr::eq(slot, self)).unwrap_or(0)
    }

    /// Moves its ring, which nobody else writes, into the file, if there is one with room. It stays at its address, so
    /// its writer need not know.
    pub(super) fn move_to_file(&self, config: &Config) -> bool {
        let Some((file, header)) = file::get().zip(self.ring()) else { return false };
        let (offset, len) = (place_in_file(self.number(), config), ring_len(config.size));
        let is_moved = file.map_over(offset, len, header.cast(), true, HOSTED_HEADER_LEN);
        self.in_memory.store(!is_moved, Ordering::Relaxed);
        is_moved
    }

    /// Has it told when the calling thread ends, or asked about.
    fn tell_exit(&self) {
        if !thread::call_at_end(on_thread_exit, self.header.load(Ordering::Relaxed).cast()) {
            self.watched.store(sys::tid(), Ordering::Release);
        }
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

    /// Its ring, which is laid out.
    pub(super) fn ring(&self) -> Option<*mut HostedHeader> {
        let header = self.header.load(Ordering::SeqCst);
        (!header.is_null()).then_some(header)
    }

    fn is(&self, status: Status) -> bool {
        // SAFETY: a slot's header is a laid-out ring.
        self.ring().is_some_and(|header| unsafe { ring::status_code(header) } == status.code())
    }

    /// Tells how the thread came to its end, unless something worse was told.
    fn end(&self, status: Status) {
        if let Some(header) = self.ring().filter(|_| self.is(Status::Live)) {
            // SAFETY: as in `is`.
            unsafe { ring::set_status(header, status) };
        }
    }
}

/// Every ring there is, as memory: start and length. The spare one, where there is none.
pub(super) fn rings() -> impl Iterator<Item = (*const u8, usize)> {
    let has_none = RINGS.load(Ordering::Relaxed) == 0 && HAS_SPARE.load(Ordering::Acquire);
    let spare = has_none.then(|| (SPARE.header().cast_const().cast(), ring::Spare::LEN));
    numbered_rings().map(|(_, start, len)| (start, len)).chain(spare)
}

/// The same with a number for each, which it keeps whatever rings come later.
pub(super) fn numbered_rings() -> impl Iterator<Item = (usize, *const u8, usize)> {
    let len = Config::get().map_or(0, |config| ring_len(config.size));
    let rings = SLOTS.iter().enumerate();
    rings.filter_map(move |(number, slot)| Some((number, slot.ring()?.cast_const().cast(), len)))
}

/// Bytes that earlier threads wrote into the ring of this number.
pub(super) fn by_earlier(number: usize) -> u64 {
    // SAFETY: a slot's header is a laid-out ring.
    SLOTS.get(number).and_then(Slot::ring).map_or(0, |header| unsafe { ring::earlier(header) })
}

/// Tells the rate of the clock to every ring, and how the process ends to those of living threads.
pub(super) fn on_process_exit() {
    tell_end();
    publish_rate(clock::measure());
    SLOTS.iter().for_each(|slot| slot.end(Status::Exited));
}

/// Whether this is a child that was forked behind the C library's back.
#[inline(always)]
pub(crate) fn is_unseen_child() -> bool {
    OWNER.is_wiped()
}

/// In such a child, once it comes to notice: what it has recorded so far may be in its parent's ring, in the middle of
/// what the parent did, which the ring counts as one loss.
#[cold]
pub(crate) fn leave_parent() {
    sys::keeping_errno(|| {
        if let Some(header) = file::get().and_then(|_| own()) {
            // SAFETY: a thread's header is a laid-out ring.
            unsafe { ring::count_dropped(header, 1) };
        }
        on_fork_in_child();
    });
}

/// In a forked child: the parent's rings are the parent's; this thread gets a new one.
pub(super) extern "C" fn on_fork_in_child() {
    if OWNER.is_wiped() {
        OWNER.set();
    }
    LOST.store(0, Ordering::Relaxed);
    if config::is_off() || config::forget_others() {
        return;
    }
    let is_inside = hot::is_inside();
    leave_file_to_parent();
    for slot in &SLOTS {
        slot.header.store(null_mut(), Ordering::Relaxed);
        slot.writer.store(null_mut(), Ordering::Relaxed);
        slot.watched.store(0, Ordering::Relaxed);
        slot.ended.live();
    }
    RINGS.store(0, Ordering::Relaxed);
    EVER.store(null_mut(), Ordering::Relaxed);
    // There is room again for a thread that got no ring.
    if hot::is_attached() && !is_inside {
        hot::detach();
    }
    sys::while_signals_wait(|| sys::on_large_stack(file::reopen_in_child));
    if is_inside {
        // What a handler has interrupted goes on when that returns, and takes it that there is a ring.
        sys::while_signals_wait(|| {
            if let Some(slot) = Config::get().and_then(|config| acquire(&config)) {
                slot.tell_exit();
                hot::replace(slot.writer.load(Ordering::Relaxed));
            }
        });
    }
}

/// A mapping holds the lock of its file, as a descriptor does. The memory stays: a signal handler that forks may have
/// interrupted an append.
fn leave_file_to_parent() {
    let Some(config) = file::get().and_then(|_| Config::get()) else { return };
    for header in SLOTS.iter().filter_map(Slot::ring) {
        sys::unshare::<HOSTED_HEADER_LEN>(header.cast(), ring_len(config.size));
    }
    let ever = EVER.load(Ordering::Relaxed);
    if !ever.is_null() {
        sys::unshare::<0>(ever, Ever::len(config.ever));
    }
}

/// This thread's ring.
pub(super) fn own() -> Option<*mut HostedHeader> {
    // SAFETY: a thread's writer is valid, and has the hosted header that `lay_out` gave it.
    hot::writer().map(|writer| unsafe { Writer::header(writer) }.cast())
}

/// Appends an event to this thread's ring and notes it in its header, with the thread's full name.
pub(super) fn note(kind: EventKind, value: u64, status: Status, name: Option<&str>) {
    if is_unseen_child() {
        leave_parent();
    }
    let Some(header) = own() else { return };
    hot::append(Append::Event(kind, value));
    // SAFETY: this thread's ring.
    unsafe {
        ring::set_status(header, status);
        if let Some(name) = name {
            let len = name.len().min(NAME_LEN);
            let mut bytes = [0; NAME_LEN];
            bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
            (&raw mut (*header).name).write_volatile(bytes);
        }
    }
}

/// A copy of this thread's ring, header first.
pub(super) fn snapshot() -> Option<Vec<u8>> {
    let header = own()?;
    let len = ring_len(Config::get()?.size);
    let mut copy = vec![0u8; len];
    // SAFETY: the ring has `len` bytes, and only this thread writes it, which is here now.
    unsafe { core::ptr::copy_nonoverlapping(header.cast::<u8>(), copy.as_mut_ptr(), len) };
    Some(copy)
}

/// Which map this program was instrumented with.
pub(crate) fn set_map_hash(hash: u64) {
    MAP_HASH.store(hash, Ordering::Relaxed);
    if !EVER.load(Ordering::Relaxed).is_null()
        && let Some(ever) = Config::get().and_then(|config| ever(&config))
    {
        ever.set_map_hash(hash);
    }
    for header in SLOTS.iter().filter_map(Slot::ring) {
        // SAFETY: a slot's header is a laid-out ring, and the word is atomic.
        unsafe { (*header).set_map_hash(hash) };
    }
}
