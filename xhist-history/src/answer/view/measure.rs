//! How long parts of a call are.

use std::collections::HashMap;

use super::super::content::{CallContent, FoldedCall};
use crate::calls::BodyId;

/// Statements by the function of the calls in a body.
pub(super) fn count(body: &[CallContent], counts: &mut HashMap<BodyId, u64>) {
    for part in body {
        match part {
            CallContent::Call(call) => {
                if let Some(function) = call.function {
                    *counts.entry(function).or_default() += call.statements;
                }
                count(&call.body, counts);
            }
            CallContent::Loop(round) => count(&round.body, counts),
            CallContent::Line { .. } | CallContent::Repeated { .. } | CallContent::Counted(_) => {}
        }
    }
}

/// How many of the newest of these parts a step of about `most` lines shows, and the lines that this adds. Calls of an outline
/// have no lines.
pub(super) fn step(hidden: &[CallContent], is_outline: bool, most: usize) -> (usize, usize) {
    let (mut parts, mut added) = (0, 0);
    for (index, part) in hidden.iter().rev().enumerate() {
        if is_outline && matches!(part, CallContent::Call(_)) && index + 1 < hidden.len() {
            // It comes with the statement before it.
            continue;
        }
        if parts > 0 && added + lines(part) > most {
            break;
        }
        parts = index + 1;
        added += lines(part);
    }
    // Then nothing is folded, so that line is not needed.
    (parts, if parts == hidden.len() { added.saturating_sub(1) } else { added })
}

/// Statements of a call without those of the open call in it.
pub(super) fn own_statements(call: &FoldedCall) -> u64 {
    call.body.iter().map(CallContent::statements).sum()
}

/// Lines of a part whose calls are folded.
pub(super) fn lines(part: &CallContent) -> usize {
    match part {
        CallContent::Loop(round) => round.body.iter().map(lines).sum(),
        _ => 1,
    }
}
