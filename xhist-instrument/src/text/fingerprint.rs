//! Fingerprints of texts and of token positions, to compare two of them.

use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher as _};
use std::ops::Range;

/// Identifies a text, for this program.
pub(crate) fn fingerprint(text: &[u8]) -> u64 {
    let mut hash = DefaultHasher::new();
    hash.write(text);
    hash.finish()
}

/// A 64-bit fingerprint of the tokens added so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenFingerprint {
    /// Offset of the first code.
    pub start: usize,
    value: u64,
}

impl TokenFingerprint {
    pub fn new(start: usize) -> Self {
        Self { start, value: 0 }
    }

    pub fn add(&mut self, token: &Range<usize>) {
        let place = token.start as u64 ^ (token.end as u64).rotate_left(32);
        self.value = (self.value.rotate_left(5) ^ place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
