//! `cargo xhist`: the same cargo command on instrumented sources, with the user's tree untouched.
//!
//! ```text
//! command ─► workspace ─► recorder ─► deps ─► module_graph ─► pipeline ─► shadow ─► plan ─► cargo ─► wrapper ─► rustc
//!                                                                                            │
//!                                                                                            └► post_run: the report
//! ```
//!
//! Each other word is a command of `xhist-report`, which is part of this program: `cargo xhist answer`, `cargo xhist view`.
//!
//! All files are under `target/xhist`, except the recorder, which each user has once. The wrapper is this program under
//! another name: it replaces a crate's root file by its shadow and adds the recorder. Cargo does everything else.

#![forbid(unsafe_code)]

mod command;
mod error;
mod keep;
mod names;
mod notes;
mod output;
mod plan;
mod post_run;
mod prepare;
mod run;
mod runner;
mod system;
mod workspace;
mod wrapper;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Runs as `cargo xhist` or, by the name it was called with, as the compiler wrapper.
pub fn main(args: &[OsString]) -> ExitCode {
    let called = args.first().map(Path::new).and_then(Path::file_stem);
    match called.and_then(std::ffi::OsStr::to_str) {
        Some(names::WRAPPER_NAME) => return wrapper::main(args, true),
        Some(names::DEPENDENCY_NAME) => return wrapper::main(args, false),
        Some(names::OUTER_NAME) => return wrapper::outer(args),
        Some(names::COMPILER_NAME) => return prepare::recorder::compile(args),
        Some(names::RUNNER_NAME) => return runner::main(args),
        Some(names::FIRMWARE_RUNNER_NAME) => return runner::firmware::main(args),
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
