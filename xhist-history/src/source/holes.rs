//! Finds the data of a sparse file. Cores and images of large machines are mostly holes, and reading a hole would fill the page cache
//! with zeros.

use std::fs::File;
use std::ops::Range;

/// A file in more pieces than this is scanned as a whole.
#[cfg(target_os = "linux")]
const MAX_PIECES: usize = 1 << 16;

/// The pieces of the file that are not holes; `None` if the system does not say.
#[cfg(target_os = "linux")]
pub fn data(file: &File) -> Option<Vec<Range<usize>>> {
    use rustix::fs::{SeekFrom, seek};

    let len = file.metadata().ok()?.len();
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < len {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => break,
            Err(_) => return None,
        };
        let end = seek(file, SeekFrom::Hole(start)).ok()?;
        if end <= start || pieces.len() >= MAX_PIECES {
            return None;
        }
        pieces.push(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
        at = end;
    }
    Some(pieces)
}

/// Not known on this system.
#[cfg(not(target_os = "linux"))]
pub fn data(_: &File) -> Option<Vec<Range<usize>>> {
    None
}
