//! The files that a session writes beside its output: QSPY's keys and front-ends switch them on and off.

/// A file that is written beside the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideFile {
    /// The lines.
    Text,
    /// The bytes of the stream.
    Binary,
    /// Rows for Matlab.
    Matlab,
    /// The sequence diagram.
    Sequence,
}
