//! `xhist-instrument`: parse, run, turn the result into an exit code.

use clap::Parser as _;
use xhist_instrument::cli::{Args, run};

fn main() -> std::process::ExitCode {
    run(&Args::parse()).into()
}
