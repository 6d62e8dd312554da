//! The call stack and the variables at a step.

use std::path::Path;

use super::event::{EventKind, LINE};
use super::ids::{CallId, FunctionId, SiteId, StepId, StringId};
use super::site::{RecordedFile, RecordedSite};
use super::span::CallSpan;
use super::table::{RecordedStep, Recording};
use super::value::ValueAt;
use crate::model::{CodePlace, FieldValue, FrameAtPanic, LocatedPanic};

/// A call that is on the stack at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// The call; `None` if calls are not known.
    pub call: Option<CallId>,
    /// Its statement: the one that runs, or the one that entered the next call.
    pub site: Option<SiteId>,
    /// Its function.
    pub function: FunctionId,
}

/// A recorded value of a call, the newest of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The value, and the step that it was recorded behind.
    pub value: ValueAt,
}

/// Values that are searched for those of a call.
const MAX_SEARCHED: usize = 100_000;

impl Recording {
    /// The innermost call of the step's lane that is on the stack at a step.
    pub fn call_at(&self, step: StepId) -> Option<CallId> {
        let lane = self.lane(self.lane_of(step))?;
        let before = |call: &CallId| self.call(*call).is_some_and(|call| call.first <= step);
        let behind = lane.calls.partition_point(before);
        let mut call = *lane.calls.get(behind.checked_sub(1)?)?;
        while let Some(span) = self.call(call) {
            if step <= span.last {
                return Some(call);
            }
            call = span.parent?;
        }
        None
    }

    /// The call and those around it, the innermost first.
    pub fn ancestors(&self, call: Option<CallId>) -> impl Iterator<Item = (CallId, &CallSpan)> {
        let with_span = |call: CallId| Some((call, self.call(call)?));
        std::iter::successors(call.and_then(with_span), move |(_, span)| with_span(span.parent?))
    }

    /// The stack at a step, the innermost call first. Empty before the first statement of the lane.
    pub fn stack_at(&self, step: StepId) -> Vec<StackFrame> {
        let Some(here) = self.site_at(step) else { return Vec::new() };
        let mut site = Some(here);
        let mut frames: Vec<StackFrame> = Vec::new();
        for (call, span) in self.ancestors(self.call_at(step)) {
            frames.push(StackFrame { call: Some(call), site, function: span.function });
            site = span.called_from;
        }
        if frames.is_empty() {
            let function = self.site(here).map_or(FunctionId(0), |site| site.function);
            frames.push(StackFrame { call: None, site, function });
        }
        frames
    }

    /// The frame that an event is of. For what was printed it is the innermost one at the line of the macro: what its
    /// arguments called has returned, though no statement shows it.
    pub fn recorded_in(&self, step: StepId) -> Option<StackFrame> {
        let frames = self.stack_at(step);
        let fields = self.event(step).map(|event| &event.fields).into_iter().flatten();
        let line =
            fields.filter(|(name, _)| self.strings.get(*name) == LINE).find_map(|(_, line)| match line {
                FieldValue::Uint(line) => u32::try_from(*line).ok(),
                _ => None,
            });
        let is_there = |frame: &&StackFrame| {
            let site = frame.site.and_then(|site| self.site(site));
            site.is_some_and(|site| line.is_some_and(|line| site.has_line(line)))
        };
        frames.iter().find(is_there).or(frames.first()).copied()
    }

    /// The stack at a failure, the failing call first. Calls that [`LocatedPanic::returned`] finds are left out.
    pub fn failing_stack(&self, step: StepId) -> Vec<StackFrame> {
        let mut frames = self.stack_at(step);
        let unknown = LocatedPanic::default();
        let panic = self.panic(step).unwrap_or(&unknown);
        let at_panic = |frame: &StackFrame| {
            let site = frame.site.and_then(|site| self.site(site));
            site.map_or_else(FrameAtPanic::default, |site| {
                let lines = site.line..=site.end_line;
                panic
                    .frame((site.may_end, site.checks), &lines, &|place| self.is_same_file(site, &place.path))
            })
        };
        let at_panic: Vec<FrameAtPanic> = frames.iter().map(at_panic).collect();
        frames.drain(..panic.returned(&at_panic));
        frames
    }

