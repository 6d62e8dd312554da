//! What firmware's own program says: the names of a Cortex-M's interrupts, from its vector table, where each handler has the
//! name of its interrupt; their priorities, from its map; and the texts of `defmt`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use object::{
    Architecture, CompressionFormat, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind,
};
use qs_core::map::{Line, SECTION};

use super::find::{candidates, named};
use crate::model::defmt::DefmtTable;
use crate::model::{InterruptNames, Ring};
use crate::options::ReadOptions;
use crate::source::Image;

/// Most bytes of a line of a map.
const LONGEST_LINE: u64 = 1 << 20;

/// Names the interrupts and the lines of `defmt` of rings of firmware, and the program that has the names. None without that
/// program, or where its handlers have other names.
pub fn name_interrupts<'r>(rings: impl Iterator<Item = &'r mut Ring>, options: &ReadOptions) {
    let mut by_map = HashMap::new();
    for ring in rings.filter(|ring| !ring.is_of_thread() && ring.pid == 0 && ring.map_hash != 0) {
        let found = by_map.entry(ring.map_hash).or_insert_with(|| {
            let found = |path: PathBuf| Some((names_in(&path, Some(ring.map_hash))?, Some(path)));
            let is_named = named(ring, options).into_iter().find_map(found);
            is_named.or_else(|| agreed(candidates(ring, options).filter_map(found)))
        });
        if let Some(((interrupts, defmt), program)) = found.clone() {
            (ring.interrupts, ring.defmt, ring.program) = (interrupts, defmt, program);
        }
    }
}

/// Names those of a live target by the program that the user named: a stream does not say which build it is of.
pub fn name_interrupts_by_program(ring: &mut Ring, options: &ReadOptions) {
    let found = |path: &PathBuf| Some((names_in(path, None)?, path.clone()));
    if let Some(((interrupts, defmt), program)) = options.programs.given.iter().find_map(found) {
        (ring.interrupts, ring.defmt, ring.program) = (interrupts, defmt, Some(program));
    }
}

/// What a program says, and its file.
type ProgramNames = ((InterruptNames, DefmtTable), Option<PathBuf>);

/// What all programs of a build say, since a ring names its build alone: names of interrupts that none of them contradicts, texts
/// if one program has any. A file only if they say the same.
fn agreed(programs: impl Iterator<Item = ProgramNames>) -> Option<ProgramNames> {
    programs.reduce(|all, program| {
        if all.0 == program.0 {
            return all;
        }
        let ((names, defmt), (more_names, more_defmt)) = (all.0, program.0);
        ((names.agreed(&more_names), defmt.agreed(more_defmt)), None)
    })
}

/// The names in a program, of the build with this map if it is known; `None` if it is another program, or has none.
fn names_in(path: &Path, map_hash: Option<u64>) -> Option<(InterruptNames, DefmtTable)> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|file| file.is_file()))?;
    let image = Image::of_file(&file, &path.display().to_string()).ok()?;
    let elf = object::File::parse(&*image).ok()?;
    let is_arm = elf.architecture() == Architecture::Arm;
    let vectors = elf.section_by_name(".vector_table").filter(|_| is_arm);
    let vectors = vectors.and_then(|section| section.data().ok());
    let defmt = DefmtTable::of_program(&elf).unwrap_or_default();
    let has_names = vectors.is_some() || !defmt.is_empty();
    (has_names && map_hash.is_none_or(|hash| is_of_map(&elf, hash))).then(|| {
        let named =
            |vectors| InterruptNames::with_priorities(names(vectors, functions(&elf)), priorities(&elf));
        (vectors.map(named).unwrap_or_default(), defmt)
    })
}

fn is_of_map(elf: &object::File<'_>, map_hash: u64) -> bool {
    let mut is_of_it = None;
    each_line(elf, &mut |line| {
        is_of_it = match line {
            Line::Head(head) => Some(head.may_be_of(map_hash)),
            _ => None,
        };
        ControlFlow::Break(())
    });
    is_of_it.unwrap_or(false)
}

