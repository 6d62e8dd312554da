//! The open chunk of a words ring: its words as far as they are written, also while a recorder folds, splits or closes it.

use super::super::super::raw::array;
use super::place::Piece;
use super::{Found, Shown, Split, Step, WordsReader, damaged};
use crate::frame::Cause;
use crate::record::chunk::{MAX_OPEN, MIN_OPEN};
use crate::record::words::{AGAIN, Again, UNIT, Words};
use crate::ring::{Item, Trim};

impl WordsReader<'_> {
    /// Reads the open chunk; what is to be given of it before its steps.
    pub(super) fn open_chunk(&mut self) -> Option<Found> {
        let (state, part) = (self.header.state, self.header.words);
        let len = state.open()?;
        let head = state.head();
        if head < self.oldest {
            return None;
        }
        self.start = head;
        self.item_position = head;
        if len < MIN_OPEN {
            return Some(Found::Item(Item::Torn { expected: state.seq().wrapping_add(1) }));
        }
        self.open_shown = Some(Shown { position: head, ..Shown::default() });
        let mut bytes = [0; MAX_OPEN];
        let copied = self.ring.copy(head, head + len as u64, &mut bytes);
        let from = head + len as u64;
        let again = Again::from_bytes(array(&bytes[..copied], len - AGAIN));
        let limit = self.limit(from);
        let written = self.written(from, limit);
        let split = part.trim.at(head).map(|(kept, residue)| {
            let kept = written.first(u64::from(kept));
            let period =
                part.trim_again.and_then(|again| Some((kept.last(u64::from(again.period))?, again.times)));
            match period {
                Some((period, times)) => (
                    kept,
                    Split { again: Step::Again(period, times), residue: period.first(u64::from(residue)) },
                ),
                None => {
                    (kept, Split { again: Step::Damaged(kept), residue: Piece { to: kept.from, ..kept } })
                }
            }
        });
        // While words are moved, the rest of them is in the header.
        let moved = split.is_some() && part.trim.0 & Trim::MOVED != 0;
        let (words, split) = split.map_or((written, None), |(kept, split)| (kept, Some(split)));
        let split = if moved { None } else { split };
        let known = again.unwrap_or_default();
        self.run(words, known, part.open_time as u32, split);
        if moved {
            self.append(Step::Moved(0));
        }
        self.note_pauses(words);
        if self.without_open_words {
            self.steps[1..].fill(Step::Done);
            if !matches!(self.steps[0], Step::Again(..) | Step::Unknown(_)) {
                self.steps[0] = Step::Done;
            }
        }
        let statements = self.steps.iter().fold(0u64, |sum, step| match (step, split) {
            (Step::Words(piece), _) => sum + self.ring.count(*piece),
            (Step::Moved(_), _) => sum + Words::new(self.moved()).count() as u64,
            // Its own repetition is counted by its times.
            (Step::Again(piece, times), Some(split)) if *step == split.again => {
                sum + times.saturating_mul(self.ring.count(*piece))
            }
            _ => sum,
        });
        // What was shown of words that are not looked at now stays shown.
        let before = match self.steps[0] {
            Step::Again(piece, times) if self.without_open_words => {
                self.skip.saturating_sub(times.saturating_mul(self.ring.count(piece)))
            }
            _ if self.without_open_words => self.skip,
            _ => 0,
        };
        let statements = u16::try_from(statements.max(before)).unwrap_or(u16::MAX);
        self.open_shown = Some(Shown { position: head, statements, repeats: known.times });
        let is_last = split.is_none() && !moved && !self.without_open_words;
        let unit = Piece { from: written.to, to: limit }.first(1);
        if is_last && self.ring.is_words(unit) && limit - written.to < 2 * UNIT as u64 {
            self.append(Step::Overrun);
        } else if is_last && self.ring.slice(written.to, limit).is_empty() {
            self.append(Step::Cut(limit - written.to));
        }
        again.is_none().then(|| damaged(from - AGAIN as u64, from, Cause::Layout))
    }

    /// Position behind all that is given.
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

    /// Behind the last byte that may belong to words that start at `from`.
    fn limit(&self, from: u64) -> u64 {
        let end = self.header.state.head().saturating_add(self.ring.size);
        self.header.words.zeroed.min(end).max(from)
    }

    fn written(&self, from: u64, limit: u64) -> Piece {
        let mut rest = Piece { from, to: limit };
        while let Some((_, len)) = self.ring.word(rest) {
            rest.from += len;
        }
        Piece { from, to: rest.from }
    }

    fn append(&mut self, step: Step) {
        if let Some(slot) = self.steps.iter_mut().find(|slot| **slot == Step::Done) {
            *slot = step;
        }
    }
}
