//! The exit code for how a process ended.

use std::process::{ExitCode, ExitStatus};

/// The exit code for how a process ended. A signal counts as 128 plus its number, as in shells.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(101);
    ExitCode::from(u8::try_from(code).unwrap_or(101))
}
