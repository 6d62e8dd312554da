//! Lanes: where words go while a handler runs, and how the thread returns.
//!
//! The interrupted code may keep its cursor in a register, so the cursor in memory gets exactly its old value back. A
//! handler of any level may come between any two instructions here. It restores all state that it changes.
//!
//! A handler that never returns (`siglongjmp`, an unwinding, the end of its thread) leaves its level behind.
//! [`settle_lanes`] detects that: the stack pointer has passed the handler's frame, has left the handler's stack, or
//! the frame's mark is gone.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

use qs_core::record::words;

use crate::hosted::system::scratch::{ScratchRange, scratch_again};
use crate::hosted::system::sys;
use crate::hosted::system::sys::context::{interrupted_stack, is_readable, signal_stack};

/// Number of levels of handlers that have a lane, and so the largest number of lanes of a thread.
pub(crate) const LANES: usize = 8;
/// Number of levels that are distinguished. Beyond [`LANES`], words go to scratch memory.
const LEVELS: usize = 16;
/// In [`Level::lane`]: all lanes were in use.
const NO_LANE: usize = LANES + 1;
/// So close to the stack pointer, a mark is read without a check that its page exists.
const NEAR: usize = 4096;

/// Where a thread writes words: the beginning of its state.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriteRange {
    /// Where the next word goes.
    pub(crate) cursor: *mut u8,
    /// A check that finds the cursor here or behind rolls over.
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
    /// The words of the interrupted code.
    interrupted: WriteRange,
    /// Address of the handler's [`HandlerFrame`]; 0 while it is not known.
    frame: usize,
    /// Number of the handler's lane, from 1, or [`NO_LANE`]; 0 while it is not known. A handler that comes before
    /// that takes the same lane, because both interrupt the same code.
    lane: usize,
    /// The mark in the frame.
    mark: usize,
    /// Address of the kernel's description of the signal, on the same stack, and its first words.
    info: usize,
    signal: [i32; 3],
    /// The signal stack of the frame: its first address and the one behind it. Equal if the frame is not on such a
    /// stack.
    stack: (usize, usize),
}

/// What lanes need of the recorder. The functions may be called in a signal handler.
pub(crate) struct LaneUser {
    /// The words and lanes of the calling thread. The lanes are null before its first statement. `None` if the thread
    /// is not recorded, and if there is no memory for lanes.
    pub(crate) thread: fn() -> Option<(*mut WriteRange, *mut Lanes)>,
    /// A handler starts on this lane, 1 to [`LANES`]. Signals are blocked. `interrupted` is the cursor of the
    /// interrupted code in memory: in its ring, in a lane or in scratch memory. In a ring, [`frontier`] finds the end
    /// of the words. Returns the lane's cursor and limit.
    pub(crate) open: fn(lane: usize, interrupted: *mut u8) -> WriteRange,
    /// The handler on this lane has ended and has left `words`. Returns whether the interrupted code has to roll over
    /// at its next check.
    pub(crate) close: fn(lane: usize, words: WriteRange) -> bool,
    /// A handler that found all lanes in use starts (true) or has ended: its words are lost.
    pub(crate) set_aside: fn(bool),
    /// A handler that found all levels in use has ended: its words end at the cursor and are lost.
    pub(crate) lose: fn(cursor: *mut u8),
    /// A handler has ended that came before the first statement of its thread: its words end at the cursor.
    pub(crate) end_early: fn(cursor: *mut u8),
}

static LANE_USER: AtomicPtr<LaneUser> = AtomicPtr::new(null_mut());

/// From now on handlers have lanes.
pub(crate) fn set_lane_user(user: &'static LaneUser) {
    LANE_USER.store((&raw const *user).cast_mut(), Ordering::Release);
}

fn lane_user() -> Option<&'static LaneUser> {
    // SAFETY: `set_lane_user` stored a reference to a static.
    unsafe { LANE_USER.load(Ordering::Acquire).as_ref() }
}

/// Whether the calling thread has a ring, so that a handler that it installs has a lane.
#[allow(dead_code, reason = "handlers of signals belong to no thread")]
pub(crate) fn has_ring() -> bool {
    lane_user().and_then(|user| (user.thread)()).is_some_and(|(_, lanes)| !lanes.is_null())
}

/// A handler's place on the stack.
pub(crate) struct HandlerFrame {
    mark: usize,
}

impl HandlerFrame {
    pub(crate) const fn new() -> HandlerFrame {
        HandlerFrame { mark: 0 }
    }

    fn address(&self) -> usize {
        (&raw const *self).addr()
    }
}

