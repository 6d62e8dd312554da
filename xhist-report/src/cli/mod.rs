//! The command line: what was typed, what goes together, what it means, and what it opens.

mod annotations;
mod answer;
pub mod args;
mod capabilities;
mod commands;
mod dap;
mod diff;
mod document;
mod error;
mod evidence;
mod fleet;
mod histories;
mod history_args;
mod open;
mod options;
mod sources;
mod suspects;
mod typos;
mod values;
mod view;
mod words;

pub use args::{Args, Command};
pub use commands::run;
pub use error::UsageError;
pub use words::joined;
