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
    /// Whether it is in the file with this path, which may lack directories in front.
    pub fn is_in(&self, path: &str) -> bool {
        Path::new(&self.path).ends_with(path)
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

/// A call whose statement was the newest of its function at a panic, as far as it shows whether the call was still open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameAtPanic {
    /// Its call may end behind its newest statement.
    pub may_end: bool,
    /// Its newest statement calls what panics if a condition does not hold.
    pub checks: bool,
    /// Its newest statement has the line that the message names.
    pub is_named: bool,
    /// Its newest statement has the line of the innermost frame of the program, or is in the function of it.
    pub is_innermost: bool,
}

/// The place that the message of a panic names, and where its frames begin in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocatedPanic {
    /// Where the message says that it happened; `None` if not recorded.
    pub named: Option<CodePlace>,
    /// The innermost frame in a function of the program; `None` if not known.
    pub innermost: Option<CodePlace>,
    /// The lines of that function, if the frame is at no statement, as at the end of a scope.
    pub within: Option<RangeInclusive<u32>>,
    /// How many frames are at that line.
    pub frames: usize,
}

impl LocatedPanic {
    /// A call at the panic: the lines of its newest statement, and whether a place is in its file.
    pub fn frame(
        &self,
        (may_end, checks): (bool, bool),
        lines: &RangeInclusive<u32>,
        is_in: &dyn Fn(&CodePlace) -> bool,
    ) -> FrameAtPanic {
        let has = |place: &CodePlace| lines.contains(&place.line) && is_in(place);
        let is_innermost = |place: &CodePlace| match &self.within {
            Some(within) => within.contains(lines.start()) && is_in(place),
            None => has(place),
        };
        let is_named = self.named.as_ref().is_some_and(has);
        FrameAtPanic {
            may_end,
            checks,
            is_named,
            is_innermost: self.innermost.as_ref().is_some_and(is_innermost),
        }
    }

    /// How many of the innermost calls have returned, as far as is known. The frames show it. Without them it is a guess, because
    /// returns are not recorded: behind the last statement of a function, a check in a caller fails rather than that statement.
    /// `calls`: the innermost one first.
    pub fn returned(&self, calls: &[FrameAtPanic]) -> usize {
        self.returned_by_frames(calls).unwrap_or_else(|| {
            let ended = calls.iter().take_while(|call| call.may_end && !call.checks).count();
            let named = calls.iter().position(|call| call.is_named).filter(|named| *named <= ended);
            let checks = calls.get(ended).is_some_and(|call| call.checks);
            named.or_else(|| checks.then_some(ended)).unwrap_or(0)
        })
    }

    /// The same by the frames; `None` if they do not fit what the calls ran.
    fn returned_by_frames(&self, calls: &[FrameAtPanic]) -> Option<usize> {
        let mut open = calls.iter().enumerate().filter(|(_, call)| call.is_innermost).map(|(index, _)| index);
        let mut first = open.next()?;
        // A closure may be at the line of its caller, which has one frame more. What panicked itself is named.
        if !calls[first].is_named && self.within.is_none() {
            let returned = (open.clone().count() + 1).saturating_sub(self.frames.max(1));
            first = returned.checked_sub(1).and_then(|more| open.nth(more)).unwrap_or(first);
        }
        calls[..first].iter().all(|call| call.may_end).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls at a panic, innermost first: `e` may have ended, `c` checks, `n` has the line of the message, `i` that of the innermost
    /// of some frames.
    fn returned(calls: &str, frames: usize) -> usize {
        let call = |word: &str| {
            let has = |letter| word.contains(letter);
            FrameAtPanic { may_end: has('e'), checks: has('c'), is_named: has('n'), is_innermost: has('i') }
        };
        let calls: Vec<FrameAtPanic> = calls.split(' ').map(call).collect();
        LocatedPanic { frames, ..LocatedPanic::default() }.returned(&calls)
    }

    /// As a destructor of code that is not recorded, behind the last statement of a function that calls itself.
    #[test]
    fn a_frame_at_no_statement_is_that_of_the_newest_call_of_its_function() {
        let place = |line| CodePlace { path: "/p/src/a.rs".to_owned(), line };
        let panic = LocatedPanic { innermost: Some(place(9)), within: Some(1..=9), frames: 1, named: None };
        let frame =
            |line, may_end| panic.frame((may_end, false), &(line..=line), &|place| place.is_in("src/a.rs"));
        let (callee, own, caller) = (frame(12, true), frame(8, true), frame(5, false));
        assert_eq!([callee, own, caller].map(|frame| frame.is_innermost), [false, true, true]);
        assert_eq!(panic.returned(&[callee, own, caller]), 1);
    }

    #[test]
    fn the_message_or_a_check_shows_that_calls_had_returned() {
        assert_eq!(
            ["e n", "e c", "- n", "e -", "ec n", "ne -"].map(|calls| returned(calls, 0)),
            [1, 1, 0, 0, 0, 0]
        );
    }

    #[test]
    fn the_frames_show_it_for_certain() {
        // As a closure that a sort called, which then panics by itself.
        assert_eq!(["e i -", "e e i", "ec i -", "i e -"].map(|calls| returned(calls, 1)), [1, 2, 1, 0]);
        // A function that names its caller.
        assert_eq!(returned("ei n", 1), 0);
        assert_eq!(returned("- i -", 1), 0, "it cannot have ended");
        // A closure in the line of its caller: open, and returned.
        assert_eq!(["ei i", "e ei i"].map(|calls| returned(calls, 2)), [0, 1]);
        assert_eq!(["ei i", "e ei i"].map(|calls| returned(calls, 1)), [1, 2]);
        assert_eq!(returned("ein in", 1), 0, "a call at the end may take the place of its caller's frame");
    }
}
