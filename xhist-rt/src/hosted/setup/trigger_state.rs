//! Whether recording runs, as triggers and filters have left it. `trigger` changes it, `pace` derives from it how often
//! threads roll over.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use crate::filters;

/// One of the states below.
pub(crate) static STATE: AtomicU8 = AtomicU8::new(RUNNING);
/// In state [`COUNTING`]: the number of statements that are still recorded.
pub(crate) static LEFT: AtomicU64 = AtomicU64::new(0);
/// Id of the record that stops recording, plus one; 0 = none.
pub(crate) static STOP_ON: AtomicU32 = AtomicU32::new(0);
/// Number of statements that are recorded after that record.
pub(crate) static STOP_ON_AFTER: AtomicU64 = AtomicU64::new(0);

pub(crate) const RUNNING: u8 = 0;
pub(crate) const STOPPED: u8 = 1;
pub(crate) const COUNTING: u8 = 2;
/// The filter keeps statements out, but not records.
pub(crate) const MUTED: u8 = 3;

/// Whether recording is neither stopped nor limited to a number of statements.
#[inline(always)]
pub(crate) fn is_running() -> bool {
    STATE.load(Relaxed) == RUNNING
}

/// Whether statements are not recorded now.
#[inline(always)]
pub(crate) fn is_stopped() -> bool {
    matches!(STATE.load(Relaxed), STOPPED | MUTED)
}

/// Whether a record is to stop recording.
#[inline(always)]
pub(crate) fn is_record_awaited() -> bool {
    STOP_ON.load(Acquire) != 0
}

/// Nothing is recorded before a trigger starts it.
pub(crate) fn wait_for_start() {
    if STATE.compare_exchange(RUNNING, STOPPED, AcqRel, Relaxed).is_ok() {
        filters::freeze(true);
    }
}
