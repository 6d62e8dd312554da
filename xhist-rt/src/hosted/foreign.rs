//! Handlers that were installed behind the C library's back: when the recorder looks for them. Their signals are in the
//! header of each ring.
//!
//! The kernel does not say when a handler is installed, and each signal costs a system call. So all are looked at where much else is
//! done, and one at a time while a thread records.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

use super::slots::{SLOTS, Slot, made};
use super::{clock, signals, sys};

/// Signals that were found: bit n - 1 for signal n. They stay, because what such a handler recorded stays.
static FOUND: AtomicU64 = AtomicU64::new(0);
/// The clock when all were looked at last.
static LOOKED: AtomicU64 = AtomicU64::new(0);
/// The signal that [`look_at_one`] has looked at last, less 1.
static NEWEST: AtomicI32 = AtomicI32::new(0);
/// Microseconds in which starts and ends of threads look once.
const PAUSE: u32 = 10_000;
const SIGNALS: i32 = 64;

/// Looks at all signals.
pub(super) fn look() {
    LOOKED.store(clock::ticks(), Relaxed);
    publish(signals::foreign_handlers());
}

/// The same, unless that was done a moment ago.
pub(super) fn look_if_due() {
    match clock::ticks().wrapping_sub(LOOKED.load(Relaxed)) > clock::ticks_in(PAUSE) {
        true => look(),
        // There may be another ring now.
        false => publish(0),
    }
}

/// Looks at the next signal.
#[cold]
#[inline(never)]
pub(crate) fn look_at_one() {
    let signal = 1 + NEWEST.fetch_add(1, Relaxed).rem_euclid(SIGNALS);
    let is_known = FOUND.load(Relaxed) >> (signal - 1) & 1 == 1;
    if !is_known && sys::keeping_errno(|| signals::is_foreign(signal)) {
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
