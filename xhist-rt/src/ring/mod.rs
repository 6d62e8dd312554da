//! What bare metal's ring and hosted ones (see `crate::words`) share: room for records, and the ever-executed bitmap.
//!
//! This folder may be `unsafe`. It knows neither threads nor files.

#[cfg(feature = "std")]
mod ever;

use qs_core::frame::MAX_PAYLOAD;

#[cfg(feature = "std")]
pub(crate) use ever::Ever;

/// Bytes of the shortest records and their checksum and flag.
pub(crate) const TINY: usize = 16;
/// Bytes of a short record and its checksum and flag: most records are no longer.
pub(crate) const SHORT: usize = 32;
/// The same of one of medium length.
pub(crate) const MEDIUM: usize = 64;
/// The same of the longest one that a host takes.
pub(crate) const LONG: usize = (MAX_PAYLOAD + 4).next_multiple_of(16);
