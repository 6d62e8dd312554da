//! Parses a source text and analyses it. All use of the parser is in this folder.

mod attributes;
mod bindings;
mod code;
mod constness;
mod diverge;
mod edges;
mod macro_expander;
mod old_editions;
mod priorities;
mod reflow;
mod token_scan;
mod walk;
mod wrap;

pub(crate) use code::Code;
pub(crate) use reflow::reflow;

use crate::options::Options;
use crate::refusal::{Refusal, RefusalReason};
use crate::site::analysis::Analysis;
use syn::parse::Parser as _;

/// Parses and walks. Recursive: the caller provides a sufficient stack.
pub(crate) fn analyze(code: &Code<'_>, options: &Options) -> Result<Analysis, Refusal> {
    // The parser keeps every text of this thread until its spans are invalidated.
    let result = parse(code).and_then(|file| {
        let analysis = walk::walk(&file, code, options)?;
        Ok(Analysis { constness: constness::note(&file, code.start), ..analysis })
    });
    proc_macro2::extra::invalidate_current_thread_spans();
    match result {
        // A file that is switched off need not parse.
        Err(_) if code.directives.whole_file => Ok(Analysis { is_off: true, ..Analysis::default() }),
        result => result,
    }
}

/// Checks that the text parses.
pub(crate) fn check(code: &Code<'_>) -> Result<(), Refusal> {
    let result = parse(code).map(drop);
    proc_macro2::extra::invalidate_current_thread_spans();
    result
}

/// Whether a text is one expression even as a statement: `if a {} -b` is one expression, but two statements. `None`
/// if it does not parse, or is nested too deeply.
pub(crate) fn is_single_expression(text: &str) -> Option<bool> {
    let nesting = crate::text::nesting(text);
    if nesting > crate::text::stack::MAX_NESTING {
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
    crate::text::stack::with_sufficient_stack(nesting, parse).ok().flatten()
}

fn parse(code: &Code<'_>) -> Result<syn::File, Refusal> {
    let text = &code.text[code.start..];
    syn::parse_str(text).or_else(|error| old_editions::parse(text).ok_or(error)).map_err(|error| {
        let message = error.to_string();
        let (at, message) = if message.starts_with("unexpected end of input") {
            (code.text.trim_end().len(), message)
        } else if message.starts_with("lex error") || message.starts_with("cannot parse string") {
            let message = "unbalanced bracket, unclosed string or character unknown to Rust".to_owned();
            (code.start + error.span().byte_range().start, message)
        } else {
            (code.start + error.span().byte_range().start, message)
        };
        code.refusal(at, RefusalReason::Unparsable(message))
    })
}
