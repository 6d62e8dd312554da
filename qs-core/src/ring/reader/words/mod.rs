//! Reads a ring whose statements are words in chunks. Chunks may be as long as the ring, so they are read in place.
//!
//! A chunk is a few steps: what came again before its words, and its words; more while the recorder is splitting it.

mod open;
mod pause;
mod place;
mod stream;

use self::pause::Paused;
use self::place::{Piece, Ring, Statements};
use super::super::again::Again;
use super::super::header::Header;
use super::super::state::{PAUSES, Shown};
use super::Item;
use crate::frame::{Cause, Damage, Decoder, ESCAPE, ESCAPE_XOR, Ended, FLAG, Frame, FrameEnd};
use crate::record::chunk::{CUT_HEAD, Head, MAX_CUT, MAX_OPEN, unescaped};
use crate::record::words::{self, AGAIN};
use crate::record::{EventKind, Numbers, XhistRecord};

/// Walks a ring; call [`WordsReader::next`] until it returns `None`.
#[derive(Clone, Debug)]
pub(super) struct WordsReader<'a> {
    ring: Ring<'a>,
    header: Header,
    /// For records that are no chunks.
    decoder: Decoder,
    /// Position of the next frame.
    at: u64,
    stage: Stage,
    skip_to_flag: bool,
    /// Where the oldest bytes are, or the first whole frame.
    oldest: u64,
    newest_seq: Option<u8>,
    /// Frames missing before the chunk at hand, in a stream.
    missing: u8,
    /// What was shown before.
    shown: Shown,
    /// Statements that are passed over.
    skip: u64,
    /// Position of the frame being read.
    start: u64,
    item_position: u64,
    /// What is left of the chunk being read, the next one first.
    steps: [Step; STEPS],
    /// The clock when the next statement ran.
    stamp: Option<u32>,
    /// The newest frame, if it is a chunk: its start, and its words.
    newest: Option<(u64, Piece)>,
    /// How far the open chunk is shown, once it was read.
    open_shown: Option<Shown>,
    without_open_words: bool,
    /// Bytes of the ring that the image lacks, not reported yet; and whether any were reported.
    cut: u64,
    was_cut: bool,
    /// Gives frames of a stream; the sequence number of the next one.
    whole_frames: bool,
    next_seq: Option<u8>,
    record: CutRecord,
    /// Where in the open chunk its thread paused, in their order.
    pauses: [Option<Paused>; PAUSES],
}

/// Most steps of a chunk: a split one in whose first repetition a reader goes on.
const STEPS: usize = 6;

/// A part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// No step.
    Done,
    /// Words.
    Words(Piece),
    /// These words came again so often.
    Again(Piece, u64),
    /// The same, but the words are no longer in the ring.
    Unknown(words::Again),
    /// These bytes have not the layout of a chunk.
    Damaged(Piece),
    /// The words may go on where they look like older ones.
    Overrun,
    /// The image lacks this number of bytes.
    Cut(u64),
    /// Words that are being moved, from a byte on.
    Moved(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Frames,
    Cut,
    Torn,
    Open,
    Done,
}

/// A record of a stream.
#[derive(Clone, Copy, Debug)]
struct CutRecord {
    payload: [u8; CUT_HEAD + MAX_CUT],
    len: usize,
    id: u8,
}

