//! The only folder that knows the parser: source text in, [`Analysis`] out.

mod attributes;
mod by_example;
mod diverge;
mod edges;
mod reflow;
mod tokens;
mod walk;
mod wrap;

use crate::macros::Macros;
pub(crate) use reflow::reflow;

use crate::options::Options;
use crate::refusal::Refusal;
use crate::site::Analysis;
use crate::text::{Directives, LineIndex, TokenPrint};
use syn::parse::Parser as _;

/// A source text, and what is known about it before parsing.
pub(crate) struct Code<'a> {
    pub text: &'a str,
    /// Macros of the program, by name.
    pub macros: &'a Macros,
    /// First byte that is Rust.
    pub start: usize,
    pub lines: LineIndex,
    pub directives: Directives,
    /// Fingerprint of where its tokens stand.
    pub tokens: TokenPrint,
}

impl Code<'_> {
    fn refusal(&self, at: usize, reason: impl Into<String>) -> Refusal {
        Refusal::new(self.lines.position(at), reason)
    }
}

/// Parses and walks. Recursive: the caller provides the stack.
pub(crate) fn analyze(code: &Code<'_>, options: &Options) -> Result<Analysis, Refusal> {
    // The parser keeps every text of this thread until it is told that no span is used any more.
    let result = parse(code).and_then(|file| walk::walk(&file, code, options));
    proc_macro2::extra::invalidate_current_thread_spans();
    match result {
        // Nobody asked for it to be understood.
        Err(_) if code.directives.whole_file => Ok(Analysis { is_off: true, ..Analysis::default() }),
        result => result,
    }
}

/// Whether the text from byte `start` on parses.
pub(crate) fn check(code: &Code<'_>) -> Result<(), Refusal> {
    let result = parse(code).map(drop);
    proc_macro2::extra::invalidate_current_thread_spans();
    result
}

/// Whether a text is one expression, also where a statement may end earlier: `if a {} -b` are two then. Nothing when it
/// does not parse, or is nested too deeply.
pub(crate) fn is_single_expression(text: &str) -> Option<bool> {
    let nesting = crate::text::nesting(text);
    if nesting > crate::stack::MAX_NESTING {
        return None;
    }
    let parse = || {
        let stmts = syn::Block::parse_within.parse_str(text).ok();
        let is_single = stmts.map(|stmts| match stmts.as_slice() {
            [syn::Stmt::Expr(_, None)] => true,
            [syn::Stmt::Macro(mac)] => mac.semi_token.is_none(),
            _ => false,
        });
        proc_macro2::extra::invalidate_current_thread_spans();
        is_single
    };
    crate::stack::with_room(nesting, parse).ok().flatten()
}

fn parse(code: &Code<'_>) -> Result<syn::File, Refusal> {
    syn::parse_str(&code.text[code.start..]).map_err(|error| {
        let message = error.to_string();
        let (at, message) = if message.starts_with("unexpected end of input") {
            (code.text.trim_end().len(), message)
        } else if message.starts_with("lex error") || message.starts_with("cannot parse string") {
            let message = "unbalanced bracket, unclosed string or character unknown to Rust".to_owned();
            (code.start + error.span().byte_range().start, message)
        } else {
            (code.start + error.span().byte_range().start, message)
        };
        code.refusal(at, format!("does not parse: {message}; left alone"))
    })
}
