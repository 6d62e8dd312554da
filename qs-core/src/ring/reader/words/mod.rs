//! Reads a ring whose statements are words in chunks. Chunks may be as long as the ring, so they are read in place.
//!
//! A chunk has a few parts: a repetition, then its words. It has more while the recorder is splitting it.

mod open;
mod pause;
mod paused;
mod place;
mod prologue;
mod stream;

use self::paused::Paused;
use self::place::{Prologue, Ring, Span, Statements};
use super::super::header::Header;
use super::super::repetition::Repetition;
use super::super::state::{PAUSES, Shown};
use crate::frame::{Cause, Damage, Decoder, ESCAPE, ESCAPE_XOR, Ended, Frame, FrameEnd};
use crate::record::chunk::{CUT_HEAD, ChunkHead, MAX_CUT, MAX_OPEN, unescaped};
use crate::record::words::{self, Named, REPETITION};
use crate::record::{EventKind, Numbers, TaskMark, XhistRecord};
use crate::ring::Item;

/// See [`Reader`](super::Reader).
#[derive(Clone, Debug)]
pub(super) struct WordsReader<'a> {
    ring: Ring<'a>,
    header: Header,
    /// For records that are not chunks.
    decoder: Decoder,
    /// Position of the next frame.
    at: u64,
    /// Position behind the prologue at which reading goes on: frames before it are in the prologue.
    tail: u64,
    /// Position behind the prologue, until what was overwritten behind it is reported.
    overwritten: Option<u64>,
    stage: WordsStage,
    skip_to_flag: bool,
    /// Position of the oldest byte, or of the first whole frame.
    oldest: u64,
    newest_seq: Option<u8>,
    /// Number of frames missing before the current chunk, in a stream.
    missing: u8,
    /// Items that were shown before.
    shown: Shown,
    /// Number of words to skip.
    skip: u64,
    /// Position of the current frame.
    start: u64,
    item_position: u64,
    /// The remaining parts of the current chunk, in order.
    steps: [ChunkPart; STEPS],
    /// The time stamp of the next statement.
    stamp: Option<u32>,
    /// The newest frame, if it is a chunk: its start, and its words.
    newest: Option<(u64, Span)>,
    /// How far the open chunk is shown. Set when it is read.
    open_shown: Option<Shown>,
    without_open_words: bool,
    /// Number of bytes missing in the image that are not reported yet, and whether any were reported.
    cut: u64,
    was_cut: bool,
    /// Yields frames of a stream, and the sequence number of the next one.
    whole_frames: bool,
    next_seq: Option<u8>,
    record: CutRecord,
    /// Pauses of the thread in the open chunk, in order.
    pauses: [Option<Paused>; PAUSES],
}

/// Largest number of parts: of a split chunk that is resumed inside its first repetition.
const STEPS: usize = 6;

