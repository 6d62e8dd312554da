//! Follows a value back, from one expression to the one that it comes from.

use super::changes::{Change, GivenBy, KnownVariable, place, variable};
use super::closures::{given_to_closure, only_closure};
use super::frames::{Frames, OwnStep, SyntaxFrame};
use super::quest::{Quest, wrapped};
use super::result::{HopKind, Operand, OriginEnd, OriginHop};
use super::returns::{Returned, called, ends, has_branches, returned};
use super::search::{LastChange, at_entry, last_change, recorded, statement_text, value_of};
use super::std_methods::{PassedOn, passed_on};
use super::syntax::{ERROR_FIELD, Expression, ExpressionKind, own_parts, points};
use super::value_text::{differ, is_whole};
use crate::recording::{CallId, StepId};

/// Hops and expressions in all.
const MOST: usize = 400;
/// Names that a value was made of that are shown.
const OPERANDS: usize = 4;

enum Next {
    Go(Box<Quest>),
    End(OriginEnd),
}

/// Follows values.
pub struct Follower<'f, 'r> {
    /// The calls.
    pub frames: &'f mut Frames<'r>,
    /// The hops so far.
    pub hops: Vec<OriginHop>,
}

impl Follower<'_, '_> {
    /// Follows a value to its end.
    pub fn follow(&mut self, quest: Quest) -> OriginEnd {
        let mut quest = Box::new(quest);
        for _ in 0..MOST {
            match self.next(*quest) {
                Next::Go(next) => quest = next,
                Next::End(end) => return end,
            }
        }
        OriginEnd::Unknown(format!("it goes on for more than {MOST} expressions"))
    }

    fn next(&mut self, quest: Quest) -> Next {
        let go = |quest: Quest| Next::Go(Box::new(quest));
        let expression = quest.expression.clone();
        let first = quest.fields.first().cloned();
        match &expression.kind {
            ExpressionKind::Same(of) | ExpressionKind::Reference(_, of) => go(quest.of(of)),
            ExpressionKind::Cast(of) => go(Quest { known: None, ..quest }.of(of)),
            ExpressionKind::Field(of, name) => go(quest.field_of(of, name)),
            ExpressionKind::Try(of) => go(quest.field_of(of, "0")),
            ExpressionKind::Path(segments) => match &segments[..] {
                [name] if !is_type(name) => self.variable(quest, name),
                _ => self.made("", &quest),
            },
            ExpressionKind::Struct(fields, rest) => {
                let found = first.and_then(|first| fields.iter().find(|(name, _)| *name == first));
                match (found, rest) {
                    (Some((_, value)), _) => go(quest.inner().of(value)),
                    (None, Some(rest)) if !quest.fields.is_empty() => go(quest.of(rest)),
                    _ => self.made("", &quest),
                }
            }
            ExpressionKind::Tuple(parts) => {
                match first.and_then(|first| parts.get(first.parse::<usize>().ok()?)) {
                    Some(part) => go(quest.inner().of(part)),
                    None => self.made("", &quest),
                }
            }
            ExpressionKind::Call(to, arguments) => match &to.kind {
                ExpressionKind::Path(segments) => {
                    let name = segments.last().map_or("", |name| name);
                    if segments.len() == 1 && variable(&quest.frame.function, name, quest.at).is_some() {
                        return self.made(&format!("a call of the value `{name}`"), &quest);
                    }
                    match constructed(name, arguments, first.as_deref()) {
                        Some(Some(argument)) => go(quest.inner().of(argument)),
                        Some(None) => match &arguments[..] {
                            // A value that only wraps another one.
                            [only] if quest.fields.is_empty() => {
                                let known = quest.known.as_deref().and_then(|known| wrapped(known, name));
                                go(Quest { known: known.map(str::to_owned), ..quest }.of(only))
                            }
                            _ => self.made("", &quest),
                        },
                        None => self.called(quest, name, None),
                    }
                }
                _ => self.made("a call of a value", &quest),
            },
            ExpressionKind::Method(of, name, _) => self.called(quest, name, Some(of)),
            _ if has_branches(&expression) => self.branch(quest),
            ExpressionKind::Macro(name, _) => self.made(&format!("`{name}!`"), &quest),
            _ => self.made("", &quest),
        }
    }

