//! Lanes: where words go while a handler runs, and the way back. One of the files that may be `unsafe`.
//!
//! The interrupted code may keep its cursor in a register, so the cursor in memory comes back exactly as it was. A handler
//! of any level may come in between any two instructions here. It leaves everything as it found it.
//!
//! A handler that never returns (`siglongjmp`, an unwinding, the end of its thread) leaves its level behind. [`turn_on_lane`]
//! finds that out: the stack pointer has gone past the handler's frame, has left the handler's stack, or the frame's mark
//! is no longer there.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

use qs_core::record::words;

use crate::hosted::{mirror, sys};

/// Levels of handlers that have a lane. A thread has that many lanes at most.
pub(crate) const LANES: usize = 8;
/// Levels that are kept apart. Beyond [`LANES`] words go to scratch memory.
const LEVELS: usize = 16;
/// In [`Level::lane`]: all were taken.
const NO_LANE: usize = LANES + 1;
/// A mark is looked at without asking the system whether its page is there, this close to the stack pointer.
const NEAR: usize = 4096;

/// What a thread writes words with.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// Where the next word goes.
    pub(crate) cursor: *mut u8,
    /// A check at this cursor or behind it takes the turn.
    pub(crate) limit: *mut u8,
}

/// The handlers of a thread that have not returned. All zeros at first.
#[repr(C)]
pub(crate) struct Lanes {
    level: usize,
    serial: usize,
    levels: [Level; LEVELS],
}

#[repr(C)]
struct Level {
    /// What the interrupted code had.
    interrupted: Words,
    /// Address of the handler's [`Frame`]; 0 while that is not known.
    frame: usize,
    /// Number of its lane, from 1, or [`NO_LANE`]; 0 while that is not known. A handler that comes before that takes the same lane, because what it
    /// interrupts is what this one has interrupted.
    lane: usize,
    /// What the frame holds.
    mark: usize,
    /// Address of the kernel's description of the signal, on the same stack, and how it begins.
    info: usize,
    signal: [i32; 3],
    /// The signal stack that the frame is on: its first address and the one behind it. Equal: on no such stack.
    stack: (usize, usize),
}

/// What lanes need of the recorder. The functions may be called in a signal handler.
pub(crate) struct Recorder {
    /// The calling thread's words and lanes; `None` where the thread has no lanes, and there is no memory for them.
    pub(crate) thread: fn() -> Option<(*mut Words, *mut Lanes)>,
    /// A handler comes in on this lane, 1 to [`LANES`]; signals wait. `interrupted` is the cursor that the interrupted code has
    /// in memory, in its ring, in a lane or in scratch memory; in a ring, [`frontier`] finds where its words end. Gives the
    /// lane's cursor and limit.
    pub(crate) open: fn(lane: usize, interrupted: *mut u8) -> Words,
    /// The handler on this lane is over; `words` are what it left. Whether the interrupted code has to take the turn at
    /// its next check.
    pub(crate) close: fn(lane: usize, words: Words) -> bool,
    /// A handler that found all lanes taken comes in (true), or is over: its words are lost.
    pub(crate) set_aside: fn(bool),
    /// One inside such handlers, which found all levels taken, is over: its words end there and are lost.
    pub(crate) lose: fn(cursor: *mut u8),
}

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(null_mut());

/// From now on handlers have lanes.
pub(crate) fn set_recorder(recorder: &'static Recorder) {
    RECORDER.store((&raw const *recorder).cast_mut(), Ordering::Release);
}

fn recorder() -> Option<&'static Recorder> {
    // SAFETY: `set_recorder` stored a static.
    unsafe { RECORDER.load(Ordering::Acquire).as_ref() }
}

/// A handler's place on the stack.
pub(super) struct Frame {
    mark: usize,
}

impl Frame {
    pub(super) const fn new() -> Frame {
        Frame { mark: 0 }
    }

    fn address(&self) -> usize {
        (&raw const *self).addr()
    }
}

/// The lane of a handler that runs.
pub(super) struct Entered {
    words: *mut Words,
    lanes: *mut Lanes,
    level: usize,
    /// What the interrupted code had, where all levels were taken.
    interrupted: Option<Words>,
}

