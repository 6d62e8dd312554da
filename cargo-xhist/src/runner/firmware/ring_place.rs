//! Where the ring of a firmware is in the target's memory: its symbol in the ELF file.

use std::fmt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use xhist_report::cli::how_to_dump::{DumpError, Ring, ring_of};

/// The bytes of the ring, or why they could not be read.
pub(super) type RingBytes = Result<Vec<u8>, String>;

/// What a ring without statements means.
pub(super) const OVERWRITTEN: &str = "the ring is empty or overwritten; a stack that grows too large overwrites it, unless the stack is below all data (flip-link)";

/// The address of the ring in the target, and its length in bytes. With the feature `keep`, of both rings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RingPlace {
    pub(super) start: u64,
    pub(super) len: usize,
    /// The chip that the program names, as probe-rs reads it.
    pub(super) chip: Option<String>,
}

/// Why a program has no ring to read.
#[derive(Debug)]
pub(super) enum RingProblem {
    Elf(DumpError),
    Hosted(PathBuf),
}

impl fmt::Display for RingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RingProblem::Elf(error) => error.fmt(f),
            RingProblem::Hosted(path) => write!(f, "{} is for an operating system", path.display()),
        }
    }
}

impl RingPlace {
    /// In the program with these bytes.
    pub(super) fn of(elf: &Path, bytes: &[u8]) -> Result<RingPlace, RingProblem> {
        match ring_of(elf, bytes).map_err(RingProblem::Elf)? {
            Ring::Bare { start, len } => Ok(RingPlace { start, len: len as usize, chip: chip(bytes) }),
            Ring::Hosted => Err(RingProblem::Hosted(elf.to_owned())),
        }
    }
}

/// `probe-rs run` takes the chip from this section if no option names it.
fn chip(program: &[u8]) -> Option<String> {
    let elf = object::File::parse(program).ok()?;
    let name = elf.section_by_name(".probe-rs.chip")?.data().ok()?;
    String::from_utf8(name.to_vec()).ok().filter(|name| !name.is_empty())
}
