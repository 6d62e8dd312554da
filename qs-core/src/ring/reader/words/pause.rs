//! Pauses of the thread in the open chunk, and the words that are moved because of them.

use super::paused::Paused;
use super::place::Span;
use super::{ChunkPart, WordsItem, WordsReader};
use crate::record::EventKind;
use crate::record::chunk::{CUT_HEAD, CutWords, MAX_CUT};
use crate::record::words::{UNIT, Words};
use crate::ring::Pause;

impl WordsReader<'_> {
    /// Stores the pauses of the thread between these words of the open chunk.
    pub(super) fn note_pauses(&mut self, words: Span) {
        let part = self.header.words;
        let place = |pause: Pause| Some((pause.position(self.ring.size, words.from, words.to)?, pause));
        let mut places = part.pauses.map(|pause| place(pause).filter(|_| part.open_time > 0));
        places.sort_unstable_by_key(|place| place.map_or(u64::MAX, |(_, pause)| pause.until));
        let mut before = part.open_time;
        self.pauses = places.map(|place| {
            let (position, pause) = place.filter(|(_, pause)| pause.until > before)?;
            // Another pause has overwritten the previous one.
            let since = if pause.since > before { pause.since } else { 0 };
            let paused = Paused { position, before, since, until: pause.until };
            before = pause.until;
            Some(paused)
        });
    }

    /// The event before the word at this position, if the thread paused there.
    pub(super) fn pause_at(&mut self, position: u64) -> Option<WordsItem> {
        let index = self.pauses.iter().position(Option::is_some)?;
        let paused = self.pauses[index].filter(|paused| paused.position <= position)?;
        let time = if paused.since > 0 { paused.since } else { paused.until };
        self.pauses[index] = (paused.since > 0).then_some(Paused { before: time, since: 0, ..paused });
        if paused.since == 0 {
            self.stamp = (self.header.time_width > 0).then_some(time as u32);
        }
        let is_soon = time - paused.before <= u64::from(u32::MAX);
        let kind = if is_soon { EventKind::Until } else { EventKind::Time };
        Some(self.event(kind, time as u32, time))
    }

    /// The words up to the next pause.
    pub(super) fn to_pause(&self, piece: Span) -> Span {
        let next = self.pauses.iter().flatten().next();
        next.map_or(piece, |paused| Span { to: piece.to.min(paused.position.max(piece.from)), ..piece })
    }

    /// Words that are being moved.
    pub(super) fn moved(&self) -> &[u8] {
        let part = &self.header.words;
        let units = part.trim.at(self.header.state.head()).map_or(0, |(_, units)| usize::from(units));
        let bytes = part.moved.as_flattened();
        bytes.get(..UNIT * units).unwrap_or(bytes)
    }

    /// The next of the moved words, or all of them as a record of a stream.
    pub(super) fn moved_words(&mut self, from: usize) -> Option<WordsItem> {
        let moved = self.header.words;
        let bytes = self.moved().get(from..).unwrap_or(&[]).len();
        let bytes = &moved.moved.as_flattened()[from..from + bytes];
        if self.whole_frames {
            let time = self.stamp.take().unwrap_or(0);
            let words = &bytes[..bytes.len().min(MAX_CUT)];
            self.record.payload[..CUT_HEAD].copy_from_slice(&CutWords::head(time, words.len()));
            self.record.payload[CUT_HEAD..CUT_HEAD + words.len()].copy_from_slice(words);
            (self.record.len, self.record.id) = (CUT_HEAD + words.len(), self.chunk_id());
            return (!words.is_empty()).then(|| self.give_record());
        }
        let mut words = Words::new(bytes);
        loop {
            let named = words.next()?;
            let stamp = self.stamp.take();
            if self.skip == 0 {
                self.put_back(ChunkPart::Moved(from + words.at()));
                return Some(WordsItem::Item(self.item(named, stamp)));
            }
            self.skip -= 1;
        }
    }
}
