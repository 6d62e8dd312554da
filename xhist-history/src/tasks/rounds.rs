//! Which loops may go on to their next round behind a statement. No statement records that they do.

use crate::model::{BodyKind, FileCode, Jump, Span};

/// The loops of its body that may go on when this statement ran last, innermost first, each with the line of the first
/// statement in it.
pub fn loops_that_go_on(
    code: &FileCode,
    spans: &[Span],
    statement: &Span,
    jump: Option<Jump>,
) -> Vec<(Span, u32)> {
    let mut found = Vec::new();
    let (mut last, mut jump) = (*statement, jump);
    if matches!(jump, Some(Jump::Return | Jump::Panic | Jump::Label)) {
        return found;
    }
    let own = body(code, statement);
    let is_own = |span: &&Span| body(code, span) == own;
    while let Some(around) = loop_around(code, &last).filter(|around| is_own(around)) {
        let inside = || {
            spans.iter().filter(is_own).filter(|span| start(span) > start(around) && around.contains(span))
        };
        let follows = |span: &Span| start(span) >= end(&last) && !is_other_branch(code, &last, span);
        match jump.take() {
            // It leaves this loop, and the next round is that of the loop around.
            Some(Jump::Break) => {}
            None if inside().any(follows) => break,
            _ => found.extend(inside().map(|span| span.line).min().map(|first| (*around, first))),
        }
        last = *around;
    }
    found
}

/// The innermost loop with this place in it. A statement that is a loop is not in it.
fn loop_around<'a>(code: &'a FileCode, last: &Span) -> Option<&'a Span> {
    let around = code.loops.iter().filter(|around| start(around) < start(last) && around.contains(last));
    around.max_by_key(|around| start(around))
}

/// The innermost body around a place. A closure belongs to the body that it is written in.
fn body(code: &FileCode, place: &Span) -> Option<Span> {
    let bodies = code.bodies.iter().filter(|body| body.kind != BodyKind::Closure);
    bodies.map(|body| body.span).filter(|body| body.contains(place)).max_by_key(start)
}

/// Whether a later place is in another branch of a choice that `last` is in.
fn is_other_branch(code: &FileCode, last: &Span, later: &Span) -> bool {
    let mut branches = code.branches.iter();
    branches
        .any(|(branch, past)| branch.contains(last) && start(later) >= end(branch) && start(later) < *past)
}

fn start(span: &Span) -> (u32, u32) {
    (span.line, span.col)
}

fn end(span: &Span) -> (u32, u32) {
    (span.end_line, span.end_col)
}
