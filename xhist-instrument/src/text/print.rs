//! Tells two token sequences apart by where their tokens stand.

use std::ops::Range;

/// A 64-bit fingerprint, fed with one token after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenPrint {
    /// Where the code starts.
    pub start: usize,
    value: u64,
}

impl TokenPrint {
    pub fn new(start: usize) -> Self {
        Self { start, value: 0 }
    }

    pub fn see(&mut self, token: &Range<usize>) {
        let place = token.start as u64 ^ (token.end as u64).rotate_left(32);
        self.value = (self.value.rotate_left(5) ^ place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