    /// The end: the value of the expression is made there.
    fn made(&mut self, by: &str, quest: &Quest) -> Next {
        let text = self.frames.sources.text(quest.frame.file, &quest.expression);
        let what = if by.is_empty() { format!("`{text}`") } else { by.to_owned() };
        Next::End(OriginEnd::Made(what, self.operands(&quest.expression, quest)))
    }

    /// The variables of an expression, with their values, and the calls in it that are recorded.
    fn operands(&mut self, expression: &Expression, quest: &Quest) -> Vec<Operand> {
        let mut found: Vec<Operand> = Vec::new();
        let mut add = |new: Operand| {
            if found.iter().all(|other| other.name != new.name) && found.len() < OPERANDS {
                found.push(new);
            }
        };
        let mut covered = 0..0;
        let step = self.frames.evaluated(&quest.own, quest.before);
        let mut parts = own_parts(expression);
        parts.sort_by_key(|part| (part.range.start, std::cmp::Reverse(part.range.end)));
        for part in parts {
            if part.range.end <= covered.end {
                continue;
            }
            // What a recorded call returned was made there: its receiver and its arguments say less.
            if part.range != expression.range && self.is_recorded_call(part, quest) {
                covered = part.range.clone();
                let name = self.frames.sources.text(quest.frame.file, part);
                add(Operand { name, step: quest.own.step, value: None });
                continue;
            }
            let Some((name, fields)) = place(part) else { continue };
            covered = part.range.clone();
            let Some(known) = variable(&quest.frame.function, name, part.range.start) else { continue };
            let shown = std::iter::once(name).chain(fields.iter().map(String::as_str)).collect::<Vec<_>>();
            let name = shown.join(".").replace(".[]", "[..]");
            let value = match known.body == quest.frame.body {
                true => {
                    value_of(self.frames, &quest.frame, (&known, &fields), (quest.before, quest.own.step))
                }
                false => None,
            };
            add(Operand { name, step, value });
        }
        found
    }

    /// Whether a part of the statement is a call whose body is recorded.
    fn is_recorded_call(&mut self, part: &Expression, quest: &Quest) -> bool {
        let Some(name) = called(part).map(str::to_owned) else { return false };
        let (_, callees) = self.callees(part, quest, &name);
        nth(&callees, &calls_in(quest, &name), part).is_some()
    }

    /// The calls of a name that ran until the statement had evaluated a part of it, and the step at which it had.
    fn callees(&mut self, part: &Expression, quest: &Quest, name: &str) -> (StepId, Vec<CallId>) {
        let until = self.frames.window_end(&quest.frame, quest.own.step, (quest.own.offset, &part.range));
        (until, self.frames.callees(&quest.own, until, name))
    }

    fn hop(&mut self, own: &OwnStep, kind: HopKind, name: String, value: Option<String>) {
        self.hops.push(OriginHop { step: own.step, site: own.site, kind, name, value });
    }

    /// The branch that ran.
    fn branch(&mut self, quest: Quest) -> Next {
        let (frame, own) = (&quest.frame, &quest.own);
        // Branches of other parts of the statement may have run before.
        let within = statement_text(&frame.function, own.offset);
        let until = self.frames.window_end(frame, own.step, (own.offset, &within));
        let ran = self.frames.steps_between(frame, StepId(own.step.0 + 1), until);
        let ends = ends(&quest.expression);
        let is_end =
            |own: &&OwnStep| own.call == quest.own.call && ends.iter().any(|end| end.at == own.offset);
        let Some(own) = ran.iter().find(is_end).cloned() else {
            let place = self.frames.recording.place(quest.own.site);
            return unknown(format!("which branch ran in {place} is not recorded"));
        };
        let Some(end) = ends.into_iter().find(|end| end.at == own.offset).map(|end| end.value.clone()) else {
            return unknown("which branch ran is not recorded".to_owned());
        };
        let name = self.frames.sources.text(quest.frame.file, &end);
        self.hop(&own, HopKind::Branch, name, quest.known.clone());
        let Quest { frame, fields, known, .. } = quest;
        Next::Go(Box::new(Quest { fields, known, ..Quest::new(end, frame, own) }))
    }

