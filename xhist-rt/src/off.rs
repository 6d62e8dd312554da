//! Without the `trace` feature: the same names, doing nothing and compiled to nothing.

/// Does nothing without the `trace` feature.
#[inline(always)]
pub fn init() {}

/// Does nothing without the `trace` feature.
#[inline(always)]
pub extern "C" fn xhist_write() {}

/// Does nothing without the `trace` feature.
#[inline(always)]
pub extern "C" fn xhist_logdev(_fd: core::ffi::c_int) {}

/// Does nothing without the `trace` feature.
#[inline(always)]
pub fn start() {}

/// Does nothing without the `trace` feature.
#[inline(always)]
pub fn stop() {}

/// Does nothing without the `trace` feature.
#[inline(always)]
pub fn stop_after(_statements: u64) {}

/// Does nothing without the `trace` feature.
#[inline(always)]
pub fn stop_on_record(_id: u8, _after: u64) {}

/// Without the `trace` feature nothing is there.
#[inline(always)]
pub fn get_block(_buffer: &mut [u8]) -> usize {
    0
}

/// Without the `trace` feature nothing is there.
#[inline(always)]
pub fn get_byte() -> Option<u8> {
    None
}

/// Does nothing without the `trace` feature.
#[inline(always)]
pub fn flush() {}

#[inline(always)]
pub(crate) fn record<const FILE: u16, const LINE: u16, const NUMBER: u32>() {}

#[inline(always)]
pub(crate) fn entry<const FILE: u16, const LINE: u16, const NUMBER: u32>() {}

#[inline(always)]
pub(crate) fn at(_file: u16, _line: u16) {}

#[inline(always)]
pub(crate) fn set_time(_time: fn() -> u32) {}

#[inline(always)]
pub(crate) fn heed_filters() {}

/// Nothing but `act` without the `trace` feature.
#[inline(always)]
pub fn interrupt<R>(_number: u16, act: impl FnOnce() -> R) -> R {
    act()
}

/// Calls nothing without the `trace` feature.
#[inline(always)]
pub fn export(_sink: impl FnMut(&[u8])) {}

/// Calls nothing without the `trace` feature; false.
#[cfg(feature = "keep")]
#[inline(always)]
pub fn export_earlier(_sink: impl FnMut(&[u8])) -> bool {
    false
}

/// Without the `trace` feature nothing is there.
#[inline(always)]
pub fn last(_into: &mut [(u16, u16)]) -> &[(u16, u16)] {
    &[]
}

/// Does nothing without the `trace` feature.
#[derive(Clone, Debug, Default)]
pub struct Init;

impl Init {
    /// Does nothing.
    #[inline(always)]
    pub fn new() -> Init {
        Init
    }

    /// Does nothing.
    #[inline(always)]
    pub fn signal(self, _signal: i32) -> Init {
        self
    }

    /// Does nothing.
    #[inline(always)]
    pub fn no_signal(self) -> Init {
        self
    }

    /// Does nothing.
    #[inline(always)]
    pub fn panic_lines(self, _lines: usize) -> Init {
        self
    }

    /// Does nothing.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub fn file(self, _path: impl Into<std::path::PathBuf>) -> Init {
        self
    }

    /// Does nothing; true.
    #[inline(always)]
    pub fn install(self) -> bool {
        true
    }
}
