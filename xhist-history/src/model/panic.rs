//! Where a panic came from, as its record says.

use std::ops::RangeInclusive;
use std::path::Path;

use qs_core::record::PanicSite;

/// The place that a panic's message names, and the frames that were open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanicPlace {
    /// Where the message says that it happened; `None` if not recorded.
    pub at: Option<CodePlace>,
    /// A hash of the headers of the program.
    pub program: u64,
    /// Return addresses in the program's file, innermost first.
    pub frames: Vec<u32>,
}

/// A line of a source file, as the compiler names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePlace {
    /// The path, absolute or from where the compiler ran.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
}

impl CodePlace {
    /// Whether it is one of these lines of the file with this path, which may lack directories in front.
    pub fn is_in(&self, path: &str, lines: &RangeInclusive<u32>) -> bool {
        Path::new(&self.path).ends_with(path) && lines.contains(&self.line)
    }
}

impl PanicPlace {
    /// Reads the payload of a panic's event.
    pub fn read(payload: &[u8]) -> PanicPlace {
        let site = PanicSite::parse(payload);
        let is_known = !site.file.is_empty() && site.line > 0;
        let at = is_known.then(|| CodePlace { path: site.file.to_owned(), line: site.line });
        PanicPlace { at, program: site.program, frames: site.frames().collect() }
    }
}
