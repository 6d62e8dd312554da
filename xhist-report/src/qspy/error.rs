//! Why a QSPY session cannot start.

use std::path::PathBuf;
use std::{fmt, io};

use qs_host::DictionaryError;
use qs_host::SequenceError;

/// Why a session cannot start.
#[derive(Debug)]
pub enum SessionError {
    /// A side file cannot be written.
    SideFile {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The dictionary file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The dictionary file is wrong.
    Dictionary {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: DictionaryError,
    },
    /// The list of objects is wrong.
    Sequence(SequenceError),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::SideFile { path, error } => write!(f, "cannot write {}: {error}", path.display()),
            SessionError::Unreadable { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            SessionError::Dictionary { path, error } => {
                f.write_str(&String::from_utf8_lossy(&error.message(&path.display().to_string())))
            }
            SessionError::Sequence(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionError {}

impl From<SequenceError> for SessionError {
    fn from(error: SequenceError) -> SessionError {
        SessionError::Sequence(error)
    }
}

impl From<SessionError> for String {
    fn from(error: SessionError) -> String {
        error.to_string()
    }
}
