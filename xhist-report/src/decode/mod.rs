//! Bytes of an image to items of the model, through qs-core. It must not open files or know names.

mod clock;
mod copies;
mod element;
mod ever;
mod find;
mod float;
mod frame;
mod live;
mod merge;
mod predefined;
mod rounds;
mod stream;
mod survey;
mod user;

pub use clock::Clock;
pub use copies::copies;
pub use ever::{Ran, counts, ran};
pub use find::{Findings, Placed, find};
pub use live::{Live, View};
pub use merge::{Merged, merge};
pub use stream::Stream;
pub use survey::{Survey, survey};