    /// The newest panic at which a call was on the stack, as its statements say, and whether the call had returned before, as far
    /// as can be guessed. Of panics without a statement between it is the first: the others end the process because of it.
    pub fn panic_in(&self, call: CallId) -> Option<(StepId, bool)> {
        let span = self.call(call)?;
        let lane = self.lane(span.lane)?;
        let from = self.panics.partition_point(|(step, _)| *step < span.first);
        let behind = self.panics.partition_point(|(step, _)| *step <= span.last);
        let is_here = |step: &StepId| {
            let event = self.event(*step).filter(|event| event.kind == EventKind::Panic);
            event.is_some() && self.lane_of(*step) == span.lane
        };
        let placed = self.panics[from..behind.max(from)].iter().map(|(step, _)| *step).rev();
        let unplaced = lane.panic.filter(|panic| (span.first..=span.last).contains(panic));
        let mut panics = unplaced.into_iter().chain(placed).filter(is_here);
        let panic =
            panics.find(|panic| self.ancestors(self.call_at(*panic)).any(|(around, _)| around == call))?;
        let has_statement = |from: StepId, to: StepId| {
            let first = lane.steps.partition_point(|step| *step <= from);
            let mut between = lane.steps[first..].iter().take_while(|step| **step < to);
            between.any(|step| matches!(self.step(*step), Some(RecordedStep::Statement(_))))
        };
        let panic = panics
            .filter(|before| *before < panic)
            .fold(panic, |first, before| if has_statement(before, first) { first } else { before });
        let frames = self.failing_stack(panic);
        Some((panic, !frames.is_empty() && frames.iter().all(|frame| frame.call != Some(call))))
    }

    /// Where the panic was that a step is the mark of.
    pub fn panic(&self, step: StepId) -> Option<&LocatedPanic> {
        let index = self.panics.binary_search_by_key(&step, |(step, _)| *step).ok()?;
        Some(&self.panics[index].1)
    }

    /// Whether nothing shows which call panicked: the message names code of others, and no frame is known.
    pub fn is_elsewhere(&self, panic: &LocatedPanic) -> bool {
        let is_own = |place: &CodePlace| self.sites.iter().any(|site| self.is_same_file(site, &place.path));
        panic.innermost.is_none() && panic.named.as_ref().is_some_and(|place| !is_own(place))
    }

    /// The compiler may name a file by another path than the map.
    fn is_same_file(&self, site: &RecordedSite, path: &str) -> bool {
        let is_same =
            |file: &RecordedFile| file.built.ends_with(path) || Path::new(path).ends_with(&file.path);
        self.files.get(site.file as usize).is_some_and(is_same)
    }

    /// The values of a call that were recorded up to a step: of each name the newest, parameters first. Those of an async
    /// body include what it recorded before it was parked.
    pub fn variables(&self, call: Option<CallId>, step: StepId) -> Vec<Variable> {
        let mut found: Vec<Variable> = Vec::new();
        for value in self.values_of(call, step) {
            if found.iter().all(|other| other.value.name != value.name) {
                found.push(Variable { value: *value });
            }
        }
        found
            .sort_by_key(|variable| (!variable.value.is_parameter, variable.value.step, variable.value.line));
        found
    }

    /// The newest value of one name of a call, as [`Recording::variables`] has it.
    pub fn variable(&self, call: Option<CallId>, step: StepId, name: StringId) -> Option<Variable> {
        self.values_of(call, step).find(|value| value.name == name).map(|value| Variable { value: *value })
    }

