//! Looks for handlers that were installed without the C library. Their signals are in the header of each ring.
//!
//! The kernel does not announce a new handler, and a look at one signal costs a system call. So the recorder looks at
//! all signals during rare actions that take long anyway, and at one signal at a time while a thread records. In a
//! sandbox it does not look, because a filter may kill for the call.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

use crate::hosted::setup::clock;
use crate::hosted::slots::{SLOTS, Slot, made};
use crate::hosted::system::{sandbox, sys};

/// Signals with such handlers: bit n - 1 for signal n. The bits stay set, because the entries of such a handler stay.
static FOUND: AtomicU64 = AtomicU64::new(0);
/// The clock at the last look at all signals.
static LOOKED: AtomicU64 = AtomicU64::new(0);
/// The signal of the last [`look_at_one`], less 1.
static NEWEST: AtomicI32 = AtomicI32::new(0);
/// In this number of microseconds, starts and ends of threads look at most once.
const PAUSE: u32 = 10_000;
const SIGNALS: i32 = 64;

/// Looks at all signals.
pub(crate) fn look() {
    LOOKED.store(clock::ticks(), Relaxed);
    // There may be another ring now.
    publish(if sandbox::is_on() { 0 } else { sys::foreign_handlers() });
}

/// [`look`], unless it was done a moment ago.
pub(crate) fn look_if_due() {
    match clock::ticks().wrapping_sub(LOOKED.load(Relaxed)) > clock::ticks_in(PAUSE) {
        true => look(),
        false => publish(0),
    }
}

/// Looks at the next signal.
#[cold]
#[inline(never)]
pub(crate) fn look_at_one() {
    let signal = 1 + NEWEST.fetch_add(1, Relaxed).rem_euclid(SIGNALS);
    let is_known = FOUND.load(Relaxed) >> (signal - 1) & 1 == 1;
    if !is_known && !sandbox::is_on() && sys::keeping_errno(|| sys::is_foreign(signal)) {
        publish(1 << (signal - 1));
    }
}

fn publish(signals: u64) {
    let found = FOUND.fetch_or(signals, Relaxed) | signals;
    if found != 0 {
        let rings = SLOTS.iter().take(made()).filter_map(Slot::ring);
        rings.for_each(|header| header.set_foreign_handlers(found));
    }
}
