//! The bytes of a words ring by position.

use crate::frame::FLAG;
use crate::record::value::MAX_WORD;
use crate::record::words::{FILLER_BYTES, Named, UNIT, Words, digit_of, word_len};
use crate::record::{Numbers, Statement, TaskMark};

/// The bytes behind the header, and the table that resolves their words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) size: u64,
    pub(super) numbers: Numbers<'a>,
    pub(super) prologue: Prologue<'a>,
}

/// The first bytes of the history, from the header. They have their positions still, so what reads by position need not know
/// where a byte is from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prologue<'a> {
    pub(super) from: u64,
    pub(super) bytes: &'a [u8],
}

impl<'a> Prologue<'a> {
    /// Position behind it.
    pub(super) const fn end(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }

    /// Its bytes from a position on. `None` if the position is not in it.
    fn rest(&self, position: u64) -> Option<&'a [u8]> {
        match (self.from..self.end()).contains(&position) {
            true => self.bytes.get((position - self.from) as usize..),
            false => None,
        }
    }
}

/// A range of positions with words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl<'a> Ring<'a> {
    /// Sizes are powers of two.
    const fn index(&self, position: u64) -> usize {
        (position & (self.size - 1)) as usize
    }

    pub(super) fn byte(&self, position: u64) -> Option<u8> {
        match self.prologue.rest(position) {
            Some(rest) => rest.first().copied(),
            None => self.bytes.get(self.index(position)).copied(),
        }
    }

    /// The contiguous bytes from a position on. Empty if the image lacks them.
    pub(super) fn slice(&self, from: u64, to: u64) -> &'a [u8] {
        if let Some(rest) = self.prologue.rest(from) {
            return &rest[..rest.len().min(to.saturating_sub(from) as usize)];
        }
        let start = self.index(from);
        let len = to.saturating_sub(from).min(self.size - start as u64) as usize;
        let bytes = self.bytes.get(start..).unwrap_or(&[]);
        &bytes[..bytes.len().min(len)]
    }

    /// Position of the next flag. `Err` with the position where the image ends before it.
    pub(super) fn find_flag(&self, from: u64, to: u64) -> Result<Option<u64>, u64> {
        let mut at = from;
        while at < to {
            let slice = self.slice(at, to);
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

    /// Copies the available bytes to the start of `bytes`. Returns their number.
    pub(super) fn copy(&self, from: u64, to: u64, bytes: &mut [u8]) -> usize {
        let mut len = 0;
        while let Some(slot) = bytes.get_mut(len)
            && from + (len as u64) < to
            && let Some(byte) = self.byte(from + len as u64)
        {
            *slot = byte;
            len += 1;
        }
        len
    }

    /// The word at the start of a span, and its length in bytes. `None` without a whole word.
    pub(super) fn word(&self, piece: Span) -> Option<(Named, u64)> {
        let slice = self.slice(piece.from, piece.to);
        if word_len(slice).is_some_and(|len| len <= slice.len()) {
            return first_word(slice);
        }
        // The word may go on at the start of the ring.
        let mut bytes = [0; MAX_WORD];
        let len = self.copy(piece.from, piece.to, &mut bytes);
        first_word(&bytes[..len])
    }

    /// Removes the word at the start of a span.
    pub(super) fn take(&self, piece: &mut Span) -> Option<Named> {
        let (named, len) = self.word(*piece)?;
        piece.from += len;
        Some(named)
    }

    /// The words of a chunk without the units that fill the room before the first one.
    pub(super) fn behind_filler(&self, mut piece: Span) -> Span {
        while piece.units() > 0
            && (0..).zip(FILLER_BYTES).all(|(at, byte)| self.byte(piece.from + at) == Some(byte))
        {
            piece.from += UNIT as u64;
        }
        piece
    }

    /// Number of words in a span.
    pub(super) fn count(&self, mut piece: Span) -> u64 {
        let mut count = 0;
        while self.take(&mut piece).is_some() {
            count += 1;
        }
        count
    }

    /// The span without its first words.
    pub(super) fn behind(&self, mut piece: Span, words: u64) -> Span {
        for _ in 0..words {
            if self.take(&mut piece).is_none() {
                break;
            }
        }
        piece
    }

    /// Whether the span has only whole units of words.
    pub(super) fn is_words(&self, piece: Span) -> bool {
        let mut at = piece.from;
        while at < piece.to {
            let slice = self.slice(at, piece.to);
            if slice.is_empty() || slice.iter().any(|byte| digit_of(*byte).is_none()) {
                return false;
            }
            at += slice.len() as u64;
        }
        (piece.to - piece.from).is_multiple_of(UNIT as u64)
    }
}

fn first_word(bytes: &[u8]) -> Option<(Named, u64)> {
    let mut words = Words::new(bytes);
    Some((words.next()?, words.at() as u64))
}

impl Span {
    pub(super) const fn units(self) -> u64 {
        (self.to - self.from) / UNIT as u64
    }

    /// The last `units` units of the span. `None` if it has fewer.
    pub(super) fn last(self, units: u64) -> Option<Span> {
        (units <= self.units()).then(|| Span { from: self.to - units * UNIT as u64, to: self.to })
    }

    /// The first `units` units of the span, or all.
    pub(super) fn first(self, units: u64) -> Span {
        Span { to: self.to.min(self.from + units * UNIT as u64), ..self }
    }
}

/// The statements of a span, without marks of tasks and values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statements<'a> {
    pub(super) ring: Ring<'a>,
    pub(super) piece: Span,
}

impl Iterator for Statements<'_> {
    type Item = Statement;

    fn next(&mut self) -> Option<Statement> {
        loop {
            let named = self.ring.take(&mut self.piece)?;
            if let Ok(statement) = self.ring.numbers.statement(named)
                && TaskMark::of(statement).is_none()
            {
                return Some(statement);
            }
        }
    }
}