/// An item, which does not borrow its frame yet.
enum Found {
    Item(Item<'static>),
    /// With its sequence number, and how many are missing before it.
    Frame(FrameEnd, u8, u8),
    /// The record of a stream, likewise.
    Record(u8, u8),
}

impl<'a> WordsReader<'a> {
    /// As [`Reader::resume`](super::Reader::resume), of the bytes behind a header.
    pub(super) fn new(
        header: Header,
        bytes: &'a [u8],
        from: u64,
        safe: u64,
        shown: Shown,
    ) -> WordsReader<'a> {
        let oldest = from.max(safe).max(header.kept());
        WordsReader {
            ring: Ring { bytes, size: header.size as u64, numbers: Numbers::default() },
            header,
            decoder: Decoder::new(),
            at: oldest,
            stage: Stage::Frames,
            skip_to_flag: oldest != from,
            oldest,
            newest_seq: None,
            missing: 0,
            shown,
            skip: 0,
            start: 0,
            item_position: 0,
            steps: [Step::Done; STEPS],
            stamp: None,
            newest: None,
            open_shown: None,
            without_open_words: false,
            cut: 0,
            was_cut: false,
            whole_frames: false,
            next_seq: None,
            record: CutRecord { payload: [0; CUT_HEAD + MAX_CUT], len: 0, id: 0 },
            pauses: [None; PAUSES],
        }
    }

