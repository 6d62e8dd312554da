//! The words of a header that change while a ring is written: state, folds, trims, what was shown.

use super::raw::check_word;
use crate::record::packed;
use crate::record::words::Again;

/// The facts in a state word: bits 0..48 bytes ever written, 48..53 length of the open frame's head (0: no
/// frame is open), 56..64 sequence number of the newest closed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State(pub u64);

impl State {
    const HEAD_MASK: u64 = (1 << 48) - 1;

    /// The state in which frames end at `head`, the newest of them is `seq`, and no frame is open.
    #[inline]
    pub const fn closed(head: u64, seq: u8) -> State {
        State((head & State::HEAD_MASK) | (seq as u64) << 56)
    }

    /// The same with a frame open at its head, whose data starts `head_len` bytes behind that.
    #[inline]
    #[must_use]
    pub const fn with_open(self, head_len: usize) -> State {
        State(self.0 | (head_len as u64 & 0x1F) << 48)
    }

    /// The same with no frame open.
    #[must_use]
    pub const fn without_open(self) -> State {
        State(self.0 & !(0xFF << 48))
    }

    /// Bytes of closed frames ever written.
    #[inline]
    pub const fn head(self) -> u64 {
        self.0 & State::HEAD_MASK
    }

    /// Sequence number of the newest closed frame (0 before the first).
    #[inline]
    pub const fn seq(self) -> u8 {
        (self.0 >> 56) as u8
    }

    /// Bytes of the open frame before its data; `None` when no frame is open.
    #[inline]
    pub const fn open(self) -> Option<usize> {
        match (self.0 >> 48 & 0x1F) as usize {
            0 => None,
            len => Some(len),
        }
    }

    /// The state after one more closed frame of `len` bytes.
    #[inline]
    #[must_use]
    pub const fn after(self, len: usize) -> State {
        State::closed(self.head() + len as u64, self.seq().wrapping_add(1))
    }
}

/// The facts in the folded word: bits 0..24 low bits of the head that it belongs to, bit 24 the open frame is one of
/// those counted, bits 25..64 how often the closed frame before it came again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded(pub u64);

impl Folded {
    const HEAD_MASK: u64 = (1 << 24) - 1;
    const COUNTED: u64 = 1 << 24;

    /// The frame that ends at `head` came `times` more times.
    #[inline]
    pub const fn new(head: u64, times: u64) -> Folded {
        Folded((head & Folded::HEAD_MASK) | times << 25)
    }

    /// The same while what the open frame holds is one of those times, and is about to be cleared.
    #[inline]
    #[must_use]
    pub const fn counted(self) -> Folded {
        Folded(self.0 | Folded::COUNTED)
    }

    /// How often the frame that ends at `head` came again, and whether what the open frame holds is counted.
    #[inline]
    pub const fn at(self, head: u64) -> (u64, bool) {
        if self.0 & Folded::HEAD_MASK == head & Folded::HEAD_MASK {
            (self.0 >> 25, self.0 & Folded::COUNTED != 0)
        } else {
            (0, false)
        }
    }
}

/// How far a reader has shown a ring: all frames before a position, and a part of what followed when it looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shown {
    /// Position where a frame starts, counted from the first byte ever written; 48 bits.
    pub position: u64,
    /// Statements of that frame that were shown while it was open.
    pub statements: u16,
    /// How often the frame before it had come again by then.
    pub repeats: u64,
}

impl Shown {
    /// As a header has it: bits 0..48 of the first word are the position, the others the statements; bits 0..48 of the
    /// second word are the repeats, the others a check of both.
    pub const fn words(self) -> [u64; 2] {
        let first = self.position & State::HEAD_MASK | (self.statements as u64) << 48;
        let repeats = self.repeats & State::HEAD_MASK;
        [first, repeats | Shown::check(first, repeats) << 48]
    }

    /// The reverse of [`Shown::words`]; `None` when the check does not match. A recorder that lays a ring out clears the
    /// first word only, so a first word of zero means that nothing was shown.
    pub const fn from_words(first: u64, second: u64) -> Option<Shown> {
        let repeats = second & State::HEAD_MASK;
        if first == 0 {
            return Some(Shown { position: 0, statements: 0, repeats: 0 });
        }
        if second >> 48 != Shown::check(first, repeats) {
            return None;
        }
        Some(Shown { position: first & State::HEAD_MASK, statements: (first >> 48) as u16, repeats })
    }

    const fn check(first: u64, repeats: u64) -> u64 {
        let check = check_word([first as u32, (first >> 32) as u32, repeats as u32, (repeats >> 32) as u32]);
        ((check >> 16) ^ (check & 0xFFFF)) as u64
    }
}

