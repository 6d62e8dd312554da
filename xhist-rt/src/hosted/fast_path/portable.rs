//! A check that finds a chunk full, on all other systems: it calls the slow path like any function.

use crate::hosted::slow_path::roll_over;

/// Rolls over. Returns where the words continue.
#[cold]
#[inline(never)]
pub(super) fn call_roll_over(cursor: *mut u8) -> *mut u8 {
    roll_over(cursor)
}
