//! An ELF file has the map as a section that no loader loads.
//!
//! The section is compressed, as the ELF specification describes (`SHF_COMPRESSED`). It goes behind all other bytes of the
//! file, with a new table of sections. What is loaded does not change.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};

use qs_core::map::SECTION;

use super::program::{Attached, HEADER, compressed, read_at};

const ELF: [u8; 4] = *b"\x7fELF";
/// `SHT_PROGBITS`.
const PROGRAM_BITS: u64 = 1;
/// `SHF_COMPRESSED`.
const COMPRESSED: u64 = 1 << 11;
/// `ELFCOMPRESS_ZLIB`.
const ZLIB: u64 = 1;
/// A file with this number of sections or more keeps the number elsewhere.
const MANY_SECTIONS: u64 = 0xFF00;

/// A number in the file: its offset in what holds it, and its bytes.
type Field = (usize, usize);

/// Where the numbers are, in files of 32 or 64 bits.
struct Layout {
    /// In the header of the file: the offset of the table of sections, its entry size, its length, and the section of names.
    table: Field,
    entry_size: Field,
    count: Field,
    names: Field,
    /// In an entry: the name, the type, the flags, the offset, the size and the alignment.
    name: Field,
    kind: Field,
    flags: Field,
    offset: Field,
    size: Field,
    align: Field,
    /// Bytes of an entry.
    entry: usize,
    /// In front of compressed bytes: the algorithm, the size without compression and the alignment.
    algorithm: Field,
    full_size: Field,
    full_align: Field,
    compressed_head: usize,
}

const ELF_32: Layout = Layout {
    table: (0x20, 4),
    entry_size: (0x2E, 2),
    count: (0x30, 2),
    names: (0x32, 2),
    name: (0, 4),
    kind: (4, 4),
    flags: (8, 4),
    offset: (16, 4),
    size: (20, 4),
    align: (32, 4),
    entry: 40,
    algorithm: (0, 4),
    full_size: (4, 4),
    full_align: (8, 4),
    compressed_head: 12,
};

const ELF_64: Layout = Layout {
    table: (0x28, 8),
    entry_size: (0x3A, 2),
    count: (0x3C, 2),
    names: (0x3E, 2),
    name: (0, 4),
    kind: (4, 4),
    flags: (8, 8),
    offset: (24, 8),
    size: (32, 8),
    align: (48, 8),
    entry: 64,
    algorithm: (0, 4),
    full_size: (8, 8),
    full_align: (16, 8),
    compressed_head: 24,
};

/// In which order the bytes of a number are.
struct ByteOrder {
    is_big_endian: bool,
}

impl ByteOrder {
    fn get(&self, bytes: &[u8], (at, len): Field) -> u64 {
        let one = |number, byte: &u8| number << 8 | u64::from(*byte);
        let field = &bytes[at..at + len];
        match self.is_big_endian {
            true => field.iter().fold(0, one),
            false => field.iter().rev().fold(0, one),
        }
    }

    fn put(&self, bytes: &mut [u8], (at, len): Field, number: u64) {
        let field = &mut bytes[at..at + len];
        match self.is_big_endian {
            true => field.copy_from_slice(&number.to_be_bytes()[8 - len..]),
            false => field.copy_from_slice(&number.to_le_bytes()[..len]),
        }
    }
}

