//! Errors that end a run.

use super::{ExitCode, console};
use crate::map::MapError;
use crate::select::trigger::TriggerError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error that ends the run.
#[derive(Debug)]
pub enum Fatal {
    /// A pattern of the command line is not a glob.
    Pattern(globset::Error),
    /// A trigger names no statement, or its manifest or option cannot be read.
    Trigger(TriggerError),
    /// Standard input is named beside other paths.
    StdinBesidePaths,
    /// A manifest has settings that cannot be read.
    Manifest(String),
    /// The output directory cannot be used.
    OutDir(OutDirError),
    /// Standard input, or standard output.
    Stdio(io::Error),
    /// The map cannot be used.
    Map(MapError),
    /// A file or directory cannot be written.
    Write(PathBuf, io::Error),
    /// The map cannot be written, so no source was changed.
    WriteMap(PathBuf, io::Error),
    /// The only source is left alone: its place, and why.
    Source(String),
}

/// Why an output directory cannot be used.
#[derive(Debug)]
pub enum OutDirError {
    /// It is a file.
    NotDirectory(PathBuf),
    /// It is an input directory, or contains one.
    ContainsInput { directory: PathBuf, input: PathBuf },
    /// It lies in an input directory, and has other files.
    HoldsFiles { directory: PathBuf, input: PathBuf },
    /// Two sources have the same place in it.
    SamePlace { sources: [PathBuf; 2], place: PathBuf },
    /// A file in it is one of the input.
    IsInput(PathBuf),
    /// A link in it leads to another directory.
    LeadsOut(PathBuf),
}

impl Fatal {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Pattern(_)
            | Self::Trigger(_)
            | Self::StdinBesidePaths
            | Self::Manifest(_)
            | Self::OutDir(_) => ExitCode::Usage,
            Self::Stdio(_) | Self::Map(_) | Self::Write(..) | Self::WriteMap(..) | Self::Source(_) => {
                ExitCode::SomeFailed
            }
        }
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(error) => error.fmt(f),
            Self::Trigger(error) => error.fmt(f),
            Self::StdinBesidePaths => f.write_str("- (stdin) cannot be mixed with other paths"),
            Self::Manifest(text) | Self::Source(text) => f.write_str(text),
            Self::OutDir(error) => error.fmt(f),
            Self::Stdio(error) => error.fmt(f),
            Self::Map(error) => error.fmt(f),
            Self::Write(path, error) => write!(f, "{}: {error}", console::shown(path)),
            Self::WriteMap(path, error) => {
                write!(f, "{}: {error}; no source was changed", console::shown(path))
            }
        }
    }
}

impl fmt::Display for OutDirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDirectory(directory) => {
                write!(f, "--out-dir {}: not a directory", console::shown(directory))
            }
            Self::ContainsInput { directory, input } => write!(
                f,
                "--out-dir {} is or contains the input {}, which must stay as it is; name another directory",
                console::shown(directory),
                console::shown(input)
            ),
            Self::HoldsFiles { directory, input } => write!(
                f,
                "--out-dir {} lies in the input {} and holds files of yours; name a new or empty directory",
                console::shown(directory),
                console::shown(input)
            ),
            Self::SamePlace { sources: [first, second], place } => write!(
                f,
                "{} and {} would both be written to {}; instrument them in runs of their own",
                console::shown(first),
                console::shown(second),
                console::shown(place)
            ),
            Self::IsInput(path) => write!(
                f,
                "{} is the same file as one of the input, which must stay as it is; name another directory",
                console::shown(path)
            ),
            Self::LeadsOut(path) => write!(
                f,
                "{} is a link that leads out of the output directory; remove it or name another directory",
                console::shown(path)
            ),
        }
    }
}

impl From<TriggerError> for Fatal {
    fn from(error: TriggerError) -> Self {
        Self::Trigger(error)
    }
}

impl From<OutDirError> for Fatal {
    fn from(error: OutDirError) -> Self {
        Self::OutDir(error)
    }
}

impl From<MapError> for Fatal {
    fn from(error: MapError) -> Self {
        Self::Map(error)
    }
}
