//! Finds the statement that changed a variable last.

use super::changes::{Change, GivenBy, KnownVariable, changes, variable};
use super::frames::{Frames, OwnStep, SyntaxFrame};
use super::syntax::points;
use crate::recording::StepId;

/// Calls inside each other that are searched.
const DEEPEST: u32 = 24;

/// Methods of the standard library that change nothing. A recorded method is looked into instead.
const READING_METHODS: [&str; 40] = [
    "len",
    "is_empty",
    "iter",
    "get",
    "first",
    "last",
    "contains",
    "contains_key",
    "clone",
    "to_string",
    "to_owned",
    "as_str",
    "as_ref",
    "as_slice",
    "as_bytes",
    "chars",
    "bytes",
    "cmp",
    "partial_cmp",
    "eq",
    "ne",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "copied",
    "cloned",
    "keys",
    "values",
    "starts_with",
    "ends_with",
    "trim",
    "split",
    "lines",
    "borrow",
    "unwrap",
    "expect",
    "min",
    "max",
    "hash",
];

/// What changed a variable last.
pub enum LastChange {
    /// A statement, which may be one of a function that was called, with what it does and the variable as it is known there.
    Found(Box<(OwnStep, SyntaxFrame, KnownVariable, Vec<String>, Change)>),
    /// Nothing: it is as it was when its function was entered.
    Entered,
    /// Why it is not known.
    Unknown(String),
}

/// The last change of these fields of a variable before a step.
pub fn last_change(
    frames: &mut Frames<'_>,
    frame: &SyntaxFrame,
    (known, fields): (&KnownVariable, &[String]),
    before: StepId,
    depth: u32,
) -> LastChange {
    if depth > DEEPEST {
        return LastChange::Unknown(format!("more than {DEEPEST} calls change it"));
    }
    let by_point = changes(&frame.function, known);
    let all = points(&frame.function);
    for own in frames.own_steps(frame, before) {
        let Some(found) = by_point.get(&own.offset) else { continue };
        for change in found.iter().rev() {
            let found = |change: &Change| {
                let found = (own.clone(), frame.clone(), known.clone(), fields.to_vec(), change.clone());
                LastChange::Found(Box::new(found))
            };
            match change {
                Change::Declared => return found(change),
                Change::Assigned(to, ..) if overlap(to, fields) => return found(change),
                Change::Lent(to) if known.is_changeable && overlap(to, fields) => {
                    let place = frames.place(own.site);
                    return LastChange::Unknown(format!(
                        "`{}` is lent in {place}, and changes by reference are not followed",
                        known.name
                    ));
                }
                Change::Passed(name, number, to) if overlap(to, fields) => {
                    let within = all.iter().find(|point| point.range.start == own.offset);
                    let within = within.map(|point| point.range.clone()).unwrap_or_default();
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
        let reads = !known.is_changeable || READING_METHODS.contains(&name);
        let place = frames.place(own.site);
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
        let [only] = &parameter.pattern.names[..] else {
            return LastChange::Unknown(format!("`{name}` takes its parameter apart"));
        };
        let Some(inside) = variable(&inner.function, &only.name, inner.function.body.range.start) else {
            continue;
        };
        match last_change(frames, &inner, (&inside, rest), end, depth + 1) {
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
    before: StepId,
) -> Option<String> {
    match last_change(frames, frame, (known, &[]), before, 0) {
        LastChange::Found(found) => {
            let (own, changed, inside, _, change) = *found;
            let is_whole = match &change {
                Change::Assigned(to, ..) => to.is_empty(),
                _ => true,
            };
            (is_whole && changed.call == frame.call && inside.at == known.at).then_some(())?;
            let between = window(frames, frame, &own, before);
            recorded(frames, frame, known, fields, between)
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
    recorded(frames, frame, known, fields, first..StepId(first.0 + 1))
}

/// The steps behind which the value is recorded that a statement gives to a variable. What runs from `before` on is no part of it,
/// unless that is the statement itself.
pub fn window(
    frames: &mut Frames<'_>,
    frame: &SyntaxFrame,
    own: &OwnStep,
    before: StepId,
) -> std::ops::Range<StepId> {
    let within = points(&frame.function).into_iter().find(|point| point.range.start == own.offset);
    let within = within.map(|point| point.range).unwrap_or_default();
    let end = frames.window_end(frame, own.step, (own.offset, &within));
    own.step..if own.step.0 + 1 < before.0 { end.min(before) } else { end }
}

/// The newest recorded value of these fields of a variable between two steps.
pub fn recorded(
    frames: &mut Frames<'_>,
    frame: &SyntaxFrame,
    known: &KnownVariable,
    fields: &[String],
    between: std::ops::Range<StepId>,
) -> Option<String> {
    let assigned = changes(&frame.function, known).into_iter();
    let is_assigned = |change: &Change| matches!(change, Change::Assigned(to, ..) if to.is_empty());
    let assigned = assigned.filter(|(_, changes)| changes.iter().any(is_assigned)).map(|(at, _)| at);
    let lines: Vec<u32> = assigned.chain([known.at]).map(|at| frames.sources.line(frame.file, at)).collect();
    let value = frames.value(frame.call, &known.name, &lines, between)?;
    super::value_text::fields(&value, fields)
}
