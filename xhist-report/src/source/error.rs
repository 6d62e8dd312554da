//! Why a source cannot be opened, and what the user can do about it.

use std::path::PathBuf;
use std::{fmt, io};

/// Why a source cannot be opened.
#[derive(Debug)]
pub enum SourceError {
    /// The name has a scheme that no source has.
    UnknownScheme {
        /// What the user wrote.
        name: String,
        /// How links are written.
        links: Vec<&'static str>,
    },
    /// A link was named where a source with an end is needed.
    Endless(String),
    /// A directory was named.
    Directory(PathBuf),
    /// The system refuses to open or to read it.
    Unreadable {
        /// What was to be read.
        name: String,
        /// Why it cannot be read.
        error: io::Error,
    },
    /// A text form of memory without any good record.
    NoGoodRecord {
        /// The source.
        name: String,
        /// What is wrong with the first record.
        first: String,
    },
    /// An address of a link without a port.
    NoPort {
        /// What the user wrote.
        name: String,
        /// How addresses of this kind start.
        scheme: &'static str,
    },
    /// The system refuses to listen at an address.
    CannotListen {
        /// The address.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// A serial line without a device.
    NoDevice {
        /// What the user wrote.
        name: String,
        /// How serial lines are written.
        form: &'static str,
    },
    /// A setting that serial lines do not have.
    UnknownSetting {
        /// What the user wrote.
        name: String,
        /// The setting.
        setting: String,
        /// How serial lines are written.
        form: &'static str,
    },
    /// The device of a serial line is another kind of file.
    NotSerial {
        /// What the user wrote.
        name: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// This system has no serial lines.
    #[cfg(not(unix))]
    NoSerialLines(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::UnknownScheme { name, links } => {
                write!(f, "unknown source `{name}`: expected a file, `-` or a link: {}", links.join(", "))
            }
            SourceError::Endless(name) => write!(f, "{name} is a link, and has no end"),
            SourceError::Directory(path) => {
                write!(f, "{} is a directory; name a dump, a core or a ring file in it", path.display())
            }
            SourceError::Unreadable { name, error } => write!(f, "cannot read {name}: {error}"),
            SourceError::NoGoodRecord { name, first } => write!(f, "{name}: no record is good: {first}"),
            SourceError::NoPort { name, scheme } => {
                write!(f, "{name}: expected a host and a port, as in {scheme}localhost:6601")
            }
            SourceError::CannotListen { address, error } => write!(f, "cannot listen on {address}: {error}"),
            SourceError::NoDevice { name, form } => write!(f, "{name}: expected a device, as in {form}"),
            SourceError::UnknownSetting { name, setting, form } => {
                write!(f, "{name}: serial lines have no setting `{setting}`; write them as in {form}")
            }
            SourceError::NotSerial { name, path, error } => {
                write!(f, "{name}: {} is not a serial line: {error}", path.display())
            }
            #[cfg(not(unix))]
            SourceError::NoSerialLines(name) => {
                write!(f, "{name}: this system has no serial lines; bridge it to tcp://")
            }
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SourceError::Unreadable { error, .. }
            | SourceError::CannotListen { error, .. }
            | SourceError::NotSerial { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<SourceError> for String {
    fn from(error: SourceError) -> String {
        error.to_string()
    }
}
