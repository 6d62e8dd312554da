//! The time that chunks and records are stamped with: the clock, a place in the one order of all threads, or what a
//! function of the program says.

use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64};

use super::config::{self, Config, Frames, Time};
use super::{clock, threads};
use crate::words::Stamps;

/// A clock that the program has given, `fn() -> u32`.
static GIVEN: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The newest time of that clock, in full.
static NEWEST: AtomicU64 = AtomicU64::new(0);

/// Gives the time stamps another clock.
pub(crate) fn set_time(time: fn() -> u32) {
    GIVEN.store(time as *mut (), Release);
    threads::publish_rate(0);
}

/// Whether the program has given the clock.
pub(super) fn is_given() -> bool {
    !GIVEN.load(Relaxed).is_null()
}

/// The time for a stamp, in full; 0 where there are no stamps.
#[inline(always)]
pub(crate) fn now() -> u64 {
    let given = GIVEN.load(Acquire);
    match given.is_null() && config::is_plain() {
        true => ticks(),
        false => other(given),
    }
}

/// Where the stamps come from, if each statement has one.
pub(super) fn source(config: &Config) -> Stamps {
    match config.frames {
        _ if config.ever > 0 => Stamps::Other,
        Frames::Exact => Stamps::Count,
        _ if config.time == Time::On && clock::is_counter() => Stamps::Counter,
        _ => Stamps::Other,
    }
}

/// [`now`] of [`Stamps::Counter`]. `None` where something rare is to be done.
#[inline(always)]
pub(crate) fn by_counter() -> Option<u64> {
    let ticks = super::sys::counter();
    (!is_given() && !clock::is_due(ticks)).then_some(ticks)
}

/// [`now`] of [`Stamps::Count`].
#[inline(always)]
pub(crate) fn by_count() -> Option<u64> {
    Some(clock::ticket())
}

#[inline(never)]
fn other(given: *mut ()) -> u64 {
    if !config::is_plain() && (config::frames() == Frames::Exact || config::is_untimed()) {
        return numbered();
    }
    if given.is_null() {
        return ticks();
    }
    // SAFETY: `set_time` stored such a function.
    let given: fn() -> u32 = unsafe { core::mem::transmute(given) };
    in_full(given())
}

/// The number of a stamp where order matters alone, or nothing.
#[cold]
#[inline(never)]
fn numbered() -> u64 {
    if config::frames() == Frames::Exact { clock::ticket() } else { 0 }
}

/// The time whose low half this is: the first that is not more than a step before the newest one. Readers, too, take that for a
/// step back and all else for a step forward.
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

/// The clock, whose rate is measured when that is due.
#[inline(always)]
pub(super) fn ticks() -> u64 {
    // The result passes through the rare call, so that nothing is saved for it.
    let ticks = clock::ticks();
    if clock::is_due(ticks) { measured_at(ticks) } else { ticks }
}

#[cold]
#[inline(never)]
fn measured_at(ticks: u64) -> u64 {
    threads::publish_rate(clock::measure());
    ticks
}

/// The rate for headers; 0 where the program has given a clock of its own.
pub(super) fn clock_hz(rate: u32) -> u32 {
    if GIVEN.load(Relaxed).is_null() { rate } else { 0 }
}
