//! The ticker: a helper thread that has busy threads stamp their rings about once a millisecond.
//!
//! A statement has no clock. A thread whose limit is 0 takes the turn of its ring at its next check (a function entry or
//! a loop head), and the turn reads the clock. The ticker sets the limits of threads that have moved since it last
//! looked. When nothing has moved for some ticks, every limit is 0: the ticker sleeps, and the next turn of any thread
//! wakes it. So a thread that wakes after a pause is stamped at its first check, and an idle program costs nothing.
//!
//! It also notes in a thread's ring where it finds the thread twice, and when: a turn then dates the words behind a call
//! that waited, see [`Pause`](qs_core::ring::Pause). Where the cursor in memory is behind, the next unit is no zero, and nothing is noted.
//!
//! It exists while two or more threads are registered. The C library does not know it: it has no thread-local storage,
//! makes system calls only through [`raw`], and handles no signal. An access
//! behind the end of a ring file that was cut would raise one, so it asks the kernel to read and write rings.

use core::cell::UnsafeCell;
use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use qs_core::ring as layout;

use super::between::{Helped, Sleeper, Visitor};
use super::{clock, config, raw, sys};
use crate::words::HostedHeader;

/// Threads in slots from this one on are not watched.
pub(super) const MAX_WATCHED: usize = 1024;
/// Time between two ticks. The wake-up takes up to 100 microseconds more, so that stamps are a millisecond apart.
pub(super) const PERIOD_NANOS: u32 = 900_000;
/// Ticks without any movement before the ticker sleeps. While it sleeps it costs nothing; to wake it costs a thread some
/// microseconds.
const QUIET_TICKS: u32 = 2;
/// Microseconds that a look at a thread's cursor may take. The kernel may stop the ticker in it.
const SOON: u32 = 20;
/// Notes that are put together, and so most notes of a tick. Where more threads wait, they take turns: each takes the kernel
/// half a microsecond.
const BATCH: usize = 32;
/// Bytes of a pause in a header.
const PAUSE: usize = size_of::<[u64; 4]>();
/// Unoptimised, it uses 2 KiB.
const STACK: usize = 32 * 1024;
/// The longest wait for a ticker that ends, in nanoseconds and in steps of them. It ends within some 50 microseconds.
const PATIENCE: (u32, u32) = (5_000_000, 10);

/// A thread, as the ticker knows it.
struct Watched {
    /// Address of its limit; 0 while the slot is not registered. The owner writes the others only while this is 0.
    limit: AtomicU64,
    /// Address of its cursor.
    cursor: AtomicUsize,
    /// The cursor that was found last, and the clock when it was first found.
    at: AtomicUsize,
    since: AtomicU64,
    /// Address of the header of its ring, 0 where no times are noted; and of the data, and twice their bytes.
    header: AtomicUsize,
    data: AtomicUsize,
    len: AtomicUsize,
    /// How many pauses were noted; and whether the newest is that at the cursor.
    pauses: AtomicUsize,
    is_noted: AtomicBool,
}

/// The ring of a thread.
pub(super) struct Ring {
    pub(super) header: *mut HostedHeader,
    /// Where a cursor of this ring may be.
    pub(super) addresses: Range<usize>,
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
/// What is to be noted of threads. It belongs to the thread that looks.
static NOTES: Shared<Notes> = Shared(UnsafeCell::new(Notes::new()));
/// Which slot is being looked at, counted from 1.
static VISITOR: Visitor = Visitor::new();
/// Id of the one thread that looks at slots now; 0 = none.
static LOOKING: AtomicU32 = AtomicU32::new(0);
/// How many looks were begun.
static LOOKS: AtomicU32 = AtomicU32::new(0);
static HELPED: Helped = Helped::new();
static SLEEPER: Sleeper = Sleeper::new();
/// Rung to have the ticker look again: it waits here.
static BELL: AtomicU32 = AtomicU32::new(0);
/// Id of the ticker; the kernel sets it to 0 when the ticker has left its stack.
static TID: AtomicU32 = AtomicU32::new(0);
static STACK_MEMORY: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Has the calling thread stamped from now on, and its pauses noted where it has a ring with times. To be called while
/// signals wait, once for a slot that is not registered.
///
/// # Safety
/// Both words belong to the calling thread, are written in one piece, and live until it calls [`unregister`]. So does
/// the ring, which stays mapped.
pub(super) unsafe fn register(slot: usize, cursor: *const usize, limit: *mut usize, ring: Option<Ring>) {
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
    // A handler may be the first to record, on a small stack.
    sys::on_large_stack(|| look(sys::tid(), true));
    // Else each statement has a stamp already.
    if !config::is_each_timed() && HELPED.want() {
        start();
    }
}

/// The slot's thread ends: its words are left alone from now on. Does nothing where the slot is not registered.
///
/// What others did before this thread's end is noted, since there may be no ticker later. Waits while the ticker looks,
/// which takes it some microseconds; and while it ends, where too few threads are left.
pub(super) fn unregister(slot: usize) {
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
        if !is_in_use(who) || !raw::is_alive(who) {
            break;
        }
        sys::sleep(20_000);
    }
    look(sys::tid(), true);
    if !config::is_each_timed() && HELPED.forgo() {
        ring_bell();
        // A program may count its threads once the last but one has ended.
        wait_for_end();
    }
}

