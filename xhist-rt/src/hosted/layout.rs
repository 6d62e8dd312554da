//! Where rings and the bitmap stand in a ring file.

use qs_core::ring::HOSTED_HEADER_LEN;

use super::config::Config;
use super::sys;
use crate::ring::Ever;

/// Bytes of a ring, its header included.
pub(super) fn ring_len(size: u32) -> usize {
    HOSTED_HEADER_LEN + size as usize
}

/// Where a ring stands in the file, behind the bitmap. Each is mapped by itself, so it starts a page.
pub(super) fn place_in_file(number: usize, config: &Config) -> u64 {
    let stride = ring_len(config.size).next_multiple_of(sys::page_size());
    (ever_len(config) + number * stride) as u64
}

/// Bytes of the bitmap in the file.
fn ever_len(config: &Config) -> usize {
    if config.ever == 0 { 0 } else { Ever::len(config.ever).next_multiple_of(sys::page_size()) }
}
