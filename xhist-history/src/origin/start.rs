//! Where the way back begins: a name at a step, or the two sides of an assertion.

use super::changes::{place, variable, variable_behind};
use super::follow::Follower;
use super::frames::{Frames, OwnStep, SyntaxFrame};
use super::quest::Quest;
use super::result::ValueOrigin;
use super::returns::called;
use super::search::value_of;
use super::syntax::{Expression, ExpressionKind, expression, own_parts, points};
use crate::recording::{CallId, RecordedStep, Recording, StepId};

/// Steps that are searched for a call that has the name.
const SEARCHED: usize = 100_000;

/// Macros that compare two sides.
const COMPARING: [&str; 4] = ["assert_eq", "assert_ne", "debug_assert_eq", "debug_assert_ne"];
/// Macros that check one condition.
const CHECKING: [&str; 2] = ["assert", "debug_assert"];

/// The origin of `NAME` or `NAME.field` at a step: of the innermost call there that has the name, or else of the newest one before.
///
/// # Errors
/// Why it is not known what is meant.
pub fn origin_of(recording: &Recording, text: &str, step: StepId) -> Result<ValueOrigin, String> {
    let read = expression(text.trim());
    if let Some(call) = read.as_ref().filter(|read| called(read).is_some()) {
        return origin_of_call(recording, (text.trim(), call), step);
    }
    let Some(read) = read.filter(|read| place(read).is_some()) else {
        return Err(format!(
            "`{text}` is not a variable: write a name, or fields of it such as `self.count`"
        ));
    };
    let name = place(&read).map(|(name, _)| name.to_owned()).unwrap_or_default();
    let frames = &mut Frames::new(recording);
    let Some((own, frame)) = holder(frames, &name, step) else {
        let site = recording.site_at(step).map(|site| frames.recording.place(site)).unwrap_or_default();
        return Err(format!("no call that ran up to {site} has a variable `{name}`"));
    };
    let at = behind(&frame, &name, own.offset);
    let before = StepId(own.step.0 + 1);
    let quest = Quest { at, before, limit: before, ..Quest::new(read, frame, own) };
    Ok(follow(frames, text.trim().to_owned(), quest))
}

/// The origin of what a call returned that is written in the statement of a step, or in that of a call around it.
fn origin_of_call(
    recording: &Recording,
    (text, call): (&str, &Expression),
    step: StepId,
) -> Result<ValueOrigin, String> {
    let frames = &mut Frames::new(recording);
    let stack: Vec<CallId> = recording.failing_stack(step).iter().filter_map(|frame| frame.call).collect();
    for around in stack {
        let Some((own, frame)) = frames.last_statement(around, StepId(step.0 + 1)) else { continue };
        let all = points(&frame.function);
        let value = all.iter().find(|point| point.range.start == own.offset).and_then(|point| point.value);
        let mut parts = value.into_iter().flat_map(own_parts).filter(|part| called(part) == called(call));
        let Some(found) = parts.find(|part| frames.sources.text(frame.file, part) == text).cloned() else {
            continue;
        };
        let frame = frame.clone();
        return Ok(follow(frames, text.to_owned(), Quest::new(found, frame, own)));
    }
    let site = recording.site_at(step).map(|site| recording.place(site)).unwrap_or_default();
    Err(format!("the statement at {site} has no call `{text}`"))
}

/// The origins of the two sides of the assertion that a statement is: `left` and `right`, or of the condition that it checks. Empty
/// for another statement.
pub fn assertion_sides(recording: &Recording, step: StepId) -> Vec<(&'static str, ValueOrigin)> {
    let frames = &mut Frames::new(recording);
    let failing = recording.failing_stack(step).into_iter().next();
    let Some((call, _)) = failing.and_then(|frame| Some((frame.call?, frame.site?))) else {
        return Vec::new();
    };
    let Some((own, frame)) = frames.last_statement(call, StepId(step.0 + 1)) else { return Vec::new() };
    let sides = {
        let all = points(&frame.function);
        let value = all.iter().find(|point| point.range.start == own.offset).and_then(|point| point.value);
        value.map(sides_of).unwrap_or_default()
    };
    let with_origin = |(side, expression): (&'static str, Expression)| {
        let name = frames.sources.text(frame.file, &expression);
        (side, follow(frames, name, Quest::new(expression, frame.clone(), own.clone())))
    };
    sides.into_iter().map(with_origin).collect()
}

/// The sides of an assertion, without those that are written there as a value.
fn sides_of(statement: &Expression) -> Vec<(&'static str, Expression)> {
    let ExpressionKind::Macro(name, Some(arguments)) = &statement.kind else { return Vec::new() };
    let sides = match &arguments[..] {
        [left, right, ..] if COMPARING.contains(&&**name) => vec![("left", left), ("right", right)],
        [condition, ..] if CHECKING.contains(&&**name) => match &condition.kind {
            ExpressionKind::Made(parts) if parts.len() == 2 => {
                vec![("left", &parts[0]), ("right", &parts[1])]
            }
            ExpressionKind::Made(parts) if parts.len() == 1 => vec![("condition", &parts[0])],
            _ => vec![("condition", condition)],
        },
        _ => Vec::new(),
    };
    sides.into_iter().map(|(side, expression)| (side, expression.clone())).collect()
}

fn follow(frames: &mut Frames<'_>, name: String, quest: Quest) -> ValueOrigin {
    let (step, mut quest) = (quest.own.step, quest);
    let value = place(&quest.expression).and_then(|(name, fields)| {
        let known = variable(&quest.frame.function, name, quest.at)?;
        (known.body == quest.frame.body).then_some(())?;
        value_of(frames, &quest.frame, (&known, &fields), (quest.before, quest.own.step))
    });
    quest.known.clone_from(&value);
    let mut follower = Follower { frames, hops: Vec::new() };
    let end = follower.follow(quest);
    ValueOrigin { name, step, value, hops: follower.hops, end }
}

/// Where a name is looked up that a statement declares or uses.
fn behind(frame: &SyntaxFrame, name: &str, offset: u32) -> u32 {
    variable_behind(&frame.function, name, offset).map_or(offset, |known| known.at_scope)
}

/// The call that has the name, with its newest statement at the step: one on the stack, or the newest one before.
fn holder(frames: &mut Frames<'_>, name: &str, step: StepId) -> Option<(OwnStep, SyntaxFrame)> {
    let recording = frames.recording;
    let stack: Vec<CallId> = recording.failing_stack(step).iter().filter_map(|frame| frame.call).collect();
    let has_it =
        |found: &(OwnStep, SyntaxFrame)| variable_behind(&found.1.function, name, found.0.offset).is_some();
    let on_stack = stack.into_iter().filter_map(|call| frames.last_statement(call, StepId(step.0 + 1)));
    let on_stack: Vec<_> = on_stack.collect();
    if let Some(found) = on_stack.into_iter().find(has_it) {
        return Some(found);
    }
    let lane = recording.lane(recording.lane_of(step))?;
    let behind = lane.steps.partition_point(|other| *other <= step);
    lane.steps[..behind].iter().rev().take(SEARCHED).find_map(|step| {
        let Some(RecordedStep::Statement(site)) = recording.step(*step) else { return None };
        let call = recording.call_at(*step)?;
        let place = frames.sources.place(site)?;
        let own = OwnStep { step: *step, site, offset: place.offset, call };
        let found = (own, frames.frame(call, site)?);
        has_it(&found).then_some(found)
    })
}
