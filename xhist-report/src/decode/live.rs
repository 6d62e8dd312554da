//! A ring that is read while it is written. It must not know how the bytes are read.
//!
//! The words of the header are read before and after the bytes. The writer announces a frame by one store of the
//! state word and prepares at most two frames ahead of it, so what the words before call closed, and what the words
//! after do not allow to be overwritten yet, is as it was written. The open frame only grows while neither the state
//! nor the folded word changes; when one did, it is left for the next look. In a words ring its repetition and the trim
//! word do what the folded word does.

use qs_core::record::Numbers;
use qs_core::record::words::{AGAIN, Again};
use qs_core::ring::{Folded, Header, NESTED, Reader, Shown, State, Trim, WORDS_HEADER_LEN, frame_room};

use super::clock::Clock;
use super::find::{Placed, describe};
use super::rounds::Rounds;
use crate::model::{Gap, Overtaken};

/// Fills a buffer with the bytes of the source from an offset on; whether there were that many.
pub type Read<'r> = &'r dyn Fn(usize, &mut [u8]) -> bool;

/// What is to be read of a ring.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Its header.
    pub header: Header,
    image: &'a [u8],
    from: u64,
    safe: u64,
    shown: Shown,
    /// Repetitions of up to so many statements are written out.
    longest: u64,
    /// Of the open chunk only what came again is looked at.
    is_folding: bool,
    numbers: Numbers<'a>,
}

impl<'a> View<'a> {
    /// All of a ring in an image that nobody writes.
    pub fn whole(placed: &Placed, image: &'a [u8]) -> View<'a> {
        let header = placed.header;
        let image = image.get(placed.ring.offset..).unwrap_or(&[]);
        let (shown, numbers) = (header.cleared, Numbers::default());
        View { header, image, from: 0, safe: 0, shown, longest: 0, is_folding: false, numbers }
    }

    /// The same with what was cleared.
    #[must_use]
    pub fn with_shown(self) -> View<'a> {
        View { shown: Shown::default(), ..self }
    }

    /// The same with repetitions of up to so many statements written out.
    #[must_use]
    pub fn writing_out(self, longest: u64) -> View<'a> {
        View { longest, ..self }
    }

    /// The same, which knows statements by their numbers.
    #[must_use]
    pub fn with_numbers(self, numbers: Numbers<'a>) -> View<'a> {
        View { numbers, ..self }
    }

    /// A reader at its start, of every frame as it is.
    pub fn whole_frames(&self) -> Reader<'a> {
        self.start().whole_frames()
    }

    /// A reader at its start.
    pub fn reader(&self) -> Rounds<'a> {
        Rounds::new(self.start(), self.longest)
    }

    /// Position behind all that is to be read.
    pub fn frontier(&self) -> u64 {
        self.start().frontier()
    }

    fn start(&self) -> Reader<'a> {
        let reader = Reader::resume(self.header, self.image, self.from, self.safe, self.shown);
        let reader = reader.with_numbers(self.numbers);
        if self.is_folding { reader.without_open_words() } else { reader }
    }
}

/// A ring of a file that a running program writes.
#[derive(Debug)]
pub struct Live {
    /// The ring, as it was at the last look.
    pub placed: Placed,
    image: Vec<u8>,
    from: u64,
    safe: u64,
    shown: Shown,
    /// Follows the stamps from look to look.
    pub clock: Option<Clock>,
    /// The words and the open frame at the last look, to see whether there is anything new; none when that look
    /// left something.
    seen: Option<(Changing, Vec<u8>)>,
    /// How often the newest words or frame had come again then.
    repeats: u64,
    /// Since then they have come again.
    is_folding: bool,
    /// Entries and bytes read so far.
    read: (u64, u64),
}

/// The words of a header that say what the bytes behind it mean.
type Changing = (State, Folded, Trim, Option<Again>);