    /// The value that a call returned.
    fn called(&mut self, quest: Quest, name: &str, receiver: Option<&Expression>) -> Next {
        let (until, callees) = self.callees(&quest.expression, &quest, name);
        let written = calls_in(&quest, name);
        let rounds = self.frames.callees(&quest.own, quest.limit, name);
        let callee = match (&written[..], rounds.last()) {
            // A later round of a loop made the newest one.
            ([_], Some(newest)) if rounds.len() > callees.len() => Some(newest),
            (_, Some(_)) if rounds.len() > callees.len() => None,
            _ => nth(&callees, &written, &quest.expression),
        };
        if let Some(callee) = callee {
            return self.returned_by(quest, *callee, name);
        }
        if !callees.is_empty() {
            let place = self.frames.recording.place(quest.own.site);
            return unknown(format!("`{name}` ran {} times in {place}", callees.len()));
        }
        if let Some(next) = receiver.and_then(|of| self.passed_on(&quest, name, of, until)) {
            return next;
        }
        let shown = if receiver.is_some() { format!(".{name}") } else { name.to_owned() };
        let inside = self.may_have_called(&quest, until);
        self.made(&format!("`{shown}`, which is not recorded{inside}"), &quest)
    }

    /// The value of a method of the standard library, where that of its receiver or of its closure is it.
    fn passed_on(&mut self, quest: &Quest, name: &str, of: &Expression, until: StepId) -> Option<Next> {
        let go = |quest: Quest| Some(Next::Go(Box::new(quest)));
        // A method with such a name may be another one, so the value is not known there.
        let receiver = |quest: Quest| Quest { known: None, ..quest.of(of) };
        match passed_on(name)? {
            PassedOn::Same => go(receiver(quest.clone())),
            PassedOn::Inner => go(receiver(quest.clone()).field_of(of, "0")),
            PassedOn::SameInner => go(receiver(quest.inner_value()?)),
            PassedOn::OfClosure => {
                let closure = only_closure(self.frames, quest, until)?;
                Some(self.returned_by(Quest { known: None, ..quest.clone() }, closure, name))
            }
            PassedOn::InnerOfClosure => {
                let closure = only_closure(self.frames, quest, until)?;
                let inner = quest.inner_value()?.inner();
                Some(self.returned_by(Quest { known: None, ..inner }, closure, name))
            }
        }
    }

    /// The value that this call returned.
    fn returned_by(&mut self, quest: Quest, callee: CallId, name: &str) -> Next {
        if !self.frames.has_returned(callee) {
            return unknown(format!("`{name}` is not known to have returned"));
        }
        let end = self.frames.end(callee);
        let Some((own, frame)) = self.frames.last_statement(callee, end) else {
            return unknown(format!("the source text of `{name}` is not known"));
        };
        let has_failed = |known: &str| known.starts_with("Err(") || known == "None";
        let has_value = |known: &str| known.starts_with("Ok(") || known.starts_with("Some(");
        let is_value = quest.fields.first().is_some_and(|first| first == "0")
            || quest.fields.is_empty() && quest.known.as_deref().is_some_and(has_value);
        let is_error = quest.fields.first().is_some_and(|first| first.starts_with(ERROR_FIELD))
            || quest.fields.is_empty() && quest.known.as_deref().is_some_and(has_failed);
        let place = self.frames.recording.place(own.site);
        let has_run = |name: &str| !self.frames.callees(&own, end, name).is_empty();
        let (expression, known) = match returned(&frame.function, &frame.body, own.offset, has_run) {
            Returned::Value(value) => (value, quest.known.clone()),
            Returned::Early(_, Some(value)) if is_value => (value, quest.known.clone()),
            Returned::Early(of, tail) if is_error || tail.is_none() => (of, None),
            Returned::Early(..) => {
                return unknown(format!("`?` in {place} may have returned from `{name}`, or not"));
            }
            Returned::Unknown => {
                return unknown(format!("`{name}` ended behind {place}, and what it returned is not known"));
            }
        };
        let shown = self.frames.sources.text(frame.file, &expression);
        // Where a branch within a larger expression ran last, the statement of all of it came before.
        let has_all = |step: &OwnStep| {
            let text = statement_text(&frame.function, step.offset);
            text.start <= expression.range.start && expression.range.end <= text.end
        };
        let own = match has_all(&own) {
            true => own,
            false => {
                let steps = self.frames.own_steps(&frame, end);
                steps.into_iter().find(|step| step.call == own.call && has_all(step)).unwrap_or(own)
            }
        };
        self.hop(&own, HopKind::Returned, shown, quest.known.clone());
        Next::Go(Box::new(Quest { fields: quest.fields, known, ..Quest::new(expression, frame, own) }))
    }

