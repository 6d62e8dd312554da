//! Names of the recorders in builds without them, so that a program compiles with any features. All are inert: `hosted` and
//! `bare` take here what they lack, and without the feature `trace` this file is the recorder.

#![allow(dead_code, unused_imports, reason = "each build uses the names that its recorder lacks")]

use core::ffi::c_int;

pub(crate) use self::NoTask as Task;

/// Starts recording. Empty without the `trace` feature.
#[inline(always)]
pub fn start() {}

/// Stops recording. Empty without the `trace` feature.
#[inline(always)]
pub fn stop() {}

/// Takes bytes of the stream for a link. Always 0 without the `trace` feature.
#[inline(always)]
pub fn get_block(_buffer: &mut [u8]) -> usize {
    0
}

/// Takes one byte of the stream for a link. Always `None` without the `trace` feature.
#[inline(always)]
pub fn get_byte() -> Option<u8> {
    None
}

/// Closes the open frame, so that a link can take it. Empty without the `trace` feature.
#[inline(always)]
pub fn flush() {}

#[inline(always)]
pub(crate) fn record<const IS_LONG: bool>(_number: u64) {}

#[inline(always)]
pub(crate) fn entry<const IS_LONG: bool>(_number: u64) {}

#[inline(always)]
pub(crate) fn at(_file: u16, _line: u16) {}

#[inline(always)]
pub(crate) fn set_time(_time: fn() -> u32) {}

#[inline(always)]
pub(crate) fn apply_filters() {}

#[inline(always)]
pub(crate) fn own<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(_value: &T) {}

#[inline(always)]
pub(crate) fn target<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(_value: &T) {}

#[inline(always)]
pub(crate) fn reference<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(_value: &T) {}

// The names of bare metal.

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

/// File and line of the newest statement, where that is known at once.
#[inline(always)]
pub(crate) fn newest() -> Option<(u16, u16)> {
    None
}

/// Fills `into` with file and line of the newest statements of the bare-metal ring. Always empty in this build.
#[inline(always)]
pub fn last(_into: &mut [(u16, u16)]) -> &[(u16, u16)] {
    &[]
}

// The names of the hosted recorder.

/// Sets up the panic hook, the exit handler and SIGUSR1 of the hosted recorder. Inert in this build.
#[inline(always)]
pub fn init() {}

/// Forgets all history so far. Hosted only; inert in this build.
#[inline(always)]
pub fn clear() {}

/// Writes every ring to the descriptor of [`xhist_logdev`]. Hosted only; inert in this build.
#[inline(always)]
pub extern "C" fn xhist_write() {}

/// Names the open file that [`xhist_write`] writes to. Hosted only; inert in this build.
#[inline(always)]
pub extern "C" fn xhist_logdev(_fd: c_int) {}

/// Stops recording after this many further statements. Hosted only; inert in this build.
#[inline(always)]
pub fn stop_after(_statements: u64) {}

/// Stops recording `after` statements behind the next record with this id. Hosted only; inert in this build.
#[inline(always)]
pub fn stop_on_record(_id: u8, _after: u64) {}

/// Set-up of the hosted recorder. Inert in this build.
#[cfg(not(all(feature = "trace", feature = "std")))]
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is set up before `install`"]
pub struct Init(());

#[cfg(not(all(feature = "trace", feature = "std")))]
impl Init {
    /// The defaults.
    #[inline(always)]
    pub fn new() -> Init {
        Init(())
    }

    /// The signal that writes the rings. Inert in this build.
    #[inline(always)]
    pub fn signal(self, _signal: i32) -> Init {
        self
    }

    /// No signal writes the rings.
    #[inline(always)]
    pub fn no_signal(self) -> Init {
        self
    }

    /// Prints nothing under a panic message. Inert in this build.
    #[inline(always)]
    pub fn no_panic_line(self) -> Init {
        self
    }

    /// The file that keeps the rings. Inert in this build.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub fn file(self, _path: impl Into<std::path::PathBuf>) -> Init {
        self
    }

    /// Sets nothing up and returns true.
    #[inline(always)]
    pub fn install(self) -> bool {
        true
    }
}

/// The async task of builds that record none: without the feature `trace`, and on bare metal. Does nothing.
pub(crate) struct NoTask;

impl NoTask {
    #[inline(always)]
    pub(crate) fn enter() -> NoTask {
        NoTask
    }

    #[inline(always)]
    pub(crate) fn resume(&self) {}
}
