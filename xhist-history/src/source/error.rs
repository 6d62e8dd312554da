//! Why a source cannot be opened, and what the user can do about it.

use std::path::PathBuf;
use std::{fmt, io};

/// Why a source cannot be opened.
#[derive(Debug)]
pub enum SourceError {
    /// A directory was named.
    Directory(PathBuf),
    /// The system refuses to open or to read it.
    Unreadable {
        /// What was to be read.
        name: String,
        /// Why it cannot be read.
        error: io::Error,
    },
    /// A packed run where one history is read: it has to be unpacked first, so it needs a name.
    Packed(String),
    /// A text form of memory without any good record.
    NoGoodRecord {
        /// The source.
        name: String,
        /// What is wrong with the first record.
        first: String,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Directory(path) => {
                write!(f, "{} is a directory; name a dump, a core or a ring file in it", path.display())
            }
            SourceError::Unreadable { name, error } => write!(f, "cannot read {name}: {error}"),
            SourceError::Packed(name) => write!(
                f,
                "{name} is a packed run, which can only be read where a run or a file is named: save it, and name the file"
            ),
            SourceError::NoGoodRecord { name, first } => write!(f, "{name}: no record is good: {first}"),
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SourceError::Unreadable { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<SourceError> for String {
    fn from(error: SourceError) -> String {
        error.to_string()
    }
}
