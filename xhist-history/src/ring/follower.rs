//! A ring that is read while a program writes it.
//!
//! The header is read before and after the bytes. The writer announces a frame by one store of the state word, and prepares
//! at most two frames ahead of it. So bytes are as they were written if the first header calls their frame closed and the
//! second header does not allow the writer to overwrite them yet. The open frame only grows while neither the state word nor
//! the folded word changes. When one of them changed, the open frame is left for the next look. In a words ring, the
//! repetition and the trim word take the place of the folded word.

use std::ops::Range;

use qs_core::record::Numbers;
use qs_core::record::words::{REPETITION, UnitRepetition};
use qs_core::ring::{Folded, Header, PROLOGUE_AT, Shown, State, Trim, WORDS_HEADER_LEN, frame_room};

use super::clock::Clock;
use super::locate::{Placed, describe};
use super::snapshot::RingSnapshot;
use crate::model::{Gap, Overtaken};

/// Fills a buffer with the bytes of the source from an offset on; whether the source has that many.
pub type ReadAt<'r> = &'r dyn Fn(usize, &mut [u8]) -> bool;

/// A ring in a file that a running program writes.
#[derive(Debug)]
pub struct RingFollower {
    /// The ring, as it was at the last look.
    pub placed: Placed,
    image: Vec<u8>,
    from: u64,
    safe: u64,
    shown: Shown,
    /// The clock at the newest stamp that was read; `None` before the first look was read.
    pub clock: Option<Clock>,
    /// The header words and the open frame at the last look, to detect new bytes; `None` when that look left something
    /// unread.
    seen: Option<(Changing, Vec<u8>)>,
    /// Repetitions of the newest words or of the newest frame at the last look.
    repeats: u64,
    /// They were repeated since then.
    is_folding: bool,
    /// Entries and bytes read so far.
    read: (u64, u64),
}

/// The words of a header that give the bytes behind it their meaning.
type Changing = (State, Folded, Trim, Option<UnitRepetition>);

impl RingFollower {
    /// Of the ring, `present` bytes are in the file.
    pub fn new(placed: Placed, present: usize) -> RingFollower {
        let len = placed.header.header_len + placed.header.size;
        let image = vec![0; len.min(present)];
        let shown = placed.header.cleared;
        RingFollower {
            placed,
            image,
            from: 0,
            safe: 0,
            shown,
            clock: None,
            seen: None,
            repeats: 0,
            is_folding: false,
            read: (0, 0),
        }
    }

    /// Reads what is new; `None` when nothing is. The gap is what was overwritten since the last look. `is_last`: the program
    /// has ended, or this is the last look; then everything is read.
    pub fn look(&mut self, read: ReadAt<'_>, is_last: bool) -> Option<Gap> {
        let before = self.header(read)?;
        let mut unread = 0;
        if self.is_another_thread(&before) {
            unread = before.earlier.saturating_sub(self.placed.header.earlier + self.shown.position);
            (self.from, self.shown, self.clock, self.seen) = (0, before.cleared, None, None);
        }
        self.placed.header = before;
        let before_again = self.again(&before, read);
        let open = self.open_bytes(&before, read);
        let seen = Some((changing(&before, before_again), open));
        if seen == self.seen && !is_last {
            return None;
        }
        let repeats = before.folded.at(before.state.head()).0 + before_again.map_or(0, |again| again.times);
        let folds = repeats > 0 && repeats != std::mem::replace(&mut self.repeats, repeats);
        self.seen = seen;
        let from = self.from.max(before.kept());
        self.copy(from, self.end(&before), read);
        let after_again = self.again(&before, read);
        let after = self.header(read)?;
        self.safe = after.kept();
        self.copy_prologue(&before, &after, read);
        let header = &mut self.placed.header;
        let is_still = changing(&before, before_again) == changing(&after, after_again);
        self.is_folding = false;
        if is_still && folds && !is_last && header.has_words() {
            self.is_folding = true;
            self.seen = None;
        } else if !is_still || folds && !is_last {
            // While a loop is being folded, its rounds are shown, and not the statements of the round under way.
            header.state = header.state.without_open();
            self.seen = None;
        }
        Some(self.overtaken(self.safe.max(before.kept()), unread))
    }

    /// Whether little was overwritten during the last look.
    pub fn is_mostly_read(&self) -> bool {
        self.safe.saturating_sub(self.placed.header.kept()) < self.placed.header.size as u64 / 8
    }

    /// Updates the description of the ring from its newest header.
    pub fn refresh(&mut self) {
        let Placed { header, ring, .. } = &mut self.placed;
        *ring = describe(ring.number, ring.offset, header);
    }

