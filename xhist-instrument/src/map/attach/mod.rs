//! Puts the map into the program's file, where no loader loads it: with the program there is its map.

mod elf;
mod windows;

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Bytes of the longest ELF header, and of the first header of a program for Windows.
const HEADER: usize = 64;

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// It has the map.
    Yes,
    /// It is no ELF file with a table of sections, and no program for Windows. It stays as it was.
    No,
}

/// Puts the map into the file of a program. A program that has a map gets this one instead.
///
/// # Errors
/// Those of the system, and a file that ends inside its table of sections.
pub fn attach(program: &Path, map: &Path) -> io::Result<Attached> {
    let mut file = OpenOptions::new().read(true).write(true).open(program)?;
    let mut header = Vec::new();
    (&mut file).take(HEADER as u64).read_to_end(&mut header)?;
    if header.len() < HEADER {
        return Ok(Attached::No);
    }
    let map = || std::fs::read(map);
    match header[..] {
        [0x7F, b'E', b'L', b'F', ..] => elf::attach(file, header, &map()?),
        [b'M', b'Z', ..] => windows::attach(file, &header, &map()?),
        _ => Ok(Attached::No),
    }
}

/// These bytes, and the compressed map behind them.
fn compressed(head: Vec<u8>, map: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(head, Compression::fast());
    encoder.write_all(map)?;
    encoder.finish()
}

fn read_at(file: &mut File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(len as u64).read_to_end(&mut bytes)?;
    match bytes.len() == len {
        true => Ok(bytes),
        false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends too early")),
    }
}
