//! Statements that ran again and were not written again: the loop in them, and the line that tells of it.
//! It must not know where the statements are read from.

use core::fmt::{self, Display, Formatter};

use crate::record::{Numbers, Statement};

/// Files of a loop that are told; those of more are only counted.
const PLACES: usize = 4;

/// The newest statements ran again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// How many statements, counted back from here.
    pub statements: usize,
    /// How often all of them ran again.
    pub times: u64,
    /// Statements of one round of the loop: the fewest that the statements are a multiple of.
    pub round: usize,
    places: [Place; PLACES],
    files: usize,
}

/// The lines of a loop in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// File id.
    pub file: u16,
    /// First line.
    pub first: u16,
    /// Last line.
    pub last: u16,
}

impl Again {
    /// These statements ran so many times more; `None` when that is nothing.
    pub fn new(statements: impl Iterator<Item = Statement> + Clone, times: u64) -> Option<Again> {
        let len = statements.clone().count();
        if len == 0 || times == 0 {
            return None;
        }
        let round = round(&statements, len);
        let mut again = Again { statements: len, times, round, places: Default::default(), files: 0 };
        for statement in statements.take(round) {
            again.add(statement);
        }
        Some(again)
    }

    /// The same, but so often.
    pub(super) const fn with_times(self, times: u64) -> Again {
        Again { times, ..self }
    }

    /// The same with places by file and line where they are only known by number. The numbers of a file go up with its
    /// lines, so a range of numbers is a range of lines, unless it goes from one file to another.
    #[must_use]
    pub fn resolve(self, numbers: Numbers<'_>) -> Again {
        let mut again = Again { places: Default::default(), files: 0, ..self };
        for Place { file, first, last } in self.places() {
            let ends = [*first, *last].map(|line| numbers.resolve(Statement { file: *file, line }));
            if ends[0].file == ends[1].file {
                ends.into_iter().for_each(|end| again.add(end));
            } else {
                again.add(Statement { file: *file, line: *first });
                again.add(Statement { file: *file, line: *last });
            }
        }
        if self.more_files() == 0 {
            return again;
        }
        // A place fewer would make the number of other files wrong.
        if again.files < PLACES { self } else { Again { files: self.files.max(again.files), ..again } }
    }

    /// How often the loop went round.
    pub const fn rounds(&self) -> u64 {
        self.times.saturating_mul((self.statements / self.round) as u64)
    }

    /// Its lines in each file, in the order in which it came to them; of the first few files.
    pub fn places(&self) -> &[Place] {
        &self.places[..self.files.min(PLACES)]
    }

    /// Files that [`Again::places`] leaves out, at least.
    pub const fn more_files(&self) -> usize {
        self.files.saturating_sub(PLACES)
    }

    /// `... lines 40-47 x 1,234,567 in src/main.rs`. `name` turns a statement into a path and a line.
    pub fn show<P, N>(&self, name: N) -> impl Display + use<P, N>
    where
        P: Display,
        N: Fn(Statement) -> (P, u32),
    {
        Shown { again: *self, name }
    }

    fn add(&mut self, Statement { file, line }: Statement) {
        let known = self.files.min(PLACES);
        if let Some(place) = self.places[..known].iter_mut().find(|place| place.file == file) {
            (place.first, place.last) = (place.first.min(line), place.last.max(line));
        } else if let Some(place) = self.places.get_mut(known) {
            *place = Place { file, first: line, last: line };
            self.files += 1;
        } else {
            // Which files those are is not kept, so one may be counted twice.
            self.files = PLACES + 1;
        }
    }
}

/// The shortest sequence that all the statements are a multiple of.
fn round(statements: &(impl Iterator<Item = Statement> + Clone), len: usize) -> usize {
    let repeats = |round: &usize| {
        let later = statements.clone().skip(*round);
        statements.clone().zip(later).all(|(one, other)| one == other)
    };
    (1..=len / 2).filter(|round| len.is_multiple_of(*round)).find(repeats).unwrap_or(len)
}

struct Shown<N> {
    again: Again,
    name: N,
}

impl<P: Display, N: Fn(Statement) -> (P, u32)> Display for Shown<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, Place { file, first, last }) in self.again.places().iter().copied().enumerate() {
            let (path, line) = (self.name)(Statement { file, line: first });
            let end = line.saturating_add(u32::from(last - first));
            let is_numbered = file == Statement::NUMBERED;
            let what = if is_numbered { "statement" } else { "line" };
            match (index, first == last) {
                (0, true) => write!(f, "... {what} {line}")?,
                (0, false) => write!(f, "... {what}s {line}-{end}")?,
                (_, true) => write!(f, ", {line}")?,
                (_, false) => write!(f, ", {line}-{end}")?,
            }
            if index == 0 {
                write!(f, " x {}", Thousands(self.again.rounds()))?;
            }
            if !is_numbered {
                write!(f, " in {path}")?;
            } else if index > 0 {
                write!(f, " of unknown files")?;
            }
        }
        if self.again.more_files() > 0 {
            f.write_str(" and more files")?;
        }
        Ok(())
    }
}

