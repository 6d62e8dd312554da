//! The command line: what was typed, what goes together, what it means, and what it opens.

pub mod after_run;
pub mod again;
mod annotations;
mod answer;
mod args;
mod budget_args;
mod capabilities;
mod command;
mod commands;
mod completions;
mod dap;
mod diff;
mod document;
mod error;
mod evidence;
mod fleet;
mod histories;
mod history_args;
mod how_to_dump;
mod moment;
mod open;
mod options;
mod pager;
mod report_args;
mod reports;
mod scan_progress;
mod sources;
mod suspects;
mod trace_args;
mod typos;
mod values;
mod view;
mod words;

pub use commands::{command_list, command_names, is_command, main, run_from_cargo};
pub use error::UsageError;
pub use typos::meant;
