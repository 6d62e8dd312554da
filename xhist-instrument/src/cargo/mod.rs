//! `cargo xhist`: the same cargo command on instrumented sources, with the user's tree untouched.
//!
//! ```text
//! command ─► workspace ─► recorder ─► deps ─► reach ─► shadow ─► plan ─► cargo ─► wrapper ─► rustc
//!  (what)    (packages)  (xhist-rt)  (more)  (files)  (rewrite)           │
//!                                                                         └► after: the last statements
//! ```
//!
//! Everything of ours lies under `target/xhist`, but for the recorder, which a user has once. The wrapper (this
//! program under another name) swaps a crate's root file for its shadow and adds the recorder; all else is cargo's own doing.

mod after;
mod cache;
mod command;
mod config;
mod deps;
mod error;
mod keep;
mod notes;
mod own_core;
mod plan;
mod progress;
mod reach;
mod recorder;
mod relay;
mod results;
mod run;
mod runner;
mod shadow;
mod signals;
mod sources;
mod workspace;
mod wrapper;

use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

/// Runs as `cargo xhist` or, by the name it was called with, as the compiler wrapper.
pub fn main(args: &[OsString]) -> ExitCode {
    let called = args.first().map(Path::new).and_then(Path::file_stem);
    match called.and_then(std::ffi::OsStr::to_str) {
        Some(plan::WRAPPER_NAME) => return wrapper::main(args, true),
        Some(plan::DEPENDENCY_NAME) => return wrapper::main(args, false),
        Some(plan::OUTER_NAME) => return wrapper::outer(args),
        Some(recorder::COMPILER_NAME) => return recorder::compile(args),
        Some(runner::NAME) => return runner::main(args),
        _ => {}
    }
    match run::run(args.get(1..).unwrap_or(&[])) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// The exit code of what was run; a signal as a shell tells it.
fn exit_code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(101);
    ExitCode::from(u8::try_from(code).unwrap_or(101))
}
