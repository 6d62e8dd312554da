//! Closures that methods of the standard library run: which call is that of a closure, and what it got.

use super::frames::Frames;
use super::quest::Quest;
use super::std_methods::gives_inner;
use super::syntax::{Expression, ExpressionKind, own_parts, points};
use crate::recording::{CallId, StepId};

/// The call of the closure in a method's arguments, if it ran once and no other closure is in the statement.
pub fn only_closure(frames: &Frames<'_>, quest: &Quest, until: StepId) -> Option<CallId> {
    let is_closure = |part: &&Expression| matches!(part.kind, ExpressionKind::Closure(..));
    let ExpressionKind::Method(_, _, arguments) = &quest.expression.kind else { return None };
    let all = points(&quest.frame.function);
    let value = all.iter().find(|point| point.range.start == quest.own.offset)?.value?;
    let is_only = own_parts(value).iter().filter(|part| is_closure(part)).count() == 1;
    (is_only && arguments.iter().any(|argument| is_closure(&argument))).then_some(())?;
    match frames.callees(&quest.own, until, "{closure}")[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// What a method of the standard library gave to its closure: what is in the value that it was called on.
pub fn given_to_closure(frames: &mut Frames<'_>, quest: &Quest) -> Option<Quest> {
    let first = frames.recording.call(quest.frame.call)?.first;
    let parent = frames.recording.call(quest.frame.call)?.parent?;
    let (own, frame) = frames.last_statement(parent, first)?;
    let all = points(&frame.function);
    let value = all.iter().find(|point| point.range.start == own.offset)?.value?;
    let is_it = |argument: &Expression| match &argument.kind {
        ExpressionKind::Closure(parameters, body) => parameters.len() == 1 && body.range == quest.frame.body,
        _ => false,
    };
    let of = own_parts(value).into_iter().find_map(|part| match &part.kind {
        ExpressionKind::Method(of, name, arguments) if arguments.iter().any(is_it) => {
            gives_inner(name).then(|| (**of).clone())
        }
        _ => None,
    })?;
    let fields = [vec!["0".to_owned()], quest.fields.clone()].concat();
    Some(Quest { fields, before: first, limit: first, known: None, ..Quest::new(of, frame, own) })
}
