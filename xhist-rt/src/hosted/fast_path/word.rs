//! The word of a statement, computed at compile time.

use qs_core::record::Statement;
use qs_core::record::words::Word;

/// `None` for a statement that no word can represent.
#[inline(always)]
pub(super) const fn word(file: u16, line: u16, number: u32) -> Option<Word> {
    Word::new(Statement { file, line }, number)
}