    /// What the last look found.
    pub fn snapshot(&self) -> RingSnapshot<'_> {
        let RingFollower { image, from, safe, shown, is_folding, .. } = self;
        let (header, numbers) = (self.placed.header, Numbers::default());
        RingSnapshot {
            header,
            image,
            from: *from,
            safe: *safe,
            shown: *shown,
            is_folding: *is_folding,
            numbers,
        }
    }

    /// Continues behind the place that a reader reached, which read this number of entries.
    pub fn go_on(&mut self, (from, shown): (u64, Shown), clock: Clock, entries: u64) {
        self.read.0 += entries;
        self.read.1 += shown.position.saturating_sub(self.shown.position.max(self.safe));
        if shown.position != self.placed.header.state.head() {
            // Something was left for the next look.
            self.seen = None;
        }
        (self.from, self.shown, self.clock) = (from, shown, Some(clock));
    }

    fn header(&self, read: ReadAt<'_>) -> Option<Header> {
        let mut bytes = [0; WORDS_HEADER_LEN];
        let bytes = &mut bytes[..self.placed.header.header_len.min(WORDS_HEADER_LEN)];
        read(self.placed.ring.offset, bytes).then(|| Header::parse(bytes).ok()).flatten()
    }

    /// Whether the ring, whose thread ended, belongs to another thread now.
    fn is_another_thread(&self, header: &Header) -> bool {
        let owner = |header: &Header| (header.pid, header.tid, header.start_time, header.size);
        owner(header) != owner(&self.placed.header) || header.state.head() < self.shown.position
    }

    /// Behind the last byte that may belong to the open frame.
    fn end(&self, header: &Header) -> u64 {
        let newest = header.state.head();
        match header.has_words() {
            true => header.words.zeroed.clamp(newest, newest.saturating_add(header.size as u64)),
            false => newest + frame_room(header.size) as u64,
        }
    }

    /// The repetition before the words of the open chunk.
    fn again(&self, header: &Header, read: ReadAt<'_>) -> Option<UnitRepetition> {
        let open = header.state.open().filter(|_| header.has_words())?;
        let at = header.state.head() + open.checked_sub(REPETITION)? as u64;
        let mut bytes = [0; REPETITION];
        let start = self.placed.ring.offset + header.header_len;
        // It is aligned, so it does not wrap.
        read(start + (at % header.size as u64) as usize, &mut bytes);
        UnitRepetition::from_bytes(bytes)
    }

    fn open_bytes(&self, header: &Header, read: ReadAt<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        if header.state.open().is_some() {
            let start = (header.state.head() % header.size as u64) as usize;
            let room = (self.end(header) - header.state.head()) as usize;
            let first = room.min(header.size - start);
            bytes.resize(room, 0);
            let (one, other) = bytes.split_at_mut(first);
            let base = self.placed.ring.offset + header.header_len;
            let _ = read(base + start, one) && read(base, other);
        }
        bytes
    }

    /// Copies the bytes of these positions; bytes that the file lacks keep their value.
    fn copy(&mut self, from: u64, to: u64, read: ReadAt<'_>) {
        let Header { header_len, size, .. } = self.placed.header;
        let mut at = from.max(to.saturating_sub(size as u64));
        while at < to {
            let start = (at % size as u64) as usize;
            let len = (size - start).min((to - at) as usize);
            let end = (header_len + start + len).min(self.image.len());
            if let Some(piece) = self.image.get_mut(header_len + start..end) {
                let _ = read(self.placed.ring.offset + header_len + start, piece);
            }
            at += len as u64;
        }
    }

    /// Copies the prologue, if any of it was not read yet. The recorder may have kept it during this look.
    fn copy_prologue(&mut self, before: &Header, after: &Header, read: ReadAt<'_>) {
        let Range { start, end } = after.prologue();
        let place = PROLOGUE_AT..PROLOGUE_AT + (end - start) as usize;
        let is_known = self.from < end && end <= before.state.head() && before.start_time == after.start_time;
        let image = self.image.get_mut(place).filter(|_| is_known);
        let is_read = image.is_some_and(|bytes| read(self.placed.ring.offset + PROLOGUE_AT, bytes));
        self.placed.header.words.prologue = after.words.prologue.filter(|_| is_read);
    }

    /// `unread` are the bytes that earlier threads wrote into this ring since the last look.
    fn overtaken(&self, kept: u64, unread: u64) -> Gap {
        // What was overwritten before the first look is not a loss, nor is what the prologue still has.
        let position = self.shown.position;
        let Range { start, end } = self.placed.header.prologue();
        let in_prologue = end.min(kept).saturating_sub(start.max(position));
        let bytes = unread + self.clock.map_or(0, |_| kept.saturating_sub(position) - in_prologue);
        let (entries, of) = self.read;
        // Most statements take one byte.
        let rate = if of == 0 { 1.0 } else { entries as f64 / of as f64 };
        let overtaken = (bytes > 0).then_some(Overtaken { bytes, entries: (bytes as f64 * rate) as u64 });
        Gap { overtaken, ..Gap::default() }
    }
}

fn changing(header: &Header, again: Option<UnitRepetition>) -> Changing {
    (header.state, header.folded, header.words.trim, again)
}
