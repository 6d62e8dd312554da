//! The source lines of a panic's frames, from the debug information of the program that panicked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use addr2line::Context;
use gimli::{Dwarf, EndianRcSlice, RunTimeEndian};
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

thread_local! {
    /// The program of the last panic. Failed tests of a run mostly share one, and reading it takes longer than their histories.
    static LAST: RefCell<Option<ProgramLines>> = const { RefCell::new(None) };
}

/// The lines of the frames, innermost first, inlined frames included. Empty without the very program that panicked, or without
/// its debug information.
pub fn frames(ring: &Ring, panic: &PanicPlace, options: &ReadOptions) -> Vec<CodePlace> {
    if panic.frames.is_empty() {
        return Vec::new();
    }
    LAST.with_borrow_mut(|last| {
        let is_found = candidates(ring, options).any(|path| {
            let is_last = last.as_ref().is_some_and(|last| last.is_of(&path));
            if !is_last && let Some(found) = ProgramLines::open(&path, panic.program) {
                *last = Some(found);
            }
            last.as_ref().is_some_and(|last| last.is_of(&path) && last.hash == panic.program)
        });
        last.as_mut().filter(|_| is_found).map(|last| last.places(&panic.frames)).unwrap_or_default()
    })
}

/// When a file was written, and how long it is.
type Stamp = (SystemTime, u64);

/// The lines of a program. The debug information is a copy.
struct ProgramLines {
    path: PathBuf,
    stamp: Stamp,
    /// The hash of its headers, as the loader has them in memory.
    hash: u64,
    /// `None` without debug information.
    context: Option<Context<EndianRcSlice<RunTimeEndian>>>,
    /// The lines of each address that was looked up.
    known: HashMap<u32, Vec<CodePlace>>,
}

impl ProgramLines {
    /// Reads the program, if its headers have this hash.
    fn open(path: &Path, hash: u64) -> Option<ProgramLines> {
        let stamp = stamp(path)?;
        let image = Image::of_file(&File::open(path).ok()?, &path.display().to_string()).ok()?;
        let mut found = Hash::new();
        found.update(program_headers(&image)?);
        let is_it = found.finish() == hash;
        let known = HashMap::new();
        is_it.then(|| ProgramLines { path: path.to_owned(), stamp, hash, context: context(&image), known })
    }

    /// Whether these are the lines of this file as it is now.
    fn is_of(&self, path: &Path) -> bool {
        self.path == path && stamp(path) == Some(self.stamp)
    }

    fn places(&mut self, addresses: &[u32]) -> Vec<CodePlace> {
        let ProgramLines { context: Some(context), known, .. } = self else { return Vec::new() };
        let places = addresses.iter().flat_map(|address| {
            known.entry(*address).or_insert_with(|| places_of(context, *address)).clone()
        });
        places.collect()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = path.metadata().ok().filter(|file| file.is_file())?;
    Some((file.modified().ok()?, file.len()))
}

/// The debug information of a program.
fn context(image: &[u8]) -> Option<Context<EndianRcSlice<RunTimeEndian>>> {
    let file = object::File::parse(image).ok()?;
    let endian = match file.is_little_endian() {
        true => RunTimeEndian::Little,
        false => RunTimeEndian::Big,
    };
    let section = |id: gimli::SectionId| {
        Ok::<_, gimli::Error>(EndianRcSlice::new(plain_section(&file, id.name()).into(), endian))
    };
    Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}

/// The lines of a return address: functions that are inlined into each other.
fn places_of(context: &Context<EndianRcSlice<RunTimeEndian>>, address: u32) -> Vec<CodePlace> {
    // It is behind its call.
    let call = u64::from(address.saturating_sub(1));
    let Ok(mut frames) = context.find_frames(call).skip_all_loads() else { return Vec::new() };
    let mut places = Vec::new();
    for _ in 0..INLINED {
        let Ok(Some(frame)) = frames.next() else { break };
        let place = frame.location.and_then(|at| Some((at.file?.to_owned(), at.line?)));
        places.extend(place.map(|(path, line)| CodePlace { path, line }));
    }
    places
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_that_was_written_again_is_read_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("program");
        std::fs::copy(std::env::current_exe().expect("this program"), &path).expect("a copy");
        let image = std::fs::read(&path).expect("the copy");
        let mut hash = Hash::new();
        hash.update(program_headers(&image).expect("an ELF file"));
        assert!(ProgramLines::open(&path, 1).is_none(), "another program");
        let lines = ProgramLines::open(&path, hash.finish()).expect("this program");
        assert!(lines.is_of(&path) && !lines.is_of(directory.path()));
        let file = File::options().append(true).open(&path).expect("the copy");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("another time");
        assert!(!lines.is_of(&path));
    }
}
