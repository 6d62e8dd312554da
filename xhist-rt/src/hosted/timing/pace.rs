//! How often a recorded thread rolls over.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::ticker;
use crate::filters;
use crate::hosted::setup::config;
use crate::hosted::setup::trigger_state::{COUNTING, LEFT, RUNNING, STATE, STOPPED};
use crate::hosted::system::sys;

/// How often a recorded thread rolls over, and why.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// When a chunk is full.
    Chunks,
    /// At each check, because each is to have its time.
    Checks,
    /// At each check, because only this many more statements are recorded.
    Counted(u64),
    /// Statements are not recorded.
    Stopped,
}

/// The pace of all threads now.
#[inline(always)]
pub(crate) fn pace() -> Pace {
    match STATE.load(Relaxed) {
        RUNNING if config::is_each_timed() => Pace::Checks,
        RUNNING => Pace::Chunks,
        COUNTING => Pace::Counted(LEFT.load(Relaxed)),
        _ => Pace::Stopped,
    }
}

/// While statements are counted: this many more were recorded. Returns whether recording has stopped with the last of
/// them.
pub(crate) fn spend(statements: u64) -> bool {
    let less = |left: u64| Some(left.saturating_sub(statements));
    let _ = LEFT.fetch_update(AcqRel, Relaxed, less);
    let is_last =
        LEFT.load(Acquire) == 0 && STATE.compare_exchange(COUNTING, STOPPED, AcqRel, Relaxed).is_ok();
    if is_last {
        filters::freeze(true);
        call_all();
    }
    is_last
}

/// Has every thread roll over at its next check.
pub(crate) fn call_all() {
    ticker::look_at_all(sys::tid());
}
