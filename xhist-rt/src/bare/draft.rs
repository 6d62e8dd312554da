//! Drafts: what the slow path is about to write, composed while interrupts are enabled.
//!
//! A draft copies the writer, changes the copy, and lists the bytes to write. Then it writes a few bytes at a time, each time
//! with interrupts masked. Readers do not look at these bytes before the first one is there. The last step writes the first
//! byte, the state and the writer. Any other change of the writer removes the draft's mark from it, and the draft starts
//! again.

use qs_core::frame::escaped;
use qs_core::record::packed::MAX_HEADER;
use qs_core::ring::{Folded, State};

use super::byte_list::ByteList;
use super::memory;
use super::writer::{FAR, Writer, is_unwanted, with_any, with_laid_out};

/// Longest step with a value.
pub(super) const MAX_VALUE: usize = 60;
/// Largest number of bytes of a draft: a frame's head, an interrupt, a statement or a value, the zero behind it.
const MOST: usize = MAX_HEADER + 8 + MAX_VALUE;
/// Number of bytes that are written while interrupts are masked.
const PIECE: usize = 3;

/// The next change of the ring.
pub(super) struct FrameDraft {
    /// The writer: first the current one, then the changed one.
    pub(super) writer: Writer,
    /// The current state.
    pub(super) state: State,
    /// The next state, if it changes.
    pub(super) next: Option<State>,
    /// The next folded word. It is written around the first byte, which removes the counted statements.
    pub(super) folded: Option<Folded>,
    /// Position of the first byte.
    pub(super) start: u32,
    /// The sum of the bytes.
    pub(super) sum: u8,
    bytes: ByteList<MOST>,
}

impl FrameDraft {
    #[inline(always)]
    pub(super) fn new() -> FrameDraft {
        FrameDraft {
            writer: Writer::NEW,
            state: State(0),
            next: None,
            folded: None,
            start: 0,
            sum: 0,
            bytes: ByteList::new(),
        }
    }

    /// The writer's key while this draft is the newest one and nothing has changed: the draft's address, which is unique, in
    /// the range above all keys of statements.
    fn mark(&self) -> u32 {
        (core::ptr::from_ref(self).addr() >> 2) as u32 | FAR
    }

    /// Starts the draft.
    pub(super) fn begin(&mut self) {
        let mark = self.mark();
        with_any(|writer| {
            writer.key = mark;
            self.writer = *writer;
            self.state = memory::state();
        });
        // A writer of one core knows it; other cores are not waited for.
        if cfg!(feature = "multi-core") && !self.writer.is_muted {
            self.writer.is_muted = is_unwanted();
        }
        (self.next, self.folded) = (None, None);
    }

    /// Sets the position of the following bytes.
    pub(super) fn write_at(&mut self, position: u32) {
        (self.start, self.sum) = (position, 0);
        self.bytes.clear();
    }

    /// Lists a byte without escaping.
    #[inline(never)]
    pub(super) fn plain(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Number of bytes listed.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Lists a byte, escaped if needed, and adds it to the sum.
    #[inline(never)]
    pub(super) fn push(&mut self, byte: u8) {
        self.sum = self.sum.wrapping_add(byte);
        escaped(byte, |byte| self.plain(byte));
    }

    /// Lists the digits of a number.
    pub(super) fn digits(&mut self, value: u32) {
        digits(value, |byte| self.push(byte));
    }

    /// Calls `act` with interrupts masked, if the writer has not changed since the draft started. Returns whether it did.
    #[inline(always)]
    fn if_newest(&self, act: impl FnOnce(&mut Writer)) -> bool {
        let mark = self.mark();
        with_laid_out(|writer| {
            let is_newest = writer.key == mark;
            if is_newest {
                act(writer);
            }
            is_newest
        })
    }

    /// Writes bytes, if the writer has not changed since the draft started. Returns whether it did.
    #[inline(never)]
    pub(super) fn write(&self, position: u32, bytes: &[u8]) -> bool {
        self.if_newest(|_| memory::put_all(position, bytes))
    }

    /// Writes the draft. False if it must start again. Without a byte nothing is written.
    #[inline(never)]
    pub(super) fn commit(&self) -> bool {
        let Some((&first, rest)) = self.bytes.bytes().split_first() else { return true };
        let mut at = self.start;
        for piece in rest.chunks(PIECE) {
            if !self.write(at.wrapping_add(1), piece) {
                return false;
            }
            at = at.wrapping_add(PIECE as u32);
        }
        self.if_newest(|writer| {
            if let Some(folded) = self.folded {
                memory::set_folded(folded.counted());
            }
            memory::put(self.start, first);
            if let Some(folded) = self.folded {
                memory::set_folded(folded);
            }
            if let Some(next) = self.next {
                memory::set_state(next);
            }
            *writer = self.writer;
        })
    }
}

/// Pushes the bytes of a number behind a step, like [`packed::digits`] for 64 bits.
pub(super) fn digits(mut value: u32, mut push: impl FnMut(u8)) {
    while value >= 0x20 {
        push(0x21 + (value & 0x1F) as u8);
        value >>= 5;
    }
    push(1 + value as u8);
}
