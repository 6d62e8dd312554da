//! What the process tells its caller.

/// Exit codes of `xhist-instrument`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// Everything was done.
    Done = 0,
    /// Some file was left alone on an error.
    SomeFailed = 1,
    /// The command line makes no sense.
    Usage = 2,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