/// To be called at each turn, behind the store to the thread's limit: a ticker that sleeps wakes.
#[inline]
pub(crate) fn on_turn() {
    if SLEEPER.is_to_wake() {
        wake();
    }
}

/// In a forked child, before it registers anything: it has no ticker, and its parent's threads are not its own.
pub(super) fn after_fork_in_child() {
    for watched in WATCHED.iter().take(USED.swap(0, Ordering::Relaxed)) {
        watched.limit.store(0, Ordering::Relaxed);
    }
    VISITOR.forget();
    LOOKING.store(0, Ordering::Relaxed);
    SLEEPER.get_up();
    HELPED.forget();
    TID.store(0, Ordering::Relaxed);
}

/// Before this thread goes on, which may have others go on.
#[cold]
fn wake() {
    look(sys::tid(), true);
    ring_bell();
}

#[cold]
fn ring_bell() {
    BELL.fetch_add(1, Ordering::Release);
    raw::wake(&BELL);
}

/// Whether the ticker's stack is free.
fn wait_for_end() -> bool {
    let (nanos, times) = PATIENCE;
    for _ in 0..times {
        match TID.load(Ordering::Acquire) {
            0 => return true,
            tid => raw::wait(&TID, tid, Some(nanos)),
        };
    }
    TID.load(Ordering::Acquire) == 0
}

#[cold]
fn start() {
    if !raw::HAS_THREADS {
        return HELPED.failed(true);
    }
    // The ticker before this one may still be about to leave.
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
    // SAFETY: the memory has that length and stays mapped; the ticker before has left it, and `Helped` lets one thread
    // start one. `run` and what it calls use no thread-local storage.
    if let Err(error) = unsafe { raw::start(stack.add(STACK), &TID, run) } {
        HELPED.failed(error != libc::EAGAIN);
    }
}

/// The ticker. Compiled without optimisation as well, it must call no library, panic, or need a large stack.
extern "C" fn run() -> ! {
    raw::set_name(b"xhist\0\0\0\0\0\0\0\0\0\0\0");
    let own = TID.load(Ordering::Relaxed);
    let mut quiet = 0;
    loop {
        let bell = BELL.load(Ordering::Acquire);
        if HELPED.is_over() {
            raw::exit();
        }
        quiet = if look_at_all(own) { 0 } else { quiet + 1 };
        let mut nanos = Some(PERIOD_NANOS);
        if quiet >= QUIET_TICKS {
            quiet = 0;
            SLEEPER.lie_down();
            // A thread that came meanwhile either sees that it has to wake the ticker, or is seen to have moved.
            if !look_at_all(own) {
                nanos = None;
            }
        }
        let can_wait = raw::wait(&BELL, bell, nanos);
        SLEEPER.get_up();
        if !can_wait {
            HELPED.failed(true);
            raw::exit();
        }
    }
}

/// Looks at all threads once, unless another thread does now. Whether any may have moved.
pub(super) fn look_at_all(own: u32) -> bool {
    look(own, false)
}

/// The same; notes where each is, also if it was there only now (`is_to_note`).
fn look(own: u32, is_to_note: bool) -> bool {
    if LOOKING.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return true;
    }
    LOOKS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `LOOKING` lets one thread come here.
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
    if clock::is_counter() { sys::counter() } else { raw::clock_nanos() }
}