    /// As [`Reader::whole_frames`](super::Reader::whole_frames).
    pub(super) fn whole_frames(self) -> WordsReader<'a> {
        WordsReader { whole_frames: true, ..self }
    }

    /// As [`Reader::with_numbers`](super::Reader::with_numbers).
    pub(super) fn with_numbers(self, numbers: Numbers<'a>) -> WordsReader<'a> {
        WordsReader { ring: Ring { numbers, ..self.ring }, ..self }
    }

    /// As [`Reader::without_open_words`](super::Reader::without_open_words).
    pub(super) fn without_open_words(self) -> WordsReader<'a> {
        WordsReader { without_open_words: true, ..self }
    }

    /// As [`Reader::shown`](super::Reader::shown).
    pub(super) fn shown(&self) -> Shown {
        let position = self.header.state.head();
        match self.open_shown {
            Some(shown) => shown,
            // What is not looked at now is as it was.
            None if self.shown.position == position => self.shown,
            None => Shown { position, ..Shown::default() },
        }
    }

    /// As [`Reader::resume_from`](super::Reader::resume_from).
    pub(super) fn resume_from(&self) -> u64 {
        let head = self.header.state.head();
        self.newest.map_or(head, |(start, _)| start.min(head))
    }

    pub(super) const fn header(&self) -> &Header {
        &self.header
    }

    pub(super) const fn item_position(&self) -> u64 {
        self.item_position
    }

    pub(super) fn next(&mut self) -> Option<Item<'_>> {
        let found = loop {
            let found = self.step()?;
            let is_shown = self.start < self.shown.position;
            if !is_shown || matches!(found, Found::Item(Item::Cut { .. } | Item::Torn { .. })) {
                break found;
            }
        };
        Some(match found {
            Found::Item(item) => item,
            Found::Frame(end, seq, missing) => Item::Frame(Frame { seq, missing, ..self.decoder.frame(end) }),
            Found::Record(seq, missing) => {
                let CutRecord { payload, len, id } = &self.record;
                Item::Frame(Frame { offset: self.start, seq, id: *id, payload: &payload[..*len], missing })
            }
        })
    }

    /// The number of a frame of a stream, behind some that are missing.
    fn number(&mut self, missing: u8) -> u8 {
        let seq = self.next_seq.unwrap_or_else(|| self.newest_seq.unwrap_or_default());
        let seq = seq.wrapping_add(if self.next_seq.is_some() { missing } else { 0 });
        self.next_seq = Some(seq.wrapping_add(1));
        seq
    }

    /// The next item, be it shown already or not.
    fn step(&mut self) -> Option<Found> {
        loop {
            if let Some(found) = self.step_of_chunk() {
                return Some(found);
            }
            match self.stage {
                Stage::Frames => match self.next_frame() {
                    Some(Some(found)) => return Some(found),
                    Some(None) => {}
                    None => self.stage = Stage::Cut,
                },
                Stage::Cut => {
                    self.stage = Stage::Torn;
                    if self.cut > 0 {
                        self.was_cut = true;
                        return Some(Found::Item(Item::Cut { missing: core::mem::take(&mut self.cut) }));
                    }
                }
                Stage::Torn => {
                    self.stage = Stage::Open;
                    let expected = self.header.state.seq();
                    let has_frames = self.header.state.head() > self.oldest && !self.was_cut;
                    if has_frames && self.newest_seq != Some(expected) {
                        self.newest = None;
                        return Some(Found::Item(Item::Torn { expected }));
                    }
                }
                Stage::Open => {
                    self.stage = Stage::Done;
                    if let Some(found) = self.open_chunk() {
                        return Some(found);
                    }
                }
                Stage::Done => return None,
            }
        }
    }

    fn put_back(&mut self, step: Step) {
        self.steps.rotate_right(1);
        self.steps[0] = step;
    }

    fn take_step(&mut self) -> Step {
        let step = core::mem::replace(&mut self.steps[0], Step::Done);
        self.steps.rotate_left(1);
        step
    }

    /// The next thing in the chunk at hand.
    fn step_of_chunk(&mut self) -> Option<Found> {
        if self.start < self.shown.position {
            self.steps = [Step::Done; STEPS];
        }
        loop {
            if let Step::Words(piece) = self.steps[0]
                && self.whole_frames
                && let Some(found) = self.pause_at(piece.from)
            {
                return Some(found);
            }
            if let Step::Words(piece) = self.steps[0]
                && !self.whole_frames
                && let Some(found) = self.statement(piece)
            {
                return Some(found);
            }
            match self.take_step() {
                Step::Done => return None,
                Step::Words(piece) if self.whole_frames => {
                    if let Some(found) = self.cut_words(piece) {
                        return Some(found);
                    }
                }
                Step::Words(piece) if piece.from < piece.to => self.put_back(Step::Damaged(piece)),
                Step::Words(_) => {}
                Step::Again(period, times) if self.whole_frames => {
                    let again = words::Again { period: period.units() as u32, times, is_counted: false };
                    return Some(self.again_event(again));
                }
                Step::Again(period, times) => {
                    if let Some(again) = self.again(period, times) {
                        self.item_position = self.start;
                        return Some(Found::Item(Item::Again(again)));
                    }
                }
                Step::Unknown(again) if self.whole_frames => return Some(self.again_event(again)),
                Step::Unknown(_) => {}
                Step::Damaged(Piece { from, to }) => return Some(damaged(from, to, Cause::Layout)),
                Step::Overrun => return Some(Found::Item(Item::Overrun)),
                Step::Cut(missing) => return Some(Found::Item(Item::Cut { missing })),
                Step::Moved(from) => {
                    if let Some(found) = self.moved_words(from) {
                        return Some(found);
                    }
                }
            }
        }
    }

    /// The first statement of a piece that is to be given; the piece goes on behind it.
    fn statement(&mut self, mut piece: Piece) -> Option<Found> {
        let found = loop {
            let position = piece.from;
            if self.skip == 0
                && let Some(paused) = self.pause_at(position)
            {
                break Some(paused);
            }
            let Some(statement) = self.ring.take(&mut piece) else { break None };
            let stamp = self.stamp.take();
            if self.skip == 0 {
                self.item_position = position;
                break Some(Found::Item(Item::Statement(statement, stamp)));
            }
            self.skip -= 1;
        };
        self.steps[0] = Step::Words(piece);
        found
    }

    /// The repetition, as far as it was not shown.
    fn again(&mut self, period: Piece, times: u64) -> Option<Again> {
        let mut left = times;
        if self.skip > 0 {
            let statements = self.ring.count(period).max(1);
            let all = times.saturating_mul(statements);
            if self.skip >= all {
                self.skip -= all;
                return None;
            }
            let (whole, begun) = (self.skip / statements, self.skip % statements);
            self.skip = 0;
            left -= whole;
            if begun > 0 {
                // The round that was begun is given statement by statement.
                left -= 1;
                if left > 0 {
                    self.put_back(Step::Again(period, left));
                }
                self.put_back(Step::Words(self.ring.behind(period, begun)));
                return None;
            }
        }
        Again::new(Statements { ring: self.ring, piece: period }, left)
    }

    /// Reads a frame: what is to be given of it before its steps. `None` at the end of the closed frames.
    fn next_frame(&mut self) -> Option<Option<Found>> {
        let head = self.header.state.head();
        if self.at >= head {
            return None;
        }
        let start = self.at;
        let flag = match self.find_flag(start, head) {
            Ok(Some(flag)) => flag,
            Ok(None) => {
                self.at = head;
                if self.skip_to_flag {
                    self.oldest = head;
                }
                return None;
            }
            // The image ends here; go on where the ring wraps.
            Err(cut) => {
                let next = (cut + (self.ring.size - cut % self.ring.size)).min(head);
                self.cut += next - cut;
                self.at = next;
                self.skip_to_flag = true;
                (self.newest, self.newest_seq) = (None, None);
                return Some(None);
            }
        };
        self.at = flag + 1;
        if core::mem::take(&mut self.skip_to_flag) {
            self.oldest = self.at;
            return Some(None);
        }
        self.start = start;
        self.item_position = start;
        let mut bytes = [0; MAX_OPEN + 1];
        let len = self.ring.copy(start, flag, &mut bytes);
        let found = match Head::parse(&bytes[..len], self.chunk_id()) {
            Some(found) => self.chunk(found, start, flag),
            None => self.other_frame(start, flag),
        };
        if matches!(found, Some(Found::Item(Item::Damaged(_)))) {
            self.newest = None;
            self.skip = 0;
        }
        Some(found)
    }

    /// Where the next flag is; `Err` where the image ends before it.
    fn find_flag(&self, from: u64, to: u64) -> Result<Option<u64>, u64> {
        let mut at = from;
        while at < to {
            let slice = self.ring.slice(at, to);
            if slice.is_empty() {
                return Err(at);
            }
            if let Some(index) = slice.iter().position(|byte| *byte == FLAG) {
                return Ok(Some(at + index as u64));
            }
            at += slice.len() as u64;
        }
        Ok(None)
    }

    /// Takes the number of a good frame; how many are missing before it.
    fn take_seq(&mut self, seq: u8) -> u8 {
        let missing = self.newest_seq.map_or(0, |newest| seq.wrapping_sub(newest).wrapping_sub(1));
        self.newest_seq = Some(seq);
        if missing > 0 {
            self.newest = None;
            self.skip = 0;
        }
        missing
    }

    fn chunk(&mut self, head: Head, start: u64, flag: u64) -> Option<Found> {
        let is_escaped = flag >= start + 2 && self.ring.byte(flag - 2) == Some(ESCAPE);
        let from = start + head.len as u64;
        let to = flag.saturating_sub(if is_escaped { 2 } else { 1 });
        let sum = self.sum(start, flag);
        if sum != 0xFF {
            return Some(damaged(start, flag + 1, Cause::Checksum { sum }));
        }
        if to < from || !self.ring.is_words(Piece { from, to }) {
            return Some(damaged(start, flag + 1, Cause::Layout));
        }
        let missing = self.take_seq(head.seq);
        let words = Piece { from, to };
        self.run(words, head.again, head.time, None);
        self.newest = Some((start, words));
        if self.whole_frames {
            self.missing = self.missing.saturating_add(missing);
            return None;
        }
        (missing > 0).then_some(Found::Item(Item::Missing(missing)))
    }

    /// The sum of the bytes of a chunk before escaping. Only its first two and its last one may be escaped.
    fn sum(&self, start: u64, flag: u64) -> u8 {
        let (mut sum, mut at) = (0u8, start);
        while at < flag {
            let slice = self.ring.slice(at, flag);
            if slice.is_empty() {
                break;
            }
            sum = slice.iter().fold(sum, |sum, byte| sum.wrapping_add(*byte));
            at += slice.len() as u64;
        }
        let unescape = |sum: u8, at: u64| match (self.ring.byte(at), self.ring.byte(at + 1)) {
            (Some(ESCAPE), Some(byte)) => {
                sum.wrapping_sub(ESCAPE).wrapping_sub(byte).wrapping_add(byte ^ ESCAPE_XOR)
            }
            _ => sum,
        };
        let mut bytes = [0; 4];
        let len = self.ring.copy(start, flag, &mut bytes);
        let id_at = unescaped(&bytes[..len], 0).map_or(1, |(_, at)| at as u64);
        let sum = unescape(unescape(sum, start), start + id_at);
        unescape(sum, flag - 2)
    }

    fn other_frame(&mut self, start: u64, flag: u64) -> Option<Found> {
        self.decoder.restart();
        self.decoder.set_offset(start);
        let (mut at, mut ended) = (start, None);
        while at <= flag {
            let slice = self.ring.slice(at, flag + 1);
            if slice.is_empty() {
                break;
            }
            ended = self.decoder.take_slice(slice).1;
            at += slice.len() as u64;
        }
        let end = match ended? {
            Ended::Damaged(damage) => return Some(Found::Item(Item::Damaged(damage))),
            Ended::Frame(end) => end,
        };
        let frame = self.decoder.frame(end);
        let statement = XhistRecord::parse(&frame, self.header.record_base);
        self.newest = None;
        // A time may come between words that were one chunk when they were shown.
        if !matches!(statement, Some(XhistRecord::Event { kind: EventKind::Time | EventKind::Until, .. })) {
            self.skip = 0;
        }
        let seq = frame.seq;
        let missing = self.take_seq(seq);
        if self.whole_frames {
            let missing = core::mem::take(&mut self.missing).saturating_add(missing);
            return Some(Found::Frame(end, self.number(missing), missing));
        }
        match statement {
            Some(XhistRecord::Statement { statement, time }) if missing == 0 => {
                Some(Found::Item(Item::Statement(statement, time)))
            }
            _ => Some(Found::Frame(end, seq, missing)),
        }
    }

    /// Lays out the steps of a chunk; `split` is what its words end in while it is being split. Gives how many statements
    /// they have without its own repetition.
    fn run(&mut self, words: Piece, again: words::Again, time: u32, split: Option<Split>) {
        let period = u64::from(again.period);
        let basis = self.newest.map(|(_, piece)| piece.last(period).filter(|_| period > 0));
        self.steps = [Step::Done; STEPS];
        self.stamp = (self.header.time_width > 0 && time != 0).then_some(time);
        if self.start == self.shown.position && !self.whole_frames {
            let round = basis.flatten().map_or(0, |piece| self.ring.count(piece));
            self.skip = self.shown.repeats.saturating_mul(round);
            self.skip = self.skip.saturating_add(u64::from(self.shown.statements));
        }
        let mut steps = [Step::Done; 4];
        steps[0] = match basis {
            _ if again.times == 0 => Step::Done,
            Some(Some(piece)) => Step::Again(piece, again.times),
            Some(None) => {
                Step::Damaged(Piece { from: words.from.saturating_sub(AGAIN as u64), to: words.from })
            }
            None => Step::Unknown(again),
        };
        let words = match again.is_counted && period > 0 {
            true => words.first(words.units() % period),
            false => words,
        };
        steps[1] = Step::Words(words);
        if let Some(Split { again, residue }) = split {
            steps[2] = again;
            steps[3] = Step::Words(residue);
        }
        for step in steps.into_iter().rev().filter(|step| *step != Step::Done) {
            self.put_back(step);
        }
    }
}

/// How a chunk ends that is being split.
#[derive(Clone, Copy, Debug)]
struct Split {
    again: Step,
    residue: Piece,
}

fn damaged(from: u64, to: u64, cause: Cause) -> Found {
    Found::Item(Item::Damaged(Damage { offset: from, len: to - from, cause }))
}
