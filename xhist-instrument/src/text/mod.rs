//! Properties of a source text that need no parser: tokens, lines, directives, nesting, macro scopes.

pub(crate) mod stack;

mod directives;
mod fingerprint;
mod lexer;
mod lines;
mod macro_scope;
mod nesting;
mod prefix;
mod tokens;

pub(crate) use directives::Directives;
pub(crate) use fingerprint::{TokenFingerprint, fingerprint};
pub(crate) use lexer::{Lexer, TokenKind};
pub(crate) use lines::LineIndex;
pub(crate) use macro_scope::{Import, MacroScope, ModuleDeclaration};
pub(crate) use prefix::{BadPrefix, bom_len, code_start};
pub(crate) use tokens::{TokenContext, Tokens};

use directives::Directive;
use nesting::Nesting;

/// The result of one pass over the tokens.
pub(crate) struct Survey {
    /// Upper bound of a parser's recursion depth.
    pub nesting: usize,
    pub directives: Directives,
    /// Fingerprint of the token positions.
    pub tokens: TokenFingerprint,
}

/// Scans the code of `text` from byte `start` on.
pub(crate) fn survey(text: &str, start: usize, lines: &LineIndex) -> Survey {
    let mut nesting = Nesting::new();
    let mut found = Vec::new();
    let mut first_code = None;
    let mut fingerprint = TokenFingerprint::new(start);
    for (kind, range) in Lexer::new(text.as_bytes(), start) {
        fingerprint.add(&range);
        if kind != TokenKind::Comment {
            first_code.get_or_insert(range.start);
        }
        nesting.add(kind, &text.as_bytes()[range.clone()]);
        if kind == TokenKind::Comment && range.len() < 100 && text[range.clone()].contains("xhist") {
            let directive = Directive::parse(&text[range.clone()], lines.line(range.start));
            found.extend(directive.filter(|_| is_alone(text.as_bytes(), range)));
        }
    }
    let first_line = first_code.map_or(u32::MAX, |at| lines.line(at));
    Survey {
        nesting: nesting.deepest(),
        directives: Directives::new(&found, first_line),
        tokens: fingerprint,
    }
}

/// Upper bound of a parser's recursion depth for a text.
pub(crate) fn nesting(text: &str) -> usize {
    let mut nesting = Nesting::new();
    Lexer::new(text.as_bytes(), 0).for_each(|(kind, range)| nesting.add(kind, &text.as_bytes()[range]));
    nesting.deepest()
}

/// Whether the line has only blanks besides this range.
fn is_alone(text: &[u8], range: std::ops::Range<usize>) -> bool {
    let blank_until_newline = |byte: &u8| *byte == b'\n' || !byte.is_ascii_whitespace();
    let before = text[..range.start].iter().rev().find(|byte| blank_until_newline(byte));
    let after = text[range.end..].iter().find(|byte| blank_until_newline(byte));
    [before, after].iter().all(|edge| matches!(edge, None | Some(b'\n')))
}
