//! Pauses of the thread: words behind a call that waited get a time of their own.
//!
//! The ticker watches the thread from outside and notes in the header where it found the thread twice, see [`Pause`].
//! At the next roll-over or record, the writer cuts the chunk there. The words before the pause stay as a closed
//! chunk, and an event says that they ran before the pause began. The words behind it move to a new chunk, whose time
//! is that at which the pause was last seen. They are few: those between the call that waited and the next check.
//!
//! The end of the old chunk and the head of the new one overwrite their bytes. Meanwhile the header holds a copy, and
//! the bit [`Trim::MOVED`] in `trim` says so. The new state makes `trim` void at once.

use qs_core::record::words::UNIT;
use qs_core::record::{EventKind, RECORD_BASE};
use qs_core::ring::{MOVED_UNITS, PAUSES, Pause, State, Trim};

use super::frame;
use super::memory::publish;
use super::writer::{MayMove, PreviousChunk, WordsWriter};
use crate::sync::Word;

/// The largest number of bytes between the words before a pause and those behind it: the end of a chunk, three
/// events, the head of another chunk.
const BETWEEN: usize = 160;

/// Number of rounds of a waiting loop before they are folded.
const ROUNDS: u32 = 32;

/// What lies between the words before a pause and those behind it.
struct Filler {
    bytes: [u8; BETWEEN],
    len: usize,
    seq: u8,
    /// The newest stamp of a frame.
    stamp: u64,
}

impl Filler {
    fn put(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    fn event(&mut self, kind: EventKind, time: u64) {
        self.seq = self.seq.wrapping_add(1);
        kind.emit(self.seq, RECORD_BASE, frame::time(time), time, |byte| self.put(byte));
        self.stamp = time;
    }

    /// Whether 4 bytes cannot represent its distance from the newest stamp.
    fn is_far(&self, time: u64) -> bool {
        self.stamp > 0 && time.saturating_sub(self.stamp) > frame::FAR
    }
}

impl WordsWriter {
    /// Whether the thread paused among the words of the open chunk.
    #[inline(always)]
    pub(super) fn has_paused(&self, end: u64) -> bool {
        // Most often no pause was noted, or the pause is older than the chunk.
        let is_new = |pause: &[Word; 4]| pause[2].load() > self.open_time;
        self.open_time > 0 && self.header().pauses.iter().any(is_new) && self.pauses(end).1 > 0
    }

    /// The pauses among the words of the open chunk, oldest first, with the number of units behind each; and their
    /// number. This is a plain loop, because in unoptimised code anything else takes much of a small stack.
    #[cold]
    #[inline(never)]
    fn pauses(&self, end: u64) -> ([(usize, Pause); PAUSES], usize) {
        let mut found = [(0, Pause::default()); PAUSES];
        let mut len = 0;
        for [at, since, until, check] in &self.header().pauses {
            let pause = Pause::from_words([at.load(), since.load(), until.load(), check.load()]);
            let Some(position) = pause.position(self.memory.size as u64, self.words, end) else { continue };
            if pause.until <= self.open_time {
                continue;
            }
            let mut place = len;
            while place > 0 && found[place - 1].1.until > pause.until {
                found[place] = found[place - 1];
                place -= 1;
            }
            found[place] = ((end - position) as usize / UNIT, pause);
            len += 1;
        }
        (found, len)
    }

    /// Whether the words of the open chunk, with a pause among them, repeat many times. Then they are a waiting loop,
    /// whose rounds are to be folded, so they stay in one piece.
    #[inline(always)]
    pub(super) fn has_waiting_round(&mut self, end: u64) -> bool {
        self.has_paused(end) && self.count_waiting_round(end)
    }

    #[cold]
    #[inline(never)]
    fn count_waiting_round(&mut self, end: u64) -> bool {
        let units = self.units_to(end);
        let words = self.memory.units(self.words, units);
        // If other words have the same sum, a round stays in one piece. Nothing else happens.
        let mut sum = units as u64;
        for unit in words {
            sum = (sum.rotate_left(5) ^ u64::from(*unit)).wrapping_mul(0x517C_C1B7_2722_0A95);
        }
        let (round, times) = self.round;
        let times = if round == sum { times + 1 } else { 0 };
        self.round = (sum, times);
        times >= ROUNDS
    }

    /// Gives the words behind each pause their time. Returns the new end of the open chunk's words.
    #[inline(always)]
    pub(super) fn date(&mut self, end: u64, may_move: MayMove<'_>) -> u64 {
        if self.has_paused(end) { self.date_each(end, may_move) } else { end }
    }

