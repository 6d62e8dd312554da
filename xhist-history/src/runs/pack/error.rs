//! Why a run cannot be packed or unpacked.

use std::path::PathBuf;
use std::{fmt, io};

use super::{MAX_BYTES, MAX_FILES, VERSION};

/// Why a run cannot be packed or unpacked.
#[derive(Debug)]
pub enum PackError {
    /// A file cannot be read.
    Read(PathBuf, io::Error),
    /// The archive is damaged or cut.
    Damaged(PathBuf, io::Error),
    /// An entry that no pack has: a path that leads out of it, a link, the same file twice.
    Entry {
        /// The archive.
        pack: PathBuf,
        /// The entry, printable.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It has no run.
    NoRun(PathBuf),
    /// More bytes or files than are read.
    TooLarge(PathBuf),
    /// A later version of xhist made it.
    Version(PathBuf, String),
    /// There is no directory to unpack into.
    NoCache(PathBuf),
    /// A file cannot be unpacked.
    Unpack(PathBuf, io::Error),
    /// The archive cannot be written.
    Write(io::Error),
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackError::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            PackError::Damaged(pack, error) => {
                write!(f, "{} is damaged or cut: {error}; copy it again", pack.display())
            }
            PackError::Entry { pack, name, why } => {
                write!(f, "{}: nothing is unpacked, because `{name}` {why}", pack.display())
            }
            PackError::NoRun(pack) => write!(f, "{} has no run in it", pack.display()),
            PackError::TooLarge(path) => write!(
                f,
                "{} has more than {} GiB or {MAX_FILES} files; name one ring file of the run",
                path.display(),
                MAX_BYTES >> 30
            ),
            PackError::Version(pack, version) => write!(
                f,
                "{} has version {version} of packed runs, and this reads version {VERSION}: install a newer xhist",
                pack.display()
            ),
            PackError::NoCache(pack) => write!(
                f,
                "no directory to unpack {} into: set XHIST_CACHE to one that can be written",
                pack.display()
            ),
            PackError::Unpack(path, error) => write!(
                f,
                "cannot write {}: {error}; XHIST_CACHE names another directory to unpack into",
                path.display()
            ),
            PackError::Write(error) => write!(f, "cannot write the packed run: {error}"),
        }
    }
}

impl std::error::Error for PackError {}