/// The lane of a running handler.
pub(crate) struct Entered {
    words: *mut WriteRange,
    /// Null if the handler came before the first statement of its thread.
    lanes: *mut Lanes,
    level: usize,
    /// The words of the interrupted code, if the handler has no level: all were in use, or there are no lanes.
    interrupted: Option<WriteRange>,
}

/// Moves the calling thread to a lane, before a handler runs. `errno` stays.
///
/// # Safety
/// `info` and `context` are the kernel's. The frame stays where it is until [`leave`], or until its function is left
/// in another way.
pub(crate) unsafe fn enter(
    frame: &mut HandlerFrame,
    info: *mut c_void,
    context: *mut c_void,
) -> Option<Entered> {
    let user = lane_user()?;
    sys::keeping_errno(|| {
        let (words, lanes) = (user.thread)()?;
        // SAFETY: the recorder returns the words and lanes of the calling thread. Accesses are volatile, because
        // handlers may come.
        unsafe {
            if lanes.is_null() {
                return Some(Entered { words, lanes, level: 0, interrupted: Some(words.read_volatile()) });
            }
            if let Some(stack) = interrupted_stack(context) {
                settle(user, words, lanes, stack);
            }
            let level = (&raw const (*lanes).level).read_volatile();
            if level == LEVELS {
                let interrupted = Some(words.read_volatile());
                let scratch = ScratchRange::fallback();
                set(words, WriteRange { cursor: scratch.cursor, limit: scratch.limit });
                return Some(Entered { words, lanes, level, interrupted });
            }
            let own = &raw mut (*lanes).levels[level];
            // This comes first: a handler that comes from here on takes the next level and does not change this one.
            (&raw mut (*own).frame).write_volatile(0);
            (&raw mut (*own).lane).write_volatile(0);
            (&raw mut (*lanes).level).write_volatile(level + 1);
            let interrupted = words.read_volatile();
            let serial = (&raw const (*lanes).serial).read_volatile().wrapping_add(1);
            (&raw mut (*lanes).serial).write_volatile(serial);
            let address = frame.address();
            // A number that a stack does not contain by chance.
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
                // Another handler must not see a lane that is being opened.
                sys::with_signals_blocked(|| {
                    let lane = (user.open)(number, interrupted.cursor);
                    (&raw mut (*own).lane).write_volatile(number);
                    lane
                })
            } else {
                sys::with_signals_blocked(|| {
                    (user.set_aside)(true);
                    (&raw mut (*own).lane).write_volatile(NO_LANE);
                });
                let scratch = ScratchRange::fallback();
                WriteRange { cursor: scratch.cursor, limit: null_mut() }
            };
            set(words, lane);
            Some(Entered { words, lanes, level, interrupted: None })
        }
    })
}

/// Moves the thread back after its handler has returned. `errno` stays.
///
/// # Safety
/// `entered` is the result of [`enter`] for this frame, on this thread.
pub(crate) unsafe fn leave(frame: &HandlerFrame, entered: Option<Entered>) {
    let (Some(user), Some(entered)) = (lane_user(), entered) else { return };
    let Entered { words, lanes, level, interrupted } = entered;
    sys::keeping_errno(|| {
        // SAFETY: `enter` got words and lanes of the calling thread from the recorder.
        unsafe {
            if let Some(interrupted) = interrupted {
                let end = if lanes.is_null() { user.end_early } else { user.lose };
                end((&raw const (*words).cursor).read_volatile());
                return set(words, interrupted);
            }
            let own = &raw mut (*lanes).levels[level];
            let is_known = (&raw const (*lanes).level).read_volatile() == level + 1
                && (&raw const (*own).frame).read_volatile() == frame.address()
                && (&raw const (*own).mark).read_volatile() == (&raw const frame.mark).read_volatile();
            // Otherwise the handler had moved to another stack, and was taken for a handler that never returns.
            if is_known {
                let interrupted = (&raw const (*own).interrupted).read_volatile();
                drop_level(user, words, lanes, level, interrupted);
            }
        }
    });
}

/// For a roll-over while the thread is on a lane. Returns whether handlers have ended, so that the thread is back in
/// its own ring, or in the lane of a handler that still runs. The words are then those of the interrupted code, at
/// its frontier, with a limit of 0. The cursor in `words` is the newest; `stack` is the stack pointer at the check.
///
/// # Safety
/// Words and lanes are those of the calling thread.
pub(crate) unsafe fn settle_lanes(words: *mut WriteRange, lanes: *mut Lanes, stack: usize) -> bool {
    // SAFETY: the caller passes words and lanes of its thread.
    lane_user().is_some_and(|user| unsafe { settle(user, words, lanes, stack) })
}

