//! Software triggers: when recording starts and stops, so that the ring keeps what came before.
//!
//! The thread that stops is stopped at once. Others notice at their next check, a function entry or the head of a loop: nothing
//! else on the hot path asks.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, fence};

use qs_core::record::EventKind;

use super::config::{self, Config};
use super::threads;
use crate::hot::{self, Append};

/// What the slow path asks.
static STATE: AtomicU8 = AtomicU8::new(RUNNING);
/// Statements to go, while they are counted.
static LEFT: AtomicU64 = AtomicU64::new(0);
/// How often each trigger of the sources was passed.
static PASSED: [AtomicU32; TRIGGERS] = [const { AtomicU32::new(0) }; TRIGGERS];
/// The record that stops, plus one; and statements after it.
static STOP_ON: AtomicU32 = AtomicU32::new(0);
static STOP_ON_AFTER: AtomicU64 = AtomicU64::new(0);

const RUNNING: u8 = 0;
const STOPPED: u8 = 1;
const COUNTING: u8 = 2;
/// Statements are filtered out; records are not.
const MUTED: u8 = 3;

/// Triggers that sources may hold; more share the numbers.
const TRIGGERS: usize = 64;

/// Has the environment say whether to wait for a start: what a program does comes after that.
fn settle() {
    let _ = Config::get();
}

/// How often a thread that is recorded takes the turn, and what that is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// When a chunk is full.
    Chunks,
    /// At each check, because each is to have its time.
    Checks,
    /// At each check, because only so many more statements are recorded.
    Counted(u64),
    /// Statements are not recorded.
    Stopped,
}

/// See [`Pace`].
#[inline(always)]
pub(crate) fn pace() -> Pace {
    match STATE.load(Relaxed) {
        RUNNING if config::is_each_timed() => Pace::Checks,
        RUNNING => Pace::Chunks,
        COUNTING => Pace::Counted(LEFT.load(Relaxed)),
        _ => Pace::Stopped,
    }
}

/// Whether nothing is stopped or counted now.
#[inline(always)]
pub(crate) fn is_running() -> bool {
    STATE.load(Relaxed) == RUNNING
}

/// Whether statements are recorded now.
#[inline(always)]
pub(crate) fn is_stopped() -> bool {
    matches!(STATE.load(Relaxed), STOPPED | MUTED)
}

/// So many statements were recorded while they are counted. Whether these were the last; then recording has stopped.
pub(crate) fn spend(statements: u64) -> bool {
    let less = |left: u64| Some(left.saturating_sub(statements));
    let _ = LEFT.fetch_update(AcqRel, Relaxed, less);
    let is_last =
        LEFT.load(Acquire) == 0 && STATE.compare_exchange(COUNTING, STOPPED, AcqRel, Relaxed).is_ok();
    if is_last {
        crate::qs::freeze(true);
        threads::call_all();
    }
    is_last
}

/// Whether a record is to stop recording.
#[inline(always)]
pub(crate) fn is_record_awaited() -> bool {
    STOP_ON.load(Acquire) != 0
}

/// A record of this id was appended.
#[inline]
pub(crate) fn on_record(id: u8) {
    if STOP_ON.load(Acquire) == u32::from(id) + 1 {
        stop_after(STOP_ON_AFTER.load(Relaxed));
    }
}

/// Starts recording, if it was stopped. Statements of this thread are recorded from here on, those of others
/// as well, unless the global filter keeps them out.
///
/// Source: QS software triggers.
pub fn start() {
    let state = if crate::qs::wants_statements() { RUNNING } else { MUTED };
    settle();
    hot::count_lost_words();
    let before = STATE.swap(state, AcqRel);
    if before == STOPPED {
        crate::qs::freeze(false);
    }
    if matches!(before, STOPPED | MUTED) && state == RUNNING {
        hot::append(Append::Event(EventKind::Started, 0));
        threads::call_all();
    }
    heed_filters();
}

/// Stops recording, of records too; the rings keep what they have. Other threads record until their next function entry or
/// round of a loop.
pub fn stop() {
    if STATE.load(Acquire) != STOPPED {
        hot::append(Append::Event(EventKind::Stopped, 0));
        STATE.store(STOPPED, Release);
        notice();
    }
    crate::qs::freeze(true);
}

/// The state has changed: this thread acts on it at once, others at their next check.
fn notice() {
    hot::settle();
    threads::call_all();
}

/// Statements are filtered out, or no longer. What a trigger has stopped, meanwhile too, stays stopped.
pub(crate) fn heed_filters() {
    settle();
    hot::count_lost_words();
    loop {
        fence(SeqCst);
        let state = STATE.load(Acquire);
        let turn_to = |next| STATE.compare_exchange(state, next, AcqRel, Relaxed).is_ok();
        match (crate::qs::wants_statements(), state) {
            (true, MUTED) => {
                if turn_to(RUNNING) {
                    hot::append(Append::Event(EventKind::Started, 0));
                    threads::call_all();
                }
            }
            (false, RUNNING | COUNTING) => {
                hot::append(Append::Event(EventKind::Stopped, 0));
                turn_to(MUTED);
                notice();
            }
            _ => return,
        }
    }
}

/// Stops recording after so many more statements, of this thread and of others once they come to notice. Where none are
/// recorded, nothing happens.
pub fn stop_after(statements: u64) {
    if statements == 0 {
        return stop();
    }
    settle();
    if is_stopped() {
        return;
    }
    LEFT.store(statements, Relaxed);
    hot::append(Append::Event(EventKind::Armed, statements));
    STATE.store(COUNTING, Release);
    notice();
}

/// Stops recording `after` statements behind the next record with this id, for example 123, an event of the recorder.
pub fn stop_on_record(id: u8, after: u64) {
    STOP_ON_AFTER.store(after, Relaxed);
    STOP_ON.store(u32::from(id) + 1, Release);
}

/// Nothing is recorded before a trigger starts it.
pub(crate) fn wait_for_start() {
    if STATE.compare_exchange(RUNNING, STOPPED, AcqRel, Relaxed).is_ok() {
        crate::qs::freeze(true);
    }
}

/// Passes a trigger of the sources; true when this was the `hit`-th time.
fn pass(trigger: u16, hit: u32) -> bool {
    PASSED[usize::from(trigger) % TRIGGERS].fetch_add(1, Relaxed) + 1 == hit.max(1)
}

pub(crate) fn start_at(trigger: u16, hit: u32) {
    if pass(trigger, hit) {
        start();
    }
}

pub(crate) fn stop_at(trigger: u16, hit: u32, after: u32) {
    if pass(trigger, hit) {
        stop_after(u64::from(after));
    }
}