/// Moves the calling thread to a lane, before a handler runs. `errno` stays.
///
/// # Safety
/// `info` and `context` are the kernel's. The frame stays where it is until [`leave`], or its function is left in another
/// way.
pub(super) unsafe fn enter(
    frame: &mut Frame,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) -> Option<Entered> {
    let recorder = recorder()?;
    sys::keeping_errno(|| {
        let (words, lanes) = (recorder.thread)()?;
        // SAFETY: the recorder gives the calling thread's own. Accesses are volatile, because handlers come in.
        unsafe {
            if let Some(stack) = interrupted_stack(context) {
                settle(recorder, words, lanes, stack);
            }
            let level = (&raw const (*lanes).level).read_volatile();
            if level == LEVELS {
                let interrupted = Some(words.read_volatile());
                let scratch = mirror::Scratch::fallback();
                set(words, Words { cursor: scratch.cursor, limit: scratch.limit });
                return Some(Entered { words, lanes, level, interrupted });
            }
            let own = &raw mut (*lanes).levels[level];
            // First: a handler that comes in from here on takes the next level, and leaves this one alone.
            (&raw mut (*own).frame).write_volatile(0);
            (&raw mut (*own).lane).write_volatile(0);
            (&raw mut (*lanes).level).write_volatile(level + 1);
            let interrupted = words.read_volatile();
            let serial = (&raw const (*lanes).serial).read_volatile().wrapping_add(1);
            (&raw mut (*lanes).serial).write_volatile(serial);
            let address = frame.address();
            // No number that a stack holds by chance.
            let mark = serial.wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as usize) ^ address;
            (&raw mut frame.mark).write_volatile(mark);
            (&raw mut (*own).interrupted).write_volatile(interrupted);
            (&raw mut (*own).mark).write_volatile(mark);
            (&raw mut (*own).info).write_volatile(info.addr());
            (&raw mut (*own).signal).write_volatile(info.cast::<[i32; 3]>().read_volatile());
            (&raw mut (*own).stack).write_volatile(signal_stack(context, address));
            (&raw mut (*own).frame).write_volatile(address);
            let has_lane = |level: &usize| {
                (1..=LANES).contains(&(&raw const (*lanes).levels[*level].lane).read_volatile())
            };
            let number = 1 + (0..level).filter(has_lane).count();
            let lane = if number <= LANES {
                // What another handler would see of a lane that is being opened has no place.
                sys::while_signals_wait(|| {
                    let lane = (recorder.open)(number, interrupted.cursor);
                    (&raw mut (*own).lane).write_volatile(number);
                    lane
                })
            } else {
                sys::while_signals_wait(|| {
                    (recorder.set_aside)(true);
                    (&raw mut (*own).lane).write_volatile(NO_LANE);
                });
                let scratch = mirror::Scratch::fallback();
                Words { cursor: scratch.cursor, limit: null_mut() }
            };
            set(words, lane);
            Some(Entered { words, lanes, level, interrupted: None })
        }
    })
}

/// Moves the thread back, after its handler has returned. `errno` stays.
///
/// # Safety
/// `entered` is what [`enter`] gave for this frame, on this thread.
pub(super) unsafe fn leave(frame: &Frame, entered: Option<Entered>) {
    let (Some(recorder), Some(entered)) = (recorder(), entered) else { return };
    let Entered { words, lanes, level, interrupted } = entered;
    sys::keeping_errno(|| {
        // SAFETY: as in `enter`.
        unsafe {
            if let Some(interrupted) = interrupted {
                (recorder.lose)((*words).cursor);
                return set(words, interrupted);
            }
            let own = &raw mut (*lanes).levels[level];
            let is_known = (&raw const (*lanes).level).read_volatile() == level + 1
                && (&raw const (*own).frame).read_volatile() == frame.address()
                && (&raw const (*own).mark).read_volatile() == (&raw const frame.mark).read_volatile();
            // Otherwise the handler was taken for gone: it had moved to another stack.
            if is_known {
                let interrupted = (&raw const (*own).interrupted).read_volatile();
                drop_level(recorder, words, lanes, level, interrupted);
            }
        }
    });
}

/// For a turn while the thread is on a lane: whether its handlers are gone, and the thread is back in its own ring, or in
/// the lane of a handler that is not gone. The words are then those of the interrupted code, at its frontier, with a limit
/// of 0. The cursor in `words` is the newest; `stack` is the stack pointer at the check.
///
/// # Safety
/// Words and lanes are the calling thread's.
pub(crate) unsafe fn turn_on_lane(words: *mut Words, lanes: *mut Lanes, stack: usize) -> bool {
    // SAFETY: the caller's.
    recorder().is_some_and(|recorder| unsafe { settle(recorder, words, lanes, stack) })
}

impl Lanes {
    /// Level of the handler that runs; 0 for none.
    pub(crate) fn level(&self) -> usize {
        // SAFETY: a reference is valid. Handlers change the level.
        unsafe { (&raw const self.level).read_volatile() }
    }
}

/// Drops the levels whose handlers are gone.
///
/// # Safety
/// Words and lanes are the calling thread's.
unsafe fn settle(recorder: &Recorder, words: *mut Words, lanes: *mut Lanes, stack: usize) -> bool {
    let mut is_settled = false;
    // SAFETY: the caller's.
    unsafe {
        while let Some(level) = (&raw const (*lanes).level).read_volatile().checked_sub(1) {
            let own = &raw const (*lanes).levels[level];
            if !is_gone(&own.read_volatile(), stack) {
                break;
            }
            let mut interrupted = (&raw const (*own).interrupted).read_volatile();
            // The registers of the interrupted code are lost, and what it wrote behind this cursor is not.
            if mirror::scratch_again(interrupted.cursor).is_none() {
                interrupted.cursor = frontier(interrupted.cursor);
            }
            interrupted.limit = null_mut();
            drop_level(recorder, words, lanes, level, interrupted);
            is_settled = true;
        }
    }
    is_settled
}

