//! `cargo xhist`: the same cargo command on instrumented sources, with the user's tree untouched.
//!
//! ```text
//! command ─► workspace ─► reach ─► shadow ─► recorder ─► plan ─► cargo ─► wrapper ─► rustc
//!  (what)    (packages)   (files)  (rewrite)  (xhist-rt)          │
//!                                                                 └► after: the last statements
//! ```
//!
//! Everything of ours lies under `target/xhist`. The wrapper (this program under another name)
//! swaps a crate's root file for its shadow and adds the recorder; all else is cargo's own doing.

mod after;
mod command;
mod error;
mod plan;
mod reach;
mod recorder;
mod run;
mod shadow;
mod workspace;
mod wrapper;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Runs as `cargo xhist` or, by the name it was called with, as the compiler wrapper.
pub fn main(args: &[OsString]) -> ExitCode {
    let called = args.first().map(Path::new).and_then(Path::file_stem);
    if called.is_some_and(|name| name == plan::WRAPPER_NAME) {
        return wrapper::main(args);
    }
    match run::run(args.get(1..).unwrap_or(&[])) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
