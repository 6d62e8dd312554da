//! Statement numbers: the range of each file, and the number of each statement in it.
//!
//! A file's line in the map has the first number of the range and its length: `"first":1,"room":128`. The statements of the
//! file have the numbers of the range in the order of the map. Value sites have numbers and ranges of their own.

use crate::record::Statement;
use crate::record::words::SHORT_END;

/// Number of lines that one file id covers.
pub const LINES_PER_ID: u32 = 65_535;

/// Value sites have numbers below this: three digits of a word.
pub const VALUE_END: u32 = 253 * 253 * 253;

/// The numbers of a file's statements, or of its value sites: `room` numbers from `first` on. 0 = the file has no numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberRange {
    /// The number of the first one, from 1.
    pub first: u32,
    /// Length of the range.
    pub room: u32,
}

impl NumberRange {
    /// The number of the statement at index `ordinal` of the file. `None` outside the range, or if words cannot hold it.
    pub fn number(self, ordinal: usize) -> Option<u32> {
        self.below(SHORT_END, ordinal)
    }

    /// The number of the value site at index `ordinal` of the file. `None` outside the range, or if no record can hold it.
    pub fn value(self, ordinal: usize) -> Option<u32> {
        self.below(VALUE_END, ordinal)
    }

    /// The index of a number in the range.
    pub fn ordinal(self, number: u32) -> Option<usize> {
        number.checked_sub(self.first).filter(|ordinal| *ordinal < self.room).map(|ordinal| ordinal as usize)
    }

    fn below(self, end: u32, ordinal: usize) -> Option<u32> {
        let ordinal = u32::try_from(ordinal).ok().filter(|ordinal| *ordinal < self.room)?;
        self.first.checked_add(ordinal).filter(|number| (1..end).contains(number))
    }
}

/// For a line of a file: the base of its file id, and the recorded line.
pub const fn recorded(line: u32) -> (u32, u16) {
    let before = line.saturating_sub(1) / LINES_PER_ID * LINES_PER_ID;
    (before, (line - before) as u16)
}

/// The recorded statement for a line of a file. `id_of_base` returns the file id for a base.
pub fn statement(line: u32, id_of_base: impl FnOnce(u32) -> Option<u16>) -> Option<Statement> {
    let (base, line) = recorded(line);
    Some(Statement { file: id_of_base(base)?, line })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Line;

    #[test]
    fn a_range_is_read_where_there_is_one() {
        let line = r#"{"file":3,"path":"a.rs","base":0,"first":9,"room":2}"#;
        let numbers = |line| match Line::parse(line) {
            Ok(Line::File(file)) => file.numbers,
            other => panic!("{other:?}"),
        };
        let range = numbers(line);
        assert_eq!((range.number(0), range.number(1), range.number(2)), (Some(9), Some(10), None));
        assert_eq!(numbers(r#"{"file":3,"path":"a.rs","base":0}"#).number(0), None);
        assert_eq!(numbers(r#"{"file":3,"path":"a.rs","base":0,"first":0,"room":0}"#).number(0), None);
        assert_eq!(numbers(r#"{"file":3,"path":"a.rs","base":0,"first":0,"room":1}"#).number(0), None);
        assert_eq!(NumberRange { first: SHORT_END - 1, room: 5 }.number(1), None);
    }

    #[test]
    fn value_sites_have_more_numbers_and_a_number_finds_its_site() {
        let range = NumberRange { first: SHORT_END, room: 5 };
        assert_eq!((range.number(0), range.value(0), range.value(5)), (None, Some(SHORT_END), None));
        assert_eq!(NumberRange { first: VALUE_END - 1, room: 2 }.value(1), None);
        let ordinals = [SHORT_END - 1, SHORT_END, SHORT_END + 4, SHORT_END + 5].map(|n| range.ordinal(n));
        assert_eq!(ordinals, [None, Some(0), Some(4), None]);
    }

    #[test]
    fn later_lines_of_a_file_have_another_id() {
        assert_eq!((recorded(1), recorded(65_535), recorded(65_536)), ((0, 1), (0, 65_535), (65_535, 1)));
        assert_eq!(recorded(0), (0, 0));
        let id = |base| (base == 65_535).then_some(7);
        assert_eq!(statement(65_537, id), Some(Statement { file: 7, line: 2 }));
        assert_eq!(statement(2, id), None);
    }
}
