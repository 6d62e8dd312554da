//! What can be said about a source text without parsing it.

mod directives;
mod lexer;
mod lines;
mod macros;
mod nesting;
mod prefix;
mod print;
mod tokens;

pub(crate) use directives::Directives;
pub(crate) use lexer::{Kind, Lexer};
pub(crate) use lines::LineIndex;
pub(crate) use macros::{Import, Module, Scope};
pub(crate) use prefix::{bom_len, code_start};
pub(crate) use print::TokenPrint;
pub(crate) use tokens::{Place, Tokens};

use directives::Directive;
use nesting::Nesting;

/// What one pass over the tokens shows.
pub(crate) struct Survey {
    /// How deep a parser may have to recurse.
    pub nesting: usize,
    pub directives: Directives,
    /// Fingerprint of where the tokens stand.
    pub tokens: TokenPrint,
}

/// Looks over the code of `text` from byte `start` on.
pub(crate) fn survey(text: &str, start: usize, lines: &LineIndex) -> Survey {
    let mut nesting = Nesting::new();
    let mut found = Vec::new();
    let mut first_code = None;
    let mut print = TokenPrint::new(start);
    for (kind, range) in Lexer::new(text.as_bytes(), start) {
        print.see(&range);
        if kind != Kind::Comment {
            first_code.get_or_insert(range.start);
        }
        nesting.see(kind, &text.as_bytes()[range.clone()]);
        if kind == Kind::Comment && range.len() < 100 && text[range.clone()].contains("xhist") {
            let directive = Directive::parse(&text[range.clone()], lines.line(range.start));
            found.extend(directive.filter(|_| is_alone(text.as_bytes(), range)));
        }
    }
    let first_line = first_code.map_or(u32::MAX, |at| lines.line(at));
    Survey { nesting: nesting.deepest(), directives: Directives::new(&found, first_line), tokens: print }
}

/// How deep a parser may have to recurse into a text.
pub(crate) fn nesting(text: &str) -> usize {
    let mut nesting = Nesting::new();
    Lexer::new(text.as_bytes(), 0).for_each(|(kind, range)| nesting.see(kind, &text.as_bytes()[range]));
    nesting.deepest()
}

/// Nothing but blanks stands beside this range on its line.
fn is_alone(text: &[u8], range: std::ops::Range<usize>) -> bool {
    let blank_until_newline = |byte: &u8| *byte == b'\n' || !byte.is_ascii_whitespace();
    let before = text[..range.start].iter().rev().find(|byte| blank_until_newline(byte));
    let after = text[range.end..].iter().find(|byte| blank_until_newline(byte));
    [before, after].iter().all(|edge| matches!(edge, None | Some(b'\n')))
}