    /// What code of a statement that is not recorded may have called: what ran there, and is not called in its own text.
    fn may_have_called(&self, quest: &Quest, until: StepId) -> String {
        let mut names: Vec<&str> = Vec::new();
        for call in self.frames.ran_in(&quest.own, until) {
            let name = self.frames.name(call);
            if !names.contains(&name) && names.len() < OPERANDS && calls_in(quest, name).is_empty() {
                names.push(name);
            }
        }
        match names.is_empty() {
            true => String::new(),
            false => format!(", and may have called `{}`", names.join("`, `")),
        }
    }

    /// The value of a variable.
    fn variable(&mut self, mut quest: Quest, name: &str) -> Next {
        let Some(known) = variable(&quest.frame.function, name, quest.at) else {
            return self.made("", &quest);
        };
        if known.body != quest.frame.body {
            match self.outer(&quest, &known) {
                Some((frame, own)) => (quest.frame, quest.own) = (frame, own),
                None => {
                    return unknown(format!(
                        "a closure captured `{name}`, and ran behind the end of that call"
                    ));
                }
            }
        }
        match last_change(
            self.frames,
            &quest.frame,
            (&known, &quest.fields),
            (quest.before, quest.own.step),
            0,
        ) {
            LastChange::Unknown(why) => unknown(why),
            LastChange::Found(found) => self.changed(quest, *found),
            LastChange::Entered => match known.by {
                GivenBy::Parameter(number) => self.argument(quest, &known, number),
                GivenBy::ClosureParameter => {
                    let value = at_entry(self.frames, &quest.frame, &known, &quest.fields);
                    quest.known = shown_better(value, &quest.known);
                    match known.fields.clone() {
                        Some(to) => quest.fields.splice(..0, to).for_each(drop),
                        None => return part_of_pattern(&known.name),
                    }
                    self.closure_argument(quest, &known.name)
                }
                _ => unknown(format!("`{name}` was made before the first recorded statement")),
            },
        }
    }

    /// The call whose variable a closure uses, and its newest statement.
    fn outer(&mut self, quest: &Quest, known: &KnownVariable) -> Option<(SyntaxFrame, OwnStep)> {
        let around: Vec<CallId> =
            self.frames.recording.ancestors(Some(quest.own.call)).skip(1).map(|(call, _)| call).collect();
        around.into_iter().find_map(|call| {
            let (own, frame) = self.frames.last_statement(call, quest.before)?;
            let is_it = frame.file == quest.frame.file && frame.body == known.body;
            is_it.then_some((frame, own))
        })
    }

