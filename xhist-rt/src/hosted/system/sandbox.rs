//! Whether the program is in a sandbox: a filter may kill it for a system call that it does not make itself. Then the
//! recorder makes none of the calls that it can do without.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The program may enter a sandbox, and the recorder then follows.
const OUTSIDE: u8 = 0;
const INSIDE: u8 = 1;
/// The setting says that no filter kills for these calls.
const IGNORED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(OUTSIDE);

/// Whether calls that the recorder can do without are left out.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    STATE.load(Relaxed) == INSIDE
}

/// From now on a filter may be active. Returns whether the recorder has to follow now.
pub(crate) fn enter() -> bool {
    STATE.compare_exchange(OUTSIDE, INSIDE, Relaxed, Relaxed).is_ok()
}

/// The setting says that no filter kills for calls of the recorder.
pub(crate) fn ignore() {
    STATE.store(IGNORED, Relaxed);
}
