//! What looks at each word once: the bitmap of statements that ran, and counting them.

use qs_core::record::Statement;
use qs_core::record::words::{Named, UNIT, Words};

use super::writer::{Place, Writer};

/// In the bitmap, the file whose lines are the numbers of statements with short words. No long word can name it.
pub(crate) const NUMBERS: u16 = u16::MAX;

/// What the bitmap notes for a word.
fn noted(named: Named) -> Statement {
    match named {
        Named::Number(number) => Statement { file: NUMBERS, line: number as u16 },
        Named::Statement(statement) => statement,
    }
}

impl Writer {
    /// Notes and counts the words up to there that it has not seen yet.
    #[inline(always)]
    pub(super) fn look(&mut self, end: u64) {
        if self.ever.is_some() || self.counted.is_some() {
            self.look_at(end, u64::MAX);
        }
    }

    /// The same up to a count of statements; returns where it stopped.
    #[inline(never)]
    fn look_at(&mut self, end: u64, most: u64) -> u64 {
        let start = self.words + (UNIT * self.seen) as u64;
        let mut words = Words::new(self.memory.bytes(start, (end - start) as usize));
        let mut counted = self.counted.unwrap_or(0);
        let some = words.by_ref().take(usize::try_from(most.saturating_sub(counted)).unwrap_or(usize::MAX));
        let some = some.inspect(|_| counted += 1).map(noted);
        match self.ever {
            Some(ever) => ever.note_all(some),
            None => some.for_each(drop),
        }
        let stop = start + words.at() as u64;
        self.counted = self.counted.map(|_| counted);
        self.seen = self.units_to(stop);
        stop
    }

    /// Counts statements from the cursor on, see [`Writer::count`]. It takes some time at every turn.
    pub(crate) fn mark(&mut self, cursor: *mut u8) {
        let end = self.position(cursor);
        self.look(end);
        self.seen = self.units_to(end);
        self.counted = Some(0);
        self.single.close();
    }

    /// Whether statements are counted.
    pub(crate) fn is_counting(&self) -> bool {
        self.counted.is_some()
    }

    /// Counts no longer.
    pub(crate) fn stop_counting(&mut self) {
        self.counted = None;
    }

    /// Statements since the mark, up to the last turn, record or close.
    pub(crate) fn count(&self) -> u64 {
        self.counted.unwrap_or(0)
    }

    /// Cuts the newest words of the open chunk so that there are at most `statements` since the mark. `None` when there are
    /// no more than that. To be called before each turn, record or close, which count all words.
    pub(crate) fn trim_to(&mut self, cursor: *mut u8, statements: u64) -> Option<Place> {
        let end = self.position(cursor);
        if self.counted.is_none() || self.is_overrun(end) {
            return None;
        }
        let stop = self.look_at(end, statements);
        if stop == end {
            return None;
        }
        // Words end at the first zero, so what is behind it may be cleared in any order.
        self.memory.put(stop, [0; UNIT]);
        self.memory.zero(stop, end);
        Some(self.place(stop))
    }

    /// Counts what an overrun loses as dropped. Of words that are overwritten nothing is known but their room, so they
    /// count as long ones.
    pub(super) fn count_overrun(&mut self, end: u64) {
        let len = (end - self.words) as usize;
        let left = len.min(self.memory.size);
        let words = Words::new(self.memory.bytes(end - left as u64, left)).count();
        let lost = (words + (len - left) / (2 * UNIT)) as u64;
        self.header().count_dropped(u32::try_from(lost).unwrap_or(u32::MAX));
        self.counted = self.counted.map(|counted| counted + lost);
    }
}
