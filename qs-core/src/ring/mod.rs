//! The ring as it lies in memory: a header that can be found by scanning, then frames.
//!
//! [`Header`] is the layout, [`find`] scans an image for headers, [`repair`] reads a damaged one, [`Reader`] yields the
//! records of one ring from oldest to newest. Everything here reads plain bytes, so it works
//! alike on a live ring, a file, a core and a dump of a machine of the other byte order.

mod again;
pub mod ever;
mod find;
mod header;
mod raw;
mod reader;
mod repair;
mod state;
mod tail;

pub use again::{Again, Place, Thousands};
pub use find::{Found, find};
pub use header::*;
pub use raw::check_word;
pub use reader::{Item, Reader};
pub use repair::{Damage, repair};
pub use state::{Folded, MOVED_UNITS, PAUSES, Pause, Shown, State, Touched, Trim, WordsPart};
pub use tail::Line;
