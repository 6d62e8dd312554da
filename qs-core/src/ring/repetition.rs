//! Repetitions: statements that ran again without being written again, and the loop that they form.

use crate::record::{Numbers, Statement};

/// Files of a loop whose lines are kept. Further files are only counted.
const PLACES: usize = 4;

/// The newest statements ran again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// Number of statements that repeat, counted back from here.
    pub statements: usize,
    /// How often all of them ran again.
    pub times: u64,
    /// Statements of one iteration of the loop: the shortest sequence of which the statements are a multiple.
    pub period: usize,
    places: [LineRange; PLACES],
    files: usize,
}

/// The lines of a loop in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LineRange {
    /// File id.
    pub file: u16,
    /// First line.
    pub first: u16,
    /// Last line.
    pub last: u16,
}

impl Repetition {
    /// `statements` ran `times` more times. `None` without statements, or when `times` is 0.
    pub fn new(statements: impl Iterator<Item = Statement> + Clone, times: u64) -> Option<Repetition> {
        let len = statements.clone().count();
        if len == 0 || times == 0 {
            return None;
        }
        let period = period(&statements, len);
        let mut repetition =
            Repetition { statements: len, times, period, places: Default::default(), files: 0 };
        for statement in statements.take(period) {
            repetition.add(statement);
        }
        Some(repetition)
    }

    /// The same repetition with another count.
    pub(super) const fn with_times(self, times: u64) -> Repetition {
        Repetition { times, ..self }
    }

    /// Replaces statement numbers by file and line where `numbers` has them. Within a file, numbers rise with lines, so a
    /// range of numbers is a range of lines. A range that spans files keeps its numbers.
    #[must_use]
    pub fn resolve(self, numbers: Numbers<'_>) -> Repetition {
        let mut repetition = Repetition { files: 0, ..self };
        for LineRange { file, first, last } in self.places() {
            let ends = [*first, *last].map(|line| numbers.resolve(Statement { file: *file, line }));
            if ends[0].file == ends[1].file {
                ends.into_iter().for_each(|end| repetition.add(end));
            } else {
                repetition.add(Statement { file: *file, line: *first });
                repetition.add(Statement { file: *file, line: *last });
            }
        }
        if self.more_files() == 0 {
            return repetition;
        }
        // Fewer places than before: the count of further files would be wrong.
        if repetition.files < PLACES {
            self
        } else {
            Repetition { files: self.files.max(repetition.files), ..repetition }
        }
    }

    /// Iterations of the loop.
    pub const fn iterations(&self) -> u64 {
        self.times.saturating_mul((self.statements / self.period) as u64)
    }

    /// The lines of the loop in each file, files in the order of execution. Only the first few files, see
    /// [`Repetition::more_files`].
    pub fn places(&self) -> &[LineRange] {
        &self.places[..self.files.min(PLACES)]
    }

    /// Number of files that [`Repetition::places`] leaves out, at least.
    pub const fn more_files(&self) -> usize {
        self.files.saturating_sub(PLACES)
    }

    fn add(&mut self, Statement { file, line }: Statement) {
        let known = self.files.min(PLACES);
        if let Some(place) = self.places[..known].iter_mut().find(|place| place.file == file) {
            (place.first, place.last) = (place.first.min(line), place.last.max(line));
        } else if let Some(place) = self.places.get_mut(known) {
            *place = LineRange { file, first: line, last: line };
            self.files += 1;
        } else {
            // The ids of further files are not kept, so a file may be counted twice.
            self.files = PLACES + 1;
        }
    }
}

