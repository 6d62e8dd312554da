//! Writes a packed run.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::error::PackError;
use super::name::place;
use super::{MAX_BYTES, MAX_FILES, VERSION};
use crate::source::PACK_COMMENT;

/// A file of a pack.
#[derive(Clone, Debug)]
pub struct PackEntry {
    /// Its name in the pack, with `/` between folders.
    pub name: String,
    /// Its bytes.
    pub content: PackContent,
}

/// The bytes of a file of a pack.
#[derive(Clone, Debug)]
pub enum PackContent {
    /// Those of this file, with its time.
    File(PathBuf),
    /// A text.
    Text(String),
}

/// Writes a pack with these files.
///
/// # Errors
/// A file cannot be read, has a name that a pack cannot have, or the output fails; or there are too many.
pub fn write(out: impl Write, entries: &[PackEntry]) -> Result<(), PackError> {
    let gzip = GzBuilder::new().comment(format!("{PACK_COMMENT}{VERSION}"));
    let mut tar = Builder::new(gzip.write(out, Compression::default()));
    let mut left = MAX_BYTES;
    for (number, PackEntry { name, content }) in entries.iter().enumerate() {
        let path = Path::new(name);
        place(name).map_err(|why| PackError::Entry { pack: path.to_owned(), name: name.clone(), why })?;
        let (len, written, mut bytes): (u64, SystemTime, Box<dyn Read>) = match content {
            PackContent::Text(text) => (text.len() as u64, UNIX_EPOCH, Box::new(text.as_bytes())),
            PackContent::File(path) => {
                let why = |error| PackError::Read(path.clone(), error);
                let file = File::open(path).map_err(why)?;
                let metadata = file.metadata().map_err(why)?;
                let written = metadata.modified().unwrap_or(UNIX_EPOCH);
                // A program may still write it: the length is that of now, whatever comes.
                (metadata.len(), written, Box::new(file.chain(io::repeat(0))))
            }
        };
        left = left.checked_sub(len).ok_or_else(|| PackError::TooLarge(path.to_owned()))?;
        if number >= MAX_FILES {
            return Err(PackError::TooLarge(path.to_owned()));
        }
        let mut header = Header::new_ustar();
        let why = |_| PackError::Entry {
            pack: path.to_owned(),
            name: name.clone(),
            why: "is too long a name for an archive",
        };
        header.set_path(name).map_err(why)?;
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(len);
        header.set_mtime(written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()));
        header.set_cksum();
        tar.append(&header, (&mut bytes).take(len)).map_err(PackError::Write)?;
    }
    let gzip = tar.into_inner().map_err(PackError::Write)?;
    gzip.finish().and_then(|mut out| out.flush()).map_err(PackError::Write)
}
