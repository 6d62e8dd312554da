//! Shared by both ways to replace a file: the error, the comparison of contents, the directory.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Why a file was not replaced.
#[derive(Debug)]
pub enum ReplaceError {
    /// The content changed since it was read.
    Changed,
    /// An error of the system.
    Io(io::Error),
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Whether a file has exactly this content.
pub(super) fn has_content(path: &Path, expected: &[u8]) -> io::Result<bool> {
    let mut content = Vec::with_capacity(expected.len() + 1);
    File::open(path)?.take(expected.len() as u64 + 1).read_to_end(&mut content)?;
    Ok(content == expected)
}

/// The directory of a file.
pub(super) fn directory_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_path_buf()
}
