//! What can be read of one ring: its header, its bytes, and the positions between which they are as they were written.

use qs_core::record::Numbers;
use qs_core::ring::{Header, Reader, Shown};

use super::locate::Placed;

/// What can be read of a ring.
#[derive(Clone, Copy, Debug)]
pub struct RingSnapshot<'a> {
    /// Its header.
    pub header: Header,
    pub(super) image: &'a [u8],
    pub(super) from: u64,
    pub(super) safe: u64,
    pub(super) shown: Shown,
    /// Of the open chunk only its repetition is read.
    pub(super) is_folding: bool,
    pub(super) numbers: Numbers<'a>,
}

impl<'a> RingSnapshot<'a> {
    /// All of a ring in an image that no program writes.
    pub fn whole(placed: &Placed, image: &'a [u8]) -> RingSnapshot<'a> {
        let header = placed.header;
        let image = image.get(placed.ring.offset..).unwrap_or(&[]);
        let (shown, numbers) = (header.cleared, Numbers::default());
        RingSnapshot { header, image, from: 0, safe: 0, shown, is_folding: false, numbers }
    }

    /// The same ring, with the entries that `--clear` marked as shown.
    #[must_use]
    pub fn with_cleared(self) -> RingSnapshot<'a> {
        RingSnapshot { shown: Shown::default(), ..self }
    }

    /// The same ring, whose statements are resolved by their numbers.
    #[must_use]
    pub fn with_numbers(self, numbers: Numbers<'a>) -> RingSnapshot<'a> {
        RingSnapshot { numbers, ..self }
    }

    /// A reader at its start.
    pub fn reader(&self) -> Reader<'a> {
        let reader = Reader::with_prologue(self.header, self.image, self.from, self.safe, self.shown);
        let reader = reader.with_numbers(self.numbers);
        if self.is_folding { reader.without_open_words() } else { reader }
    }

    /// Position behind all that can be read.
    pub fn frontier(&self) -> u64 {
        self.reader().frontier()
    }
}
