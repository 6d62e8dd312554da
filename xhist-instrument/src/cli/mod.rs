//! `xhist-instrument`: finds files, runs the pipeline on them, and prints what happened.

mod advice;
mod args;
mod build_scripts;
mod console;
mod dependency;
mod exit_code;
mod fatal;
mod filter;
mod folder;
mod instrument;
mod listing;
mod lock;
mod machine;
pub mod manifest;
mod named;
mod output;
mod paths;
mod sources;
mod strip;
mod summary;
mod writer;

pub use args::Args;
pub use exit_code::ExitCode;

use fatal::{Fatal, OutDirError};
use std::path::Path;

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    crate::files::atomic::ignore_sigxfsz();
    let result = crate::in_parallel(|| match args.paths.as_slice() {
        [path] if path == Path::new("-") => filter::run(args),
        _ if args.strip => strip::run(args),
        _ => instrument::run(args),
    });
    result.unwrap_or_else(|error| {
        console::say(format_args!("xhist-instrument: {error}"));
        error.exit_code()
    })
}
