//! Values of variables: their bytes as words of a ring, their types for a reader, and their targets.

pub(crate) mod bytes;
#[cfg(feature = "std")]
pub(crate) mod known;
#[cfg(feature = "std")]
pub(crate) mod load;
#[cfg(feature = "std")]
pub(crate) mod payload;
#[cfg(feature = "std")]
pub(crate) mod place;
#[cfg(feature = "std")]
mod sized;
#[cfg(feature = "std")]
pub(crate) mod target;
#[cfg(feature = "std")]
mod type_cache;
#[cfg(feature = "std")]
mod type_id;
#[macro_use]
mod rows;
pub mod types;

/// Number of own bytes of a value that are recorded.
pub(crate) const fn kept<T>(most: usize) -> usize {
    if size_of::<T>() < most { size_of::<T>() } else { most }
}
