//! Passes over each word once: marks statements in the executed bitmap, and counts statements.

use qs_core::record::words::{Named, UNIT, Words};
use qs_core::record::{Statement, TaskMark};

use super::writer::{Place, WordsWriter};

/// The file in the bitmap whose lines are the numbers of statements with short words. No long word can name it.
pub(crate) const NUMBERS: u16 = u16::MAX;

/// The statement that a word marks in the bitmap. `None` for marks of tasks and values.
pub(super) fn noted(named: Named) -> Option<Statement> {
    match named {
        Named::Number(number) => Some(Statement { file: NUMBERS, line: number as u16 }),
        Named::Statement(statement) => TaskMark::of(statement).is_none().then_some(statement),
        Named::Value(_) => None,
    }
}

impl WordsWriter {
    /// Marks and counts the words up to `end` that were not seen yet.
    #[inline(always)]
    pub(super) fn note_words(&mut self, end: u64) {
        if self.executed.is_some() || self.counted.is_some() {
            self.note_words_up_to(end, u64::MAX);
        }
    }

    /// [`WordsWriter::note_words`] up to a number of statements. Returns where it stopped.
    #[inline(never)]
    fn note_words_up_to(&mut self, end: u64, most: u64) -> u64 {
        let start = self.words + (UNIT * self.seen) as u64;
        let mut words = Words::new(self.memory.bytes(start, (end - start) as usize));
        let mut counted = self.counted.unwrap_or(0);
        let some = core::iter::from_fn(|| {
            while counted < most {
                if let Some(statement) = noted(words.next()?) {
                    counted += 1;
                    return Some(statement);
                }
            }
            None
        });
        match self.executed {
            Some(executed) => executed.note_all(some),
            None => some.for_each(drop),
        }
        let stop = start + words.at() as u64;
        self.counted = self.counted.map(|_| counted);
        self.seen = self.units_to(stop);
        stop
    }

    /// Counts statements from the cursor on, see [`WordsWriter::count`]. This takes some time at each roll-over.
    pub(crate) fn mark(&mut self, cursor: *mut u8) {
        let end = self.position(cursor);
        self.note_words(end);
        self.seen = self.units_to(end);
        self.counted = Some(0);
    }

    /// Whether statements are counted.
    pub(crate) fn is_counting(&self) -> bool {
        self.counted.is_some()
    }

    /// Stops counting.
    pub(crate) fn stop_counting(&mut self) {
        self.counted = None;
    }

    /// Number of statements since the mark, up to the last roll-over, record or close.
    pub(crate) fn count(&self) -> u64 {
        self.counted.unwrap_or(0)
    }

    /// Cuts the newest words of the open chunk so that at most `statements` remain since the mark. Returns `None` if
    /// there are not more, or if the words have overwritten their own chunk. To be called while statements are counted,
    /// before each roll-over, record or close, because these count all words.
    pub(crate) fn trim_to(&mut self, cursor: *mut u8, statements: u64) -> Option<Place> {
        let end = self.position(cursor);
        if self.is_overrun(end) {
            return None;
        }
        let stop = self.note_words_up_to(end, statements);
        if stop == end {
            return None;
        }
        // From the last one on: readers take words behind a zero for damage.
        (stop..end).rev().for_each(|at| self.memory.put(at, [0]));
        Some(self.place(stop))
    }
}