/// Puts the map into a file that begins with these bytes.
///
/// All is written behind the bytes of the file before its header names it, so the file is a whole program at any moment.
pub(super) fn attach(mut file: File, mut header: Vec<u8>, map: &[u8]) -> io::Result<Attached> {
    let layout = match header.get(..6) {
        Some([magic @ .., 1, 1 | 2]) if *magic == ELF => ELF_32,
        Some([magic @ .., 2, 1 | 2]) if *magic == ELF => ELF_64,
        _ => return Ok(Attached::No),
    };
    if header.len() < HEADER {
        return Ok(Attached::No);
    }
    let order = ByteOrder { is_big_endian: header[5] == 2 };
    let count = order.get(&header, layout.count);
    let is_usual = (1..MANY_SECTIONS - 1).contains(&count)
        && order.get(&header, layout.entry_size) == layout.entry as u64
        && order.get(&header, layout.names) < count;
    if !is_usual {
        return Ok(Attached::No);
    }
    let table = order.get(&header, layout.table);
    let mut sections = read_at(&mut file, table, count as usize * layout.entry)?;

    let of_names = order.get(&header, layout.names) as usize * layout.entry;
    let in_file = |sections: &[u8], at: usize| {
        let entry = &sections[at..at + layout.entry];
        (order.get(entry, layout.offset), order.get(entry, layout.size))
    };
    let (offset, size) = in_file(&sections, of_names);
    let mut names = read_at(&mut file, offset, usize::try_from(size).map_err(io::Error::other)?)?;
    let is_map = |entry: &[u8]| {
        let name = names.get(order.get(entry, layout.name) as usize..).unwrap_or_default();
        name.split(|byte| *byte == 0).next() == Some(SECTION.as_bytes())
    };
    let own = match sections.chunks_exact(layout.entry).position(is_map) {
        Some(index) => index * layout.entry,
        None => {
            let (name, own) = (names.len() as u64, sections.len());
            names.extend(SECTION.bytes().chain([0]));
            sections.resize(own + layout.entry, 0);
            order.put(&mut sections[own..], layout.name, name);
            own
        }
    };

    let mut head = vec![0; layout.compressed_head];
    order.put(&mut head, layout.algorithm, ZLIB);
    order.put(&mut head, layout.full_size, map.len() as u64);
    order.put(&mut head, layout.full_align, 1);
    let packed = compressed(head, map)?;
    let mut write = |bytes: &[u8]| -> io::Result<u64> {
        let end = file.seek(SeekFrom::End(0))?.next_multiple_of(8);
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(bytes)?;
        Ok(end)
    };
    let mut set = |entry: usize, offset: u64, size: usize| {
        order.put(&mut sections[entry..], layout.offset, offset);
        order.put(&mut sections[entry..], layout.size, size as u64);
    };
    set(own, write(&packed)?, packed.len());
    set(of_names, write(&names)?, names.len());
    let entry = &mut sections[own..];
    order.put(entry, layout.kind, PROGRAM_BITS);
    order.put(entry, layout.flags, COMPRESSED);
    order.put(entry, layout.align, 8);
    let table = write(&sections)?;

    order.put(&mut header, layout.table, table);
    order.put(&mut header, layout.count, (sections.len() / layout.entry) as u64);
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header)?;
    Ok(Attached::Yes)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::map::attach::attach;

    /// A file of no sections but that of names.
    fn elf(layout: &Layout, class: u8, code: u8) -> Vec<u8> {
        let order = ByteOrder { is_big_endian: code == 2 };
        let mut file = vec![0; HEADER];
        file[..6].copy_from_slice(&[0x7F, b'E', b'L', b'F', class, code]);
        let names = b"\0.shstrtab\0";
        order.put(&mut file, layout.table, (HEADER + names.len()) as u64);
        order.put(&mut file, layout.entry_size, layout.entry as u64);
        order.put(&mut file, layout.count, 1);
        file.extend(names);
        let mut entry = vec![0; layout.entry];
        order.put(&mut entry, layout.name, 1);
        order.put(&mut entry, layout.kind, 3);
        order.put(&mut entry, layout.offset, HEADER as u64);
        order.put(&mut entry, layout.size, names.len() as u64);
        file.extend(entry);
        file
    }

    #[test]
    fn what_was_there_stays_and_the_newest_map_is_in_the_section() {
        for (layout, class) in [(ELF_32, 1), (ELF_64, 2)] {
            for code in [1, 2] {
                let directory = tempfile::tempdir().expect("a directory");
                let (program, map) = (directory.path().join("program"), directory.path().join("map"));
                let before = elf(&layout, class, code);
                std::fs::write(&program, &before).expect("a file");
                for text in ["first", "second"] {
                    std::fs::write(&map, text).expect("a file");
                    assert_eq!(attach(&program, &map).expect("it is written"), Attached::Yes);
                }
                let after = std::fs::read(&program).expect("a file");
                assert_eq!(after[HEADER..before.len()], before[HEADER..]);
                let order = ByteOrder { is_big_endian: code == 2 };
                assert_eq!(order.get(&after, layout.count), 2);
                let own = order.get(&after, layout.table) as usize + layout.entry;
                let [at, len] =
                    [layout.offset, layout.size].map(|field| order.get(&after[own..], field) as usize);
                let (head, packed) = after[at..at + len].split_at(layout.compressed_head);
                assert_eq!(order.get(head, layout.full_size), 6);
                let mut text = String::new();
                flate2::read::ZlibDecoder::new(packed).read_to_string(&mut text).expect("text");
                assert_eq!(text, "second");
            }
        }
    }

    #[test]
    fn other_files_and_cut_ones_stay_as_they_were() {
        let directory = tempfile::tempdir().expect("a directory");
        let (program, map) = (directory.path().join("program"), directory.path().join("map"));
        std::fs::write(&map, "map").expect("a file");
        let whole = elf(&ELF_64, 2, 1);
        let mut cases = vec![Vec::new(), b"MZ".to_vec(), vec![0; 100]];
        cases.extend((0..whole.len()).map(|len| whole[..len].to_vec()));
        for case in cases {
            std::fs::write(&program, &case).expect("a file");
            assert!(!matches!(attach(&program, &map), Ok(Attached::Yes)), "{} bytes", case.len());
            assert_eq!(std::fs::read(&program).expect("a file"), case);
        }
    }
}
