//! The ticker: a helper thread that makes busy threads stamp their rings about once per millisecond.
//!
//! A statement reads no clock. A thread whose limit is 0 rolls over at its next check (a function entry or a loop
//! head), and the roll-over reads the clock. The ticker sets the limits of threads that have moved since its last
//! look. If nothing has moved for some ticks, every limit is 0: the ticker sleeps, and the next roll-over of any
//! thread wakes it. So a thread that wakes after a pause is stamped at its first check, and an idle program costs
//! nothing.
//!
//! If the ticker finds a thread twice at the same place, it notes place and times in the thread's ring. A roll-over
//! then dates the words behind a call that waited, see [`Pause`](qs_core::ring::Pause). If the cursor in memory is
//! behind, the next unit is not zero, and nothing is noted.
//!
//! It exists while two or more threads are registered. The C library does not know it: it has no thread-local
//! storage, makes system calls only through [`helper`], and handles no signal. An access behind the end of a ring file
//! that was cut would raise one, so the ticker lets the kernel read and write rings.

use core::cell::UnsafeCell;
use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use qs_core::ring as layout;

use crate::hosted::setup::{clock, config};
use crate::hosted::system::helper_types::{NotStarted, Piece};
use crate::hosted::system::shared_state::{Helped, Sleeper, Visitor};
use crate::hosted::system::{counter, helper, sandbox, sys};
use crate::hosted::words::HostedHeader;

/// Threads in slots from this one on are not watched.
pub(crate) const MAX_WATCHED: usize = 1024;
/// Time between two ticks. The wake-up takes up to 100 microseconds more, so the stamps are a millisecond apart.
pub(crate) const PERIOD_NANOS: u32 = 900_000;
/// Number of ticks without any movement before the ticker sleeps. A sleeping ticker costs nothing; waking it costs a
/// thread some microseconds.
const QUIET_TICKS: u32 = 2;
/// Microseconds that a look at a thread's cursor may take. During a look the kernel may suspend the ticker.
const SOON: u32 = 20;
/// Number of notes that are written together, and the largest number per tick. Each note takes the kernel half a
/// microsecond. If more threads wait, the next tick continues with the others.
const BATCH: usize = 32;
/// Bytes of a pause in a header.
const PAUSE: usize = size_of::<[u64; 4]>();
/// Unoptimised, the ticker uses 2 KiB.
const STACK: usize = 32 * 1024;
/// The longest wait for an ending ticker: nanoseconds per step, and number of steps. It ends within some 50
/// microseconds.
const PATIENCE: (u32, u32) = (5_000_000, 10);

/// A thread for the ticker.
struct Watched {
    /// Address of its limit; 0 while the slot is not registered. The owner writes the other fields only while this is
    /// 0.
    limit: AtomicU64,
    /// Address of its cursor.
    cursor: AtomicUsize,
    /// The cursor that the last look found, and the clock when a look first found it.
    at: AtomicUsize,
    since: AtomicU64,
    /// Address of the header of its ring, 0 if no times are noted; and of the data, and twice their length.
    header: AtomicUsize,
    data: AtomicUsize,
    len: AtomicUsize,
    /// Number of noted pauses; and whether the newest one is at the cursor.
    pauses: AtomicUsize,
    is_noted: AtomicBool,
}

/// The ring of a thread.
pub(crate) struct WatchedRing {
    pub(crate) header: *mut HostedHeader,
    /// Addresses that a cursor of this ring may have.
    pub(crate) addresses: Range<usize>,
}

