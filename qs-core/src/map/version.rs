//! Versions of maps.

/// Version of a map without values, the oldest that this crate reads.
pub const VERSION: u32 = 3;

/// Version of a map with values, the newest that this crate reads.
pub const VALUE_VERSION: u32 = 4;
