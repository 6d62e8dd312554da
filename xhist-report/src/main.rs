//! The program `xhist-report`: parses the command line, runs it, and exits with its code.

#![forbid(unsafe_code)]

use clap::Parser;
use xhist_report::cli::{Args, joined};

fn main() -> std::process::ExitCode {
    // A usage error exits with 2, as in all programs of xhist.
    xhist_report::run(&Args::parse_from(joined(std::env::args_os()))).into()
}
