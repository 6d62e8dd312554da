//! The command line: what was typed, what goes together, what it means, and what it opens.

mod answer;
pub mod args;
mod capabilities;
mod diff;
mod error;
mod histories;
mod open;
mod options;
mod run;
mod suspects;
mod values;
mod words;

pub use args::{Args, Command};
pub use error::UsageError;
pub use run::run;
pub use words::joined;
