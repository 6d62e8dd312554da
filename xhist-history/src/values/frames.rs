//! The source lines of a panic's frames, from the debug information of the program that panicked.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use addr2line::Context;
use gimli::{Dwarf, EndianSlice, RunTimeEndian};
use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::FileHeader;
use object::{Endianness, FileKind, Object as _};
use qs_core::map::Hash;

use super::find::candidates;
use super::types::plain_section;
use crate::model::{CodePlace, PanicPlace, Ring};
use crate::options::{ProgramPlaces, ReadOptions};
use crate::source::Image;

/// Lines of one address: functions that are inlined into each other.
const INLINED: usize = 64;

/// Panics with other frames than those before whose lines are looked up.
const MOST: usize = 64;

/// The frames of the panics of a history. The program is read once for panics with the same frames.
#[derive(Debug, Default)]
pub struct PanicFrames(HashMap<(u64, Vec<u32>), Vec<CodePlace>>);

impl PanicFrames {
    /// As [`frames`], where the options say where programs are.
    pub fn of(&mut self, ring: &Ring, panic: &PanicPlace, options: &ReadOptions) -> &[CodePlace] {
        let key = (panic.program, panic.frames.clone());
        let is_known = self.0.contains_key(&key);
        if !is_known && (self.0.len() == MOST || options.programs == ProgramPlaces::default()) {
            return &[];
        }
        self.0.entry(key).or_insert_with(|| frames(ring, panic, options))
    }
}

/// The lines of the frames, innermost first, inlined frames included. Empty without the very program that panicked, or without
/// its debug information.
pub fn frames(ring: &Ring, panic: &PanicPlace, options: &ReadOptions) -> Vec<CodePlace> {
    if panic.frames.is_empty() {
        return Vec::new();
    }
    let mut programs = candidates(ring, options).filter_map(|path| ProgramFile::open(&path));
    let program = programs.find(|file| file.hash() == Some(panic.program));
    program.and_then(|program| program.lines(&panic.frames)).unwrap_or_default()
}

/// The file of a program.
struct ProgramFile(Image);

impl ProgramFile {
    fn open(path: &Path) -> Option<ProgramFile> {
        let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|file| file.is_file()))?;
        Image::of_file(&file, &path.display().to_string()).ok().map(ProgramFile)
    }

    /// The hash of its headers, as the loader has them in memory.
    fn hash(&self) -> Option<u64> {
        let mut hash = Hash::new();
        hash.update(program_headers(&self.0)?);
        Some(hash.finish())
    }

    fn lines(&self, addresses: &[u32]) -> Option<Vec<CodePlace>> {
        let file = object::File::parse(&*self.0).ok()?;
        let endian = match file.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        let sections = |id: gimli::SectionId| {
            Ok::<_, gimli::Error>(EndianSlice::new(plain_section(&file, id.name()), endian))
        };
        let context = Context::from_dwarf(Dwarf::load(sections).ok()?).ok()?;
        let mut places = Vec::new();
        for address in addresses {
            // A return address is behind its call.
            let call = u64::from(address.saturating_sub(1));
            let Ok(mut frames) = context.find_frames(call).skip_all_loads() else { continue };
            for _ in 0..INLINED {
                let Ok(Some(frame)) = frames.next() else { break };
                let place = frame.location.and_then(|at| Some((at.file?.to_owned(), at.line?)));
                places.extend(place.map(|(path, line)| CodePlace { path, line }));
            }
        }
        Some(places)
    }
}

/// The table of program headers of an ELF file.
fn program_headers(bytes: &[u8]) -> Option<&[u8]> {
    fn table<H: FileHeader>(bytes: &[u8]) -> Option<&[u8]> {
        let header = H::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        Some(object::bytes_of_slice(header.program_headers(endian, bytes).ok()?))
    }
    match FileKind::parse(bytes).ok()? {
        FileKind::Elf64 => table::<FileHeader64<Endianness>>(bytes),
        FileKind::Elf32 => table::<FileHeader32<Endianness>>(bytes),
        _ => None,
    }
}
