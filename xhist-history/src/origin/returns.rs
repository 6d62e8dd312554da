//! Which expression gave a block, a branch or a function its value.

use super::syntax::{Expression, ExpressionKind, SourceFunction, SyntaxBlock, own_parts, points};

/// The ends of an expression: of each branch the expression that is its value. Of any other expression it is the only end.
pub fn ends(expression: &Expression) -> Vec<&Expression> {
    let mut found = Vec::new();
    add_ends(expression, &mut found);
    found
}

fn add_ends<'s>(expression: &'s Expression, found: &mut Vec<&'s Expression>) {
    match &expression.kind {
        ExpressionKind::Block(block) => add_tail(block, found),
        ExpressionKind::If(_, then, otherwise) => {
            add_tail(then, found);
            otherwise.iter().for_each(|otherwise| add_ends(otherwise, found));
        }
        ExpressionKind::Match(_, arms) => arms.iter().for_each(|arm| add_ends(&arm.body, found)),
        _ => found.push(expression),
    }
}

fn add_tail<'s>(block: &'s SyntaxBlock, found: &mut Vec<&'s Expression>) {
    found.extend(block.tail().and_then(|tail| tail.value.as_ref()).map(ends).into_iter().flatten());
}

/// Whether an expression has branches, so that it depends on the run where its value comes from.
pub fn has_branches(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Block(_) | ExpressionKind::If(..) | ExpressionKind::Match(..))
}

/// What a function returned.
pub enum Returned {
    /// The value of this expression.
    Value(Expression),
    /// The error of this one, by `?`; or, if the flag is set, perhaps the value of the whole statement instead.
    Early(Expression, Option<Expression>),
    /// It is not known.
    Unknown,
}

/// What the body of a function or closure returned whose last statement is at this byte.
pub fn returned(function: &SourceFunction, body: &std::ops::Range<u32>, last: u32) -> Returned {
    let all = points(function);
    let Some(point) = all.iter().find(|point| point.range.start == last) else { return Returned::Unknown };
    let Some(value) = point.value else { return Returned::Unknown };
    if let ExpressionKind::Return(Some(value)) = &value.kind {
        return Returned::Value((**value).clone());
    }
    let closure = all.iter().filter(|point| point.range == *body).find_map(|point| point.value);
    let tails = match closure {
        Some(closure) => ends(closure),
        None => {
            let mut found = Vec::new();
            add_tail(&function.body, &mut found);
            found
        }
    };
    let tail = tails.into_iter().find(|end| end.range.start == last);
    let tries: Vec<&Expression> = own_parts(value)
        .into_iter()
        .filter_map(|part| match &part.kind {
            ExpressionKind::Try(of) => Some(&**of),
            _ => None,
        })
        .collect();
    match (tail, &tries[..]) {
        (Some(tail), []) => Returned::Value(tail.clone()),
        (tail, [only]) => Returned::Early((*only).clone(), tail.cloned()),
        _ => Returned::Unknown,
    }
}
