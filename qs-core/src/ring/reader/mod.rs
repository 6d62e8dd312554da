//! Reads one ring from its oldest whole frame to its newest statement.
//!
//! The oldest bytes are often the rest of a frame that is being overwritten. The reader skips them without a report, because
//! they are older than the history. It reports all other bytes that it cannot read.

mod packed;
mod words;

use packed::PackedReader;
use words::WordsReader;

use core::ops::Range;

use super::header::{Header, PROLOGUE_AT};
use super::item::Item;
use super::state::Shown;
use crate::record::Numbers;

/// Iterates over the items of a ring: call [`Reader::next`] until it returns `None`.
///
/// Offsets in frames and damages count from the first byte ever written to the ring.
#[derive(Clone, Debug)]
pub struct Reader<'a>(Form<'a>);

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is no heap, and few readers at a time")]
enum Form<'a> {
    Packed(PackedReader<'a>),
    Words(WordsReader<'a>),
}

impl<'a> Reader<'a> {
    /// A reader of the ring at the start of `image`, whose header is `header`. It skips what was cleared.
    pub fn new(header: Header, image: &'a [u8]) -> Reader<'a> {
        Reader::resume(header, image, 0, 0, header.cleared)
    }

    /// A reader of the items that were not shown yet. `from` is the position of a frame's start, see
    /// [`Reader::resume_from`]. Bytes before `safe` may have been overwritten while the image was made.
    pub fn resume(header: Header, image: &'a [u8], from: u64, safe: u64, shown: Shown) -> Reader<'a> {
        Reader::of(header, image, &[], (from, safe, shown))
    }

    /// [`Reader::resume`], with the prologue before the frames that the ring still has. Between the two it yields
    /// [`Item::Overwritten`] if any are missing. Each frame comes once.
    pub fn with_prologue(header: Header, image: &'a [u8], from: u64, safe: u64, shown: Shown) -> Reader<'a> {
        let Range { start, end } = header.prologue();
        let prologue = image.get(PROLOGUE_AT..PROLOGUE_AT + (end - start) as usize);
        Reader::of(header, image, prologue.unwrap_or(&[]), (from, safe, shown))
    }

    fn of(
        header: Header,
        image: &'a [u8],
        prologue: &'a [u8],
        (from, safe, shown): (u64, u64, Shown),
    ) -> Reader<'a> {
        let bytes = image.get(header.header_len..).unwrap_or(&[]);
        let bytes = &bytes[..bytes.len().min(header.size)];
        Reader(match header.has_words() {
            true => Form::Words(WordsReader::new(header, (prologue, bytes), from, safe, shown)),
            false => Form::Packed(PackedReader::new(header, bytes, from, safe, shown)),
        })
    }

    /// Yields all frames as frames, including those of statements. The open frame counts as closed. A chunk of words
    /// becomes records of a stream with consecutive sequence numbers.
    #[must_use]
    pub fn whole_frames(self) -> Reader<'a> {
        Reader(match self.0 {
            Form::Packed(reader) => Form::Packed(reader.whole_frames()),
            Form::Words(reader) => Form::Words(reader.whole_frames()),
        })
    }

    /// Resolves statement numbers with this table.
    #[must_use]
    pub fn with_numbers(self, numbers: Numbers<'a>) -> Reader<'a> {
        Reader(match self.0 {
            Form::Packed(reader) => Form::Packed(reader),
            Form::Words(reader) => Form::Words(reader.with_numbers(numbers)),
        })
    }

    /// Leaves out the words of the open chunk, except for its repetition.
    #[must_use]
    pub fn without_open_words(self) -> Reader<'a> {
        Reader(match self.0 {
            Form::Packed(reader) => Form::Packed(reader),
            Form::Words(reader) => Form::Words(reader.without_open_words()),
        })
    }

    /// How far this reader has shown the ring. Call it at the end.
    pub fn shown(&self) -> Shown {
        match &self.0 {
            Form::Packed(reader) => reader.shown(),
            Form::Words(reader) => reader.shown(),
        }
    }

    /// The position where the next reader must start to know the frames that may repeat. Call it at the end.
    pub fn resume_from(&self) -> u64 {
        match &self.0 {
            Form::Packed(reader) => reader.resume_from(),
            Form::Words(reader) => reader.resume_from(),
        }
    }

    /// The header of the ring.
    pub const fn header(&self) -> &Header {
        match &self.0 {
            Form::Packed(reader) => reader.header(),
            Form::Words(reader) => reader.header(),
        }
    }

    /// The interrupt of the newest statement. 0 = no interrupt, or not recorded.
    pub const fn interrupt(&self) -> u16 {
        match &self.0 {
            Form::Packed(reader) => reader.interrupt(),
            Form::Words(_) => 0,
        }
    }

    /// Position of the newest item: of its word, or of its frame.
    pub const fn item_position(&self) -> u64 {
        match &self.0 {
            Form::Packed(reader) => reader.item_position(),
            Form::Words(reader) => reader.item_position(),
        }
    }

    /// Position behind the last item of this reader. `u64::MAX` in rings without words.
    pub fn frontier(&self) -> u64 {
        match &self.0 {
            Form::Packed(_) => u64::MAX,
            Form::Words(reader) => reader.frontier(),
        }
    }

    /// The next item, oldest first.
    #[allow(clippy::should_implement_trait, reason = "items borrow the reader's buffer")]
    pub fn next(&mut self) -> Option<Item<'_>> {
        match &mut self.0 {
            Form::Packed(reader) => reader.next(),
            Form::Words(reader) => reader.next(),
        }
    }
}
