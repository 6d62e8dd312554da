//! Sorts the memory of an ELF core by address. Otherwise a ring in two segments would be read across their border in the file.

use std::path::PathBuf;

use object::elf::NT_FILE;
use object::read::elf::ProgramHeader;
use object::{Endian, Endianness, Object, ObjectKind, ObjectSegment};

use super::{Image, Opened};

/// Bytes between two distant pieces of memory: a ring does not continue across them.
const GAP: usize = 256;

/// A piece of memory: its address, and where it is in the file.
type Segment = (u64, std::ops::Range<usize>);

/// Sorts the memory by address, if neighbours in memory are apart in the file. Cores too long to copy stay as they are.
pub fn in_order(opened: Opened) -> Opened {
    let opened = Opened { program: program(&opened.image), ..opened };
    let Image::Bytes(bytes) = &opened.image else { return opened };
    let Some(segments) = segments(bytes).filter(|segments| is_torn(segments)) else { return opened };
    let mut memory = Vec::with_capacity(bytes.len());
    let mut end = None;
    for (address, range) in segments {
        if end.is_some_and(|end| end != address) {
            memory.resize(memory.len() + GAP, 0);
        }
        end = address.checked_add(range.len() as u64);
        memory.extend_from_slice(&bytes[range]);
    }
    Opened { image: Image::Bytes(memory), data: None, file: None, ..opened }
}

/// The program of an ELF core: the first of the files that were mapped, which Linux lists with their addresses.
fn program(bytes: &[u8]) -> Option<PathBuf> {
    mapped_file(bytes, |_| true)
}

/// The ring file that the program of an ELF core had mapped. A core has no memory of such a file.
pub fn mapped_rings(bytes: &[u8]) -> Option<PathBuf> {
    mapped_file(bytes, |name| name.ends_with(b".xhist"))
}

/// The first mapped file of an ELF core with such a name.
fn mapped_file(bytes: &[u8], fits: impl Fn(&[u8]) -> bool) -> Option<PathBuf> {
    let file = object::read::elf::ElfFile64::<Endianness>::parse(bytes).ok()?;
    if file.kind() != ObjectKind::Core {
        return None;
    }
    let endian = file.endian();
    for header in file.elf_program_headers() {
        let Ok(Some(mut notes)) = header.notes(endian, bytes) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.n_type(endian) == NT_FILE {
                return first_file(note.desc(), endian, fits);
            }
        }
    }
    None
}

/// The first such name in a list of mapped files: their number, the size of a page, three numbers of each, and their names.
fn first_file(list: &[u8], endian: Endianness, fits: impl Fn(&[u8]) -> bool) -> Option<PathBuf> {
    let count = endian.read_u64_bytes(list.get(..8)?.try_into().ok()?);
    let names = usize::try_from(count.checked_mul(24)?.checked_add(16)?).ok()?;
    let mut names = list.get(names..)?.split(|byte| *byte == 0);
    let name = names.find(|name| !name.is_empty() && fits(name))?;
    Some(PathBuf::from(String::from_utf8_lossy(name).into_owned()))
}

/// The segments of a core by address; `None` for any other file, and for one that claims more than it has.
fn segments(bytes: &[u8]) -> Option<Vec<Segment>> {
    let file = object::File::parse(bytes).ok().filter(|file| file.kind() == ObjectKind::Core)?;
    let (mut segments, mut total) = (Vec::new(), 0usize);
    for segment in file.segments() {
        let (start, len) = segment.file_range();
        let (start, len) = (usize::try_from(start).ok()?, usize::try_from(len).ok()?);
        let end = start.checked_add(len)?.min(bytes.len());
        total = total.checked_add(len)?;
        if start < end {
            segments.push((segment.address(), start..end));
        }
    }
    segments.sort_by_key(|(address, _)| *address);
    (total <= bytes.len()).then_some(segments)
}

fn is_torn(segments: &[Segment]) -> bool {
    segments.windows(2).any(|pair| {
        let [(address, range), (next_address, next)] = pair else { return false };
        let are_neighbours = address.checked_add(range.len() as u64) == Some(*next_address);
        are_neighbours && range.end != next.start
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_names_its_program_first() {
        let list = |count: u64, names: &[u8]| {
            let numbers = [count, 4096, 0x1000, 0x2000, 0, 0x2000, 0x3000, 1];
            let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
            numbers.chain(names.iter().copied()).collect::<Vec<u8>>()
        };
        let first = |list: &[u8]| first_file(list, Endianness::Little, |_| true);
        assert_eq!(first(&list(2, b"/bin/a\0/bin/a\0")), Some(PathBuf::from("/bin/a")));
        let rings =
            first_file(&list(2, b"/bin/a\0/a.xhist\0"), Endianness::Little, |name| name.ends_with(b".xhist"));
        assert_eq!(rings, Some(PathBuf::from("/a.xhist")));
        assert_eq!(first(&list(u64::MAX, b"/bin/a\0")), None);
        assert_eq!(first(&list(9, b"/bin/a\0")), None);
        assert_eq!((first(b""), first(&list(2, b""))), (None, None));
    }
}
