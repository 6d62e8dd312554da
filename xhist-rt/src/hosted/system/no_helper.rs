//! No helper thread: on this system the C library knows every thread, or the recorder has no code for one that it does not know.

use core::sync::atomic::AtomicU32;

use super::helper_types::{NotStarted, Piece};

/// Whether this system can have such threads.
pub(crate) const HAS_THREADS: bool = false;

pub(crate) unsafe fn start(
    _: *mut u8,
    _: &'static AtomicU32,
    _: extern "C" fn() -> !,
) -> Result<(), NotStarted> {
    Err(NotStarted::ForGood)
}

pub(crate) fn set_name(_: &'static [u8; 16]) {}

pub(crate) fn wait(_: &AtomicU32, _: u32, _: Option<u32>) -> bool {
    false
}

pub(crate) fn wake(_: &AtomicU32) {}

pub(crate) fn is_alive(_: u32) -> bool {
    false
}

pub(crate) fn clock_nanos() -> u64 {
    0
}

pub(crate) fn units(_: &[Piece], _: &mut [u16]) -> Result<usize, i32> {
    Err(0)
}

pub(crate) unsafe fn put_all(_: &[Piece], _: &[[u64; 2]]) -> Result<usize, i32> {
    Err(0)
}

pub(crate) unsafe fn put<const LEN: usize>(_: usize, _: [u64; LEN]) -> bool {
    false
}

pub(crate) fn exit() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
