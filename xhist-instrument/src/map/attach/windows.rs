//! A program for Windows has the map behind all that its headers name. No loader reads that, and a signature covers it.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};

use qs_core::map::{PROGRAM_END, PROGRAM_END_LEN};

use super::program::{Attached, compressed, read_at};

/// Where the first header has the offset of the second one, and how that begins.
const SECOND: usize = 0x3C;
const MAGIC: [u8; 4] = *b"PE\0\0";

/// Puts the map behind a file that begins with these bytes. The file is a whole program at any moment.
pub(super) fn attach(mut file: File, header: &[u8], map: &[u8]) -> io::Result<Attached> {
    let second = header[SECOND..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    if !read_at(&mut file, second.into(), MAGIC.len()).is_ok_and(|bytes| bytes == MAGIC) {
        return Ok(Attached::No);
    }
    let begin = own_len(&mut file)?.next_multiple_of(8);
    let mut bytes = compressed(Vec::new(), map)?;
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let len = bytes.len() as u64;
    bytes.extend(len.to_le_bytes());
    bytes.extend(PROGRAM_END);
    // A shorter map leaves nothing of the one before it.
    file.set_len(begin)?;
    file.seek(SeekFrom::Start(begin))?;
    file.write_all(&bytes)?;
    Ok(Attached::Yes)
}

/// Bytes of the program without a map.
fn own_len(file: &mut File) -> io::Result<u64> {
    let end = file.seek(SeekFrom::End(0))?;
    let Some(behind_map) = end.checked_sub(PROGRAM_END_LEN) else { return Ok(end) };
    let last = read_at(file, behind_map, PROGRAM_END_LEN as usize)?;
    let len = last.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    Ok(behind_map.checked_sub(len).filter(|_| last.ends_with(&PROGRAM_END)).unwrap_or(end))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::map::attach::attach;

    #[test]
    fn what_was_there_stays_and_the_newest_map_is_behind_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let (program, map) = (directory.path().join("program.exe"), directory.path().join("map"));
        let mut before = vec![7; 101];
        before[..2].copy_from_slice(b"MZ");
        before[SECOND..SECOND + 4].copy_from_slice(&80u32.to_le_bytes());
        before[80..84].copy_from_slice(&MAGIC);
        std::fs::write(&program, &before).expect("a file");
        for text in ["first, which is longer", "second"] {
            std::fs::write(&map, text).expect("a file");
            assert_eq!(attach(&program, &map).expect("it is written"), Attached::Yes);
            let after = std::fs::read(&program).expect("a file");
            assert_eq!(after[..101], before);
            let (rest, end) = after.split_at(after.len() - PROGRAM_END.len());
            assert_eq!(end, PROGRAM_END);
            let (rest, len) = rest.split_last_chunk().expect("a length");
            let packed = &rest[rest.len() - u64::from_le_bytes(*len) as usize..];
            assert_eq!(rest.len() - packed.len(), 104, "no other map is left");
            let mut found = String::new();
            flate2::read::ZlibDecoder::new(packed).read_to_string(&mut found).expect("text");
            assert_eq!(found, text);
        }
    }
}
