//! Why a map cannot be read.

use core::fmt;

use super::version::{VALUE_VERSION, VERSION};

/// Why a line of a map cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// Not one flat JSON object.
    Syntax,
    /// A field is missing or of the wrong type.
    Field(&'static str),
    /// Written by a tool of another version.
    Version(u32),
}

impl fmt::Display for MapError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::Syntax => f.write_str("not a line of a map file (one flat JSON object is expected)"),
            MapError::Field(name) => write!(f, "field \"{name}\" is missing or has the wrong type"),
            MapError::Version(version) => {
                write!(f, "map version {version} (this tool reads {VERSION} and {VALUE_VERSION}); ")?;
                f.write_str(match *version > VALUE_VERSION {
                    true => "update xhist",
                    false => "remove this map and build the program again",
                })
            }
        }
    }
}

impl core::error::Error for MapError {}
