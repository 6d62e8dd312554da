//! From the prologue of a history to the frames that the ring still has.

use super::{WordsItem, WordsReader, damaged};
use crate::frame::Cause;
use crate::ring::Item;

impl WordsReader<'_> {
    /// Position up to which the next frames follow each other.
    pub(super) fn end_of_frames(&self) -> u64 {
        if self.at < self.tail { self.ring.prologue.end() } else { self.header.state.head() }
    }

    /// At the end of the prologue, goes on at the oldest bytes of the ring that are behind it. Those begin inside a frame.
    pub(super) fn leave_prologue(&mut self) {
        let end = self.ring.prologue.end();
        if self.at != end || self.at >= self.tail {
            return;
        }
        (self.at, self.oldest, self.skip_to_flag) = (self.tail, self.tail, true);
        self.overwritten = Some(end);
        // No frame is lost, so the numbers of a stream go on.
        (self.newest, self.newest_seq, self.skip) = (None, None, 0);
    }

    /// What was overwritten behind the prologue, once it is known how much.
    pub(super) fn overwritten(&mut self) -> Option<WordsItem> {
        let from = self.overwritten.take()?;
        Some(WordsItem::Item(Item::Overwritten { bytes: self.at - from }))
    }

    /// The rest of a prologue that does not end with a frame.
    pub(super) fn damaged_prologue(&mut self) -> WordsItem {
        let (start, end) = (self.at, self.ring.prologue.end());
        self.at = end;
        (self.newest, self.skip) = (None, 0);
        damaged(start, end, Cause::Layout)
    }
}
