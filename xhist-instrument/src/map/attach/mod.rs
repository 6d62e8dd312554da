//! Puts the map into the program's file, where no loader loads it: with the program there is its map.

mod elf;
mod program;
mod windows;

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::path::Path;

pub use program::Attached;
use program::HEADER;

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