impl Lanes {
    /// Level of the running handler; 0 for none.
    pub(crate) fn level(&self) -> usize {
        // SAFETY: a reference is valid. The read is volatile, because handlers change the level.
        unsafe { (&raw const self.level).read_volatile() }
    }
}

/// Drops the levels of handlers that have ended.
///
/// # Safety
/// Words and lanes are those of the calling thread.
unsafe fn settle(user: &LaneUser, words: *mut WriteRange, lanes: *mut Lanes, stack: usize) -> bool {
    let mut is_settled = false;
    // SAFETY: the caller passes words and lanes of its thread.
    unsafe {
        while let Some(level) = (&raw const (*lanes).level).read_volatile().checked_sub(1) {
            let own = &raw const (*lanes).levels[level];
            if !is_gone(&own.read_volatile(), stack) {
                break;
            }
            let mut interrupted = (&raw const (*own).interrupted).read_volatile();
            // The registers of the interrupted code are lost, but not the words that it wrote behind this cursor.
            if scratch_again(interrupted.cursor).is_none() {
                interrupted.cursor = frontier(interrupted.cursor);
            }
            interrupted.limit = null_mut();
            drop_level(user, words, lanes, level, interrupted);
            is_settled = true;
        }
    }
    is_settled
}

/// Ends the newest level.
///
/// # Safety
/// Words and lanes are those of the calling thread, and the level is its newest.
unsafe fn drop_level(
    user: &LaneUser,
    words: *mut WriteRange,
    lanes: *mut Lanes,
    level: usize,
    mut interrupted: WriteRange,
) {
    // SAFETY: the caller passes words and lanes of its thread.
    unsafe {
        let lane = (&raw const (*lanes).levels[level].lane).read_volatile();
        if lane == NO_LANE {
            (user.set_aside)(false);
        } else if lane > 0 && (user.close)(lane, words.read_volatile()) {
            interrupted.limit = null_mut();
        }
        set(words, interrupted);
        // A handler that comes here interrupts the same code as the ended one, and may take its lane.
        (&raw mut (*lanes).levels[level].lane).write_volatile(0);
        (&raw mut (*lanes).levels[level].frame).write_volatile(0);
        (&raw mut (*lanes).level).write_volatile(level);
    }
}

/// Sets cursor and limit.
///
/// # Safety
/// The words are those of the calling thread.
unsafe fn set(words: *mut WriteRange, new: WriteRange) {
    // SAFETY: the caller passes the words of its thread. The fences keep the compiler from moving accesses of lanes.
    unsafe {
        compiler_fence(Ordering::SeqCst);
        words.write_volatile(new);
        compiler_fence(Ordering::SeqCst);
    }
}

/// Whether the frame of a handler has been left, seen from code of the same thread with this stack pointer.
fn is_gone(level: &Level, stack: usize) -> bool {
    // The handler is starting.
    if level.frame == 0 {
        return false;
    }
    let (start, end) = level.stack;
    let is_elsewhere = start != end && !(start..end).contains(&stack);
    // Stacks grow towards lower addresses on all systems that the recorder knows.
    if is_elsewhere || stack > level.frame {
        return true;
    }
    // The frame may have been left even so. Its memory may belong to a later frame, or to no stack at all.
    let is_there = |address: usize| address.wrapping_sub(stack) <= NEAR || is_readable(address);
    if !is_there(level.frame) || !is_there(level.info) {
        return true;
    }
    // SAFETY: both addresses lie a little above the stack pointer, or the system has confirmed that there is memory.
    let (mark, signal) = unsafe {
        ((level.frame as *const usize).read_volatile(), (level.info as *const [i32; 3]).read_volatile())
    };
    mark != level.mark || signal != level.signal
}

/// The end of the words that begin at a cursor: the first unit with a byte that no word has.
///
/// # Safety
/// The cursor is in a ring, whose memory has such a unit behind it.
pub(crate) unsafe fn frontier(cursor: *mut u8) -> *mut u8 {
    let mut at = cursor;
    let is_word = |at: *mut u8| {
        // SAFETY: the caller knows that the end comes before the end of the memory.
        let unit = unsafe { at.cast::<[u8; words::UNIT]>().read_volatile() };
        unit.iter().all(|byte| words::digit_of(*byte).is_some())
    };
    // Four units at a time: the interrupted code may have written many words.
    loop {
        while at.addr().is_multiple_of(8) {
            // SAFETY: the caller knows that the end comes before the end of the memory. Eight aligned bytes are in
            // one page.
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

/// Whether one of eight bytes equals this one.
fn has(eight: u64, byte: u8) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let zero = eight ^ (ONES * u64::from(byte));
    zero.wrapping_sub(ONES) & !zero & (ONES << 7) != 0
}
