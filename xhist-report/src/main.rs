//! The program: parse, run, turn the outcome into an exit code.

use clap::Parser;
use xhist_report::args::Args;

fn main() -> std::process::ExitCode {
    // A usage error exits with 2, as all programs of ours do.
    xhist_report::run(&Args::parse()).into()
}
