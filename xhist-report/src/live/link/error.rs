//! Why a link, or whatever a user names as a source, cannot be opened, and what the user can do about it.

use std::path::PathBuf;
use std::{fmt, io};

use xhist_history::source::SourceError;

/// Why a link or another source cannot be opened.
#[derive(Debug)]
pub enum LinkError {
    /// A file or standard input cannot be read.
    Source(SourceError),
    /// The name has a scheme that no source has.
    UnknownScheme {
        /// What the user wrote.
        name: String,
        /// How links are written.
        links: Vec<&'static str>,
    },
    /// A link was named where a source with an end is needed.
    Endless(String),
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
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Source(error) => error.fmt(f),
            LinkError::UnknownScheme { name, links } => {
                write!(f, "unknown source `{name}`: expected a file, `-` or a link: {}", links.join(", "))
            }
            LinkError::Endless(name) => write!(f, "{name} is a link, and has no end"),
            LinkError::NoPort { name, scheme } => {
                write!(f, "{name}: expected a host and a port, as in {scheme}localhost:6601")
            }
            LinkError::CannotListen { address, error } => write!(f, "cannot listen on {address}: {error}"),
            LinkError::NoDevice { name, form } => write!(f, "{name}: expected a device, as in {form}"),
            LinkError::UnknownSetting { name, setting, form } => {
                write!(f, "{name}: serial lines have no setting `{setting}`; write them as in {form}")
            }
            LinkError::NotSerial { name, path, error } => {
                write!(f, "{name}: {} is not a serial line: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for LinkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LinkError::Source(error) => error.source(),
            LinkError::CannotListen { error, .. } | LinkError::NotSerial { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<LinkError> for String {
    fn from(error: LinkError) -> String {
        error.to_string()
    }
}

impl From<SourceError> for LinkError {
    fn from(error: SourceError) -> LinkError {
        LinkError::Source(error)
    }
}
