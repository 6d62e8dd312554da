//! The exit codes of the program.

/// How a run ended; the numbers are part of the interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything that was recorded and not yet overwritten was reported.
    #[default]
    Complete = 0,
    /// Something was lost or damaged, or a map does not belong to the dump; stderr says what and where.
    Incomplete = 1,
    /// The arguments are wrong or a file cannot be read.
    Usage = 2,
    /// No ring was found, or no valid frame in any ring.
    NothingFound = 3,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        std::process::ExitCode::from(code as u8)
    }
}
