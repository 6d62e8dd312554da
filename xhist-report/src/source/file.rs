//! A file: image of memory, core or ring file, all alike. It must not know their formats.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Image, Opened, holes, stdin};

/// Copies or maps a regular file; reads anything else (a pipe, a device, a file that the kernel makes up) to its end.
pub fn open(text: &OsStr) -> Result<Opened, String> {
    let path = Path::new(text);
    let why = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let metadata = std::fs::metadata(path).map_err(why)?;
    if metadata.is_dir() {
        return Err(format!("{} is a directory; name a dump, a core or a ring file in it", path.display()));
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
    Ok(Opened { image, data, file, path, written, dir: Some(dir), losses })
}
