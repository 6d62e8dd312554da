//! The words of a header that change while a ring is written: state, repetitions, splits, what was shown.

use super::raw::check_word;
use crate::record::words::UnitRepetition;

/// The state word. Bits 0..48: number of bytes ever written. Bits 48..53: length of the open frame's head, 0 = no frame is
/// open. Bits 56..64: sequence number of the newest closed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State(pub u64);

impl State {
    const HEAD_MASK: u64 = (1 << 48) - 1;

    /// The state with closed frames up to `head`. `seq` is the newest of them, and no frame is open.
    #[inline]
    pub const fn closed(head: u64, seq: u8) -> State {
        State((head & State::HEAD_MASK) | (seq as u64) << 56)
    }

    /// This state with an open frame at its head, whose data starts `head_len` bytes behind the head.
    #[inline]
    #[must_use]
    pub const fn with_open(self, head_len: usize) -> State {
        State(self.0 | (head_len as u64 & 0x1F) << 48)
    }

    /// This state without an open frame.
    #[must_use]
    pub const fn without_open(self) -> State {
        State(self.0 & !(0xFF << 48))
    }

    /// Number of bytes of closed frames ever written: the position of the next frame.
    #[inline]
    pub const fn head(self) -> u64 {
        self.0 & State::HEAD_MASK
    }

    /// Sequence number of the newest closed frame, 0 before the first.
    #[inline]
    pub const fn seq(self) -> u8 {
        (self.0 >> 56) as u8
    }

    /// Length of the open frame before its data. `None` if no frame is open.
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

/// The folded word: repetitions of the newest closed frame. Bits 0..24: low bits of the head to which the word belongs. Bit
/// 24: the open frame is one of the repetitions. Bits 25..64: number of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded(pub u64);

impl Folded {
    const HEAD_MASK: u64 = (1 << 24) - 1;
    const COUNTED: u64 = 1 << 24;

    /// The frame that ends at `head` repeats `times` times.
    #[inline]
    pub const fn new(head: u64, times: u64) -> Folded {
        Folded((head & Folded::HEAD_MASK) | times << 25)
    }

    /// This word while the open frame is one of the repetitions, and is about to be cleared.
    #[inline]
    #[must_use]
    pub const fn counted(self) -> Folded {
        Folded(self.0 | Folded::COUNTED)
    }

    /// Number of repetitions of the frame that ends at `head`, and whether the open frame is one of them.
    #[inline]
    pub const fn at(self, head: u64) -> (u64, bool) {
        if self.0 & Folded::HEAD_MASK == head & Folded::HEAD_MASK {
            (self.0 >> 25, self.0 & Folded::COUNTED != 0)
        } else {
            (0, false)
        }
    }
}

/// How far a reader has shown a ring: all frames before a position, and a part of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shown {
    /// Position of a frame's start, counted from the first byte ever written. 48 bits.
    pub position: u64,
    /// Number of statements of that frame that were shown while it was open.
    pub statements: u16,
    /// Number of repetitions of the previous frame that were shown.
    pub repeats: u64,
}

impl Shown {
    /// The two words in a header. First word: bits 0..48 are the position, the others the statements. Second word: bits 0..48
    /// are the repeats, the others a check of both.
    pub const fn words(self) -> [u64; 2] {
        let first = self.position & State::HEAD_MASK | (self.statements as u64) << 48;
        let repeats = self.repeats & State::HEAD_MASK;
        [first, repeats | Shown::check(first, repeats) << 48]
    }

    /// The reverse of [`Shown::words`]. `None` if the check does not match. A new ring has a first word of zero and any second
    /// word, which means that nothing was shown.
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

/// A position with a check of it. The begin word says where the history of a ring begins, because the ring file was emptied
/// while the program ran; the prologue word says where the prologue ends. Bits 0..48 are the position, the others the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedPosition(pub u64);

impl CheckedPosition {
    /// No position.
    pub const NOWHERE: CheckedPosition = CheckedPosition(0);

    /// The word for this position.
    pub const fn at(position: u64) -> CheckedPosition {
        let position = position & State::HEAD_MASK;
        CheckedPosition(position | Shown::check(position, 0) << 48)
    }

    /// The position, if the check matches it.
    pub const fn position(self) -> Option<u64> {
        let position = self.0 & State::HEAD_MASK;
        match self.0 == CheckedPosition::at(position).0 {
            true => Some(position),
            false => None,
        }
    }
}

const _: () = assert!(CheckedPosition::at(0).0 != CheckedPosition::NOWHERE.0);

/// Known causes of losses, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes(pub u32);

impl Causes {
    /// In the first ring of a process: the program closed the descriptor of the ring file, so later rings are in memory
    /// only.
    pub const FILE_CLOSED: Causes = Causes(1);
    /// The thread of this ring ran more statements between two checks for room than the ring has room for.
    pub const NO_CHECK: Causes = Causes(2);

