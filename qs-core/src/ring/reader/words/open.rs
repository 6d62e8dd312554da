//! The open chunk of a words ring: the words written so far, even while the recorder folds, splits or closes the chunk.

use super::super::super::raw::array;
use super::place::Span;
use super::{ChunkPart, Shown, Split, WordsItem, WordsReader, damaged};
use crate::frame::{Cause, ESCAPE, ESCAPE_XOR, needs_escape};
use crate::record::chunk::{MAX_OPEN, MIN_OPEN};
use crate::record::value::MAX_WORD;
use crate::record::words::{REPETITION, UNIT, UnitRepetition, Words, digit_of};
use crate::ring::{Item, Trim};

impl WordsReader<'_> {
    /// Reads the open chunk, and returns the item before its parts, if there is one.
    pub(super) fn open_chunk(&mut self) -> Option<WordsItem> {
        let (state, part) = (self.header.state, self.header.words);
        let len = state.open()?;
        let head = state.head();
        if head < self.oldest {
            return None;
        }
        self.start = head;
        self.item_position = head;
        if len < MIN_OPEN {
            return Some(WordsItem::Item(Item::Torn { expected: state.seq().wrapping_add(1) }));
        }
        self.open_shown = Some(Shown { position: head, ..Shown::default() });
        let mut bytes = [0; MAX_OPEN];
        let copied = self.ring.copy(head, head + len as u64, &mut bytes);
        let from = head + len as u64;
        let repetition = UnitRepetition::from_bytes(array(&bytes[..copied], len - REPETITION));
        let limit = self.limit(from);
        if self.has_overwritten_itself(&bytes[..copied], Span { from, to: limit }) {
            return Some(WordsItem::Item(Item::Overrun));
        }
        let written = self.written(from, limit);
        let split = part.trim.at(head).map(|(kept, residue)| {
            let kept = written.first(u64::from(kept));
            let period = part
                .trim_repetition
                .and_then(|repetition| Some((kept.last(u64::from(repetition.period))?, repetition.times)));
            match period {
                Some((period, times)) => (
                    kept,
                    Split {
                        repetition: ChunkPart::Repetition(period, times),
                        residue: period.first(u64::from(residue)),
                    },
                ),
                None => (
                    kept,
                    Split { repetition: ChunkPart::Damaged(kept), residue: Span { to: kept.from, ..kept } },
                ),
            }
        });
        // While words are being moved, the rest of them is in the header.
        let moved = split.is_some() && part.trim.0 & Trim::MOVED != 0;
        let (words, split) = split.map_or((written, None), |(kept, split)| (kept, Some(split)));
        let split = if moved { None } else { split };
        let known = repetition.unwrap_or_default();
        self.run(words, known, part.open_time as u32, split);
        if moved {
            self.append(ChunkPart::Moved(0));
        }
        self.note_pauses(words);
        if self.without_open_words {
            self.steps[1..].fill(ChunkPart::Done);
            if !matches!(self.steps[0], ChunkPart::Repetition(..) | ChunkPart::Unknown(_)) {
                self.steps[0] = ChunkPart::Done;
            }
        }
        let statements = self.steps.iter().fold(0u64, |sum, step| match (step, split) {
            (ChunkPart::Words(piece), _) => sum + self.ring.count(*piece),
            (ChunkPart::Moved(_), _) => sum + Words::new(self.moved()).count() as u64,
            // The repetition of the split is counted by its times.
            (ChunkPart::Repetition(piece, times), Some(split)) if *step == split.repetition => {
                sum + times.saturating_mul(self.ring.count(*piece))
            }
            _ => sum,
        });
        // Words that are left out now stay shown.
        let before = match self.steps[0] {
            ChunkPart::Repetition(piece, times) if self.without_open_words => {
                self.skip.saturating_sub(times.saturating_mul(self.ring.count(piece)))
            }
            _ if self.without_open_words => self.skip,
            _ => 0,
        };
        let statements = u16::try_from(statements.max(before)).unwrap_or(u16::MAX);
        self.open_shown = Some(Shown { position: head, statements, repeats: known.times });
        let is_last = split.is_none() && !moved && !self.without_open_words;
        // A word that the limit cuts.
        let rest = Span { from: written.to, to: limit };
        if is_last && limit - written.to < MAX_WORD as u64 && self.ring.is_words(rest) {
            self.append(ChunkPart::Overrun);
        } else if is_last && self.ring.slice(written.to, limit).is_empty() {
            self.append(ChunkPart::Cut(limit - written.to));
        }
        repetition.is_none().then(|| damaged(from - REPETITION as u64, from, Cause::Layout))
    }

    /// See [`Reader::frontier`](super::super::Reader::frontier).
    pub(in super::super) fn frontier(&self) -> u64 {
        let head = self.header.state.head();
        match self.header.state.open() {
            None => head,
            Some(len) if self.without_open_words => head + len as u64,
            Some(len) => {
                let from = head + len as u64;
                self.written(from, self.limit(from)).to
            }
        }
    }

    /// Whether the words have reached the start of their own chunk again: they fill all that was zeroed for them, and the
    /// head, which is zero or that of the next frame.
    fn has_overwritten_itself(&self, head: &[u8], words: Span) -> bool {
        let seq = self.header.state.seq().wrapping_add(1);
        let start = match needs_escape(seq) {
            true => [ESCAPE, seq ^ ESCAPE_XOR, self.chunk_id()],
            false => [seq, self.chunk_id(), 0],
        };
        let known = if needs_escape(seq) { 3 } else { 2 };
        let is_head =
            start.iter().zip(head).take(known).all(|(wanted, found)| found == wanted || *found == 0);
        !is_head && head.iter().all(|byte| digit_of(*byte).is_some()) && self.ring.is_words(words)
    }

    /// Position behind the last unit that can belong to words from `from` on.
    fn limit(&self, from: u64) -> u64 {
        let end = self.header.state.head().saturating_add(self.ring.size);
        let len = self.header.words.zeroed.min(end).saturating_sub(from);
        from + len / UNIT as u64 * UNIT as u64
    }

    fn written(&self, from: u64, limit: u64) -> Span {
        let mut rest = self.ring.behind_filler(Span { from, to: limit });
        while let Some((_, len)) = self.ring.word(rest) {
            rest.from += len;
        }
        Span { from, to: rest.from }
    }

    fn append(&mut self, step: ChunkPart) {
        if let Some(slot) = self.steps.iter_mut().find(|slot| **slot == ChunkPart::Done) {
            *slot = step;
        }
    }
}
