//! Folds the tail of an open chunk: what is before stays as a closed chunk, and a new one counts the rounds.
//!
//! The closed chunk's end and the new chunk's head overwrite words that are folded, so the header holds for that
//! moment what the reader has to know, in `trim`:
//!
//! | bits | |
//! |---|---|
//! | 0..24 | low bits of the head that it belongs to |
//! | 24..40 | units of the open chunk that stay |
//! | 40..56 | units of the last round, which is not whole |
//! | 63 | valid |
//!
//! `trim again` holds what comes between the two. With the new state the head differs, so `trim` is void at once.

use core::ptr::null_mut;

use qs_core::record::words::{Again, MAX_PERIOD, MAX_TIMES, UNIT};
use qs_core::ring::State;

use super::fold::Tail;
use super::frame;
use super::memory::publish;
use super::writer::{Before, MayMove, Writer};

/// Bits of a head.
const HEAD_MASK: u64 = (1 << 24) - 1;
const VALID: u64 = 1 << 63;

impl Writer {
    /// Folds that tail of the open chunk of `units` units; returns where the words of the new chunk end, or `None` when it
    /// does not fit the header's words.
    pub(super) fn fold_tail(&mut self, units: usize, tail: Tail, may_move: MayMove<'_>) -> Option<u64> {
        let (kept, period) = (tail.start + tail.period, tail.period);
        let (times, rest) = ((units - kept) / period, (units - kept) % period);
        let again = Again { period: period as u32, times: times as u64, is_counted: false };
        let fits = kept <= 0xFFFF && period <= MAX_PERIOD as usize && again.times <= MAX_TIMES;
        // Then the time in full has to come behind this chunk, where the new one is to be.
        let needs_time = self.open_time.saturating_sub(self.stamp) > frame::FAR;
        if !fits || times == 0 || needs_time {
            return None;
        }
        let position = |unit: usize| self.words + (UNIT * unit) as u64;
        let (round, end, behind) = (position(kept - period), position(kept), position(units));
        let next = end + self.frame(end).2 as u64;
        let first = next + frame::head_len(next, self.seq.wrapping_add(2)) as u64;
        let header = self.header;
        // SAFETY: `init` got a valid header; a reference to it that does not borrow the writer.
        let header = unsafe { &*header };
        publish(&header.trim_again, u64::from_ne_bytes(again.to_bytes()));
        publish(&header.trim, VALID | self.head & HEAD_MASK | (kept as u64) << 24 | (rest as u64) << 40);
        // Handlers that come from here on take that end for their position: readers must find no words behind it.
        if !may_move(first + (UNIT * rest) as u64) {
            publish(&header.trim, 0);
            return None;
        }
        self.put_frame(end);
        self.stand_at(next, Before { end, units: kept });
        self.stamp = self.stamp.max(self.open_time);
        let open = self.plan_open();
        debug_assert_eq!(self.words, first);
        // What was folded is longer than the new head, so all this is where words were.
        let new_end = self.words + (UNIT * rest) as u64;
        debug_assert!(new_end <= behind);
        (self.again, self.ready) = (again, null_mut());
        self.memory.zero(next, self.words);
        self.put_again(false);
        self.memory.copy(self.words, self.memory.bytes(round, UNIT * rest));
        self.memory.zero(new_end, behind);
        self.seen = rest;
        publish(&header.state, State::closed(self.head, self.seq).with_open(open).0);
        publish(&header.trim, 0);
        Some(new_end)
    }
}
