//! A file of any format: image of memory, core or ring file.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Image, Opened, SourceError, holes, stdin};

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
        Some(image) => (image, holes::data(&file), Some(Arc::new(file))),
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
