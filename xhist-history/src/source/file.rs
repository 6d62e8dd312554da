//! A file of any format: image of memory, core or ring file.

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Image, Opened, SourceError, stdin};

/// Opens a file. A regular file is copied or mapped; anything else (a pipe, a device, a file of `/proc`) is read to its end.
pub fn open(text: &OsStr) -> Result<Opened, SourceError> {
    let path = Path::new(text);
    let why = |error| SourceError::Unreadable { name: path.display().to_string(), error };
    let metadata = std::fs::metadata(path).map_err(why)?;
    if metadata.is_dir() {
        return Err(SourceError::Directory(path.to_owned()));
    }
    let file = File::open(path).map_err(why)?;
    let name = path.display().to_string();
    let whole = if metadata.is_file() { Image::of_file(&file, &name).ok() } else { None };
    let (image, data, file) = match whole {
        Some(image) => (image, data(&file), Some(Arc::new(file))),
        None => (stdin::read_all(file).map_err(why)?, None, None),
    };
    let dir = match path.parent() {
        Some(dir) if dir != Path::new("") => dir.to_owned(),
        _ => PathBuf::from("."),
    };
    let written = metadata.modified().ok().filter(|_| metadata.is_file());
    let (path, losses) = (Some(path.to_owned()), Vec::new());
    Ok(Opened { image, data, file, path, program: None, written, dir: Some(dir), losses })
}

/// A file in more pieces than this is scanned as a whole.
#[cfg(target_os = "linux")]
const MAX_PIECES: usize = 1 << 16;

/// The pieces of the file that are not holes; `None` if the system does not say. Cores and images of large machines are mostly
/// holes, and reading a hole would fill the page cache with zeros.
#[cfg(target_os = "linux")]
fn data(file: &File) -> Option<Vec<Range<usize>>> {
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
fn data(_: &File) -> Option<Vec<Range<usize>>> {
    None
}