static WATCHED: [Watched; MAX_WATCHED] = [const {
    Watched {
        limit: AtomicU64::new(0),
        cursor: AtomicUsize::new(0),
        at: AtomicUsize::new(0),
        since: AtomicU64::new(0),
        header: AtomicUsize::new(0),
        data: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        pauses: AtomicUsize::new(0),
        is_noted: AtomicBool::new(false),
    }
}; MAX_WATCHED];
/// One more than the highest slot that was ever registered.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Notes about threads. They belong to the thread that looks.
static NOTES: TickerCell<Notes> = TickerCell(UnsafeCell::new(Notes::new()));
/// The slot that is being looked at, counted from 1.
static VISITOR: Visitor = Visitor::new();
/// Id of the one thread that looks at slots now; 0 = none.
static LOOKING: AtomicU32 = AtomicU32::new(0);
/// Number of looks so far.
static LOOKS: AtomicU32 = AtomicU32::new(0);
static HELPED: Helped = Helped::new();
static SLEEPER: Sleeper = Sleeper::new();
/// The ticker waits here. A ring of the bell makes it look again.
static BELL: AtomicU32 = AtomicU32::new(0);
/// Id of the ticker. The kernel sets it to 0 when the ticker has left its stack.
static TID: AtomicU32 = AtomicU32::new(0);
static STACK_MEMORY: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// From now on the calling thread is stamped, and its pauses are noted if its ring has times. To be called while
/// signals are blocked, once for a slot that is not registered.
///
/// # Safety
/// Cursor and limit belong to the calling thread, are written in one piece, and live until the thread calls
/// [`unregister`]. So does the ring, which stays mapped.
pub(crate) unsafe fn register(
    slot: usize,
    cursor: *const usize,
    limit: *mut usize,
    ring: Option<WatchedRing>,
) {
    let Some(watched) = WATCHED.get(slot) else { return };
    watched.cursor.store(cursor.expose_provenance(), Ordering::Relaxed);
    watched.at.store(0, Ordering::Relaxed);
    watched.pauses.store(0, Ordering::Relaxed);
    watched.is_noted.store(false, Ordering::Relaxed);
    let (header, data, len) = ring.map_or((0, 0, 0), |ring| {
        (ring.header.expose_provenance(), ring.addresses.start, ring.addresses.len())
    });
    watched.header.store(header, Ordering::Relaxed);
    watched.data.store(data, Ordering::Relaxed);
    watched.len.store(len, Ordering::Relaxed);
    USED.fetch_max(slot + 1, Ordering::Relaxed);
    watched.limit.store(limit.expose_provenance() as u64, Ordering::Release);
    // A handler may record first, on a small stack.
    sys::on_large_stack(|| look(sys::tid(), true));
    // With another setting each statement has a stamp already.
    if !config::is_each_timed() && HELPED.want() {
        start();
    }
}

/// The slot's thread ends: from now on the ticker leaves its words alone. Does nothing if the slot is not registered.
///
/// Notes what other threads did before this thread's end, since there may be no ticker later. Waits some microseconds
/// while the ticker looks, and while it ends if too few threads are left.
pub(crate) fn unregister(slot: usize) {
    let Some(watched) = WATCHED.get(slot) else { return };
    if watched.limit.load(Ordering::Relaxed) == 0 {
        return;
    }
    VISITOR.close(&watched.limit);
    let looks = LOOKS.load(Ordering::Acquire);
    let is_in_use = |who: u32| {
        VISITOR.is_at(slot as u64 + 1)
            || ![0, sys::tid()].contains(&who) && LOOKS.load(Ordering::Acquire) == looks
    };
    loop {
        let who = LOOKING.load(Ordering::Acquire);
        if !is_in_use(who) || !helper::is_alive(who) {
            break;
        }
        sys::sleep(20_000);
    }
    look(sys::tid(), true);
    if !config::is_each_timed() && HELPED.forgo() && !sandbox::is_on() {
        ring_bell();
        // A program may count its threads once the last but one has ended.
        wait_for_end();
    }
}

/// To be called at each roll-over, after the store to the thread's limit. Wakes a ticker that sleeps.
#[inline]
pub(crate) fn on_roll_over() {
    if SLEEPER.is_to_wake() {
        wake();
    }
}