/// Priorities of interrupts that the sources give, without those that two programs of one map give differently.
fn priorities(elf: &object::File<'_>) -> BTreeMap<String, u8> {
    let mut found: BTreeMap<String, BTreeSet<u8>> = BTreeMap::new();
    each_line(elf, &mut |line| {
        if let Line::File(file) = line {
            let listed: String = file.priorities.chars().collect();
            for (name, priority) in listed.split(' ').filter_map(|one| one.split_once(':')) {
                found.entry(name.to_owned()).or_default().extend(priority.parse::<u8>());
            }
        }
        ControlFlow::Continue(())
    });
    let certain = |(name, priorities): (String, BTreeSet<u8>)| match Vec::from_iter(priorities)[..] {
        [priority] => Some((name, priority)),
        _ => None,
    };
    found.into_iter().filter_map(certain).collect()
}

/// Gives the lines of a program's map until one is the last that is wanted, or cannot be read.
fn each_line(elf: &object::File<'_>, take: &mut dyn FnMut(Line<'_>) -> ControlFlow<()>) {
    let Some(Ok(packed)) = elf.section_by_name(SECTION).map(|section| section.compressed_data()) else {
        return;
    };
    let text: Box<dyn Read> = match packed.format {
        CompressionFormat::Zlib => Box::new(ZlibDecoder::new(packed.data)),
        _ => Box::new(packed.data),
    };
    let mut text = BufReader::new(text);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut text).take(LONGEST_LINE).read_until(b'\n', &mut line);
        let line = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
        match (read, line.map(Line::parse)) {
            (Ok(_), Some(Ok(line))) if take(line).is_continue() => {}
            _ => return,
        }
    }
}

/// Names of functions by address. The name of an interrupt has no `$` of Rust's symbols, and is no label.
fn functions<'e>(elf: &'e object::File<'_>) -> HashMap<u32, &'e str> {
    let mut functions = HashMap::new();
    for symbol in elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
        let name = symbol.name().unwrap_or_default();
        let is_plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_plain {
            let known = functions.entry(symbol.address() as u32 & !1).or_insert(name);
            // The shortest name, whatever the order of symbols.
            if (name.len(), name) < (known.len(), *known) {
                *known = name;
            }
        }
    }
    functions
}

/// The entries of a table, but for the stack and those that several interrupts share: that is a default handler.
fn names(vectors: &[u8], functions: HashMap<u32, &str>) -> BTreeMap<u16, String> {
    let (entries, _) = vectors.as_chunks::<4>();
    let handlers: Vec<u32> = entries.iter().map(|entry| u32::from_le_bytes(*entry) & !1).collect();
    let mut times: HashMap<u32, usize> = HashMap::new();
    handlers.iter().for_each(|handler| *times.entry(*handler).or_default() += 1);
    // The first entries are the stack and the reset.
    let numbered = (0u16..).zip(&handlers).skip(2).filter(|(_, handler)| times[*handler] == 1);
    numbered.filter_map(|(number, handler)| Some((number, (*functions.get(handler)?).to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_one_build_say_what_none_of_them_contradicts() {
        let names = |list: &[(u16, &str)]| {
            InterruptNames::new(list.iter().map(|(number, name)| (*number, (*name).to_owned())).collect())
        };
        let none = DefmtTable::default;
        let a = || ((names(&[(15, "SysTick"), (16, "WDT")]), none()), Some(PathBuf::from("a")));
        let b = || ((names(&[(15, "SysTick"), (17, "RTC")]), none()), Some(PathBuf::from("b")));
        let c = || ((names(&[(16, "POWER")]), none()), Some(PathBuf::from("c")));
        let of = |programs: Vec<ProgramNames>| agreed(programs.into_iter());
        assert_eq!(of(vec![a(), a()]), Some(a()));
        let both = names(&[(15, "SysTick"), (16, "WDT"), (17, "RTC")]);
        assert_eq!(of(vec![a(), b()]), Some(((both, none()), None)));
        for order in [vec![a(), c(), a(), b()], vec![c(), b(), a()]] {
            let all = names(&[(15, "SysTick"), (17, "RTC")]);
            let ((found, _), _) = of(order).unwrap();
            assert_eq!(
                (15..18).map(|number| found.name(number)).collect::<Vec<_>>(),
                (15..18).map(|number| all.name(number)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_handler_of_its_own_names_an_interrupt() {
        let table = [0x2000_1000_u32, 0x41, 0x51, 0x51, 0x61, 0x71];
        let bytes: Vec<u8> = table.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let functions = [(0x40, "Reset"), (0x50, "DefaultHandler"), (0x60, "UART0")].into();
        assert_eq!(names(&bytes, functions), [(4, "UART0".to_owned())].into());
    }
}