/// Ends the newest level.
///
/// # Safety
/// As for [`settle`]; there is such a level.
unsafe fn drop_level(
    recorder: &Recorder,
    words: *mut Words,
    lanes: *mut Lanes,
    level: usize,
    mut interrupted: Words,
) {
    // SAFETY: the caller's.
    unsafe {
        let lane = (&raw const (*lanes).levels[level].lane).read_volatile();
        if lane == NO_LANE {
            (recorder.set_aside)(false);
        } else if lane > 0 && (recorder.close)(lane, words.read_volatile()) {
            interrupted.limit = null_mut();
        }
        set(words, interrupted);
        // A handler that comes in here interrupts what this one has interrupted, and may take its lane.
        (&raw mut (*lanes).levels[level].lane).write_volatile(0);
        (&raw mut (*lanes).levels[level].frame).write_volatile(0);
        (&raw mut (*lanes).level).write_volatile(level);
    }
}

/// # Safety
/// The words are the calling thread's.
unsafe fn set(words: *mut Words, new: Words) {
    // SAFETY: the caller's. The compiler must not move accesses of lanes across.
    unsafe {
        compiler_fence(Ordering::SeqCst);
        words.write_volatile(new);
        compiler_fence(Ordering::SeqCst);
    }
}

/// Whether the frame of a handler is gone, seen from code of the same thread with this stack pointer.
fn is_gone(level: &Level, stack: usize) -> bool {
    // It is being entered.
    if level.frame == 0 {
        return false;
    }
    let (start, end) = level.stack;
    let is_elsewhere = start != end && !(start..end).contains(&stack);
    // Stacks grow towards lower addresses on all systems that the recorder knows.
    if is_elsewhere || stack > level.frame {
        return true;
    }
    // The frame may be gone all the same, and its memory may be part of a later frame, or of no stack at all.
    let is_there = |address: usize| address.wrapping_sub(stack) <= NEAR || is_readable(address);
    if !is_there(level.frame) || !is_there(level.info) {
        return true;
    }
    // SAFETY: both lie a little above the stack pointer, or the system says that they are there.
    let (mark, signal) = unsafe {
        ((level.frame as *const usize).read_volatile(), (level.info as *const [i32; 3]).read_volatile())
    };
    mark != level.mark || signal != level.signal
}

/// Whether there is memory at this address.
fn is_readable(address: usize) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        /// Bytes of the kernel's signal sets.
        const SET: usize = 8;
        let (no_such_way, set) = (-1isize, address & !7);
        // SAFETY: the kernel reads the set, and then refuses what it is to do with it.
        let result = sys::keeping_errno(|| {
            let nothing = null_mut::<c_void>();
            // SAFETY: as above.
            match unsafe { libc::syscall(libc::SYS_rt_sigprocmask, no_such_way, set, nothing, SET) } {
                0 => 0,
                _ => sys::errno(),
            }
        });
        result != libc::EFAULT
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = address;
        true
    }
}

/// The stack pointer of the code that the signal has interrupted, where it can be found.
///
/// # Safety
/// `context` is the kernel's.
unsafe fn interrupted_stack(context: *mut c_void) -> Option<usize> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    // SAFETY: the caller's.
    return Some(unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RSP as usize] as usize
    });
    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    // SAFETY: the caller's.
    return Some(unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.sp as usize });
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let _ = context;
        None
    }
}

/// The signal stack that an address is on; twice 0 where it is on none.
///
/// # Safety
/// `context` is the kernel's.
unsafe fn signal_stack(context: *mut c_void, address: usize) -> (usize, usize) {
    // SAFETY: the caller's. The kernel describes the thread's signal stack there.
    let stack = unsafe { (*context.cast::<libc::ucontext_t>()).uc_stack };
    let (start, end) = (stack.ss_sp.addr(), stack.ss_sp.addr().wrapping_add(stack.ss_size));
    if (start..end).contains(&address) { (start, end) } else { (0, 0) }
}

/// Where words end that begin at a cursor: the first unit with a byte that no word has.
///
/// # Safety
/// The cursor is in a ring, whose memory has such a unit behind it.
pub(crate) unsafe fn frontier(cursor: *mut u8) -> *mut u8 {
    let mut at = cursor;
    let is_word = |at: *mut u8| {
        // SAFETY: the caller's: the end comes before the end of the memory.
        let unit = unsafe { at.cast::<[u8; words::UNIT]>().read_volatile() };
        unit.iter().all(|byte| words::digit_of(*byte).is_some())
    };
    // Four units at a time: the interrupted code may have written a long way.
    loop {
        while at.addr().is_multiple_of(8) {
            // SAFETY: as above; the eight bytes are in one page.
            let eight = unsafe { at.cast::<u64>().read_volatile() };
            if [0, 0x7D, 0x7E].iter().any(|byte| has(eight, *byte)) {
                break;
            }
            at = at.wrapping_add(8);
        }
        if !is_word(at) {
            return at;
        }
        at = at.wrapping_add(words::UNIT);
    }
}

/// Whether one of eight bytes is this one.
fn has(eight: u64, byte: u8) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let zero = eight ^ (ONES * u64::from(byte));
    zero.wrapping_sub(ONES) & !zero & (ONES << 7) != 0
}