/// The program enters a sandbox: ends the ticker, and waits until no thread makes calls for it. From now on threads are
/// stamped at full chunks, and no pauses are noted.
pub(crate) fn leave_out_calls() {
    let (nanos, times) = PATIENCE;
    ring_bell();
    wait_for_end();
    let own = sys::tid();
    for _ in 0..times {
        if [0, own].contains(&LOOKING.load(Ordering::Acquire)) {
            return;
        }
        sys::sleep(nanos);
    }
}

/// In a forked child, before it registers anything: it has no ticker, and its parent's threads do not exist here.
pub(crate) fn after_fork_in_child() {
    for watched in WATCHED.iter().take(USED.swap(0, Ordering::Relaxed)) {
        watched.limit.store(0, Ordering::Relaxed);
    }
    VISITOR.forget();
    LOOKING.store(0, Ordering::Relaxed);
    SLEEPER.get_up();
    HELPED.forget();
    TID.store(0, Ordering::Relaxed);
}

/// This comes before the thread continues, which may let other threads continue.
#[cold]
fn wake() {
    look(sys::tid(), true);
    ring_bell();
}

#[cold]
fn ring_bell() {
    BELL.fetch_add(1, Ordering::Release);
    helper::wake(&BELL);
}

/// Whether the ticker's stack is free.
fn wait_for_end() -> bool {
    let (nanos, times) = PATIENCE;
    for _ in 0..times {
        match TID.load(Ordering::Acquire) {
            0 => return true,
            tid => helper::wait(&TID, tid, Some(nanos)),
        };
    }
    TID.load(Ordering::Acquire) == 0
}

#[cold]
fn start() {
    if !helper::HAS_THREADS || sandbox::is_on() {
        return HELPED.failed(true);
    }
    // The previous ticker may still be ending.
    if !wait_for_end() {
        return HELPED.failed(false);
    }
    if STACK_MEMORY.load(Ordering::Relaxed).is_null() {
        STACK_MEMORY.store(sys::map_anonymous(STACK).unwrap_or(null_mut()), Ordering::Relaxed);
    }
    let stack = STACK_MEMORY.load(Ordering::Relaxed);
    if stack.is_null() {
        return HELPED.failed(false);
    }
    // SAFETY: the memory has that length and stays mapped. The previous ticker has left it, and `Helped` lets only
    // one thread start a ticker. `run` and what it calls use no thread-local storage.
    if let Err(error) = unsafe { helper::start(stack.add(STACK), &TID, run) } {
        HELPED.failed(matches!(error, NotStarted::ForGood));
    }
}

/// The code of the ticker. Even without optimisation it must not call a library, panic, or need a large stack.
extern "C" fn run() -> ! {
    helper::set_name(b"xhist\0\0\0\0\0\0\0\0\0\0\0");
    let own = TID.load(Ordering::Relaxed);
    let mut quiet = 0;
    loop {
        let bell = BELL.load(Ordering::Acquire);
        if sandbox::is_on() {
            HELPED.failed(true);
            helper::exit();
        }
        if HELPED.is_over() {
            helper::exit();
        }
        quiet = if look_at_all(own) { 0 } else { quiet + 1 };
        let mut nanos = Some(PERIOD_NANOS);
        if quiet >= QUIET_TICKS {
            quiet = 0;
            SLEEPER.lie_down();
            // A thread that came meanwhile either sees that it has to wake the ticker, or the ticker sees that it has
            // moved.
            if !look_at_all(own) {
                nanos = None;
            }
        }
        let can_wait = helper::wait(&BELL, bell, nanos);
        SLEEPER.get_up();
        if !can_wait {
            HELPED.failed(true);
            helper::exit();
        }
    }
}

/// Looks at all threads once, unless another thread is looking. Returns whether any may have moved.
pub(crate) fn look_at_all(own: u32) -> bool {
    look(own, false)
}

