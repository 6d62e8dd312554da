//! Commands that dump the rings of a program. For firmware, the ELF file has the address of the ring; on an operating system, a gdb
//! script finds all rings of a process.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use object::{Architecture, BinaryFormat, Object, ObjectSymbol};

use xhist_history::notes::typed::{self, quoted};

/// The command `xhist` for gdb.
pub const GDB_SCRIPT: &str = include_str!("../../gdb/xhist.py");
/// The ring's symbol; in a hosted program a pointer to the first of them.
const SYMBOL: &str = "XHIST_RING";
/// Sections that only programs for an operating system have.
const OF_SYSTEMS: [&str; 2] = [".interp", ".note.ABI-tag"];

/// Why there are no commands for a program.
#[derive(Debug)]
pub enum DumpError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is not an ELF file.
    NotElf {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The program has no ring.
    NoRing(PathBuf),
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DumpError::Unreadable { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            DumpError::NotElf { path, why } => write!(f, "{} is not an ELF file: {why}", path.display()),
            DumpError::NoRing(path) => write!(
                f,
                "{} has no {SYMBOL}: it was built without the `trace` feature of xhist-rt, or stripped of its symbols",
                path.display()
            ),
        }
    }
}

impl std::error::Error for DumpError {}

impl From<DumpError> for String {
    fn from(error: DumpError) -> String {
        error.to_string()
    }
}

/// Where the rings of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// In the memory of a target without an operating system, at this address, with this number of bytes.
    Bare {
        /// The first address.
        start: u64,
        /// The number of bytes.
        len: u64,
    },
    /// Wherever the operating system put them.
    Hosted,
}

/// Where the rings of the program with these bytes are.
///
/// # Errors
/// The file is not an ELF file, or has no ring.
pub fn ring_of(elf: &Path, bytes: &[u8]) -> Result<Ring, DumpError> {
    Ok(found(elf, bytes)?.0)
}

/// The bytes of a program.
///
/// # Errors
/// The file cannot be read.
pub fn bytes_of(elf: &Path) -> Result<Vec<u8>, DumpError> {
    std::fs::read(elf).map_err(|error| DumpError::Unreadable { path: elf.to_owned(), error })
}

/// The commands, with comments.
///
/// # Errors
/// The file is not an ELF file, or has no ring.
pub fn commands(elf: &Path) -> Result<String, DumpError> {
    let typed = quoted(elf);
    Ok(match found(elf, &bytes_of(elf)?)? {
        (Ring::Bare { start, len }, _) => bare(&typed, start, len),
        (Ring::Hosted, false) => hosted(&typed),
        (Ring::Hosted, true) => format!(
            "# {SYMBOL} is not in it, as it was stripped: whether it records is seen when it runs\n{}",
            hosted(&typed)
        ),
    })
}

/// Where the rings of this program are, and whether it was stripped of all symbols.
fn found(elf: &Path, bytes: &[u8]) -> Result<(Ring, bool), DumpError> {
    let not_elf = |why| DumpError::NotElf { path: elf.to_owned(), why };
    let file = object::File::parse(bytes).map_err(|error| not_elf(error.to_string()))?;
    if file.format() != BinaryFormat::Elf {
        return Err(not_elf("it is a program for Windows".to_owned()));
    }
    let ring = file.symbols().find(|symbol| symbol.name() == Ok(SYMBOL) && symbol.size() > 0);
    let pointer = if file.is_64() { 8 } else { 4 };
    match ring {
        Some(ring) if ring.size() <= pointer => Ok((Ring::Hosted, false)),
        Some(ring) => Ok((Ring::Bare { start: ring.address(), len: ring.size() }, false)),
        // The gdb script searches memory, and needs no symbol.
        None if is_hosted(&file) && file.symbols().next().is_none() => Ok((Ring::Hosted, true)),
        None => Err(DumpError::NoRing(elf.to_owned())),
    }
}

/// Whether the program runs on an operating system, if that shows without the ring.
fn is_hosted(file: &object::File<'_>) -> bool {
    let is_of_pc = matches!(file.architecture(), Architecture::X86_64 | Architecture::I386);
    is_of_pc || OF_SYSTEMS.iter().any(|name| file.section_by_name(name).is_some())
}

/// Commands for a program on an operating system.
fn hosted(elf: &str) -> String {
    let is_path = elf.contains('/');
    let run = if is_path { elf.to_owned() } else { format!("./{elf}") };
    format!(
        "\
# with a ring file, which can be read at any time, also after kill -9
XHIST_FILE=ring.xhist {run}
{}
# without one: a process that runs or hangs, with gdb; it goes on afterwards
PID=$(pidof -s {run})
{} > xhist.py
gdb -p $PID -batch -x xhist.py -ex xhist
# the same by a core file, to be read later
gcore -o core $PID
{}
# after a crash that left a core file
{}
",
        typed::command("history ring.xhist"),
        typed::command("history --gdb-script"),
        typed::command("history core.$PID"),
        typed::command("history core"),
    )
}

/// Commands for firmware.
fn bare(elf: &str, start: u64, len: u64) -> String {
    let end = start.wrapping_add(len);
    format!(
        "\
# gdb, with a server that has halted the core (:3333 OpenOCD, :1337 probe-rs, :1234 QEMU)
gdb-multiarch -batch -ex 'target remote :3333' -ex 'dump binary memory dump.bin {start:#x} {end:#x}' {elf}
# probe-rs
probe-rs read --chip CHIP --output dump.bin --format binary b8 {start:#x} {len}
# OpenOCD
openocd -f interface/INTERFACE.cfg -f target/TARGET.cfg -c init -c halt -c 'dump_image dump.bin {start:#x} {len}' -c shutdown
# then
{}
",
        typed::command("history dump.bin"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_knows_every_header() {
        use qs_core::ring::{BARE_HEADER_LEN, PAGES_OF_WORDS};
        let line = GDB_SCRIPT.lines().find(|line| line.starts_with("HEADER_LENGTHS = ")).expect("the table");
        let pages = PAGES_OF_WORDS.filter(|len| len.is_power_of_two());
        for len in [BARE_HEADER_LEN].into_iter().chain(pages) {
            assert!(line.contains(&format!(" {len}")) || line.contains(&format!("({len}")), "{line}");
        }
    }
}