impl Watched {
    /// Looks at the thread, whose limit has this address. Whether it has moved.
    #[inline(always)]
    fn look(&'static self, limit: usize, is_to_note: bool, notes: Option<&mut Notes>, number: u64) -> bool {
        let word = |address| {
            let word = core::ptr::with_exposed_provenance_mut::<usize>(address);
            // SAFETY: the words live as `register` demands, since the owner waits for the visitor; they are aligned, and
            // all sides access them in one piece.
            unsafe { AtomicUsize::from_ptr(word) }
        };
        let before = now();
        let cursor = word(self.cursor.load(Ordering::Relaxed)).load(Ordering::Acquire);
        let has_moved = cursor != self.at.load(Ordering::Relaxed);
        // No store without need: it takes the line from the thread.
        let is_set = word(limit).load(Ordering::Relaxed) != 0;
        let mut since = self.since.load(Ordering::Relaxed);
        let mut is_exact = true;
        if has_moved {
            // What was found written was written before now.
            since = now();
            is_exact = since.wrapping_sub(before) < clock::ticks_in(SOON);
            self.at.store(cursor, Ordering::Relaxed);
            self.since.store(since, Ordering::Relaxed);
            self.is_noted.store(false, Ordering::Relaxed);
        }
        // A thread that takes turns stamps itself.
        if let Some(notes) = notes.filter(|_| !is_set || is_to_note) {
            let until = if is_exact { before } else { 0 };
            self.note(notes, Note { cursor, since: since.min(before), until }, number);
        }
        if is_set {
            word(limit).store(0, Ordering::Relaxed);
        }
        has_moved || is_set
    }

    /// Has a note be put in the thread's ring.
    #[inline(always)]
    fn note(&'static self, notes: &mut Notes, note: Note, number: u64) {
        let offset = note.cursor.wrapping_sub(self.data.load(Ordering::Relaxed));
        if note.until != 0 && offset < self.len.load(Ordering::Relaxed) {
            notes.add(self, note, number);
        }
    }

    /// Where the pause of that number is.
    #[inline(always)]
    fn pause(&self, count: usize) -> usize {
        let header = self.header.load(Ordering::Relaxed);
        header + layout::PAUSES_OFFSET + PAUSE * (count & (layout::PAUSES - 1))
    }

    /// Notes in the thread's ring that all before the cursor ran before `since`; gives where the time goes after which ran what
    /// comes behind it.
    #[inline(always)]
    fn begin(&self, note: &Note) -> usize {
        let is_noted = self.is_noted.load(Ordering::Relaxed);
        let count = self.pauses.load(Ordering::Relaxed).wrapping_add(!is_noted as usize);
        let pause = self.pause(count);
        if !is_noted {
            let offset = note.cursor.wrapping_sub(self.data.load(Ordering::Relaxed));
            // SAFETY: the ring lives as `register` demands, and expects that; a pause whose second half is not whole is none.
            unsafe {
                raw::put(pause + PAUSE / 2, [0, 0]);
                raw::put(pause, [offset as u64 + 1, note.since]);
            }
            self.pauses.store(count, Ordering::Relaxed);
            self.is_noted.store(true, Ordering::Relaxed);
        }
        pause + PAUSE / 2
    }
}

/// Where a thread was found: all before the cursor ran before `since`, and what comes behind it runs after `until`.
#[derive(Clone, Copy)]
struct Note {
    cursor: usize,
    since: u64,
    until: u64,
}

/// Notes that are put together, because each call of the kernel takes longer than all else.
struct Notes {
    len: usize,
    of: [Option<&'static Watched>; BATCH],
    notes: [Note; BATCH],
    /// What comes at the cursors, and where they are.
    units: [u16; BATCH],
    cursors: [raw::Piece; BATCH],
    /// What is written, and where.
    times: [[u64; 2]; BATCH],
    pauses: [raw::Piece; BATCH],
    /// The first thread that this tick has a note of, and the first one for which there was no room: 0 for all, and for none.
    from: u64,
    next: u64,
    /// The kernel lets nobody write another thread's memory through it, as under a filter of system calls.
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
        if self.is_refused {
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

    /// Puts them, where no word follows.
    #[inline(always)]
    fn put(&mut self) {
        let (mut from, mut len) = (0, 0);
        while from < self.len && !self.is_refused {
            let Ok(read) = raw::units(&self.cursors[from..self.len], &mut self.units[from..self.len]) else {
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
            // Behind what was read is one that is no memory.
            from += read + 1;
        }
        let mut from = 0;
        while from < len && !self.is_refused {
            // SAFETY: the rings live as `register` demands, and expect that.
            match unsafe { raw::put_all(&self.pauses[from..len], &self.times[from..len]) } {
                Ok(put) => from += put + 1,
                Err(_) => self.is_refused = true,
            }
        }
        self.len = 0;
    }
}

/// What one thread at a time uses.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: whoever uses it sees to that.
unsafe impl<T> Sync for Shared<T> {}

#[cfg(all(test, not(loom), target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