/// A part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkPart {
    /// No part.
    Done,
    /// Words.
    Words(Span),
    /// These words repeat this number of times.
    Repetition(Span, u64),
    /// A repetition whose words are no longer in the ring.
    Unknown(words::UnitRepetition),
    /// Bytes without the layout of a chunk.
    Damaged(Span),
    /// The end of the words is not certain: they may be followed by older words.
    Overrun,
    /// This number of bytes is missing in the image.
    Cut(u64),
    /// Words that are being moved, from this byte on.
    Moved(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordsStage {
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

/// An item that does not borrow its frame yet.
enum WordsItem {
    Item(Item<'static>),
    /// A frame, its sequence number, and the number of frames missing before it.
    Frame(FrameEnd, u8, u8),
    /// A record of a stream: its sequence number, and the number of frames missing before it.
    Record(u8, u8),
}

impl<'a> WordsReader<'a> {
    /// See [`Reader::resume`](super::Reader::resume). `bytes` are those behind the header.
    pub(super) fn new(
        header: Header,
        (prologue, bytes): (&'a [u8], &'a [u8]),
        from: u64,
        safe: u64,
        shown: Shown,
    ) -> WordsReader<'a> {
        let prologue = Prologue { from: header.prologue().start, bytes: prologue };
        let tail = from.max(safe).max(header.kept());
        let is_wanted = from.max(shown.position) < prologue.end() && !prologue.bytes.is_empty();
        let (prologue, oldest) = match is_wanted {
            true => (prologue, from.max(prologue.from)),
            false => (Prologue::default(), tail),
        };
        WordsReader {
            ring: Ring { bytes, size: header.size as u64, numbers: Numbers::default(), prologue },
            header,
            decoder: Decoder::new(),
            at: oldest,
            tail: tail.max(prologue.end()),
            overwritten: None,
            stage: WordsStage::Frames,
            // The ring file was emptied there, between two frames.
            skip_to_flag: oldest != from && Some(oldest) != header.words.begin,
            oldest,
            newest_seq: None,
            missing: 0,
            shown,
            skip: 0,
            start: 0,
            item_position: 0,
            steps: [ChunkPart::Done; STEPS],
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

    /// See [`Reader::whole_frames`](super::Reader::whole_frames).
    pub(super) fn whole_frames(self) -> WordsReader<'a> {
        WordsReader { whole_frames: true, ..self }
    }

    /// See [`Reader::with_numbers`](super::Reader::with_numbers).
    pub(super) fn with_numbers(self, numbers: Numbers<'a>) -> WordsReader<'a> {
        WordsReader { ring: Ring { numbers, ..self.ring }, ..self }
    }

    /// See [`Reader::without_open_words`](super::Reader::without_open_words).
    pub(super) fn without_open_words(self) -> WordsReader<'a> {
        WordsReader { without_open_words: true, ..self }
    }

    /// See [`Reader::shown`](super::Reader::shown).
    pub(super) fn shown(&self) -> Shown {
        let position = self.header.state.head();
        match self.open_shown {
            Some(shown) => shown,
            // The open chunk is not read now, so its state does not change.
            None if self.shown.position == position => self.shown,
            None => Shown { position, ..Shown::default() },
        }
    }

    /// See [`Reader::resume_from`](super::Reader::resume_from).
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
            if !is_shown || matches!(found, WordsItem::Item(Item::Cut { .. } | Item::Torn { .. })) {
                break found;
            }
        };
        Some(match found {
            WordsItem::Item(item) => item,
            WordsItem::Frame(end, seq, missing) => {
                Item::Frame(Frame { seq, missing, ..self.decoder.frame(end) })
            }
            WordsItem::Record(seq, missing) => {
                let CutRecord { payload, len, id } = &self.record;
                Item::Frame(Frame { offset: self.start, seq, id: *id, payload: &payload[..*len], missing })
            }
        })
    }

    /// The sequence number of the next frame of a stream, behind `missing` missing ones.
    fn number(&mut self, missing: u8) -> u8 {
        let seq = self.next_seq.unwrap_or_else(|| self.newest_seq.unwrap_or_default());
        let seq = seq.wrapping_add(if self.next_seq.is_some() { missing } else { 0 });
        self.next_seq = Some(seq.wrapping_add(1));
        seq
    }

    /// The next item, shown before or not.
    fn step(&mut self) -> Option<WordsItem> {
        loop {
            if let Some(found) = self.step_of_chunk() {
                return Some(found);
            }
            match self.stage {
                WordsStage::Frames => match self.next_frame() {
                    Some(Some(found)) => return Some(found),
                    Some(None) => {}
                    None => self.stage = WordsStage::Cut,
                },
                WordsStage::Cut => {
                    self.stage = WordsStage::Torn;
                    if self.cut > 0 {
                        self.was_cut = true;
                        return Some(WordsItem::Item(Item::Cut { missing: core::mem::take(&mut self.cut) }));
                    }
                }
                WordsStage::Torn => {
                    self.stage = WordsStage::Open;
                    let expected = self.header.state.seq();
                    let has_frames = self.header.state.head() > self.oldest && !self.was_cut;
                    if has_frames && self.newest_seq != Some(expected) {
                        self.newest = None;
                        return Some(WordsItem::Item(Item::Torn { expected }));
                    }
                }
                WordsStage::Open => {
                    self.stage = WordsStage::Done;
                    if let Some(found) = self.open_chunk() {
                        return Some(found);
                    }
                }
                WordsStage::Done => return None,
            }
        }
    }

    fn put_back(&mut self, step: ChunkPart) {
        self.steps.rotate_right(1);
        self.steps[0] = step;
    }

    fn take_step(&mut self) -> ChunkPart {
        let step = core::mem::replace(&mut self.steps[0], ChunkPart::Done);
        self.steps.rotate_left(1);
        step
    }

    /// The next item of the current chunk.
    fn step_of_chunk(&mut self) -> Option<WordsItem> {
        if self.start < self.shown.position {
            self.steps = [ChunkPart::Done; STEPS];
        }
        loop {
            if let ChunkPart::Words(piece) = self.steps[0]
                && self.whole_frames
                && let Some(found) = self.pause_at(piece.from)
            {
                return Some(found);
            }
            if let ChunkPart::Words(piece) = self.steps[0]
                && !self.whole_frames
                && let Some(found) = self.statement(piece)
            {
                return Some(found);
            }
            match self.take_step() {
                ChunkPart::Done => return None,
                ChunkPart::Words(piece) if self.whole_frames => {
                    if let Some(found) = self.cut_words(piece) {
                        return Some(found);
                    }
                }
                ChunkPart::Words(piece) if piece.from < piece.to => self.put_back(ChunkPart::Damaged(piece)),
                ChunkPart::Words(_) => {}
                ChunkPart::Repetition(period, times) if self.whole_frames => {
                    let repetition =
                        words::UnitRepetition { period: period.units() as u32, times, is_counted: false };
                    return Some(self.repetition_event(repetition));
                }
                ChunkPart::Repetition(period, times) => {
                    if let Some(repetition) = self.repetition(period, times) {
                        self.item_position = self.start;
                        return Some(WordsItem::Item(Item::Repetition(repetition)));
                    }
                }
                ChunkPart::Unknown(repetition) if self.whole_frames => {
                    return Some(self.repetition_event(repetition));
                }
                ChunkPart::Unknown(_) => {}
                ChunkPart::Damaged(Span { from, to }) => return Some(damaged(from, to, Cause::Layout)),
                ChunkPart::Overrun => return Some(WordsItem::Item(Item::Overrun)),
                ChunkPart::Cut(missing) => return Some(WordsItem::Item(Item::Cut { missing })),
                ChunkPart::Moved(from) => {
                    if let Some(found) = self.moved_words(from) {
                        return Some(found);
                    }
                }
            }
        }
    }

    /// The first word of a span that was not shown before. The rest of the span is stored for the next call.
    fn statement(&mut self, mut piece: Span) -> Option<WordsItem> {
        let found = loop {
            let position = piece.from;
            if self.skip == 0
                && let Some(paused) = self.pause_at(position)
            {
                break Some(paused);
            }
            let Some(named) = self.ring.take(&mut piece) else { break None };
            let stamp = self.stamp.take();
            if self.skip == 0 {
                self.item_position = position;
                break Some(WordsItem::Item(self.item(named, stamp)));
            }
            self.skip -= 1;
        };
        self.steps[0] = ChunkPart::Words(piece);
        found
    }

    /// The item of a word.
    fn item(&self, named: Named, stamp: Option<u32>) -> Item<'static> {
        match self.ring.numbers.statement(named) {
            Err(value) => Item::Value(value, stamp),
            Ok(statement) => match TaskMark::of(statement) {
                Some(mark) => Item::Task(mark, stamp),
                None => Item::Statement(statement, stamp),
            },
        }
    }

    /// The part of a repetition that was not shown before.
    fn repetition(&mut self, period: Span, times: u64) -> Option<Repetition> {
        let mut left = times;
        if self.skip > 0 {
            let words = self.ring.count(period).max(1);
            let all = times.saturating_mul(words);
            if self.skip >= all {
                self.skip -= all;
                return None;
            }
            let (whole, begun) = (self.skip / words, self.skip % words);
            self.skip = 0;
            left -= whole;
            if begun > 0 {
                // A repetition that was shown in part is given word by word.
                left -= 1;
                if left > 0 {
                    self.put_back(ChunkPart::Repetition(period, left));
                }
                self.put_back(ChunkPart::Words(self.ring.behind(period, begun)));
                return None;
            }
        }
        // Behind each round the same task is active.
        Repetition::new(Statements { ring: self.ring, piece: period }, left)
    }

    /// Reads a frame and returns the item before its parts, if there is one. `None` at the end of the closed frames.
    fn next_frame(&mut self) -> Option<Option<WordsItem>> {
        let head = self.header.state.head();
        self.leave_prologue();
        if self.at >= head {
            return self.overwritten().map(Some);
        }
        let start = self.at;
        let flag = match self.ring.find_flag(start, self.end_of_frames()) {
            Ok(Some(flag)) => flag,
            Ok(None) if start < self.tail => return Some(Some(self.damaged_prologue())),
            Ok(None) => {
                self.at = head;
                if self.skip_to_flag {
                    self.oldest = head;
                }
                return self.overwritten().map(Some);
            }
            // The image ends here. Continue where the ring wraps.
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
            return Some(self.overwritten());
        }
        self.start = start;
        self.item_position = start;
        let mut bytes = [0; MAX_OPEN + 1];
        let len = self.ring.copy(start, flag, &mut bytes);
        let found = match ChunkHead::parse(&bytes[..len], self.chunk_id()) {
            Some(found) => self.chunk(found, start, flag),
            None => self.other_frame(start, flag),
        };
        if matches!(found, Some(WordsItem::Item(Item::Damaged(_)))) {
            self.newest = None;
            self.skip = 0;
        }
        Some(found)
    }

    /// Takes the sequence number of a valid frame. Returns the number of frames missing before it.
    fn take_seq(&mut self, seq: u8) -> u8 {
        let missing = self.newest_seq.map_or(0, |newest| seq.wrapping_sub(newest).wrapping_sub(1));
        self.newest_seq = Some(seq);
        if missing > 0 {
            self.newest = None;
            self.skip = 0;
        }
        missing
    }

    fn chunk(&mut self, head: ChunkHead, start: u64, flag: u64) -> Option<WordsItem> {
        let is_escaped = flag >= start + 2 && self.ring.byte(flag - 2) == Some(ESCAPE);
        let from = start + head.len as u64;
        let to = flag.saturating_sub(if is_escaped { 2 } else { 1 });
        let sum = self.sum(start, flag);
        if sum != 0xFF {
            return Some(damaged(start, flag + 1, Cause::Checksum { sum }));
        }
        if to < from || !self.ring.is_words(Span { from, to }) {
            return Some(damaged(start, flag + 1, Cause::Layout));
        }
        let missing = self.take_seq(head.seq);
        let words = Span { from, to };
        self.run(words, head.repetition, head.time, None);
        self.newest = Some((start, words));
        if self.whole_frames {
            self.missing = self.missing.saturating_add(missing);
            return None;
        }
        (missing > 0).then_some(WordsItem::Item(Item::Missing(missing)))
    }

    /// The sum of a chunk's unescaped bytes. Only the first two and the last one can be escaped.
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

    fn other_frame(&mut self, start: u64, flag: u64) -> Option<WordsItem> {
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
            Ended::Damaged(damage) => return Some(WordsItem::Item(Item::Damaged(damage))),
            Ended::Frame(end) => end,
        };
        let frame = self.decoder.frame(end);
        let statement = XhistRecord::parse(&frame, self.header.record_base);
        self.newest = None;
        // A time event may split words that were one chunk when they were shown.
        if !matches!(statement, Some(XhistRecord::Event { kind: EventKind::Time | EventKind::Until, .. })) {
            self.skip = 0;
        }
        let seq = frame.seq;
        let missing = self.take_seq(seq);
        if self.whole_frames {
            let missing = core::mem::take(&mut self.missing).saturating_add(missing);
            return Some(WordsItem::Frame(end, self.number(missing), missing));
        }
        match statement {
            Some(XhistRecord::Statement { statement, time }) if missing == 0 => {
                Some(WordsItem::Item(Item::Statement(statement, time)))
            }
            _ => Some(WordsItem::Frame(end, seq, missing)),
        }
    }

    /// Sets the parts of a chunk. `split` is the end of a chunk that is being split.
    fn run(&mut self, words: Span, repetition: words::UnitRepetition, time: u32, split: Option<Split>) {
        let period = u64::from(repetition.period);
        let basis = self.newest.map(|(_, piece)| piece.last(period).filter(|_| period > 0));
        self.steps = [ChunkPart::Done; STEPS];
        self.stamp = (self.header.time_width > 0 && time != 0).then_some(time);
        if self.start == self.shown.position && !self.whole_frames {
            let round = basis.flatten().map_or(0, |piece| self.ring.count(piece));
            self.skip = self.shown.repeats.saturating_mul(round);
            self.skip = self.skip.saturating_add(u64::from(self.shown.statements));
        }
        let mut steps = [ChunkPart::Done; 4];
        steps[0] = match basis {
            _ if repetition.times == 0 => ChunkPart::Done,
            Some(Some(piece)) => ChunkPart::Repetition(piece, repetition.times),
            Some(None) => ChunkPart::Damaged(Span {
                from: words.from.saturating_sub(REPETITION as u64),
                to: words.from,
            }),
            None => ChunkPart::Unknown(repetition),
        };
        let words = match repetition.is_counted && period > 0 {
            true => words.first(words.units() % period),
            false => words,
        };
        steps[1] = ChunkPart::Words(self.ring.behind_filler(words));
        if let Some(Split { repetition, residue }) = split {
            steps[2] = repetition;
            steps[3] = ChunkPart::Words(residue);
        }
        for step in steps.into_iter().rev().filter(|step| *step != ChunkPart::Done) {
            self.put_back(step);
        }
    }
}

/// The end of a chunk that is being split.
#[derive(Clone, Copy, Debug)]
struct Split {
    repetition: ChunkPart,
    residue: Span,
}

fn damaged(from: u64, to: u64, cause: Cause) -> WordsItem {
    WordsItem::Item(Item::Damaged(Damage { offset: from, len: to - from, cause }))
}