    /// Whether this is one of the causes.
    pub const fn has(self, cause: Causes) -> bool {
        self.0 & cause.0 != 0
    }
}

/// The trim word of a words ring: a recorder is splitting the open chunk, because its units behind the first `kept` ones are
/// periodic. Readers take the first `kept` units, then the repetition in the next word, then the first `residue` units of
/// the last period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Trim(pub u64);

impl Trim {
    /// No chunk is being split.
    pub const NONE: Trim = Trim(0);
    const HEAD_MASK: u64 = (1 << 24) - 1;
    const VALID: u64 = 1 << 63;
    /// The words behind the kept ones are in [`WordsPart::moved`], and there is no repetition.
    pub const MOVED: u64 = 1 << 62;

    /// The chunk that is open at `head` is being split.
    #[inline]
    pub const fn new(head: u64, kept: u16, residue: u16) -> Trim {
        Trim(Trim::VALID | (residue as u64) << 40 | (kept as u64) << 24 | head & Trim::HEAD_MASK)
    }

    /// The numbers of kept units and of residue units. `None` unless the chunk that is open at `head` is being split. What
    /// repeats was there before, so a split keeps some units.
    #[inline]
    pub const fn at(self, head: u64) -> Option<(u16, u16)> {
        let (kept, residue) = ((self.0 >> 24) as u16, (self.0 >> 40) as u16);
        let is_split = kept > 0 || self.0 & Trim::MOVED != 0;
        match self.0 & Trim::VALID != 0 && (self.0 ^ head) & Trim::HEAD_MASK == 0 && is_split {
            true => Some((kept, residue)),
            false => None,
        }
    }
}

/// Number of pauses in a ring's header.
pub const PAUSES: usize = 8;
/// Capacity of [`WordsPart::moved`] in units.
pub const MOVED_UNITS: usize = 64;

/// A pause of the thread between two words of the open chunk: it was seen at the same place twice. The words before the place
/// ran before `since`, the words behind it ran after `until`. Invalid unless `until` is later than the open chunk's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pause {
    /// 1 + offset of the place from the start of the ring, in one of its two mappings. 0 = no pause.
    pub at: u64,
    /// The clock in full when the thread was first seen there.
    pub since: u64,
    /// The clock in full when the thread was last seen there. 0 = not known.
    pub until: u64,
}

impl Pause {
    /// Reads the four words in a header. The last one is the complement of `until`; while it does not match, the pause is being
    /// written, and the result is no pause.
    #[inline]
    pub const fn from_words([at, since, until, check]: [u64; 4]) -> Pause {
        match until == !check {
            true => Pause { at, since, until },
            false => Pause { at: 0, since: 0, until: 0 },
        }
    }

    /// The position of the place. The open chunk has words from position `from` to `to`, in a ring of `size` bytes. `None` if
    /// the place is not among them.
    #[inline]
    pub const fn position(self, size: u64, from: u64, to: u64) -> Option<u64> {
        let Some(offset) = self.at.checked_sub(1) else { return None };
        let position = from + (offset.wrapping_sub(from) & (size - 1));
        if position <= to && position.is_multiple_of(2) { Some(position) } else { None }
    }
}

