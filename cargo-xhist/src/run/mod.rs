//! Runs `cargo xhist`: finds out what was typed, and carries it out.

mod again;
mod carry_out;
mod clean;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use crate::command::{COMMANDS, Command, Parsed, help};
use crate::error::Error;
use crate::run::carry_out::carry_out;
use crate::system::exit_code;

/// Runs `cargo xhist` with these arguments. Returns cargo's exit code, or that of the report.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode, Error> {
    xhist_history::notes::typed::use_cargo(&COMMANDS);
    let command = match Command::parse(args)? {
        Parsed::Command(command) => command,
        Parsed::Again(again) => return again::run(&again),
        Parsed::Clean(clean) => return clean.run().map(|()| ExitCode::SUCCESS),
        Parsed::Report(words) => return Ok(xhist_report::cli::run_from_cargo(words).into()),
        Parsed::Text(text) => return Ok(print(&text)),
        Parsed::Help => return Ok(print(&help())),
        Parsed::Version => {
            return Ok(print(concat!("cargo-xhist ", env!("CARGO_PKG_VERSION"), "\n")));
        }
    };
    carry_out(&command).map(|done| exit_code(done.status))
}

/// Prints a text on stdout. A reader that closes the pipe early is not an error.
fn print(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
