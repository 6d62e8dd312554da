//! Chunks as records of a stream, and events that are not in the ring.

use super::place::Span;
use super::{ChunkPart, WordsItem, WordsReader};
use crate::record::chunk::{CUT_HEAD, CutWords, MAX_CUT};
use crate::record::{EventKind, ids, words};

impl WordsReader<'_> {
    /// The first words of a span as a record of a stream. The others stay for the next record.
    pub(super) fn cut_words(&mut self, mut piece: Span) -> Option<WordsItem> {
        let start = piece.from;
        let until = self.to_pause(piece).to;
        while let Some((_, len)) = self.ring.word(piece) {
            if piece.from + len > until || piece.from + len - start > MAX_CUT as u64 {
                break;
            }
            piece.from += len;
        }
        let len = (piece.from - start) as usize;
        if piece.from < piece.to {
            self.put_back(if len == 0 { ChunkPart::Damaged(piece) } else { ChunkPart::Words(piece) });
        }
        if len == 0 {
            return None;
        }
        let time = self.stamp.take().unwrap_or(0);
        self.record.payload[..CUT_HEAD].copy_from_slice(&CutWords::head(time, len));
        self.ring.copy(start, piece.from, &mut self.record.payload[CUT_HEAD..CUT_HEAD + len]);
        (self.record.len, self.record.id) = (CUT_HEAD + len, self.chunk_id());
        Some(self.give_record())
    }

    pub(super) fn event(&mut self, kind: EventKind, time: u32, value: u64) -> WordsItem {
        let payload = kind.payload(time, value);
        self.record.payload[..payload.len()].copy_from_slice(&payload);
        (self.record.len, self.record.id) = (payload.len(), self.header.record_base.wrapping_add(ids::EVENT));
        if self.whole_frames { self.give_record() } else { WordsItem::Record(0, 0) }
    }

    pub(super) fn repetition_event(&mut self, repetition: words::UnitRepetition) -> WordsItem {
        self.event(EventKind::Repetition, 0, repetition.to_event())
    }

    pub(super) fn give_record(&mut self) -> WordsItem {
        let missing = core::mem::take(&mut self.missing);
        WordsItem::Record(self.number(missing), missing)
    }

    pub(super) fn chunk_id(&self) -> u8 {
        self.header.record_base.wrapping_add(ids::PACKED)
    }
}