/// A number with a comma before each group of three digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thousands(pub u64);

impl Display for Thousands {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut group = 1u64;
        while self.0 / group >= 1000 {
            group *= 1000;
        }
        write!(f, "{}", self.0 / group)?;
        while group > 1 {
            group /= 1000;
            write!(f, ",{:03}", self.0 / group % 1000)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn show(statements: &[(u16, u16)], times: u64) -> String {
        let statements: Vec<_> =
            statements.iter().map(|(file, line)| Statement { file: *file, line: *line }).collect();
        match Again::new(statements.into_iter(), times) {
            Some(again) => again
                .show(|Statement { file, line }| (format!("{file}.rs"), u32::from(line) + 1000))
                .to_string(),
            None => String::new(),
        }
    }

    #[test]
    fn a_loop_is_told_by_its_lines_and_rounds() {
        assert_eq!(show(&[(1, 40)], 1_234_567), "... line 1040 x 1,234,567 in 1.rs");
        assert_eq!(show(&[(1, 40); 6], 2), "... line 1040 x 12 in 1.rs");
        assert_eq!(show(&[(1, 41), (1, 40), (1, 47), (1, 41)], 2), "... lines 1040-1047 x 2 in 1.rs");
        assert_eq!(show(&[(1, 1), (1, 2), (1, 1), (1, 2)], 500), "... lines 1001-1002 x 1,000 in 1.rs");
        assert_eq!(show(&[(2, 5), (1, 9), (2, 4)], 3), "... lines 1004-1005 x 3 in 2.rs, 1009 in 1.rs");
        let many: Vec<_> = (1..=9).map(|file| (file, 1)).collect();
        assert!(show(&many, 1).ends_with(" in 3.rs, 1001 in 4.rs and more files"));
        assert_eq!((show(&[], 3), show(&[(1, 1)], 0)), (String::new(), String::new()));
    }

    #[test]
    fn a_loop_that_is_known_by_numbers_is_resolved_where_that_is_certain() {
        let numbers = |all: &[u16]| {
            let statements = all.iter().map(|number| Statement::numbered(*number)).collect::<Vec<_>>();
            Again::new(statements.into_iter(), 5).unwrap()
        };
        let show = |again: Again| again.show(|Statement { file, line }| (file, line.into())).to_string();
        assert_eq!(show(numbers(&[7])), "... statement 7 x 5");
        assert_eq!(show(numbers(&[7, 9])), "... statements 7-9 x 5");
        let table = [None, Some((1, 40)), Some((1, 44)), Some((2, 3))];
        let table = table.map(|known| known.map(|(file, line)| Statement { file, line }));
        let table = Numbers::new(&table);
        assert_eq!(show(numbers(&[2, 1]).resolve(table)), "... lines 40-44 x 5 in 1");
        assert_eq!(show(numbers(&[2, 3]).resolve(table)), "... statements 2-3 x 5");
        assert_eq!(show(numbers(&[2, 7]).resolve(table)), "... statements 2-7 x 5");
        let known = Again::new([Statement { file: 3, line: 4 }].into_iter(), 2).unwrap();
        assert_eq!(known.resolve(table), known);
    }

    #[test]
    fn the_round_is_the_shortest_that_fits_a_whole_number_of_times() {
        let round = |lines: &[u16]| {
            let statements = lines.iter().map(|line| Statement { file: 0, line: *line });
            Again::new(statements, 1).unwrap().round
        };
        assert_eq!(round(&[1, 2, 1, 2, 1, 2]), 2);
        assert_eq!(round(&[1, 2, 1, 2, 1]), 5);
        assert_eq!(round(&[1, 1, 2, 1, 1, 2]), 3);
        assert_eq!(round(&[7; 4080]), 1);
    }

    #[test]
    fn numbers_have_commas() {
        let all = [0, 999, 1000, 12_345, 1_000_002, u64::MAX].map(|number| Thousands(number).to_string());
        assert_eq!(all, ["0", "999", "1,000", "12,345", "1,000,002", "18,446,744,073,709,551,615"]);
    }
}