    /// The values of a call that were recorded up to a step, the newest first.
    fn values_of(&self, call: Option<CallId>, step: StepId) -> impl Iterator<Item = &ValueAt> {
        let mut own = Vec::new();
        let mut first = StepId(u32::MAX);
        if let Some((id, span)) = self.ancestors(call).next() {
            own.push(id);
            first = span.first;
            if span.is_resumed && span.task.is_some() {
                let before = &self.calls[..(id.0 as usize).min(self.calls.len())];
                for (index, other) in before.iter().enumerate().rev() {
                    if (other.task, other.function) == (span.task, span.function) {
                        own.push(CallId(index as u32));
                        first = other.first;
                        if !other.is_resumed {
                            break;
                        }
                    }
                }
            }
        }
        let from = self.values.partition_point(|value| value.step < first);
        let behind = self.values.partition_point(|value| value.step <= step);
        let searched = self.values[from..behind.max(from)].iter().rev().take(MAX_SEARCHED);
        searched.filter(move |value| value.call.is_some_and(|call| own.contains(&call)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::RecordingSample;
    use super::*;

    #[test]
    fn the_stack_has_the_call_and_its_callers() {
        let sample = RecordingSample::calls();
        let recording = &sample.recording;
        let lines = |step| {
            let frames = recording.stack_at(StepId(step));
            frames.iter().map(|frame| recording.site(frame.site.unwrap()).unwrap().line).collect::<Vec<_>>()
        };
        assert_eq!((lines(1), lines(3), lines(6)), (vec![2], vec![11, 2], vec![3]));
        assert_eq!(recording.call_at(StepId(4)), Some(CallId(2)));
    }

    #[test]
    fn a_panic_is_in_the_call_that_has_its_place() {
        let failing = |place: Option<u32>, checked: Option<u32>| {
            let mut sample = RecordingSample::calls();
            let recording = &mut sample.recording;
            recording.sites.iter_mut().for_each(|site| site.checks = Some(site.line) == checked);
            let step = StepId(3);
            recording.panics.extend(place.map(|line| (step, RecordingSample::panic_named(line))));
            let first = recording.failing_stack(step)[0].site.unwrap();
            recording.site(first).unwrap().line
        };
        assert_eq!(failing(Some(2), None), 2, "line 11 is the last one of its function");
        assert_eq!(failing(Some(11), Some(2)), 11, "its place is more than a check around it");
        assert_eq!(failing(Some(2), Some(11)), 11, "the check in line 11 may name its caller");
        assert_eq!((failing(None, Some(2)), failing(None, None), failing(Some(7), Some(2))), (2, 11, 2));
    }

    #[test]
    fn a_call_may_have_returned_before_the_panic_that_found_its_statement_last() {
        let mut sample = RecordingSample::default();
        for line in [1, 2, 10, 11] {
            sample.line(line);
        }
        let panic = sample.event(EventKind::Panic, "panicked; its message names src/main.rs:2");
        let (main, leaf) = (sample.call(0, (0, 4), None), sample.call(1, (2, 4), Some(0)));
        let recording = &mut sample.recording;
        assert_eq!(
            (recording.panic_in(leaf), recording.panic_in(main)),
            (Some((panic, false)), Some((panic, false)))
        );
        recording.panics.push((panic, RecordingSample::panic_named(2)));
        assert_eq!(
            (recording.panic_in(leaf), recording.panic_in(main)),
            (Some((panic, true)), Some((panic, false)))
        );
        recording.lanes[0].panic = None;
        assert_eq!(recording.panic_in(leaf), Some((panic, true)), "the panic was caught");
    }

    #[test]
    fn a_call_is_left_by_the_first_of_panics_that_come_at_once() {
        let mut sample = RecordingSample::default();
        [1, 2, 10].iter().for_each(|line| _ = sample.line(*line));
        let first = sample.event(EventKind::Panic, "panicked here");
        sample.event(EventKind::Output, "panicked");
        let second = sample.event(EventKind::Panic, "panicked at src/main.rs:2");
        sample.call(0, (0, 5), None);
        let leaf = sample.call(1, (2, 5), Some(0));
        for (step, line) in [(first, 10), (second, 2)] {
            sample.recording.panics.push((step, RecordingSample::panic_named(line)));
        }
        assert_eq!(sample.recording.panic_in(leaf), Some((first, false)));
    }

    /// As a closure that a sort calls, which then panics by itself.
    #[test]
    fn a_call_without_a_frame_at_the_panic_had_returned() {
        let mut sample = RecordingSample::default();
        for line in [1, 2, 10, 11] {
            sample.line(line);
        }
        let panic = sample.event(EventKind::Panic, "panicked at src/main.rs:2");
        let (main, leaf) = (sample.call(0, (0, 4), None), sample.call(1, (2, 4), Some(0)));
        let recording = &mut sample.recording;
        let (named, place) = (RecordingSample::panic_named(2).named, |path: &str| CodePlace {
            path: path.to_owned(),
            line: 7,
        });
        let located = LocatedPanic {
            named: Some(place("core/src/slice/sort.rs")),
            innermost: named,
            frames: 1,
            ..LocatedPanic::default()
        };
        recording.panics.push((panic, located));
        assert_eq!(
            (recording.panic_in(leaf), recording.panic_in(main)),
            (Some((panic, true)), Some((panic, false)))
        );
    }

    #[test]
    fn variables_are_the_newest_of_their_call() {
        let mut sample = RecordingSample::calls();
        for (place, text) in [((2, 1), "1"), ((3, 1), "2"), ((4, 2), "3")] {
            sample.value(place, "x", text);
        }
        let recording = &sample.recording;
        let name = recording.strings.find("x").unwrap();
        let at = |step| {
            let step = StepId(step);
            let found = recording.variables(recording.call_at(step), step);
            found.iter().map(|variable| recording.strings.get(variable.value.text)).collect::<Vec<_>>()
        };
        let newest = recording.variable(recording.call_at(StepId(3)), StepId(3), name).unwrap();
        assert_eq!(recording.strings.get(newest.value.text), "2");
        assert_eq!((at(2), at(3), at(5), at(6)), (vec!["1"], vec!["2"], vec!["3"], vec![]));
    }
}
