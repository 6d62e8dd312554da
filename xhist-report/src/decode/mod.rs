//! Bytes of an image to items of the model, through qs-core. It must not open files or know names.

mod clock;
mod copies;
mod element;
mod find;
mod float;
mod frame;
mod merge;
mod predefined;
mod stream;
mod survey;
mod user;

pub use copies::copies;
pub use find::{Findings, Placed, find};
pub use merge::merge;
pub use stream::Stream;
pub use survey::{Survey, survey};
