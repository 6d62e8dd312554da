//! An opened source: its bytes and what is known about them.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::image::Image;

/// An opened source.
pub struct Opened {
    /// Its bytes.
    pub image: Image,
    /// The pieces of it that may hold anything but zeros; `None` when that is not known.
    pub data: Option<Vec<Range<usize>>>,
    /// The open file, if a program may be writing it.
    pub file: Option<Arc<File>>,
    /// Its path, if it has one.
    pub path: Option<PathBuf>,
    /// The program that a core is of, as the core names it.
    pub program: Option<PathBuf>,
    /// When it was last written; `None` when that is not known.
    pub written: Option<SystemTime>,
    /// Directory to search for maps; `None` if the source has none.
    pub dir: Option<PathBuf>,
    /// What could not be read, one sentence each.
    pub losses: Vec<String>,
}
