//! Questions to a recording: where something ran (`find`), one call as a whole (`frame`), how often lines ran (`source`).
//!
//! Each makes rows, which are text or JSON lines.

mod find;
mod frame;
mod listing;
pub mod origin;
mod rounds;
mod row;
mod wanted;

pub use find::find;
pub use frame::{frame, frame_of};
pub use listing::{ListedRun, SourceLines, listing};
pub use row::{AskedHistory, QueryLook, QueryRow, print};
pub use wanted::{NotFound, is_entry, is_of_values};
