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

/// A frame at a panic, as far as it shows whether it was still open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameAtPanic {
    /// Its call may end behind its newest statement, which checks nothing.
    pub may_have_ended: bool,
    /// Its newest statement calls what panics if a condition does not hold.
    pub checks: bool,
    /// Its newest statement has the line that the message names.
    pub is_named: bool,
}

impl FrameAtPanic {
    /// Of its newest statement: the call may end behind it, it checks a condition, and it has the line that the message names.
    pub fn new(may_end: bool, checks: bool, is_named: bool) -> FrameAtPanic {
        FrameAtPanic { may_have_ended: may_end && !checks, checks, is_named }
    }
}

/// How many of the innermost frames have returned, as far as can be guessed. Returns are not recorded: behind the last statement
/// of a function, a check in a caller fails rather than that statement. `frames`: the innermost one first.
pub fn returned_at_panic(frames: &[FrameAtPanic]) -> usize {
    let ended = frames.iter().take_while(|frame| frame.may_have_ended).count();
    let named = frames.iter().position(|frame| frame.is_named).filter(|named| *named <= ended);
    let checks = frames.get(ended).is_some_and(|frame| frame.checks);
    named.or_else(|| checks.then_some(ended)).unwrap_or(0)
}
