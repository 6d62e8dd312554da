//! Packed runs: one file with the rings of a run, their maps and sources. It is a tar archive in gzip, so any machine can
//! look into it. A reader unpacks it once, into the user's cache, and reads the run that is there.

mod error;
mod name;
mod read;
mod write;

pub use error::PackError;
pub use name::plain_name;
#[doc(hidden)]
pub use read::unpacked_in;
pub use read::{is_unpacked, unpacked};
pub use write::{PackContent, PackEntry, write};

/// Version of the layout.
const VERSION: u32 = 1;
/// Most bytes of all files.
const MAX_BYTES: u64 = 4 << 30;
/// Most files.
const MAX_FILES: usize = 100_000;

/// The names in a pack. The same as below `target/xhist`, so that maps are found as they are there.
pub const RUNS: &str = "runs";
/// Maps, and the texts of sources.
pub const MAPS: &str = "maps";
/// Programs, which have the types of values.
pub const PROGRAMS: &str = "programs";
