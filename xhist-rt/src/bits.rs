//! Bits that threads may read while another thread changes them: the filters of records, and the mask of profile
//! events.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use crate::shared::Shared;

/// A set of bits, read and written a word at a time.
pub(crate) struct Bits<const WORDS: usize>([AtomicU32; WORDS]);

impl<const WORDS: usize> Bits<WORDS> {
    pub(crate) const fn new(bits: [u32; WORDS]) -> Bits<WORDS> {
        let (mut words, mut at) = ([const { AtomicU32::new(0) }; WORDS], 0);
        while at < WORDS {
            words[at] = AtomicU32::new(bits[at]);
            at += 1;
        }
        Bits(words)
    }

    /// Whether a bit is set. With a constant index, this is a load and a test.
    #[inline(always)]
    pub(crate) fn has(&self, index: u8) -> bool {
        let index = usize::from(index) % (32 * WORDS);
        self.0[index / 32].load(Relaxed) >> (index % 32) & 1 != 0
    }

    pub(crate) fn get(&self) -> [u32; WORDS] {
        core::array::from_fn(|word| self.0[word].load(Relaxed))
    }

    pub(crate) fn put(&self, bits: [u32; WORDS]) {
        self.0.iter().zip(bits).for_each(|(word, bits)| word.store(bits, Relaxed));
    }

    /// Replaces the bits by a function of their value. Two changes never overlap. Must not be called in a signal
    /// handler.
    pub(crate) fn change(&self, how: impl FnOnce([u32; WORDS]) -> [u32; WORDS]) {
        static TURN: Shared<()> = Shared::new(());
        TURN.with(|()| self.put(how(self.get())));
    }
}
