//! Async tasks: which task each statement belongs to, and where the tasks are that have not ended.

mod lines;
mod rounds;
mod tracker;

pub use tracker::TaskTracker;