/// [`look_at_all`]. With `is_to_note` it notes the place of each thread, also of one that has just moved.
fn look(own: u32, is_to_note: bool) -> bool {
    if LOOKING.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return true;
    }
    LOOKS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `LOOKING` lets only one thread come here.
    let notes = unsafe { &mut *NOTES.0.get() };
    (notes.len, notes.next) = (0, 0);
    let from = if is_to_note { 0 } else { notes.from };
    let mut has_moved = false;
    for (number, watched) in (1..).zip(WATCHED.iter().take(USED.load(Ordering::Relaxed))) {
        let may_note = number >= from;
        VISITOR.visit(number, &watched.limit, |limit| {
            has_moved |= watched.look(limit as usize, is_to_note, may_note.then_some(&mut *notes), number);
        });
        if is_to_note && notes.len == BATCH {
            notes.put();
        }
    }
    if !is_to_note {
        notes.from = notes.next;
    }
    notes.put();
    LOOKING.store(0, Ordering::Release);
    has_moved
}

/// The clock of stamps.
#[inline(always)]
fn now() -> u64 {
    match clock::is_counter() {
        // Nothing is noted then.
        _ if is_silent() => 0,
        true => counter::counter(),
        false => helper::clock_nanos(),
    }
}

/// Whether no pauses are noted: that takes system calls, and the clock of the stamps.
#[inline(always)]
fn is_silent() -> bool {
    sandbox::is_on() || clock::is_forbidden()
}

impl Watched {
    /// Looks at the thread, whose limit has this address. Returns whether it has moved.
    #[inline(always)]
    fn look(&'static self, limit: usize, is_to_note: bool, notes: Option<&mut Notes>, number: u64) -> bool {
        let word = |address| {
            let word = core::ptr::with_exposed_provenance_mut::<usize>(address);
            // SAFETY: the words live as `register` demands, because the owner waits for the visitor. They are
            // aligned, and all threads access them in one piece.
            unsafe { AtomicUsize::from_ptr(word) }
        };
        let before = now();
        let cursor = word(self.cursor.load(Ordering::Relaxed)).load(Ordering::Acquire);
        let has_moved = cursor != self.at.load(Ordering::Relaxed);
        // It stores only if it has to, because a store takes the cache line from the thread.
        let is_set = word(limit).load(Ordering::Relaxed) != 0;
        let mut since = self.since.load(Ordering::Relaxed);
        let mut is_exact = true;
        if has_moved {
            // The words up to here were written before now.
            since = now();
            is_exact = since.wrapping_sub(before) < clock::ticks_in(SOON);
            self.at.store(cursor, Ordering::Relaxed);
            self.since.store(since, Ordering::Relaxed);
            self.is_noted.store(false, Ordering::Relaxed);
        }
        // A thread that rolls over stamps itself.
        if let Some(notes) = notes.filter(|_| !is_set || is_to_note) {
            let until = if is_exact { before } else { 0 };
            self.note(notes, Note { cursor, since: since.min(before), until }, number);
        }
        if is_set {
            word(limit).store(0, Ordering::Relaxed);
        }
        has_moved || is_set
    }

    /// Queues a note for the thread's ring.
    #[inline(always)]
    fn note(&'static self, notes: &mut Notes, note: Note, number: u64) {
        let offset = note.cursor.wrapping_sub(self.data.load(Ordering::Relaxed));
        if note.until != 0 && offset < self.len.load(Ordering::Relaxed) {
            notes.add(self, note, number);
        }
    }

    /// The address of the pause with that number.
    #[inline(always)]
    fn pause(&self, count: usize) -> usize {
        let header = self.header.load(Ordering::Relaxed);
        header + layout::PAUSES_OFFSET + PAUSE * (count & (layout::PAUSES - 1))
    }