impl Live {
    /// Of the ring, `present` bytes are in the file.
    pub fn new(placed: Placed, present: usize) -> Live {
        let len = placed.header.header_len + placed.header.size;
        let image = vec![0; len.min(present)];
        let shown = placed.header.cleared;
        Live {
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

    /// Reads what is new; `None` when nothing is. `is_last` when nobody writes any longer, or nobody will look again:
    /// then all that is there is read. The gap is what was overwritten since the last look.
    pub fn look(&mut self, read: Read<'_>, is_last: bool) -> Option<Gap> {
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
        let header = &mut self.placed.header;
        let is_still =
            changing(&before, before_again) == changing(&after, after_again) && before.nested == after.nested;
        self.is_folding = false;
        if !is_still || !is_last {
            // A handler's part moves when the handler ends.
            header.nested = [(0, State(0)); NESTED];
        }
        if is_still && folds && !is_last && header.has_words() {
            self.is_folding = true;
            self.seen = None;
        } else if !is_still || folds && !is_last {
            // A loop that goes on folding is told by its rounds, not by what it is just at.
            header.state = header.state.without_open();
            self.seen = None;
        }
        Some(self.overtaken(self.safe.max(before.kept()), unread))
    }

    /// Whether little was overwritten during the last look.
    pub fn is_mostly_read(&self) -> bool {
        self.safe.saturating_sub(self.placed.header.kept()) < self.placed.header.size as u64 / 8
    }

    /// Tells of the ring what its header says now.
    pub fn refresh(&mut self) {
        let Placed { header, ring, .. } = &mut self.placed;
        *ring = describe(ring.number, ring.offset, header);
    }

    /// What the last look found.
    pub fn view(&self) -> View<'_> {
        let Live { image, from, safe, shown, is_folding, .. } = self;
        let (header, numbers) = (self.placed.header, Numbers::default());
        View {
            header,
            image,
            from: *from,
            safe: *safe,
            shown: *shown,
            longest: 0,
            is_folding: *is_folding,
            numbers,
        }
    }

    /// Goes on behind what such a reader has read, which gave so many entries.
    pub fn go_on(&mut self, (from, shown): (u64, Shown), clock: Clock, entries: u64) {
        self.read.0 += entries;
        self.read.1 += shown.position.saturating_sub(self.shown.position.max(self.safe));
        if shown.position != self.placed.header.state.head() {
            // Something was left for the next look.
            self.seen = None;
        }
        (self.from, self.shown, self.clock) = (from, shown, Some(clock));
    }

    fn header(&self, read: Read<'_>) -> Option<Header> {
        let mut bytes = [0; WORDS_HEADER_LEN];
        let bytes = &mut bytes[..self.placed.header.header_len.min(WORDS_HEADER_LEN)];
        read(self.placed.ring.offset, bytes).then(|| Header::parse(bytes).ok()).flatten()
    }

    /// The ring of a thread that ended is given to another.
    fn is_another_thread(&self, header: &Header) -> bool {
        let owner = |header: &Header| (header.pid, header.tid, header.start_time, header.size);
        owner(header) != owner(&self.placed.header) || header.state.head() < self.shown.position
    }

    /// Behind the last byte that may belong to the open frame.
    fn end(&self, header: &Header) -> u64 {
        let newest = header.newest().head();
        match header.has_words() {
            true => header.words.zeroed.clamp(newest, newest.saturating_add(header.size as u64)),
            false => newest + frame_room(header.size) as u64,
        }
    }

    /// What came again before the words of the open chunk.
    fn again(&self, header: &Header, read: Read<'_>) -> Option<Again> {
        let open = header.state.open().filter(|_| header.has_words())?;
        let at = header.state.head() + open.checked_sub(AGAIN)? as u64;
        let mut bytes = [0; AGAIN];
        let start = self.placed.ring.offset + header.header_len;
        // It is aligned, so it does not wrap.
        read(start + (at % header.size as u64) as usize, &mut bytes);
        Again::from_bytes(bytes)
    }

    fn open_bytes(&self, header: &Header, read: Read<'_>) -> Vec<u8> {
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

    /// Copies the bytes of these positions; what the file lacks stays as it is.
    fn copy(&mut self, from: u64, to: u64, read: Read<'_>) {
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

    /// `unread` are the bytes that earlier threads wrote into this ring since the last look.
    fn overtaken(&self, kept: u64, unread: u64) -> Gap {
        // What was there before the first look is no loss.
        let bytes = unread + self.clock.map_or(0, |_| kept.saturating_sub(self.shown.position));
        let (entries, of) = self.read;
        // A statement is a byte, mostly.
        let rate = if of == 0 { 1.0 } else { entries as f64 / of as f64 };
        let overtaken = (bytes > 0).then_some(Overtaken { bytes, entries: (bytes as f64 * rate) as u64 });
        Gap { overtaken, ..Gap::default() }
    }
}

fn changing(header: &Header, again: Option<Again>) -> Changing {
    (header.state, header.folded, header.words.trim, again)
}
