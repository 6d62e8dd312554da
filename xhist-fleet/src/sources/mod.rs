//! Dumps by name: files, directories, lists on standard input, and objects in stores.

mod listing;
mod object;

pub use listing::{DumpSource, Listing};
