//! Words that ran on beyond the slack, because their thread made no check for room: the newest of them stay if they can, and
//! the others are counted as lost.

use qs_core::frame::FLAG;
use qs_core::record::words::{MAX_HEAD, UNIT, Words};
use qs_core::ring::{Causes, State};

use super::count::noted;
use super::memory::publish;
use super::writer::{MARGIN, Place, PreviousChunk, WordsWriter};

impl WordsWriter {
    /// Whether the words up to `end` have overwritten their own chunk.
    #[inline(always)]
    pub(super) fn is_overrun(&self, end: u64) -> bool {
        end + MARGIN > self.head + self.memory.size as u64
    }

    /// Whether the newest words up to `end` can stay. Words that ran far beyond the slack would be overwritten as soon as
    /// the next chunk is open; the oldest of them are left out.
    #[inline(always)]
    pub(super) fn keeps_newest(&mut self, end: u64) -> bool {
        end + self.ahead() <= self.head + self.memory.size as u64
            || !self.is_overrun(end) && self.leave_out_oldest(end)
    }

    /// Number of bytes behind a chunk that the next one takes.
    pub(super) const fn ahead(&self) -> u64 {
        2 * MARGIN + self.chunk() + self.slack()
    }

    /// Begins the open chunk at a later one of its words, and counts the words before that one as lost. Returns false if
    /// no chunk can begin at any of them.
    #[cold]
    #[inline(never)]
    fn leave_out_oldest(&mut self, end: u64) -> bool {
        let room = self.memory.size as u64 - self.ahead() - MAX_HEAD as u64;
        let Some((first, lost)) = self.find_newest(end, room) else { return false };
        self.note_words(end);
        self.count_beyond_room(lost);
        self.keep_prologue(end);
        // Readers find all words so far, and that they fill what was cleared.
        publish(&self.header().cleared, end);
        self.set_cleared(end);
        self.open_at(first, 0);
        self.seen = self.units_to(end);
        true
    }

    /// Begins the ring again behind the words, which have overwritten their own chunk.
    #[cold]
    pub(super) fn restart_after_overrun(&mut self, end: u64, stamp: u64) -> Place {
        let size = self.memory.size as u64;
        self.count_overrun(end);
        self.keep_prologue(end);
        // The missing sequence number shows that a frame is missing. A reader that starts there searches the end of a
        // frame.
        (self.head, self.seq) = (end + 1, self.seq.wrapping_add(1));
        self.previous = PreviousChunk::NONE;
        publish(&self.header().state, State::closed(self.head, self.seq).0);
        publish(&self.header().cleared, end + size);
        self.memory.zero(end, end + size);
        self.memory.put(end, [FLAG]);
        self.set_cleared(end + size);
        self.declare_time(stamp);
        self.open(stamp);
        self.place(self.words)
    }

    /// The first word of the open chunk that can begin a chunk of at most `room` bytes, and the number of statements
    /// before it. Chunks begin at multiples of eight.
    fn find_newest(&self, end: u64, room: u64) -> Option<(u64, u64)> {
        let mut words = Words::new(self.memory.bytes(self.words, (end - self.words) as usize));
        let mut statements = 0;
        loop {
            let at = self.words + words.at() as u64;
            if at + room >= end && at.is_multiple_of(8) {
                return (at < end).then_some((at, statements));
            }
            statements += u64::from(noted(words.next()?).is_some());
        }
    }

    /// Counts statements as lost that ran between two checks, and for which the ring had no room.
    fn count_beyond_room(&self, statements: u64) {
        self.header().add_cause(Causes::NO_CHECK);
        self.header().count_dropped(u32::try_from(statements).unwrap_or(u32::MAX));
    }

    /// Counts the statements that an overrun loses as dropped. Overwritten words cannot be read, so their room counts
    /// as long words.
    fn count_overrun(&mut self, end: u64) {
        let len = (end - self.words) as usize;
        let left = len.min(self.memory.size);
        let words = Words::new(self.memory.bytes(end - left as u64, left)).filter_map(noted).count();
        let lost = (words + (len - left) / (2 * UNIT)) as u64;
        self.count_beyond_room(lost);
        self.counted = self.counted.map(|counted| counted + lost);
    }
}
