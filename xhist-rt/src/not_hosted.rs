//! Names of the hosted recorder in builds without it, so that a program compiles with any features. All are inert.

use core::ffi::c_int;

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
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is set up before `install`"]
pub struct Init(());

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
