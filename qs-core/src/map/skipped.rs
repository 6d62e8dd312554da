//! Lines of a file that run and are not recorded: the field `skipped` of its line.

use core::fmt;

/// Adjacent lines that run and are not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedLines<'a> {
    /// The first line, from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// What they are, such as `const fn`; empty without a name for it.
    pub what: &'a str,
}

impl<'a> SkippedLines<'a> {
    /// What separates ranges.
    pub const SEPARATOR: &'static str = ", ";

    /// Reads a list. Ranges that cannot be read are left out.
    pub fn list(text: &'a str) -> impl Iterator<Item = SkippedLines<'a>> {
        text.split(SkippedLines::SEPARATOR).filter_map(|range| {
            let (lines, what) = range.split_once(' ').unwrap_or((range, ""));
            let (first, last) = lines.split_once('-')?;
            Some(SkippedLines { first: first.parse().ok()?, last: last.parse().ok()?, what })
        })
    }
}

impl fmt::Display for SkippedLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.what.is_empty() { "" } else { " " };
        write!(f, "{}-{}{separator}{}", self.first, self.last, self.what)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString as _;
    use std::vec::Vec;

    #[test]
    fn ranges_are_read_as_written() {
        let text = "4-11 macro body, 25-28, 30-30 const fn";
        let read: Vec<SkippedLines<'_>> = SkippedLines::list(text).collect();
        assert_eq!(read[0], SkippedLines { first: 4, last: 11, what: "macro body" });
        let written: Vec<_> = read.iter().map(SkippedLines::to_string).collect();
        assert_eq!(written.join(SkippedLines::SEPARATOR), text);
        assert_eq!(SkippedLines::list("").count() + SkippedLines::list("4, x-3 a, -").count(), 0);
    }
}
