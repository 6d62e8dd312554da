//! What can go wrong before cargo runs, told to a person.

use std::fmt;
use std::path::Path;

/// Why `cargo xhist` did not get as far as running cargo.
#[derive(Debug)]
pub(super) enum Error {
    /// The command line cannot be understood.
    Usage(String),
    /// A file could not be read or written.
    File { what: &'static str, path: Box<Path>, source: std::io::Error },
    /// A step failed with a message of its own.
    Step { what: &'static str, message: String },
}

impl Error {
    /// As cargo: 101 for failures, 1 for usage.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 1,
            Error::File { .. } | Error::Step { .. } => 101,
        }
    }

    /// For `map_err` on file operations.
    pub(super) fn file(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { what, path, source }
    }

    pub(super) fn step(what: &'static str, message: impl fmt::Display) -> Error {
        Error::Step { what, message: message.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(message) => f.write_str(message),
            Error::File { what, path, source } => write!(f, "cannot {what} {}: {source}", path.display()),
            Error::Step { what, message } => write!(f, "{what} failed: {}", message.trim_end()),
        }
    }
}

impl std::error::Error for Error {}
