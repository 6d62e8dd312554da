//! `xhist-instrument`: parse, run, turn the result into an exit code.

use clap::Parser as _;
use xhist_instrument::cli::{Args, run};

/// A parser does little but allocate: a third of the time goes there with the allocator of most systems.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    run(&Args::parse()).into()
}
