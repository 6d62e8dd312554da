//! The time that chunks and records are stamped with: the clock, a place in the one order of all threads, or the
//! result of a function of the program.

use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64};

use crate::hosted::setup::clock;
use crate::hosted::setup::config;
use crate::hosted::setup::config::Frames;
use crate::hosted::slots;

/// A clock that the program has given, `fn() -> u32`.
static GIVEN: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The newest time of that clock, in full.
static NEWEST: AtomicU64 = AtomicU64::new(0);

/// Replaces the clock of time stamps.
pub(crate) fn set_time(time: fn() -> u32) {
    GIVEN.store(time as *mut (), Release);
    clock::replace();
    publish_rate(0);
}

/// Whether the program has given the clock.
pub(crate) fn is_given() -> bool {
    !GIVEN.load(Relaxed).is_null()
}

/// The time for a stamp, in full; 0 if nothing is stamped.
#[inline(always)]
pub(crate) fn now() -> u64 {
    let given = GIVEN.load(Acquire);
    match given.is_null() && config::is_plain() {
        true => ticks(),
        false => other(given),
    }
}

#[inline(never)]
fn other(given: *mut ()) -> u64 {
    if !config::is_plain() && (config::frames() == Frames::Exact || config::is_untimed()) {
        return numbered();
    }
    if given.is_null() {
        return ticks();
    }
    // SAFETY: `set_time` stores nothing else.
    let given: fn() -> u32 = unsafe { core::mem::transmute(given) };
    in_full(given())
}

/// The stamp where only order matters, or 0.
#[cold]
#[inline(never)]
fn numbered() -> u64 {
    if config::frames() == Frames::Exact { clock::ticket() } else { 0 }
}

/// The full time with this low half: the first one that is at most a step before the newest time. Readers decide
/// likewise between a step back and a step forward.
fn in_full(low: u32) -> u64 {
    const STEP: u32 = 1 << 20;
    let newest = NEWEST.load(Relaxed);
    let forward = low.wrapping_sub(newest as u32);
    let back = forward.wrapping_neg();
    let is_back = back <= STEP && u64::from(back) < newest;
    let time = if is_back { newest - u64::from(back) } else { newest + u64::from(forward) }.max(1);
    if NEWEST.compare_exchange(newest, time.max(newest), Relaxed, Relaxed).is_err() {
        NEWEST.fetch_max(time, Relaxed);
    }
    time
}

/// The clock. Measures its rate when that is due.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    // The result passes through the rare call, so that the code saves no register for it.
    let ticks = clock::ticks();
    if clock::is_due(ticks) { measured_at(ticks) } else { ticks }
}

#[cold]
#[inline(never)]
fn measured_at(ticks: u64) -> u64 {
    publish_rate(clock::measure());
    ticks
}

/// Writes the rate of the clock to every ring.
pub(crate) fn publish_rate(rate: u32) {
    slots::publish_clock_hz(clock_hz(rate));
}

/// The rate for headers; 0 if the program has given a clock of its own.
pub(crate) fn clock_hz(rate: u32) -> u32 {
    if GIVEN.load(Relaxed).is_null() { rate } else { 0 }
}
