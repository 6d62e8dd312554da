//! Why a map cannot be used.

use qs_core::map;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a map cannot be used.
#[derive(Debug)]
pub enum MapError {
    /// The file could not be read.
    Read(PathBuf, io::Error),
    /// A line, numbered from 1, is not a line of a map.
    Line(PathBuf, usize, MapLineError),
    /// All 65,535 file ids are in use.
    Full,
    /// All statement numbers are in use.
    NoNumber,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Line(path, line, what) => {
                write!(
                    f,
                    "{}:{line}: {what}; repair or remove the map (ids then start again at 1)",
                    path.display()
                )
            }
            Self::Full => f.write_str("all 65535 file ids are taken; start a new map"),
            Self::NoNumber => {
                f.write_str("all numbers of statements or of values are taken; start a new map")
            }
        }
    }
}

impl std::error::Error for MapError {}

/// Why a line is not a line of a map.
#[derive(Debug)]
pub enum MapLineError {
    /// Its syntax is wrong.
    Syntax(map::MapError),
    /// The first line of a map appears again.
    SecondHead,
    /// The first line of a map is missing.
    NoHead,
    /// The ids of a path are not in the order of its lines.
    IdOrder,
    /// A statement or function does not follow the line of its file.
    NoFile,
}

impl fmt::Display for MapLineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::SecondHead => f.write_str("second first line"),
            Self::NoHead => f.write_str("the first line of a map is missing"),
            Self::IdOrder => f.write_str("file ids of one path out of order"),
            Self::NoFile => f.write_str("statement or function without its file"),
        }
    }
}
