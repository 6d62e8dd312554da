//! Rings in the bytes of an image or of a file that grows: where they are, what of them can be read, and what is damaged.
//! It opens no files.

mod check;
mod clock;
mod duplicates;
mod executed;
mod follower;
mod frames;
mod gap;
mod locate;
mod snapshot;
#[cfg(test)]
pub(crate) mod tests;

pub use check::check;
pub use clock::{Anchor, Clock};
pub use duplicates::duplicates;
pub use executed::{Executed, executed};
pub use follower::RingFollower;
pub use frames::whole_frames;
pub use gap::add_missing;
pub use locate::{Findings, Placed, find};
pub use snapshot::RingSnapshot;
