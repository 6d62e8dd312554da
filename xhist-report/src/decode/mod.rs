//! Bytes of an image to items of the model, through qs-core. It must not open files or know names.

mod check;
mod clock;
mod copies;
mod ever;
mod find;
mod frame;
mod gap;
mod incoming;
mod live;
mod merge;
mod records;
mod rounds;
mod stream;
mod survey;
mod threads;
mod whole;

pub use check::check;
pub use clock::Clock;
pub use copies::copies;
pub use ever::{Ran, counts, ran};
pub use find::{Findings, Placed, find};
pub use incoming::{Incoming, Items};
pub use live::{Live, View};
pub use merge::{Merged, merge};
pub use records::{Records, SharedRecords};
pub use stream::Stream;
pub use survey::{Survey, survey};
pub use whole::whole_frames;
