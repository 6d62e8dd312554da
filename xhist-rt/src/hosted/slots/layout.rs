//! Where rings and the bitmap are in a ring file.

use qs_core::ring::PAGES_OF_WORDS;

use crate::hosted::executed::ExecutedBitmap;
use crate::hosted::setup::config::Config;
use crate::hosted::system::sys;

/// Bytes before the data of a ring of this size: the header with its prologue, no longer than the data. The data start a
/// page, because they are mapped separately.
pub(crate) fn header_len(size: u32) -> usize {
    (size as usize).min(*PAGES_OF_WORDS.end()).max(sys::page_size())
}

/// Bytes of a ring, its header included.
pub(crate) fn ring_len(size: u32) -> usize {
    header_len(size) + size as usize
}

/// Where a ring is in the file, behind the bitmap.
pub(crate) fn place_in_file(number: usize, config: &Config) -> u64 {
    (ever_len(config) + number * ring_len(config.size)) as u64
}

/// Bytes of the bitmap in the file.
fn ever_len(config: &Config) -> usize {
    if config.executed_slots == 0 {
        0
    } else {
        ExecutedBitmap::len(config.executed_slots).next_multiple_of(sys::page_size())
    }
}
