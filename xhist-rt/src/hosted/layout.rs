//! Where rings and the bitmap are in a ring file.

use super::config::Config;
use super::sys;
use crate::ring::Ever;

/// Bytes before a ring's data, which starts a page because it is mapped by itself.
pub(super) fn header_len() -> usize {
    sys::page_size()
}

/// Bytes of a ring, its header included.
pub(super) fn ring_len(size: u32) -> usize {
    header_len() + size as usize
}

/// Where a ring is in the file, behind the bitmap.
pub(super) fn place_in_file(number: usize, config: &Config) -> u64 {
    (ever_len(config) + number * ring_len(config.size)) as u64
}

/// Bytes of the bitmap in the file.
fn ever_len(config: &Config) -> usize {
    if config.ever == 0 { 0 } else { Ever::len(config.ever).next_multiple_of(sys::page_size()) }
}
