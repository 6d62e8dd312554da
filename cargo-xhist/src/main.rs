//! `cargo xhist`, and under the name `xhist-rustc` the compiler wrapper that it hands to cargo.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// A parser allocates a lot.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cargo_xhist::main(&std::env::args_os().collect::<Vec<_>>())
}