    #[cold]
    #[inline(never)]
    fn date_each(&mut self, mut end: u64, may_move: MayMove<'_>) -> u64 {
        let (pauses, len) = self.pauses(end);
        // The pauses name places of words that are about to move.
        self.header().pauses.iter().for_each(|pause| pause[3].store(pause[2].load()));
        for (rest, pause) in &pauses[..len] {
            end = self.cut_at(*rest, end, *pause, may_move).unwrap_or(end);
        }
        end
    }

    /// Cuts the open chunk before its last units. Returns the new end of the words that follow, or `None` if they are
    /// too many or may not move.
    fn cut_at(&mut self, rest: usize, end: u64, pause: Pause, may_move: MayMove<'_>) -> Option<u64> {
        let position = end - (UNIT * rest) as u64;
        let kept = self.units_to(position);
        if kept == 0 && self.repetition.times == 0 {
            // Nothing ran before the pause. If nothing ran behind it either, no frame would give that time in full.
            let is_soon = pause.until.saturating_sub(self.stamp) <= frame::FAR;
            if rest > 0 || is_soon {
                self.restamp(pause.until);
            }
            return None;
        }
        if rest > MOVED_UNITS || kept > usize::from(u16::MAX) {
            return None;
        }
        self.reserve(end, BETWEEN as u64);
        let mut words = [[0; 8]; MOVED_UNITS / 4];
        words.as_flattened_mut()[..UNIT * rest].copy_from_slice(self.memory.bytes(position, UNIT * rest));
        let (len, seq) = ((self.words - self.head) as usize, self.seq.wrapping_add(1));
        let (head, sum) = frame::head(seq, len, frame::time(self.open_time), self.repetition);
        let between = self.filler(position, pause, seq, sum);
        let next = position + between.len as u64;
        let open = frame::head_len(next, between.seq.wrapping_add(1));
        let new_end = next + open as u64 + (UNIT * rest) as u64;
        let moved = self.header().moved.iter().zip(words);
        moved.for_each(|(to, from)| publish(to, u64::from_ne_bytes(from)));
        publish(&self.header().trim, Trim::new(self.head, kept as u16, rest as u16).0 | Trim::MOVED);
        // Handlers that come from here on use that end as their position: readers must find no words behind it.
        if !may_move(new_end) {
            publish(&self.header().trim, 0);
            return None;
        }
        self.put_head(&head, len);
        // Zeros for the new head behind it.
        self.memory.copy(position, between.bytes.get(..between.len + open).unwrap_or(&between.bytes));
        self.memory.copy(next + open as u64, &words.as_flattened()[..UNIT * rest]);
        (self.head, self.seq, self.previous) = (next, between.seq, PreviousChunk::NONE);
        self.plan_open();
        self.seen = rest;
        (self.stamp, self.open_time) = (between.stamp, pause.until);
        publish(&self.header().last_time, pause.until);
        publish(&self.header().state, State::closed(self.head, self.seq).with_open(open).0);
        // Until this store the new chunk has an earlier time.
        publish(&self.header().open_time, pause.until);
        publish(&self.header().trim, 0);
        Some(new_end)
    }

    /// Notes a pause, as the ticker does.
    #[cfg(test)]
    pub(super) fn note_pause(&self, index: usize, cursor: *mut u8, since: u64, until: u64) {
        let pauses = &self.header().pauses;
        let pause = &pauses[index % pauses.len()];
        let words = [self.memory.offset(cursor) as u64 + 1, since, until, !until];
        pause.iter().zip(words).for_each(|(word, value)| word.store(value));
    }

    /// Stores what lies between the words of the chunk up to the position, whose frame has that number and sum so
    /// far, and the new chunk.
    fn filler(&self, position: u64, pause: Pause, seq: u8, sum: u8) -> Filler {
        let mut between = Filler { bytes: [0; BETWEEN], len: 0, seq, stamp: self.stamp };
        let words = self.memory.bytes(self.words, (position - self.words) as usize);
        let (tail, len) = frame::tail(sum.wrapping_add(frame::sum(words)));
        tail[..len].iter().for_each(|byte| between.put(*byte));
        if between.is_far(self.open_time) {
            between.event(EventKind::Time, self.open_time);
        }
        between.stamp = self.open_time;
        if self.open_time < pause.since && pause.since <= pause.until {
            let is_far = between.is_far(pause.since);
            between.event(if is_far { EventKind::Time } else { EventKind::Until }, pause.since);
        }
        if between.is_far(pause.until) {
            between.event(EventKind::Time, pause.until);
        }
        between
    }
}
