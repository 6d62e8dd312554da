//! What the long path is about to write, put together while interrupts come in.
//!
//! A draft takes a copy of the writer, changes that, and lists the bytes to write. Then they go into the ring, a few each time
//! interrupts are masked: all but the first lie where no reader looks. Last come the first byte, the state and the copy. Whoever
//! changes the writer meanwhile takes the draft's mark out of it, and the draft is begun anew.

use qs_core::frame::escaped;
use qs_core::ring::{Folded, State};

use super::memory;
use super::writer::{FAR, Writer, digits, with_any, with_laid_out};

/// Most bytes of a draft: all before a frame's data, an interrupt, a statement, the zero behind it.
const MOST: usize = qs_core::record::packed::MAX_HEADER + 8;
/// Bytes that are written at a stretch.
const PIECE: usize = 3;

/// See the module.
pub(super) struct Draft {
    /// As it was, and as it is going to be.
    pub(super) writer: Writer,
    /// As it was.
    pub(super) state: State,
    /// As it is going to be, when it changes.
    pub(super) next: Option<State>,
    /// Around the first byte: it undoes what is counted here.
    pub(super) folded: Option<Folded>,
    /// Position of the first byte.
    pub(super) start: u32,
    pub(super) len: usize,
    /// The sum of the bytes.
    pub(super) sum: u8,
    bytes: [u8; MOST],
}

impl Draft {
    pub(super) const EMPTY: Draft = Draft {
        writer: Writer::NEW,
        state: State(0),
        next: None,
        folded: None,
        start: 0,
        len: 0,
        sum: 0,
        bytes: [0; MOST],
    };

    /// What the writer's key is while this draft is the newest and nothing has changed: where it lies, which no other draft does,
    /// as no statement's.
    fn mark(&self) -> u32 {
        (core::ptr::from_ref(self).addr() >> 2) as u32 | FAR
    }

    /// Begins it.
    pub(super) fn begin(&mut self) {
        let mark = self.mark();
        with_any(|writer| {
            writer.key = mark;
            self.writer = *writer;
            self.state = memory::state();
        });
        (self.next, self.folded) = (None, None);
    }

    /// What is listed from now on goes there.
    pub(super) fn write_at(&mut self, position: u32) {
        (self.start, self.len, self.sum) = (position, 0, 0);
    }

    /// Lists a byte as it is.
    #[inline(never)]
    pub(super) fn plain(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    /// Lists a byte with its escape, and sums it up.
    #[inline(never)]
    pub(super) fn push(&mut self, byte: u8) {
        self.sum = self.sum.wrapping_add(byte);
        escaped(byte, |byte| self.plain(byte));
    }

    /// Lists the digits of a number.
    pub(super) fn digits(&mut self, value: u32) {
        digits(value, |byte| self.push(byte));
    }

    /// Does this with interrupts masked, if the writer still is what the draft was made from; whether it was.
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

    /// Writes bytes there, if it is the newest; whether it was.
    #[inline(never)]
    pub(super) fn write(&self, position: u32, bytes: &[u8]) -> bool {
        self.if_newest(|_| memory::put_all(position, bytes))
    }

    /// Writes it; false when it has to be begun anew.
    pub(super) fn commit(&self) -> bool {
        let [first, rest @ ..] = &self.bytes;
        let mut at = self.start;
        for piece in rest.get(..self.len.wrapping_sub(1)).unwrap_or_default().chunks(PIECE) {
            if !self.write(at.wrapping_add(1), piece) {
                return false;
            }
            at = at.wrapping_add(PIECE as u32);
        }
        self.if_newest(|writer| {
            if let Some(folded) = self.folded {
                memory::set_folded(folded.counted());
            }
            memory::put(self.start, *first);
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
