//! `xhist-instrument`: parses the command line, runs the command and returns its exit code.

#![forbid(unsafe_code)]

use clap::Parser as _;
use xhist_instrument::cli::{Args, run};

/// A parser allocates a lot.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    run(&Args::parse()).into()
}
