//! The command line.

mod args;
mod diff;
mod groups;
mod run;
mod suspects;

pub use args::Args;
pub use run::run;
