//! The recorder without the `trace` feature: every function is empty and compiles to nothing.

pub(crate) use crate::no_task::NoTask as Task;

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
pub(crate) fn record<const FILE: u16, const LINE: u16, const NUMBER: u32>() {}

#[inline(always)]
pub(crate) fn entry<const FILE: u16, const LINE: u16, const NUMBER: u32>() {}

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