/// Length of the shortest sequence of which the statements are a multiple.
fn period(statements: &(impl Iterator<Item = Statement> + Clone), len: usize) -> usize {
    let repeats = |period: &usize| {
        let later = statements.clone().skip(*period);
        statements.clone().zip(later).all(|(one, other)| one == other)
    };
    (1..=len / 2).filter(|period| len.is_multiple_of(*period)).find(repeats).unwrap_or(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_is_the_shortest_sequence_that_fits_a_whole_number_of_times() {
        let period = |lines: &[u16]| {
            let statements = lines.iter().map(|line| Statement { file: 0, line: *line });
            Repetition::new(statements, 1).unwrap().period
        };
        assert_eq!(period(&[1, 2, 1, 2, 1, 2]), 2);
        assert_eq!(period(&[1, 2, 1, 2, 1]), 5);
        assert_eq!(period(&[1, 1, 2, 1, 1, 2]), 3);
        assert_eq!(period(&[7; 4080]), 1);
    }

    fn repetition(statements: &[(u16, u16)], times: u64) -> Option<Repetition> {
        let statements = statements.iter().map(|(file, line)| Statement { file: *file, line: *line });
        Repetition::new(statements, times)
    }

    #[test]
    fn iterations_are_those_of_the_shortest_sequence() {
        let found = repetition(&[(1, 2), (1, 3), (1, 2), (1, 3)], 5).expect("a repetition");
        assert_eq!((found.statements, found.times, found.period, found.iterations()), (4, 5, 2, 10));
        let found = found.with_times(u64::MAX);
        assert_eq!((found.times, found.iterations()), (u64::MAX, u64::MAX));
        assert_eq!((repetition(&[], 5), repetition(&[(1, 2)], 0)), (None, None));
    }

    #[test]
    fn a_loop_has_a_range_of_lines_for_each_of_its_first_files() {
        let range = |file, first, last| LineRange { file, first, last };
        let found = repetition(&[(2, 9), (1, 5), (2, 7), (1, 5), (2, 8)], 1).expect("a repetition");
        assert_eq!((found.places(), found.more_files()), (&[range(2, 7, 9), range(1, 5, 5)][..], 0));
        let places: [_; PLACES] = core::array::from_fn(|file| (file as u16, 1));
        let found = repetition(&places, 1).expect("a repetition");
        assert_eq!((found.places().len(), found.more_files()), (PLACES, 0));
        let found = repetition(&[&places[..], &[(8, 1), (9, 1), (0, 4)]].concat(), 1).expect("a repetition");
        assert_eq!((found.places().len(), found.more_files()), (PLACES, 1));
        assert_eq!(found.places()[0], range(0, 1, 4));
    }

    #[test]
    fn numbers_of_a_loop_become_lines() {
        let range = |file, first, last| LineRange { file, first, last };
        let in_file = |file, line| Some(Statement { file, line });
        let table = [None, in_file(1, 10), in_file(1, 20), in_file(2, 30), in_file(2, 40)];
        let resolved = |numbers: &[u16]| {
            let statements = numbers.iter().map(|number| Statement::numbered(*number));
            Repetition::new(statements, 1).expect("a repetition").resolve(Numbers::new(&table))
        };
        assert_eq!(resolved(&[2, 1]).places(), [range(1, 10, 20)]);
        assert_eq!(resolved(&[3, 3]).places(), [range(2, 30, 30)]);
        // A range over two files stays one of numbers.
        let numbers = Statement::numbered(1).file;
        assert_eq!(resolved(&[1, 4]).places(), [range(numbers, 1, 4)]);
        // Numbers and lines of one file are one range.
        let statements =
            [Statement::numbered(4), Statement { file: 2, line: 7 }, Statement { file: 3, line: 1 }];
        let found = Repetition::new(statements.into_iter(), 1).expect("a repetition");
        let found = found.resolve(Numbers::new(&table));
        assert_eq!((found.places(), found.more_files()), (&[range(2, 7, 40), range(3, 1, 1)][..], 0));
        // When places become fewer, how many files are left out is not known: all stay as they were.
        let more: [_; PLACES + 1] = core::array::from_fn(|file| match file {
            0 => Statement::numbered(1),
            file => Statement { file: file as u16, line: 5 },
        });
        let before = Repetition::new(more.into_iter(), 1).expect("a repetition");
        assert_eq!((before.resolve(Numbers::new(&table)), before.more_files()), (before, 1));
        assert_eq!(before.resolve(Numbers::new(&[])), before);
    }
}