    /// A statement changed the variable.
    fn changed(
        &mut self,
        quest: Quest,
        (own, frame, known, fields, change): (OwnStep, SyntaxFrame, KnownVariable, Vec<String>, Change),
    ) -> Next {
        let shown = shown_place(&known.name, &fields);
        let frame = match own.call == frame.call {
            true => frame,
            false => match self.frames.frame(own.call, own.site) {
                Some(frame) => frame,
                None => return unknown("the source text of a closure is not known".to_owned()),
            },
        };
        let is_local = known.body == frame.body;
        let during = (quest.before, quest.own.step);
        let value = match is_local {
            true => recorded(self.frames, &frame, (&known, &fields), (&own, &change), during),
            false => None,
        };
        let (at, before, limit) = (own.offset, own.step, quest.before);
        let quest = Quest { frame, before, limit, at, fields, ..quest };
        match change {
            Change::Assigned(to, operator, given) => {
                // A field that is assigned has no record of its own.
                let value = if to.is_empty() { value } else { None };
                if let Some(why) = self.contradiction(&quest, &value, &own) {
                    return unknown(why);
                }
                let known_value = shown_better(value, &quest.known);
                let is_whole = to.len() <= quest.fields.len();
                let name = if is_whole { shown } else { shown_place(&known.name, &to) };
                self.hop(&own, HopKind::Assigned, name, known_value.clone().filter(|_| is_whole));
                let at = given.range.start;
                let rest = quest.fields.get(to.len()..).unwrap_or_default().to_vec();
                let quest = Quest { own, at, known: known_value, ..quest };
                match operator {
                    None if is_whole => Next::Go(Box::new(Quest { fields: rest, ..quest }.of(&given))),
                    None => self.made(&format!("a change of its part `{}`", to.join(".")), &quest.of(&given)),
                    Some(operator) => {
                        let mut operands = self.operands(&given, &quest);
                        let old = shown_place(&known.name, &to);
                        let step = StepId(quest.own.step.0.saturating_sub(1));
                        let value = value_of(
                            self.frames,
                            &quest.frame,
                            (&known, &to),
                            (quest.before, quest.own.step),
                        );
                        operands.insert(0, Operand { name: old, step, value });
                        Next::End(OriginEnd::Made(format!("`{operator}`"), operands))
                    }
                }
            }
            _ => {
                if let Some(why) = self.contradiction(&quest, &value, &own) {
                    return unknown(why);
                }
                let known_value = shown_better(value, &quest.known);
                self.hop(&own, HopKind::Bound, shown, known_value.clone());
                let Some(mut to) = known.fields.clone() else {
                    return part_of_pattern(&known.name);
                };
                to.extend(quest.fields.iter().cloned());
                let quest = Quest { own, known: known_value, fields: to, ..quest };
                match &known.by {
                    GivenBy::Value(Some(value)) => {
                        Next::Go(Box::new(Quest { at: value.range.start, ..quest }.of(value)))
                    }
                    GivenBy::Element(of) => {
                        let text = self.frames.sources.text(quest.frame.file, of);
                        self.made(&format!("`for`, as an element of `{text}`"), &quest.of(of))
                    }
                    GivenBy::ClosureParameter => self.closure_argument(quest, &known.name),
                    _ => unknown(format!("`{}` has no value yet", known.name)),
                }
            }
        }
    }

    /// The value that a closure got as its parameter of this name.
    fn closure_argument(&mut self, quest: Quest, name: &str) -> Next {
        let Some(given) = given_to_closure(self.frames, &quest) else {
            return unknown(format!("`{name}` is a parameter of a closure, and its caller is not recorded"));
        };
        self.hop(&given.own, HopKind::Argument, name.to_owned(), quest.known);
        Next::Go(Box::new(given))
    }

    /// Why a recorded value cannot be the one that is followed.
    fn contradiction(&self, quest: &Quest, value: &Option<String>, own: &OwnStep) -> Option<String> {
        let (later, earlier) = (quest.known.as_deref()?, value.as_deref()?);
        let place = self.frames.recording.place(own.site);
        differ(later, earlier).then(|| {
            format!(
                "in {place} it was {earlier}, and later {later}: what changed it in between is not recorded"
            )
        })
    }

