//! The ring: whole frames behind a header that `qs_core::ring` lays out; overwrites the oldest.
//!
//! One of the two files that may be `unsafe`. It knows neither threads nor files nor clocks.
//!
//! # Appending, with signal handlers on the same thread
//! A ring has one writing thread, but a signal handler may interrupt an append between any two
//! instructions and append as well. No lock is needed, because the handler runs to its end first:
//!
//! 1. The writer notes in `intent` what it appends, and in `open` the state it starts from.
//! 2. It writes the frame behind the committed bytes, then commits by storing the new state.
//! 3. It clears `open`.
//!
//! An append that finds `open` set has interrupted another one. It finishes the interrupted frame
//! from `intent` (unless that one was committed already), puts its own behind it and leaves the
//! resulting state in `fix`; the interrupted append writes the same bytes again, harmlessly, and
//! takes `fix` over when it clears `open`. So a dump taken at any instruction shows every statement:
//! committed frames up to `fix` or `state`, and the one of `intent` behind them.

use qs_core::ring::{self as layout, OPEN, State};

use crate::frame::{Frame, Words};
use crate::sync::{Word, fence};

/// In `open`: an append is under way that is not described by `intent`.
#[cfg(feature = "std")]
const OPAQUE: u64 = OPEN | 1 << 54;

/// The header that every ring has. Field for field `qs_core::ring`'s layout.
#[repr(C, align(8))]
pub(crate) struct Header {
    magic: Word,
    mark: u32,
    facts: [u8; 4],
    header_len: u16,
    reserved: u16,
    size: u32,
    pub(crate) map_hash: Word,
    clock_hz: u32,
    check: u32,
    state: Word,
    open: Word,
    intent: Word,
}

const _: () = {
    assert!(size_of::<Header>() == layout::BARE_HEADER_LEN);
    assert!(core::mem::offset_of!(Header, size) == 20);
    assert!(core::mem::offset_of!(Header, check) == 36);
    assert!(core::mem::offset_of!(Header, intent) == 56);
};

impl Header {
    /// Lays out an empty ring. The magic comes last, so that a half-made header is not found.
    pub(crate) fn init(&mut self, header_len: usize, size: u32, time_width: u8, flags: u8) {
        self.mark = layout::BYTE_ORDER_MARK;
        self.facts = [layout::LAYOUT_VERSION, time_width, qs_core::record::RECORD_BASE, flags];
        self.header_len = header_len as u16;
        self.reserved = 0;
        self.size = size;
        let [a, b] = self.header_len.to_ne_bytes();
        let lens = u32::from_ne_bytes([a, b, 0, 0]);
        self.check = layout::check_word([self.mark, u32::from_ne_bytes(self.facts), lens, size]);
        self.open.store(0);
        self.intent.store(0);
        self.state.store(0);
        fence();
        self.magic.store(u64::from_ne_bytes(layout::MAGIC));
    }
}

impl Header {
    /// Whether [`Header::init`] has run. Memory may hold anything after a reset.
    #[cfg(not(feature = "std"))]
    pub(crate) fn is_laid_out(&self) -> bool {
        self.magic.load() == u64::from_ne_bytes(layout::MAGIC)
    }
}

/// A ring that this program writes: a header of `H`, then `size` bytes of frames.
pub(crate) struct Ring {
    header: *mut Header,
}

impl Ring {
    /// A ring over memory that was laid out with [`Header::init`].
    ///
    /// # Safety
    /// `header` is valid for reads and writes of its header length and size for as long as the
    /// value is used, and only one thread (and what interrupts it) appends through it.
    #[inline(always)]
    pub(crate) const unsafe fn new(header: *mut Header) -> Ring {
        Ring { header }
    }

    #[inline(always)]
    fn header(&self) -> &Header {
        // SAFETY: `new` promises a valid header. Its changing fields are atomic words.
        unsafe { &*self.header }
    }

    /// Where the frame behind `state` starts: memory, offset from its start, and its size.
    #[inline(always)]
    fn place(&self, state: State) -> (*mut u8, usize, usize) {
        let header = self.header();
        let size = header.size as usize;
        // SAFETY: `new` promises `size` bytes behind the header.
        let data = unsafe { self.header.cast::<u8>().add(header.header_len as usize) };
        (data, state.head() as usize & (size - 1), size)
    }

    /// Stores the frame of a statement over the oldest bytes and returns its length.
    #[inline(always)]
    fn put_statement(&self, state: State, word: u32, time: Option<u32>) -> usize {
        let seq = state.seq().wrapping_add(1);
        let (data, at, size) = self.place(state);
        match Words::statement(seq, word, time) {
            Some(Words { first, last, len }) if at + len <= size => {
                // Not a byte more than the frame: a handler's frames may stand behind it.
                // SAFETY: `len` bytes from `at` lie inside the ring, and `len` is at least 8.
                unsafe {
                    data.add(at).cast::<u64>().write_unaligned(first.to_le());
                    data.add(at + len - 8).cast::<u64>().write_unaligned(last.to_le());
                }
                len
            }
            _ => self.put_long(state, word, time),
        }
    }

    /// The same where a byte needs an escape or the frame goes round the end of the ring.
    #[cold]
    #[inline(never)]
    fn put_long(&self, state: State, word: u32, time: Option<u32>) -> usize {
        let frame = Frame::statement(state.seq().wrapping_add(1), word, time);
        self.put(state, &frame);
        frame.len()
    }

    /// Stores any frame, byte by byte.
    fn put(&self, state: State, frame: &Frame) {
        let (data, at, size) = self.place(state);
        for (index, byte) in frame.bytes().iter().take(frame.len()).enumerate() {
            // SAFETY: the masked index is below `size`.
            unsafe { data.add((at + index) & (size - 1)).write(*byte) };
        }
    }

    /// Appends a statement. The caller keeps other writers out (a critical section).
    #[cfg(not(feature = "std"))]
    pub(crate) fn append_alone(&self, word: u32, time: Option<u32>) {
        let header = self.header();
        let state = State(header.state.load());
        header.intent.store(intent(word, time));
        fence();
        header.open.store(state.0 | OPEN);
        fence();
        let len = self.put_statement(state, word, time);
        fence();
        header.state.store(state.after(len).0);
        fence();
        header.open.store(0);
    }
}

#[inline(always)]
fn intent(word: u32, time: Option<u32>) -> u64 {
    u64::from(word) | u64::from(time.unwrap_or(0)) << 32
}

#[cfg(feature = "std")]
mod hosted;
