//! Sizes of records with their checksum and flag. A record is put together in the smallest of them that holds it.

use qs_core::frame::MAX_PAYLOAD;

/// Bytes of the shortest records.
pub(crate) const TINY: usize = 16;
/// Bytes of a short record. Most records are not longer.
pub(crate) const SHORT: usize = 32;
/// Bytes of a record of medium length.
pub(crate) const MEDIUM: usize = 64;
/// Bytes of the longest record that a host takes.
pub(crate) const LONG: usize = (MAX_PAYLOAD + 4).next_multiple_of(16);
