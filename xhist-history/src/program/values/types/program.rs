//! The file of a program: rows of types, layouts, and data that cannot change.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::rc::Rc;

use object::elf::{SHF_ALLOC, SHF_WRITE};
use object::pe::{IMAGE_SCN_MEM_READ, IMAGE_SCN_MEM_WRITE};
use object::{BinaryFormat, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};

use super::dies::{Dies, FoundTypes};
use super::dwarf::Layouts;
use super::layout::{TargetLayout, TypeLayout, TypeShape};
use super::render::Memory;
use super::{names, rows};

/// Functions that are looked up by their address.
const FUNCTIONS: usize = 1024;

/// The file of a program.
pub struct Program {
    bytes: Box<dyn Deref<Target = [u8]>>,
    word: u8,
    is_little: bool,
    /// It runs at the addresses in its file.
    is_fixed: bool,
    rows: HashMap<u32, Vec<RowType>>,
    /// Symbols of the rows, sorted.
    symbols: Vec<String>,
    /// Where the anchor is in the file.
    anchor: Option<u64>,
    /// Hashes of maps that it was built with; empty for a program without an instrumented `main`.
    builds: Vec<u64>,
    /// Data that cannot change: addresses, and places in the file.
    data: Vec<(Range<u64>, usize)>,
    /// What debug information says; read when the first value is shown.
    found: Option<FoundTypes>,
    has_layouts: bool,
    answers: HashMap<usize, Rc<TypeAnswer>>,
    functions: RefCell<HashMap<u64, Option<String>>>,
}

/// A program that did not record a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherBuild;

/// The section of rows: in an ELF file, and in a program for Windows.
const ROWS: [&str; 2] = [".xhist_types", ".debug_typenames"];

/// Programs begin at a multiple of this in memory.
const PAGE: u64 = 4096;

/// A type that a place was compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowType {
    /// Bytes of a value.
    pub size: u32,
    /// Address of its function in the file; 0 if not recorded.
    pub address: u64,
    /// Its symbol, by number.
    pub symbol: usize,
}

/// What is known of a type.
#[derive(Debug, Default, PartialEq)]
pub struct TypeAnswer {
    /// Its name; empty if not known.
    pub name: String,
    /// Its layout.
    pub layout: Option<TypeLayout>,
    /// What its values point to, if that may be recorded.
    pub target: Option<TargetLayout>,
}

impl Program {
    /// Reads the rows of a program; `None` if the file is not a program.
    pub fn read(bytes: Box<dyn Deref<Target = [u8]>>) -> Option<Program> {
        let file = object::File::parse(&**bytes).ok()?;
        let (word, is_little) = (if file.is_64() { 8 } else { 4 }, file.is_little_endian());
        let section = ROWS.iter().find_map(|name| file.section_by_name(name));
        let section = section.and_then(|section| section.data().ok()).unwrap_or_default();
        let mut symbols: Vec<&str> = rows::rows(section, word, is_little).map(|row| row.symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        // In a program for Windows addresses are relative to it.
        let base = file.relative_address_base();
        let (mut by_number, mut anchor) = (HashMap::<u32, Vec<RowType>>::new(), None);
        let mut builds = Vec::new();
        for row in rows::rows(section, word, is_little) {
            if row.number == 0 && row.size == rows::BUILD {
                builds.push(row.address);
                continue;
            }
            let address = if row.address == 0 { 0 } else { row.address.wrapping_add(base) };
            if row.number == 0 {
                // A program may have it once more for each of its units.
                anchor = anchor.or(Some(address).filter(|address| *address != 0));
                continue;
            }
            let Ok(symbol) = symbols.binary_search(&row.symbol) else { continue };
            by_number.entry(row.number).or_default().push(RowType { size: row.size, address, symbol });
        }
        for types in by_number.values_mut() {
            // An inlined copy of a place has a row of its own.
            types.sort_unstable_by_key(|row| (row.symbol, row.size, row.address == 0));
            types.dedup_by_key(|row| (row.symbol, row.size));
        }
        let symbols = symbols.into_iter().map(str::to_owned).collect();
        let data = read_only(&file);
        let has_layouts = file.section_by_name(".debug_info").is_some();
        Some(Program {
            word,
            is_little,
            // Windows moves programs as well as libraries.
            is_fixed: file.format() == BinaryFormat::Elf && file.kind() != ObjectKind::Dynamic,
            rows: by_number,
            symbols,
            anchor,
            builds,
            data,
            found: None,
            has_layouts,
            answers: HashMap::new(),
            functions: RefCell::default(),
            bytes,
        })
    }

    /// Whether it has types of recorded values.
    pub fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether it has debug information.
    pub fn has_layouts(&self) -> bool {
        self.has_layouts
    }

    /// Whether it has the hash of its map. A program without an instrumented `main`, such as one of tests, has none.
    pub fn names_build(&self) -> bool {
        !self.builds.is_empty()
    }

    /// Whether it is not a program of the build with this map; 0 = not known.
    pub fn is_of_other_build(&self, map_hash: u64) -> bool {
        map_hash != 0 && !self.builds.is_empty() && !self.builds.contains(&map_hash)
    }

    /// Where the anchor is in the file; where it is in memory, the ring says.
    pub fn anchor(&self) -> Option<u64> {
        self.anchor
    }

    /// How far it ran above its addresses, by the address of its anchor; `None` if that is not known.
    ///
    /// # Errors
    /// That cannot be its anchor.
    pub fn slide(&self, anchor: u64) -> Result<Option<u64>, OtherBuild> {
        // On ARM the lowest bit of an address is not part of it.
        let known = self.anchor.filter(|_| anchor != 0).map(|at| (anchor & !1).wrapping_sub(at & !1));
        match known {
            Some(0) => Ok(Some(0)),
            Some(slide) if !self.is_fixed && slide.is_multiple_of(PAGE) => Ok(Some(slide)),
            Some(_) => Err(OtherBuild),
            None => Ok(self.is_fixed.then_some(0)),
        }
    }

    /// Numbers that have rows.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.rows.keys().copied()
    }

