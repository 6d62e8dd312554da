//! Folds the tail of an open chunk: the words before it stay as a closed chunk, and a new chunk counts the rounds.
//!
//! The closed chunk's end and the new chunk's head overwrite the folded words. Meanwhile the header's `trim` holds
//! what a reader needs:
//!
//! | bits | |
//! |---|---|
//! | 0..24 | low bits of the head that it belongs to |
//! | 24..40 | units of the open chunk that stay |
//! | 40..56 | units of the last round, which is not whole |
//! | 63 | valid |
//!
//! `trim again` holds the repetition between the two chunks. The new state has another head, which makes `trim` void
//! at once.

use core::ptr::null_mut;

use qs_core::record::words::{MAX_PERIOD, MAX_TIMES, UNIT, UnitRepetition};
use qs_core::ring::State;

use super::fold::Tail;
use super::frame;
use super::memory::publish;
use super::writer::{MayMove, PreviousChunk, WordsWriter};

/// Bits of a head.
const HEAD_MASK: u64 = (1 << 24) - 1;
const VALID: u64 = 1 << 63;
/// Most units that stay. Words that ran on for long without a check may have more.
const MOST_KEPT: usize = 0xFFFF;

impl WordsWriter {
    /// Folds that tail of the open chunk of `units` units, which has whole rounds behind the first one. Returns the end of
    /// the new chunk's words, or `None` if the chunk has to stay as it is.
    pub(super) fn fold_tail(&mut self, units: usize, tail: Tail, may_move: MayMove<'_>) -> Option<u64> {
        let (kept, period) = (tail.start + tail.period, tail.period);
        let (times, rest) = ((units - kept) / period, (units - kept) % period);
        let repetition = UnitRepetition { period: period as u32, times: times as u64, is_counted: false };
        debug_assert!(times > 0 && period <= MAX_PERIOD as usize && repetition.times <= MAX_TIMES);
        // In the second case the full time has to follow this chunk, where the new chunk would be.
        if kept > MOST_KEPT || self.open_time.saturating_sub(self.stamp) > frame::FAR {
            return None;
        }
        let position = |unit: usize| self.words + (UNIT * unit) as u64;
        let (round, end, behind) = (position(kept - period), position(kept), position(units));
        let next = end + self.frame(end).2 as u64;
        let first = next + frame::head_len(next, self.seq.wrapping_add(2)) as u64;
        let header = self.header;
        // SAFETY: `init` got a header that stays valid. This reference does not borrow the writer.
        let header = unsafe { &*header };
        publish(&header.trim_repetition, u64::from_ne_bytes(repetition.to_bytes()));
        publish(&header.trim, VALID | self.head & HEAD_MASK | (kept as u64) << 24 | (rest as u64) << 40);
        // Handlers that come from here on use that end as their position: readers must find no words behind it.
        if !may_move(first + (UNIT * rest) as u64) {
            publish(&header.trim, 0);
            return None;
        }
        self.put_frame(end);
        self.set_head(next, PreviousChunk { end, units: kept });
        self.stamp = self.stamp.max(self.open_time);
        let open = self.plan_open();
        debug_assert_eq!(self.words, first);
        // The folded words are longer than the new head, so all this overwrites words.
        let new_end = self.words + (UNIT * rest) as u64;
        debug_assert!(new_end <= behind);
        (self.repetition, self.ready) = (repetition, null_mut());
        self.memory.zero(next, self.words);
        self.put_repetition(false);
        self.memory.copy(self.words, self.memory.bytes(round, UNIT * rest));
        self.memory.zero(new_end, behind);
        self.seen = rest;
        publish(&header.state, State::closed(self.head, self.seq).with_open(open).0);
        publish(&header.trim, 0);
        Some(new_end)
    }
}
