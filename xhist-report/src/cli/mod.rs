//! The command line: what was typed, what goes together, what it means, and what it opens.

mod annotations;
mod answer;
pub mod args;
mod capabilities;
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
mod run;
mod sources;
mod suspects;
mod values;
mod view;
mod words;

pub use args::{Args, Command};
pub use error::UsageError;
pub use run::run;
pub use words::joined;
