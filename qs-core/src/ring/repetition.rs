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
}
