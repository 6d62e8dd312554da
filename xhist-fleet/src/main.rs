//! The program `xhist-fleet`.

use clap::Parser;
use xhist_fleet::cli::{Args, run};

fn main() -> std::process::ExitCode {
    run(&Args::parse())
}