    /// The types that a place was compiled with.
    pub fn rows(&self, number: u32) -> &[RowType] {
        self.rows.get(&number).map_or(&[], Vec::as_slice)
    }

    /// What is known of the type of a row.
    pub fn type_of(&mut self, row: RowType) -> Rc<TypeAnswer> {
        let key = row.symbol;
        if let Some(known) = self.answers.get(&key) {
            let is_same = known.layout.as_ref().is_none_or(|layout| layout.size == u64::from(row.size));
            return if is_same { Rc::clone(known) } else { Rc::default() };
        }
        let answer = Rc::new(self.answer(row).unwrap_or_default());
        self.answers.insert(key, Rc::clone(&answer));
        answer
    }

    fn answer(&mut self, row: RowType) -> Option<TypeAnswer> {
        let symbol = self.symbols.get(row.symbol)?;
        let size = u64::from(row.size);
        let file = object::File::parse(&**self.bytes).ok()?;
        let dies = Dies::of(&file);
        let found = self.found.get_or_insert_with(|| {
            let symbols: Vec<&str> = self.symbols.iter().map(String::as_str).collect();
            dies.as_ref().map(|dies| dies.find(&symbols)).unwrap_or_default()
        });
        let at = found.types.get(&row.symbol);
        let mut layouts = dies.as_ref().map(|dies| Layouts::new(dies, &found.standard, self.word));
        let mut described = layouts.as_mut().zip(at);
        let pointee = described.as_mut().and_then(|(layouts, at)| layouts.pointee(**at));
        let (layout, short) = described.and_then(|(layouts, at)| layouts.layout(*at)).unzip();
        let name = names::type_of_symbol(symbol).or(short).unwrap_or_default();
        let layout = layout.filter(|layout| layout.size == size && layout.shape != TypeShape::Opaque);
        let layout = layout.or_else(|| names::layout(&name, size, self.word));
        let layout = layout.or_else(|| (size == 0 && !name.is_empty()).then(|| TypeLayout::named(&name)));
        let target = names::target(&name, self.word).or(pointee.map(TargetLayout::Value));
        Some(TypeAnswer { name, layout, target })
    }

    /// What values point to, if the program ran `slide` bytes above its addresses.
    pub fn memory(&self, slide: Option<u64>) -> impl Memory {
        ProgramMemory { program: self, slide }
    }

    fn function(&self, address: u64) -> Option<String> {
        let mut functions = self.functions.borrow_mut();
        if let Some(known) = functions.get(&address) {
            return known.clone();
        }
        if functions.len() >= FUNCTIONS {
            return None;
        }
        let file = object::File::parse(&**self.bytes).ok()?;
        // The lowest bit of an address on ARM is not part of it.
        let is_at = |at: u64| at == address || self.word == 4 && at | 1 == address | 1;
        let symbol =
            file.symbols().find(|symbol| symbol.kind() == SymbolKind::Text && is_at(symbol.address()));
        let name = symbol.and_then(|symbol| Some(names::demangled(symbol.name().ok()?)));
        functions.insert(address, name.clone());
        name
    }
}

/// Sections that no program writes to.
fn read_only(file: &object::File<'_>) -> Vec<(Range<u64>, usize)> {
    let sections = file.sections().filter_map(|section| {
        let is_constant = match section.flags() {
            SectionFlags::Elf { sh_flags } => {
                sh_flags & u64::from(SHF_ALLOC) != 0 && sh_flags & u64::from(SHF_WRITE) == 0
            }
            SectionFlags::Coff { characteristics } => {
                characteristics & (IMAGE_SCN_MEM_READ | IMAGE_SCN_MEM_WRITE) == IMAGE_SCN_MEM_READ
            }
            _ => false,
        };
        let (start, len) = section.file_range().filter(|_| is_constant)?;
        let end = section.address().checked_add(len)?;
        Some((section.address()..end, usize::try_from(start).ok()?))
    });
    sections.collect()
}

/// The read-only data of a program.
struct ProgramMemory<'p> {
    program: &'p Program,
    slide: Option<u64>,
}

impl Memory for ProgramMemory<'_> {
    fn read(&self, address: u64, len: u64) -> Option<&[u8]> {
        let from = address.wrapping_sub(self.slide?);
        let to = from.checked_add(len)?;
        let (range, start) =
            self.program.data.iter().find(|(range, _)| range.contains(&from) && to <= range.end)?;
        let start = start.checked_add(usize::try_from(from - range.start).ok()?)?;
        self.program.bytes.get(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    fn function(&self, address: u64) -> Option<String> {
        self.program.function(address.wrapping_sub(self.slide?))
    }

    fn is_little(&self) -> bool {
        self.program.is_little
    }
}
