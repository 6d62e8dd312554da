//! A program under ptrace: stopped at any instruction, signalled there, and put back to where it was.
//!
//! The only folder of the harness that may be `unsafe`.

#[cfg_attr(all(target_os = "linux", target_arch = "x86_64"), path = "x86_64.rs")]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), path = "other.rs")]
mod cpu;

pub use cpu::{Snapshot, Tracee, may_trace};

/// Why the program stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// One instruction further.
    Step,
    /// It executed a breakpoint of its own.
    Mark,
    /// A signal arrived, and was not delivered.
    Signal(i32),
    /// It ended, with this code.
    Ended(i32),
}
