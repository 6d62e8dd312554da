//! Writes a report that has several files into a folder of its own.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::format::NewFile;

/// Makes the folder, and lets `write` make files in it.
///
/// # Errors
/// The folder has files already, or something cannot be written; the error names the path.
pub fn write(folder: &Path, write: &mut dyn FnMut(NewFile<'_>) -> io::Result<()>) -> io::Result<()> {
    let named = |path: &Path, error: &io::Error| {
        io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    if fs::read_dir(folder).map_err(|error| named(folder, &error))?.next().is_some() {
        let why = format!("the folder {} is not empty; --output names another one", folder.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    write(&mut |name| {
        let path = folder.join(name);
        let file = File::create_new(&path).map_err(|error| named(&path, &error))?;
        Ok(Box::new(BufWriter::new(file)) as Box<dyn Write>)
    })
}
