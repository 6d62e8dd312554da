//! Finds the statement that changed a variable last.

use super::changes::{Change, GivenBy, KnownVariable, changes, variable};
use super::frames::{Frames, OwnStep, SyntaxFrame};
use super::std_methods::only_reads;
use super::syntax::{SourceFunction, points};
use crate::recording::StepId;

/// Calls inside each other that are searched.
const DEEPEST: u32 = 24;

/// What changed a variable last.
pub enum LastChange {
    /// A statement, which may be one of a function that was called, with what it does and the variable as it is known there.
    Found(Box<(OwnStep, SyntaxFrame, KnownVariable, Vec<String>, Change)>),
    /// Nothing: it is as it was when its function was entered.
    Entered,
    /// Why it is not known.
    Unknown(String),
}

/// The last change of these fields of a variable before a step. `used`: the statement that uses the variable.
pub fn last_change(
    frames: &mut Frames<'_>,
    frame: &SyntaxFrame,
    (known, fields): (&KnownVariable, &[String]),
    (before, used): (StepId, StepId),
    depth: u32,
) -> LastChange {
    if depth > DEEPEST {
        return LastChange::Unknown(format!("more than {DEEPEST} calls change it"));
    }
    let by_point = changes(&frame.function, known);
    let mut has_begun = false;
    for own in frames.own_steps(frame, before) {
        let Some(found) = by_point.get(&own.offset) else { continue };
        for change in found.iter().rev() {
            let found = |change: &Change| {
                let found = (own.clone(), frame.clone(), known.clone(), fields.to_vec(), change.clone());
                LastChange::Found(Box::new(found))
            };
            match change {
                Change::Declared => return found(change),
                // Earlier rounds were of another value.
                Change::Begun => has_begun = true,
                _ if has_begun => {}
                Change::Assigned(to, ..) if overlap(to, fields) => {
                    // In `a = if b { a + 1 } else { a }` the branches read what was there before.
                    let until = frames.window_end(
                        frame,
                        own.step,
                        (own.offset, &statement_text(&frame.function, own.offset)),
                    );
                    if own.step >= used || until <= used {
                        return found(change);
                    }
                }
                Change::Lent(to) if known.is_changeable && overlap(to, fields) => {
                    let place = frames.recording.place(own.site);
                    return LastChange::Unknown(format!(
                        "`{}` is lent in {place}, and changes by reference are not followed",
                        known.name
                    ));
                }
                Change::Passed(name, number, to) if overlap(to, fields) => {
                    let within = statement_text(&frame.function, own.offset);
                    let rest = fields.get(to.len()..).unwrap_or_default();
                    let passed = Passed { name, number: *number, rest, within: &within };
                    match in_callees(frames, frame, known, &own, passed, depth) {
                        LastChange::Entered => {}
                        other => return other,
                    }
                }
                _ => {}
            }
        }
    }
    LastChange::Entered
}

/// The text of the statement at this byte.
pub fn statement_text(function: &SourceFunction, offset: u32) -> std::ops::Range<u32> {
    let found = points(function).into_iter().find(|point| point.range.start == offset);
    found.map(|point| point.range).unwrap_or_default()
}

/// A variable that was passed to a function.
struct Passed<'p> {
    name: &'p str,
    number: usize,
    rest: &'p [String],
    within: &'p std::ops::Range<u32>,
}

