//! Reads one ring from its oldest whole frame to its newest statement.
//!
//! What an overwriting writer leaves at the oldest end (the tail of a frame) is skipped
//! silently: it is older than the history. Everything else that cannot be read is reported.

mod packed;
mod words;

use packed::PackedReader;
use words::WordsReader;

use super::again::Again;
use super::header::Header;
use super::state::Shown;
use crate::frame::{Damage, Frame};
use crate::record::{Numbers, Statement};

/// What a ring yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A statement ran; with the low 4 bytes of the clock where its frame has them.
    Statement(Statement, Option<u32>),
    /// The newest statements ran again and were not written again.
    Again(Again),
    /// Another record. Its `missing` counts the frames of a gap before it.
    Frame(Frame<'a>),
    /// Frames are missing before the statement that comes next, modulo 256.
    Missing(u8),
    /// Bytes that are no good frame.
    Damaged(Damage),
    /// The image ends before the ring does.
    Cut {
        /// Bytes of the ring that are not in the image.
        missing: u64,
    },
    /// The newest frame is not the one that the header counted last.
    Torn {
        /// Sequence number that the header counted.
        expected: u8,
    },
    /// More words were written than the ring had room for: which of the newest are those, nobody knows. What came before is right.
    Overrun,
}

/// Walks a ring; call [`Reader::next`] until it returns `None`.
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
    /// A reader of the ring whose header was read from the start of `image`; without what was cleared.
    pub fn new(header: Header, image: &'a [u8]) -> Reader<'a> {
        Reader::resume(header, image, 0, 0, header.cleared)
    }

    /// A reader of what was not shown yet. It starts at `from`, where a frame starts (see [`Reader::resume_from`]),
    /// and passes over what was shown. Bytes before `safe` may have been overwritten while the image was made.
    pub fn resume(header: Header, image: &'a [u8], from: u64, safe: u64, shown: Shown) -> Reader<'a> {
        let bytes = image.get(header.header_len..).unwrap_or(&[]);
        let bytes = &bytes[..bytes.len().min(header.size)];
        Reader(match header.has_words() {
            true => Form::Words(WordsReader::new(header, bytes, from, safe, shown)),
            false => Form::Packed(PackedReader::new(header, bytes, from, safe, shown)),
        })
    }

    /// The same, which gives every frame as it is, those of statements too; the open frame as if it were closed now. A chunk
    /// of words is given as the records of a stream, numbered one after another.
    #[must_use]
    pub fn whole_frames(self) -> Reader<'a> {
        Reader(match self.0 {
            Form::Packed(reader) => Form::Packed(reader.whole_frames()),
            Form::Words(reader) => Form::Words(reader.whole_frames()),
        })
    }

    /// The same, which knows statements by their numbers.
    #[must_use]
    pub fn with_numbers(self, numbers: Numbers<'a>) -> Reader<'a> {
        Reader(match self.0 {
            Form::Packed(reader) => Form::Packed(reader),
            Form::Words(reader) => Form::Words(reader.with_numbers(numbers)),
        })
    }

    /// The same without the words of the open chunk: of that only what came again.
    #[must_use]
    pub fn without_open_words(self) -> Reader<'a> {
        Reader(match self.0 {
            Form::Packed(reader) => Form::Packed(reader),
            Form::Words(reader) => Form::Words(reader.without_open_words()),
        })
    }

    /// How far this reader has shown the ring, once it is at its end. What signal handlers wrote into nested parts counts as
    /// not shown: it moves when they end.
    pub fn shown(&self) -> Shown {
        match &self.0 {
            Form::Packed(reader) => reader.shown(),
            Form::Words(reader) => reader.shown(),
        }
    }

    /// Where a reader that goes on from here has to start, so that it knows the frames that may come again. To be asked
    /// at the end of a ring without nested parts.
    pub fn resume_from(&self) -> u64 {
        match &self.0 {
            Form::Packed(reader) => reader.resume_from(),
            Form::Words(reader) => reader.resume_from(),
        }
    }

    /// The header that this reader follows.
    pub const fn header(&self) -> &Header {
        match &self.0 {
            Form::Packed(reader) => reader.header(),
            Form::Words(reader) => reader.header(),
        }
    }

    /// The interrupt that the newest statement ran in; 0 for none, or when the recorder does not record it.
    pub const fn interrupt(&self) -> u16 {
        match &self.0 {
            Form::Packed(reader) => reader.interrupt(),
            Form::Words(_) => 0,
        }
    }

    /// Position of the newest item: of its word, or of the frame that it is from.
    pub const fn item_position(&self) -> u64 {
        match &self.0 {
            Form::Packed(reader) => reader.item_position(),
            Form::Words(reader) => reader.item_position(),
        }
    }

    /// Position behind all that this reader gives; the highest there is where nobody needs it, in rings without words.
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
