//! Marks of async tasks: which task the statements of a thread belong to.
//!
//! A mark is a long word among the statements, see [`words`](super::words). Its file id is one that no source
//! file has, [`TaskMark::FILES`], so a mark costs four bytes, folds with the loop around it, and goes through every
//! layout as a statement does. A *task* here is one run of the body of an async function, block or closure.
//!
//! The first digit of the word is the step, [`TaskStep`], and the other three are the number of the task. So the words of
//! a task differ in their first byte only.

use core::ops::RangeInclusive;

use super::Statement;
use super::words::{BASE, LEAD, byte_of, digits};

/// What happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// Its body begins.
    Enter,
    /// Its body goes on behind an `.await`.
    Resume,
    /// Its body was left: it returned, or its future was dropped at an `.await`.
    End,
    /// Its body was left while the thread unwinds from a panic.
    Unwind,
}

/// A step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskMark {
    /// What happened.
    pub step: TaskStep,
    /// Number of the task in its process, below [`TaskMark::NUMBERS`].
    pub task: u32,
}

/// The first digit of the first step, less that of other long words.
const FIRST: u32 = 36;
/// Number of steps.
const STEPS: u32 = 4;

impl TaskStep {
    /// Its digit, less that of the first step.
    const fn digit(self) -> u32 {
        match self {
            TaskStep::Enter => 0,
            TaskStep::Resume => 1,
            TaskStep::End => 2,
            TaskStep::Unwind => 3,
        }
    }
}

impl TaskMark {
    /// Number of different tasks. A process that starts more uses the numbers again.
    pub const NUMBERS: u32 = BASE * BASE * BASE;
    /// File ids that marks use. No source file gets one of them.
    pub const FILES: RangeInclusive<u16> =
        ((FIRST * Self::NUMBERS) >> 16) as u16..=(((FIRST + STEPS) * Self::NUMBERS - 1) >> 16) as u16;

    /// The statement that the mark looks like.
    pub const fn statement(self) -> Statement {
        Statement::from_word((FIRST + self.step.digit()) * Self::NUMBERS + self.task % Self::NUMBERS)
    }

    /// The reverse of [`TaskMark::statement`]. `None` for a statement of a source file.
    pub const fn of(statement: Statement) -> Option<TaskMark> {
        let value = statement.to_word();
        let step = match (value / Self::NUMBERS).wrapping_sub(FIRST) {
            0 => TaskStep::Enter,
            1 => TaskStep::Resume,
            2 => TaskStep::End,
            3 => TaskStep::Unwind,
            _ => return None,
        };
        Some(TaskMark { step, task: value % Self::NUMBERS })
    }

    /// The long word of the mark.
    pub const fn word(self) -> [u8; 4] {
        digits(self.statement().to_word() as u64 + (LEAD * Self::NUMBERS) as u64)
    }

    /// The word of another step of the task that this is a word of.
    #[inline(always)]
    pub const fn with_step(word: [u8; 4], step: TaskStep) -> [u8; 4] {
        let [_, rest @ ..] = word;
        [byte_of(LEAD + FIRST + step.digit()), rest[0], rest[1], rest[2]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::words::{LONG_END, Named, Word, Words};

    #[test]
    fn marks_survive_a_round_trip_as_long_words() {
        for step in [TaskStep::Enter, TaskStep::Resume, TaskStep::End, TaskStep::Unwind] {
            for task in [0, 1, 77, 65_536, TaskMark::NUMBERS - 1] {
                let mark = TaskMark { step, task };
                let statement = mark.statement();
                assert!(TaskMark::FILES.contains(&statement.file) && statement.to_word() < LONG_END);
                assert_eq!(TaskMark::of(statement), Some(mark));
                assert_eq!(Word::new(statement, 0), Some(Word::Long(mark.word())));
                assert_eq!(Words::new(&mark.word()).next(), Some(Named::Statement(statement)));
                let other = TaskMark { step: TaskStep::Unwind, task };
                assert_eq!(TaskMark::with_step(other.word(), step), mark.word());
            }
        }
        let again = TaskMark { step: TaskStep::Enter, task: TaskMark::NUMBERS + 2 };
        assert_eq!(again.statement(), TaskMark { step: TaskStep::Enter, task: 2 }.statement());
    }

    #[test]
    fn statements_of_files_are_not_marks() {
        let all = (0..=u16::MAX).filter(|file| !TaskMark::FILES.contains(file));
        for file in all {
            for line in [0, 1, u16::MAX] {
                assert_eq!(TaskMark::of(Statement { file, line }), None, "{file}");
            }
        }
    }
}