    /// The argument of the call that gave a parameter its value.
    fn argument(&mut self, quest: Quest, known: &KnownVariable, number: usize) -> Next {
        let function = quest.frame.function.name.clone();
        let call = quest.frame.call;
        let Some(span) = self.frames.recording.call(call).cloned() else {
            return unknown(format!("the call of `{function}` is not known"));
        };
        if span.entered_before {
            return unknown(format!("`{function}` was entered before the first recorded statement"));
        }
        let value = at_entry(self.frames, &quest.frame, known, &quest.fields);
        let place = self.frames.recording.site_at(span.first).map(|site| self.frames.recording.place(site));
        let newest = span.parent.and_then(|parent| self.frames.last_statement(parent, span.first));
        let caller = newest.and_then(|(own, frame)| match Some(own.site) == span.called_from {
            true => Some((own.step, own, frame)),
            // The head of a loop called it in a later round.
            false => {
                let own = self.frames.own_steps(&frame, span.first);
                let own = own.into_iter().find(|own| Some(own.site) == span.called_from)?;
                Some((span.first, own, frame))
            }
        });
        let Some((before, own, frame)) = caller else {
            let place = place.unwrap_or_default();
            return unknown(format!("what called `{function}` in {place} is not recorded"));
        };
        if let Some((later, earlier)) = quest.known.as_deref().zip(value.as_deref())
            && differ(later, earlier)
        {
            return unknown(format!(
                "`{}` was {earlier} when `{function}` was entered, and later {later}: what changed it is not recorded",
                known.name
            ));
        }
        let end = self.frames.end(own.call);
        let at = Quest { own: own.clone(), frame: frame.clone(), ..quest.clone() };
        let written = calls_in(&at, &function);
        let until = self
            .frames
            .window_end(&frame, own.step, (own.offset, &statement_text(&frame.function, own.offset)))
            .min(end);
        let callees = self.frames.callees(&own, until, &function);
        let index = callees.iter().position(|callee| *callee == call);
        let written = match (index, &written[..]) {
            (_, [only]) => Some(only),
            (Some(index), several) if several.len() == callees.len() => several.get(index),
            _ => None,
        };
        let argument = written.and_then(|written| match &written.kind {
            ExpressionKind::Method(of, _, arguments) => match number.checked_sub(1) {
                None => Some((**of).clone()),
                Some(number) => arguments.get(number).cloned(),
            },
            ExpressionKind::Call(_, arguments) => arguments.get(number).cloned(),
            _ => None,
        });
        let Some(argument) = argument else {
            let place = self.frames.recording.place(own.site);
            return unknown(format!(
                "which argument {place} passes to `{function}` is not clear from its text"
            ));
        };
        let Some(to) = known.fields.clone() else {
            return part_of_pattern(&known.name);
        };
        let fields = [to, quest.fields.clone()].concat();
        let known_value = shown_better(value, &quest.known);
        let name = shown_place(&known.name, &quest.fields);
        self.hop(&own, HopKind::Argument, name, known_value.clone());
        let quest = Quest::new(argument, frame, own);
        Next::Go(Box::new(Quest { fields, before, limit: before, known: known_value, ..quest }))
    }
}

/// The value recorded here, unless that is cut or an address and the one that is known says more.
fn shown_better(value: Option<String>, known: &Option<String>) -> Option<String> {
    match (value, known) {
        (Some(value), Some(known)) if !is_whole(&value) => Some(known.clone()),
        (value, known) => value.or_else(|| known.clone()),
    }
}

fn part_of_pattern(name: &str) -> Next {
    unknown(format!("a pattern takes `{name}` out of a larger value"))
}

fn unknown(why: String) -> Next {
    Next::End(OriginEnd::Unknown(why))
}

fn is_type(name: &str) -> bool {
    name.starts_with(|first: char| first.is_uppercase())
}

/// Of `Some(a)` and field `0` the `a`; `None` inside for another field; `None` if the name is that of a function.
fn constructed<'e>(
    name: &str,
    arguments: &'e [Expression],
    field: Option<&str>,
) -> Option<Option<&'e Expression>> {
    is_type(name).then(|| {
        let field = field?;
        let number = match field.strip_prefix(ERROR_FIELD) {
            Some(number) => (name == "Err").then_some(number)?,
            None => (name != "Err").then_some(field)?,
        };
        arguments.get(number.parse::<usize>().ok()?)
    })
}

/// `a.b`, as a user writes it.
fn shown_place(name: &str, fields: &[String]) -> String {
    let fields = fields.iter().map(|field| field.strip_prefix(ERROR_FIELD).unwrap_or(field));
    std::iter::once(name).chain(fields).collect::<Vec<_>>().join(".").replace(".[]", "[..]")
}

/// The calls of a function with this name that a statement's own text has, in the order in which they run.
fn calls_in(quest: &Quest, name: &str) -> Vec<Expression> {
    let all = points(&quest.frame.function);
    let value = all.iter().find(|point| point.range.start == quest.own.offset).and_then(|point| point.value);
    let is_it = |part: &&Expression| called(part) == Some(name);
    let mut found: Vec<Expression> = value.into_iter().flat_map(own_parts).filter(is_it).cloned().collect();
    found.sort_by_key(|call| call.range.end);
    found
}

/// The call that an expression is, if each call of the text ran once.
fn nth<'c>(callees: &'c [CallId], written: &[Expression], wanted: &Expression) -> Option<&'c CallId> {
    let index = written.iter().position(|call| call.range == wanted.range)?;
    callees.get(index).filter(|_| callees.len() == written.len())
}