    /// Notes in the thread's ring that everything before the cursor ran before `since`. Returns the address for the
    /// time after which the words behind it ran.
    #[inline(always)]
    fn begin(&self, note: &Note) -> usize {
        let is_noted = self.is_noted.load(Ordering::Relaxed);
        let count = self.pauses.load(Ordering::Relaxed).wrapping_add(!is_noted as usize);
        let pause = self.pause(count);
        if !is_noted {
            let offset = note.cursor.wrapping_sub(self.data.load(Ordering::Relaxed));
            // SAFETY: the ring lives as `register` demands, and its readers expect such stores: they skip a pause
            // whose second half is incomplete.
            unsafe {
                helper::put(pause + PAUSE / 2, [0, 0]);
                helper::put(pause, [offset as u64 + 1, note.since]);
            }
            self.pauses.store(count, Ordering::Relaxed);
            self.is_noted.store(true, Ordering::Relaxed);
        }
        pause + PAUSE / 2
    }
}

/// Where a thread was found: everything before the cursor ran before `since`, and what follows runs after `until`.
#[derive(Clone, Copy)]
struct Note {
    cursor: usize,
    since: u64,
    until: u64,
}

/// Queued notes. They are written together, because a system call takes longer than the rest.
struct Notes {
    len: usize,
    of: [Option<&'static Watched>; BATCH],
    notes: [Note; BATCH],
    /// The units at the cursors, and their addresses.
    units: [u16; BATCH],
    cursors: [Piece; BATCH],
    /// The words to write, and their addresses.
    times: [[u64; 2]; BATCH],
    pauses: [Piece; BATCH],
    /// The first thread with a note in this tick, and the first one without room: 0 for all, and for none.
    from: u64,
    next: u64,
    /// The kernel forbids such writes, for example because of a filter of system calls.
    is_refused: bool,
}

impl Notes {
    const fn new() -> Notes {
        Notes {
            len: 0,
            of: [None; BATCH],
            notes: [Note { cursor: 0, since: 0, until: 0 }; BATCH],
            units: [0; BATCH],
            cursors: [[0; 2]; BATCH],
            times: [[0; 2]; BATCH],
            pauses: [[0; 2]; BATCH],
            from: 0,
            next: 0,
            is_refused: false,
        }
    }

    #[inline(always)]
    fn add(&mut self, watched: &'static Watched, note: Note, number: u64) {
        if self.is_refused || is_silent() {
            return;
        }
        if self.len == BATCH {
            self.next = if self.next == 0 { number } else { self.next };
            return;
        }
        self.of[self.len] = Some(watched);
        self.notes[self.len] = note;
        self.cursors[self.len] = [note.cursor, size_of::<u16>()];
        self.len += 1;
    }

    /// Writes the notes of cursors that no word follows.
    #[inline(always)]
    fn put(&mut self) {
        let (mut from, mut len) = (0, 0);
        while from < self.len && !self.is_refused && !is_silent() {
            let Ok(read) = helper::units(&self.cursors[from..self.len], &mut self.units[from..self.len])
            else {
                self.is_refused = true;
                break;
            };
            let mut at = from;
            while at < from + read && at < self.len {
                if let (Some(watched), 0) = (self.of[at], self.units[at]) {
                    let note = self.notes[at];
                    self.pauses[len] = [watched.begin(&note), PAUSE / 2];
                    self.times[len] = [note.until, !note.until];
                    len += 1;
                }
                at += 1;
            }
            // The piece behind those that were read is not memory.
            from += read + 1;
        }
        let mut from = 0;
        while from < len && !self.is_refused && !is_silent() {
            // SAFETY: the rings live as `register` demands, and their readers expect such stores.
            match unsafe { helper::put_all(&self.pauses[from..len], &self.times[from..len]) } {
                Ok(put) => from += put + 1,
                Err(_) => self.is_refused = true,
            }
        }
        self.len = 0;
    }
}

/// A value that one thread uses at a time.
struct TickerCell<T>(UnsafeCell<T>);

// SAFETY: `LOOKING` lets only one thread use the value.
unsafe impl<T> Sync for TickerCell<T> {}

#[cfg(all(test, not(loom), target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(in crate::hosted) mod tests;
