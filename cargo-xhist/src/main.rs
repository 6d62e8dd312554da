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

/// The recorder needs a Unix system. What was recorded on one is read everywhere.
#[cfg(not(unix))]
fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let words = words.strip_prefix(&["xhist".into()]).unwrap_or(&words);
    match words.first() {
        Some(word) if xhist_report::cli::is_command(word) => {
            xhist_report::cli::run_from_cargo(words.to_vec()).into()
        }
        _ => {
            eprintln!(
                "error: cargo xhist records on Unix systems only. Here it reads what was recorded:\n{}",
                xhist_report::cli::command_list()
            );
            ExitCode::from(101)
        }
    }
}
