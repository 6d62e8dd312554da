//! The map in a program: in a section of an ELF file, or behind all else in a program for Windows.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use flate2::read::ZlibDecoder;
use object::read::{CompressionFormat, ReadCache};
use object::{Object as _, ObjectSection as _};
use qs_core::map::{PROGRAM_END, PROGRAM_END_LEN, SECTION};

/// Where a program for Windows has the offset of its second header.
const SECOND: u64 = 0x3C;
/// There, behind four bytes that name it and 20 of the object file, the optional header begins.
const OPTIONAL: u64 = 24;
/// In that header, by its first number: where it has the place of the signature, as an offset and a length.
const SIGNATURES: [(u16, u64); 2] = [(0x10B, 128), (0x20B, 144)];

/// The text of the map in a program that begins with these bytes; `None` if it is no program.
pub(super) fn of(magic: &[u8], file: &File) -> Option<io::Result<Box<dyn Read>>> {
    match magic {
        b"\x7fELF" => Some(in_section(file)),
        [b'M', b'Z', ..] => Some(behind(file)),
        _ => None,
    }
}

fn missing() -> io::Error {
    io::Error::other("it has no map in it: `cargo xhist` did not build it")
}

fn in_section(file: &File) -> io::Result<Box<dyn Read>> {
    let cache = ReadCache::new(file);
    let program = object::File::parse(&cache).map_err(io::Error::other)?;
    let section = program.section_by_name(SECTION).ok_or_else(missing)?;
    let packed = section.compressed_data().map_err(io::Error::other)?;
    let bytes = Cursor::new(packed.data.to_vec());
    match packed.format {
        CompressionFormat::None => Ok(Box::new(bytes)),
        CompressionFormat::Zlib => Ok(Box::new(ZlibDecoder::new(bytes))),
        other => {
            Err(io::Error::other(format!("the program's map is compressed by another method: {other:?}")))
        }
    }
}

/// The map of a program for Windows.
fn behind(file: &File) -> io::Result<Box<dyn Read>> {
    let mut file = file.try_clone()?;
    let end = match signature(&mut file) {
        Some(signature) => signature,
        None => file.seek(SeekFrom::End(0))?,
    };
    let behind_map = end.checked_sub(PROGRAM_END_LEN).ok_or_else(missing)?;
    let len = u64::from_le_bytes(number(&mut file, behind_map)?);
    if number(&mut file, behind_map + 8)? != PROGRAM_END {
        return Err(missing());
    }
    let begin = behind_map.checked_sub(len).ok_or_else(missing)?;
    file.seek(SeekFrom::Start(begin))?;
    Ok(Box::new(ZlibDecoder::new(file.take(len))))
}

/// Where the signature of a program begins, if it has one.
fn signature(file: &mut File) -> Option<u64> {
    let second: u64 = u32::from_le_bytes(number(file, SECOND).ok()?).into();
    let optional = second + OPTIONAL;
    let kind = u16::from_le_bytes(number(file, optional).ok()?);
    let (_, at) = SIGNATURES.into_iter().find(|(own, _)| *own == kind)?;
    let signature = u32::from_le_bytes(number(file, optional + at).ok()?);
    (signature != 0).then_some(signature.into())
}

fn number<const LEN: usize>(file: &mut File, at: u64) -> io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    /// A program with a map, and with a signature behind it at this offset.
    fn program(kind: u16, signature: u32) -> Vec<u8> {
        let mut program = vec![0; 400];
        program[..2].copy_from_slice(b"MZ");
        program[SECOND as usize] = 100;
        program[124..126].copy_from_slice(&kind.to_le_bytes());
        let at = if kind == 0x10B { 252 } else { 268 };
        program[at..at + 4].copy_from_slice(&signature.to_le_bytes());
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"the map\n").expect("memory");
        let mut packed = packed.finish().expect("memory");
        packed.resize(64, 0);
        program.extend(packed);
        program.extend(64u64.to_le_bytes());
        program.extend(PROGRAM_END);
        program
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        let mut text = String::new();
        of(&bytes[..2], &file).expect("a program")?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn the_map_is_at_the_end_or_in_front_of_the_signature() {
        for kind in [0x10B, 0x20B] {
            assert_eq!(read(&program(kind, 0)).expect("a map"), "the map\n");
            let mut signed = program(kind, 480);
            signed.extend([9; 100]);
            assert_eq!(read(&signed).expect("a map"), "the map\n");
        }
    }

    #[test]
    fn cut_programs_and_wrong_lengths_are_errors() {
        let whole = program(0x20B, 0);
        for len in 2..whole.len() {
            assert!(read(&whole[..len]).is_err(), "{len} bytes");
        }
        for len in [0, 1, 465, u64::MAX] {
            let mut wrong = whole.clone();
            wrong[464..472].copy_from_slice(&len.to_le_bytes());
            assert!(read(&wrong).is_err(), "{len}");
        }
    }
}
