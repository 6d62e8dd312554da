//! A source text, and what is known about it before parsing.

use crate::macros::Macros;
use crate::refusal::{Refusal, RefusalReason};
use crate::text::{Directives, LineIndex, TokenFingerprint};

/// A source text, and what is known about it before parsing.
pub(crate) struct Code<'a> {
    pub text: &'a str,
    /// Macros of the program, by name.
    pub macros: &'a Macros,
    /// Offset of the first code.
    pub start: usize,
    pub lines: LineIndex,
    pub directives: Directives,
    /// Fingerprint of the token positions.
    pub tokens: TokenFingerprint,
}

impl Code<'_> {
    pub(super) fn refusal(&self, at: usize, reason: RefusalReason) -> Refusal {
        Refusal::new(self.lines.position(at), reason)
    }
}
