//! `cargo xhist`, and under the name `xhist-rustc` the compiler wrapper that it hands to cargo.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// A parser allocates a lot.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(unix)]
fn main() -> ExitCode {
    cargo_xhist::main(&std::env::args_os().collect::<Vec<_>>())
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("error: cargo xhist needs a Unix system; `xhist-instrument` works anywhere");
    ExitCode::from(101)
}
