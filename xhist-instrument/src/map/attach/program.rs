//! The file of a program, as both kinds use it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Bytes of the longest ELF header, and of the first header of a program for Windows.
pub(super) const HEADER: usize = 64;

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// It has the map.
    Yes,
    /// It is no ELF file with a table of sections, and no program for Windows. It stays as it was.
    No,
}

/// These bytes, and the compressed map behind them.
pub(super) fn compressed(head: Vec<u8>, map: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(head, Compression::fast());
    encoder.write_all(map)?;
    encoder.finish()
}

pub(super) fn read_at(file: &mut File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(len as u64).read_to_end(&mut bytes)?;
    match bytes.len() == len {
        true => Ok(bytes),
        false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends too early")),
    }
}
