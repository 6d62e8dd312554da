//! Which expression gave a block, a branch or a function its value.

use super::syntax::{Expression, ExpressionKind, SourceFunction, SyntaxBlock, SyntaxPart, own_parts, points};

/// The end of a branch.
#[derive(Clone, Copy)]
pub struct BranchEnd<'s> {
    /// The first byte of the statement that ran: that of the value, or of the `break` in front.
    pub at: u32,
    /// The value of the branch.
    pub value: &'s Expression,
}

/// The ends of an expression: of each branch the expression that is its value, of a `loop` what leaves it. Of any other
/// expression it is the only end.
pub fn ends(expression: &Expression) -> Vec<BranchEnd<'_>> {
    let mut found = Vec::new();
    add_ends(expression, &mut found);
    found
}

fn add_ends<'s>(expression: &'s Expression, found: &mut Vec<BranchEnd<'s>>) {
    match &expression.kind {
        ExpressionKind::Block(block) => add_tail(block, found),
        ExpressionKind::If(_, then, otherwise) => {
            add_tail(then, found);
            otherwise.iter().for_each(|otherwise| add_ends(otherwise, found));
        }
        ExpressionKind::Match(_, arms) => arms.iter().for_each(|arm| add_ends(&arm.body, found)),
        ExpressionKind::Loop(None, body) => add_breaks_of(body, found),
        _ => found.push(BranchEnd { at: expression.range.start, value: expression }),
    }
}

fn add_tail<'s>(block: &'s SyntaxBlock, found: &mut Vec<BranchEnd<'s>>) {
    found.extend(block.tail().and_then(|tail| tail.value.as_ref()).map(ends).into_iter().flatten());
}

/// Each `break` with a value that leaves the loop around. Loops inside have their own.
fn add_breaks<'s>(expression: &'s Expression, found: &mut Vec<BranchEnd<'s>>) {
    match &expression.kind {
        ExpressionKind::Jump(Some(value)) => found.push(BranchEnd { at: expression.range.start, value }),
        ExpressionKind::Loop(..) | ExpressionKind::For(..) | ExpressionKind::Closure(..) => {}
        _ => {
            for part in expression.parts() {
                match part {
                    SyntaxPart::Expression(part) => add_breaks(part, found),
                    SyntaxPart::Block(block) => add_breaks_of(block, found),
                    SyntaxPart::Arm(arm) => add_breaks(&arm.body, found),
                }
            }
        }
    }
}

fn add_breaks_of<'s>(block: &'s SyntaxBlock, found: &mut Vec<BranchEnd<'s>>) {
    for statement in &block.statements {
        statement.value.iter().for_each(|value| add_breaks(value, found));
        statement.otherwise.iter().for_each(|otherwise| add_breaks_of(otherwise, found));
    }
}

/// Whether the statement at this byte is the end of a branch of this expression, or of a branch within it, as in
/// `Ok(match a { .. })`.
fn has_end(expression: &Expression, last: u32) -> bool {
    if has_branches(expression) {
        return ends(expression).into_iter().any(|end| end.at == last || has_end(end.value, last));
    }
    let is_passed_on = !matches!(
        expression.kind,
        ExpressionKind::Closure(..)
            | ExpressionKind::Loop(..)
            | ExpressionKind::For(..)
            | ExpressionKind::Try(_)
    );
    let has_it = |part: &SyntaxPart<'_>| matches!(part, SyntaxPart::Expression(part) if part.range.contains(&last) && has_end(part, last));
    is_passed_on && expression.parts().iter().any(has_it)
}

/// Whether an expression has branches, so that it depends on the run where its value comes from.
pub fn has_branches(expression: &Expression) -> bool {
    matches!(
        expression.kind,
        ExpressionKind::Block(_)
            | ExpressionKind::If(..)
            | ExpressionKind::Match(..)
            | ExpressionKind::Loop(None, _)
    )
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

/// What the body of a function or closure returned whose last statement is at this byte. `has_run`: whether that statement
/// called a function of this name.
pub fn returned(
    function: &SourceFunction,
    body: &std::ops::Range<u32>,
    last: u32,
    has_run: impl Fn(&str) -> bool,
) -> Returned {
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
    let tail = tails.into_iter().find(|end| end.at == last || has_end(end.value, last)).map(|end| end.value);
    let parts = own_parts(value);
    let returned = all.iter().filter_map(|point| match &point.value?.kind {
        ExpressionKind::Return(Some(value)) => Some(&**value),
        _ => None,
    });
    let tail = tail.or_else(|| returned.into_iter().find(|value| has_end(value, last)));
    let tries: Vec<&Expression> = parts
        .iter()
        .filter_map(|part| match &part.kind {
            ExpressionKind::Try(of) => Some(&**of),
            _ => None,
        })
        .collect();
    let is_passed = || calls_behind(&parts, &tries).into_iter().any(has_run);
    match (tail, &tries[..]) {
        (Some(tail), tries) if tries.is_empty() || is_passed() => Returned::Value(tail.clone()),
        (tail, [only]) => Returned::Early((*only).clone(), tail.cloned()),
        _ => Returned::Unknown,
    }
}

/// The functions whose calls run behind every `?` among these parts of a statement: a `?` before a call that ran has not
/// returned. Names that are also called elsewhere are left out.
fn calls_behind<'p>(parts: &[&'p Expression], tries: &[&Expression]) -> Vec<&'p str> {
    let calls = parts.iter().filter_map(|part| Some((&part.range, called(part)?)));
    let calls: Vec<_> = calls.collect();
    let is_behind = |range: &std::ops::Range<u32>| tries.iter().all(|of| range.end > of.range.end);
    let is_elsewhere = |name: &str| calls.iter().any(|(range, other)| *other == name && !is_behind(range));
    calls
        .iter()
        .filter(|(range, name)| is_behind(range) && !is_elsewhere(name))
        .map(|(_, name)| *name)
        .collect()
}

/// The name of the function that a call calls.
pub fn called(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        ExpressionKind::Method(_, name, _) => Some(name),
        ExpressionKind::Call(to, _) => match &to.kind {
            ExpressionKind::Path(segments) => segments.last().map(|last| &**last),
            _ => None,
        },
        _ => None,
    }
}
