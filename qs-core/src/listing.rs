//! The line of a repetition in a listing, and numbers for readers. It works without a heap, and nothing else in the crate
//! uses it.

use core::fmt::{self, Display, Formatter};

use crate::record::Statement;
use crate::ring::{LineRange, Repetition};

impl Repetition {
    /// One line of text: `... lines 40-47 x 1,234,567 in src/main.rs`. `name` turns a statement into path and line.
    pub fn show<P, N>(&self, name: N) -> impl Display + use<P, N>
    where
        P: Display,
        N: Fn(Statement) -> (P, u32),
    {
        RepetitionText { repetition: *self, name }
    }
}

struct RepetitionText<N> {
    repetition: Repetition,
    name: N,
}

impl<P: Display, N: Fn(Statement) -> (P, u32)> Display for RepetitionText<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, LineRange { file, first, last }) in self.repetition.places().iter().copied().enumerate() {
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
                write!(f, " x {}", Thousands(self.repetition.iterations()))?;
            }
            if !is_numbered {
                write!(f, " in {path}")?;
            } else if index > 0 {
                write!(f, " of unknown files")?;
            }
        }
        if self.repetition.more_files() > 0 {
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
    use crate::record::Numbers;
    use std::format;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn show(statements: &[(u16, u16)], times: u64) -> String {
        let statements: Vec<_> =
            statements.iter().map(|(file, line)| Statement { file: *file, line: *line }).collect();
        match Repetition::new(statements.into_iter(), times) {
            Some(repetition) => repetition
                .show(|Statement { file, line }| (format!("{file}.rs"), u32::from(line) + 1000))
                .to_string(),
            None => String::new(),
        }
    }

    #[test]
    fn a_loop_shows_its_lines_and_its_iterations() {
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
    fn statement_numbers_of_a_loop_are_resolved_within_one_file() {
        let numbers = |all: &[u16]| {
            let statements = all.iter().map(|number| Statement::numbered(*number)).collect::<Vec<_>>();
            Repetition::new(statements.into_iter(), 5).unwrap()
        };
        let show = |repetition: Repetition| {
            repetition.show(|Statement { file, line }| (file, line.into())).to_string()
        };
        assert_eq!(show(numbers(&[7])), "... statement 7 x 5");
        assert_eq!(show(numbers(&[7, 9])), "... statements 7-9 x 5");
        let table = [None, Some((1, 40)), Some((1, 44)), Some((2, 3))];
        let table = table.map(|known| known.map(|(file, line)| Statement { file, line }));
        let table = Numbers::new(&table);
        assert_eq!(show(numbers(&[2, 1]).resolve(table)), "... lines 40-44 x 5 in 1");
        assert_eq!(show(numbers(&[2, 3]).resolve(table)), "... statements 2-3 x 5");
        assert_eq!(show(numbers(&[2, 7]).resolve(table)), "... statements 2-7 x 5");
        let known = Repetition::new([Statement { file: 3, line: 4 }].into_iter(), 2).unwrap();
        assert_eq!(known.resolve(table), known);
    }

    #[test]
    fn numbers_have_commas() {
        let all = [0, 999, 1000, 12_345, 1_000_002, u64::MAX].map(|number| Thousands(number).to_string());
        assert_eq!(all, ["0", "999", "1,000", "12,345", "1,000,002", "18,446,744,073,709,551,615"]);
    }
}
