//! Why a map cannot be read.

use core::fmt;

use super::version::VALUE_VERSION;

/// Why a line of a map cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// Not one flat JSON object.
    Syntax,
    /// A field is missing or of the wrong type.
    Field(&'static str),
    /// Written by a newer tool.
    Version(u32),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::Syntax => f.write_str("not a line of a map file (one flat JSON object is expected)"),
            MapError::Field(name) => write!(f, "field \"{name}\" is missing or has the wrong type"),
            MapError::Version(version) => {
                write!(
                    f,
                    "map version {version} is newer than this tool (it reads {VALUE_VERSION}); update xhist"
                )
            }
        }
    }
}

impl core::error::Error for MapError {}