/// The part of a header that only words rings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WordsPart {
    /// Position behind the last byte that was zeroed for future words.
    pub zeroed: u64,
    /// The current split of the open chunk.
    pub trim: Trim,
    /// The repetition of that split. `None` if its bytes are not a repetition.
    pub trim_repetition: Option<UnitRepetition>,
    /// In a lane, number of the ring whose code the handlers interrupted. `None` in a thread's own ring.
    pub parent: Option<u16>,
    /// Nesting depth of a lane's handlers, from 1. 0 in a thread's own ring.
    pub level: u16,
    /// Why rings of this process are not here.
    pub causes: Causes,
    /// The clock in full when the open chunk was opened. 0 = not known.
    pub open_time: u64,
    /// Position where the history begins, because the ring file was emptied while the program ran. `None` if it was not, or
    /// if the word is damaged.
    pub begin: Option<u64>,
    /// The check of the begin word does not match.
    pub is_begin_damaged: bool,
    /// Position behind the prologue, see [`Header::prologue`](super::Header::prologue). `None` without one.
    pub prologue: Option<u64>,
    /// The prologue word is not that of any prologue that the header has room for.
    pub is_prologue_damaged: bool,
    /// Signals whose handlers were not installed through the C library: bit n-1 is signal n.
    pub foreign_handlers: u64,
    /// Async tasks that began and that ended in this ring, under all of its owners. Both are 0 in older rings.
    pub tasks: (u32, u32),
    /// Pauses of the thread, in any order.
    pub pauses: [Pause; PAUSES],
    /// Words of the open chunk that are being moved, see [`Trim::MOVED`].
    pub moved: [[u8; 8]; MOVED_UNITS / 4],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A position with bits at both ends, and one beyond what a word holds.
    const POSITIONS: [(u64, u64); 3] =
        [(0, 0), (0x8000_0000_0001, 0x8000_0000_0001), (0xFFFF_8000_0000_0003, 0x8000_0000_0003)];

    #[test]
    fn a_state_has_its_head_its_number_and_its_open_frame() {
        for (position, head) in POSITIONS {
            for seq in [0, 1, 0x7F, 255] {
                let closed = State::closed(position, seq);
                assert_eq!((closed.head(), closed.seq(), closed.open()), (head, seq, None));
                let open = closed.with_open(31);
                assert_eq!((open.head(), open.seq(), open.open()), (head, seq, Some(31)));
                assert_eq!(open.without_open(), closed);
                assert_eq!(open.after(5), State::closed(head + 5, seq.wrapping_add(1)));
            }
        }
        // More than the word holds would be another sequence number.
        assert_eq!(State::closed(7, 9).with_open(0xFFE1), State::closed(7, 9).with_open(1));
    }

    #[test]
    fn a_folded_word_belongs_to_one_head() {
        let folded = Folded::new(0x1_2345_6789, 77);
        assert_eq!(folded.at(0x45_6789), (77, false));
        assert_eq!(folded.counted().at(0x1_2345_6789), (77, true));
        assert_eq!([0x45_6788, 0xC5_6789].map(|head| folded.at(head)), [(0, false); 2]);
        assert_eq!(Folded::new(0, (1 << 39) - 1).at(0), ((1 << 39) - 1, false));
    }

    #[test]
    fn what_was_shown_comes_back_and_damage_is_found() {
        for (position, expected) in POSITIONS {
            let shown = Shown { position, statements: 0x8001, repeats: position ^ 6 };
            let [first, second] = shown.words();
            let mask = (1 << 48) - 1;
            let back = Shown { position: expected, repeats: (position ^ 6) & mask, ..shown };
            assert_eq!(Shown::from_words(first, second), Some(back));
            for bit in 0..64 {
                assert_eq!(Shown::from_words(first, second ^ 1 << bit), None, "bit {bit}");
                assert_eq!(Shown::from_words(first ^ 1 << bit, second), None, "bit {bit}");
            }
        }
        // A new ring has any second word.
        assert_eq!(Shown::from_words(0, 5), Some(Shown::default()));
    }

    #[test]
    fn a_checked_position_comes_back_and_damage_is_found() {
        for (position, expected) in POSITIONS {
            let word = CheckedPosition::at(position);
            assert_eq!(word.position(), Some(expected));
            for bit in 0..64 {
                assert_eq!(CheckedPosition(word.0 ^ 1 << bit).position(), None, "bit {bit}");
            }
        }
        assert_eq!(CheckedPosition::NOWHERE.position(), None);
    }

    #[test]
    fn a_split_belongs_to_one_head_and_keeps_units() {
        for (kept, residue) in [(1, 0), (0xFFFF, 0xFFFF), (0x8001, 0x4002)] {
            let trim = Trim::new(0x1_2345_6789, kept, residue);
            assert_eq!(trim.at(0x45_6789), Some((kept, residue)));
            assert_eq!([0x45_6788, 0xC5_6789].map(|head| trim.at(head)), [None; 2]);
            assert_eq!(Trim(trim.0 & !Trim::VALID).at(0x45_6789), None);
        }
        assert_eq!((Trim::NONE.at(0), Trim::new(5, 0, 3).at(5)), (None, None));
        // Units that are being moved may be all.
        assert_eq!(Trim(Trim::new(5, 0, 3).0 | Trim::MOVED).at(5), Some((0, 3)));
    }

    #[test]
    fn causes_are_bits() {
        assert!(Causes::FILE_CLOSED.has(Causes::FILE_CLOSED) && !Causes::FILE_CLOSED.has(Causes::NO_CHECK));
        assert!(Causes(3).has(Causes::NO_CHECK) && !Causes(0).has(Causes::FILE_CLOSED));
    }

    #[test]
    fn a_pause_is_among_the_words_of_the_open_chunk() {
        let pause = Pause::from_words([1 + 0x18, 5, 9, !9]);
        assert_eq!(pause, Pause { at: 0x19, since: 5, until: 9 });
        assert_eq!(Pause::from_words([1, 5, 9, !8]), Pause::default());
        // The ring has 32 bytes, so the place is at each position with these low bits.
        let places = [(0x58, 0x58), (0x50, 0x58), (0x59, 0x78), (0x58, 0x60), (0x50, 0x57)];
        let found = places.map(|(from, to)| pause.position(32, from, to));
        assert_eq!(found, [Some(0x58), Some(0x58), Some(0x78), Some(0x58), None]);
        // The second mapping of the ring, half of a unit, and no pause.
        assert_eq!(Pause { at: 0x39, ..pause }.position(32, 0x50, 0x70), Some(0x58));
        assert_eq!(Pause { at: 0x1A, ..pause }.position(32, 0x50, 0x70), None);
        assert_eq!(Pause::default().position(32, 0x50, 0x70), None);
    }
}
