//! Names of the bare-metal recorder in builds without it, so that a program compiles with any features. All are inert.

/// Bytes of the ring that bare metal keeps in a static. There is no such ring in this build, so 0.
pub const RING_SIZE: usize = 0;

/// Runs `act` as the body of interrupt `number`. Only bare metal records the number; this build only runs `act`.
#[inline(always)]
pub fn interrupt<R>(_number: u16, act: impl FnOnce() -> R) -> R {
    act()
}

/// Calls `sink` with the bytes of the bare-metal ring. Never calls it in this build: hosted rings go to
/// [`xhist_write`](crate::xhist_write) or to a file.
#[inline(always)]
pub fn export(_sink: impl FnMut(&[u8])) {}

/// Calls `sink` with the bare-metal ring that was there before the last reset. Never calls it in this build, and
/// returns false.
#[inline(always)]
pub fn export_earlier(_sink: impl FnMut(&[u8])) -> bool {
    false
}

/// Fills `into` with file and line of the newest statements of the bare-metal ring. Always empty in this build.
#[inline(always)]
pub fn last(_into: &mut [(u16, u16)]) -> &[(u16, u16)] {
    &[]
}