/// The fact in the touched word: a byte that a statement adds its code to and takes it back, because a signal handler
/// or the frame's end came before. The handler that interrupts it tells; 0 for none, otherwise one more than twice the
/// byte's place in the ring, and 1 where it is no step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched(pub u32);

impl Touched {
    /// No byte.
    pub const NONE: Touched = Touched(0);

    /// The end of a frame's data.
    pub const fn end(index: usize) -> Touched {
        Touched((index as u32).wrapping_mul(2).wrapping_add(1))
    }

    /// No step: a handler was faster.
    pub const fn skip(index: usize) -> Touched {
        Touched((index as u32).wrapping_mul(2).wrapping_add(2))
    }

    /// Its place in the ring, and what it is when nobody changes it.
    pub const fn byte(self) -> Option<(usize, &'static [u8; 1])> {
        match self.0.checked_sub(1) {
            None => None,
            Some(word) => Some((
                (word / 2) as usize,
                if word % 2 == 0 { &[packed::step::END] } else { &[packed::step::SKIP] },
            )),
        }
    }
}

/// The facts in the trim word of a words ring: a recorder is splitting the open chunk, because the units behind the first
/// `kept` of it are periodic. Readers take the first `kept` units, then the repetition in the word behind this one, then
/// the first `residue` units of the last period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Trim(pub u64);

impl Trim {
    /// No chunk is being split.
    pub const NONE: Trim = Trim(0);
    const HEAD_MASK: u64 = (1 << 24) - 1;
    const VALID: u64 = 1 << 63;
    /// The words behind the kept ones are in [`WordsPart::moved`] meanwhile, and nothing came again.
    pub const MOVED: u64 = 1 << 62;

    /// The chunk that is open at `head` is being split.
    #[inline]
    pub const fn new(head: u64, kept: u16, residue: u16) -> Trim {
        Trim(Trim::VALID | (residue as u64) << 40 | (kept as u64) << 24 | head & Trim::HEAD_MASK)
    }

    /// Units kept and units of the residue; `None` unless the chunk that is open at `head` is being split.
    #[inline]
    pub const fn at(self, head: u64) -> Option<(u16, u16)> {
        if self.0 & Trim::VALID == 0 || (self.0 ^ head) & Trim::HEAD_MASK != 0 {
            return None;
        }
        Some(((self.0 >> 24) as u16, (self.0 >> 40) as u16))
    }
}

/// Pauses of its thread that a ring remembers.
pub const PAUSES: usize = 8;
/// Units that [`WordsPart::moved`] has room for.
pub const MOVED_UNITS: usize = 64;

/// A place among the words of the open chunk where the thread was found twice: the words before it ran before `since`,
/// those behind it ran after `until`. It is void unless `until` is later than the open chunk's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pause {
    /// One more than how far the place is behind the start of the ring, in one of its two mappings; 0 = no pause.
    pub at: u64,
    /// The clock in full.
    pub since: u64,
    /// The clock in full; 0 = not known.
    pub until: u64,
}

impl Pause {
    /// From its words, the last of which is the reverse of `until`. A pause that is being written is none.
    #[inline]
    pub const fn from_words([at, since, until, check]: [u64; 4]) -> Pause {
        match until == !check {
            true => Pause { at, since, until },
            false => Pause { at: 0, since: 0, until: 0 },
        }
    }

    /// The position of its place in the open chunk, whose words of a ring of `size` bytes go from `from` to `to`.
    #[inline]
    pub const fn position(self, size: u64, from: u64, to: u64) -> Option<u64> {
        let Some(offset) = self.at.checked_sub(1) else { return None };
        let position = from + (offset.wrapping_sub(from) & (size - 1));
        if position <= to && position.is_multiple_of(2) { Some(position) } else { None }
    }
}

/// What only the header of a words ring has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WordsPart {
    /// Position behind the last byte that was zeroed for words to come.
    pub zeroed: u64,
    /// The split of the open chunk that is under way.
    pub trim: Trim,
    /// The repetition of that split; `None` when its bytes are not those of one.
    pub trim_again: Option<Again>,
    /// Number of the ring whose code the handlers of this lane interrupted; `None` for a thread's own ring.
    pub parent: Option<u16>,
    /// How many handlers deep a lane is, from 1; 0 for a thread's own ring.
    pub level: u16,
    /// The clock in full when the open chunk was opened; 0 = not known.
    pub open_time: u64,
    /// Signals whose handler was installed behind the C library's back: bit n-1 is signal n.
    pub foreign_handlers: u64,
    /// Pauses of the thread, in any order.
    pub pauses: [Pause; PAUSES],
    /// Words of the open chunk that are being moved, see [`Trim::MOVED`].
    pub moved: [[u8; 8]; MOVED_UNITS / 4],
}