/// The last change in the calls that a statement passed a variable to.
fn in_callees(
    frames: &mut Frames<'_>,
    frame: &SyntaxFrame,
    known: &KnownVariable,
    own: &OwnStep,
    passed: Passed<'_>,
    depth: u32,
) -> LastChange {
    let Passed { name, number, rest, within } = passed;
    let caller = if own.call == frame.call { Some(frame.clone()) } else { frames.frame(own.call, own.site) };
    let Some(caller) = caller else { return LastChange::Entered };
    let until = frames.window_end(&caller, own.step, (own.offset, within));
    let callees = frames.callees(own, until, name);
    if callees.is_empty() {
        let reads = !known.is_changeable || only_reads(name);
        let place = frames.recording.place(own.site);
        return match reads {
            true => LastChange::Entered,
            false => LastChange::Unknown(format!(
                "`{name}` in {place} may have changed `{}`, and is not recorded",
                known.name
            )),
        };
    }
    for callee in callees.into_iter().rev() {
        let end = frames.end(callee);
        let Some((_, inner)) = frames.last_statement(callee, end) else {
            return LastChange::Unknown(format!("the source text of `{name}` is not known"));
        };
        let parameter = inner.function.parameters.get(number);
        let Some(parameter) = parameter.filter(|parameter| parameter.is_mut_reference) else { continue };
        if inner.function.lends {
            let place = frames.recording.place(own.site);
            let why = "what it returned may have changed it later";
            return LastChange::Unknown(format!("`{name}` got `{}` in {place}, and {why}", known.name));
        }
        let [only] = &parameter.pattern.names[..] else {
            return LastChange::Unknown(format!("`{name}` takes its parameter apart"));
        };
        let Some(inside) = variable(&inner.function, &only.name, inner.function.body.range.start) else {
            continue;
        };
        match last_change(frames, &inner, (&inside, rest), (end, end), depth + 1) {
            LastChange::Entered => {}
            other => return other,
        }
    }
    LastChange::Entered
}

/// Whether one of two places is the other, or a part of it.
fn overlap(one: &[String], other: &[String]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// The recorded value of these fields of a variable before a step, if nothing else can have changed it since.
pub fn value_of(
    frames: &mut Frames<'_>,
    frame: &SyntaxFrame,
    (known, fields): (&KnownVariable, &[String]),
    (before, used): (StepId, StepId),
) -> Option<String> {
    match last_change(frames, frame, (known, &[]), (before, used), 0) {
        LastChange::Found(found) => {
            let (own, changed, inside, _, change) = *found;
            let is_whole = match &change {
                Change::Assigned(to, ..) => to.is_empty(),
                _ => true,
            };
            (is_whole && changed.call == frame.call && inside.at == known.at).then_some(())?;
            recorded(frames, frame, (known, fields), (&own, &change), (before, used))
        }
        LastChange::Entered if matches!(known.by, GivenBy::Parameter(_)) => {
            at_entry(frames, frame, known, fields)
        }
        _ => None,
    }
}

/// The recorded value of these fields of a parameter: it is recorded behind the first statement.
pub fn at_entry(
    frames: &mut Frames<'_>,
    frame: &SyntaxFrame,
    known: &KnownVariable,
    fields: &[String],
) -> Option<String> {
    let first = frames.recording.call(frame.call)?.first;
    let line = frames.sources.line(frame.file, known.at);
    let value = frames.value(frame.call, &known.name, line, first..StepId(first.0 + 1))?;
    super::value_text::fields(&value, fields)
}

/// The recorded value that a statement gave to these fields of a variable. What runs from `before` on is no part of it, unless that is
/// the statement itself. `used`: the statement that uses the variable.
pub fn recorded(
    frames: &mut Frames<'_>,
    frame: &SyntaxFrame,
    (known, fields): (&KnownVariable, &[String]),
    (own, change): (&OwnStep, &Change),
    (before, used): (StepId, StepId),
) -> Option<String> {
    let within = statement_text(&frame.function, own.offset);
    let (at, is_head) = match change {
        Change::Assigned(..) => (own.offset, false),
        _ => (known.at, within.contains(&known.at_scope)),
    };
    let until = if is_head {
        // The value of a name in front of a block is recorded behind the first statement in it, in each round.
        StepId(used.0 + 1)
    } else {
        let end = frames.window_end(frame, own.step, (own.offset, &within));
        if own.step.0 + 1 < before.0 { end.min(before) } else { end }
    };
    let line = frames.sources.line(frame.file, at);
    let value = frames.value(frame.call, &known.name, line, own.step..until)?;
    super::value_text::fields(&value, fields)
}
