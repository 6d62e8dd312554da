//! The exit codes of the process.

/// Exit codes of `xhist-instrument`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// Everything was done.
    Done = 0,
    /// Some file was left alone on an error.
    SomeFailed = 1,
    /// The command line is wrong.
    Usage = 2,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
