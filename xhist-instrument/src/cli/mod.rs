//! The command line around the pure core: finds files, reads and writes them, tells what happened.

mod advice;
mod args;
mod build_scripts;
mod console;
mod dependency;
mod exit_code;
mod filter;
mod find;
mod instrument;
mod lock;
mod machine;
pub mod manifest;
mod named;
mod outcome;
mod output;
mod strip;

pub use args::Args;
pub use exit_code::ExitCode;

use std::path::Path;

/// Does what was asked for.
pub fn run(args: &Args) -> ExitCode {
    crate::atomic::survive_size_limit();
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

/// An error that ends the run.
#[derive(Debug)]
enum Fatal {
    /// The command line makes no sense.
    Usage(String),
    /// The work could not be done.
    Failed(String),
}

impl Fatal {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::Usage,
            Self::Failed(_) => ExitCode::SomeFailed,
        }
    }
}

impl std::fmt::Display for Fatal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) => f.write_str(text),
        }
    }
}
