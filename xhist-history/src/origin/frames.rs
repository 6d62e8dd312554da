//! The calls of a recording as the way back goes through them: the statements of one call, and the calls that it made.

use std::ops::Range;
use std::rc::Rc;

use super::sources::SyntaxSources;
use super::syntax::{SourceFunction, innermost};
use crate::recording::{CallId, RecordedStep, Recording, SiteId, SpanExit, StackFrame, StepId, ValueAt};

/// Statements that are looked at for one hop.
const MOST_STEPS: usize = 200_000;

/// A call, with the syntax of its function.
#[derive(Clone, Debug)]
pub struct SyntaxFrame {
    /// The call.
    pub call: CallId,
    /// Its file.
    pub file: u32,
    /// The function; of a closure, that around it.
    pub function: Rc<SourceFunction>,
    /// The body that it runs, of the function or of a closure in it.
    pub body: Range<u32>,
}

/// A statement that a call ran.
#[derive(Clone, Debug)]
pub struct OwnStep {
    /// When.
    pub step: StepId,
    /// The statement.
    pub site: SiteId,
    /// Its first byte.
    pub offset: u32,
    /// The call: that of the frame, or of a closure in it.
    pub call: CallId,
}

/// Finds calls and their statements.
pub struct Frames<'r> {
    /// The recording.
    pub recording: &'r Recording,
    /// Its sources.
    pub sources: SyntaxSources<'r>,
}

impl<'r> Frames<'r> {
    /// Of a recording.
    pub fn new(recording: &'r Recording) -> Frames<'r> {
        Frames { recording, sources: SyntaxSources::new(recording) }
    }

    /// The frame of a call that runs this statement.
    pub fn frame(&mut self, call: CallId, site: SiteId) -> Option<SyntaxFrame> {
        let place = self.sources.place(site)?;
        let body = innermost(&place.function, place.offset);
        Some(SyntaxFrame { call, file: place.file, function: place.function, body })
    }

    /// The steps of a call's lane from `from` to before `before`, newest first, without those of the calls that it made.
    fn lane_steps(&self, call: CallId, from: StepId, before: StepId) -> Vec<(StepId, CallId)> {
        let mut found = Vec::new();
        let Some(lane) = self.recording.call(call).and_then(|span| self.recording.lane(span.lane)) else {
            return found;
        };
        let mut at = lane.steps.partition_point(|step| *step < before);
        while let Some(previous) = at.checked_sub(1).filter(|_| found.len() < MOST_STEPS) {
            at = previous;
            let step = lane.steps[at];
            if step < from {
                break;
            }
            let Some(here) = self.recording.call_at(step) else { continue };
            // The outermost call of it that is not this one, and not a closure in it.
            let chain: Vec<CallId> = self.recording.ancestors(Some(here)).map(|(id, _)| id).collect();
            let Some(own) = chain.iter().position(|other| *other == call) else { continue };
            match chain[..own].iter().rev().find(|other| !self.is_closure(**other)) {
                None => found.push((step, here)),
                Some(other) => {
                    let first = self.recording.call(*other).map_or(step, |span| span.first);
                    at = lane.steps.partition_point(|step| *step < first);
                }
            }
        }
        found
    }

    fn is_closure(&self, call: CallId) -> bool {
        let function =
            self.recording.call(call).and_then(|span| self.recording.functions.get(span.function.0 as usize));
        function.is_some_and(|function| function.name.ends_with('}'))
    }

    /// The statements of a frame and of closures in it before a step, the newest first.
    pub fn own_steps(&mut self, frame: &SyntaxFrame, before: StepId) -> Vec<OwnStep> {
        let first = self.recording.call(frame.call).map_or(StepId(0), |span| span.first);
        self.steps_between(frame, first, before)
    }

    /// The same, from a step on.
    pub fn steps_between(&mut self, frame: &SyntaxFrame, from: StepId, before: StepId) -> Vec<OwnStep> {
        let steps = self.lane_steps(frame.call, from, before);
        let mut own = Vec::new();
        for (step, call) in steps {
            let Some(RecordedStep::Statement(site)) = self.recording.step(step) else {
                continue;
            };
            let Some(place) = self.sources.place(site) else { continue };
            if place.file == frame.file && place.function.body.range == frame.function.body.range {
                own.push(OwnStep { step, site, offset: place.offset, call });
            }
        }
        own
    }

    /// Whether a call returned, also if only the check in its caller shows it, which failed.
    pub fn has_returned(&self, call: CallId) -> bool {
        let Some(span) = self.recording.call(call) else { return false };
        let last = StepId(self.end(call).0.saturating_sub(1));
        let is_it = |frame: &StackFrame| frame.call == Some(call);
        let is_open = matches!(span.exit, SpanExit::Open | SpanExit::Unwound);
        span.exit == SpanExit::Returned || is_open && !self.recording.failing_stack(last).iter().any(is_it)
    }

    /// The step behind the last one of a call.
    pub fn end(&self, call: CallId) -> StepId {
        let last = self.recording.call(call).map_or(StepId(0), |span| span.last);
        StepId(last.0.min(self.recording.len().saturating_sub(1) as u32) + 1)
    }

    /// The next step at which a frame runs another statement than those in `within`, or the one at `offset` again.
    pub fn window_end(
        &mut self,
        frame: &SyntaxFrame,
        step: StepId,
        (offset, within): (u32, &Range<u32>),
    ) -> StepId {
        let end = self.end(frame.call);
        let Some(lane) = self.recording.call(frame.call).and_then(|span| self.recording.lane(span.lane))
        else {
            return end;
        };
        let mut at = lane.steps.partition_point(|other| *other <= step);
        for _ in 0..MOST_STEPS {
            let Some(next) = lane.steps.get(at).copied().filter(|next| *next < end) else { return end };
            let chain: Vec<CallId> =
                self.recording.ancestors(self.recording.call_at(next)).map(|(id, _)| id).collect();
            let Some(own) = chain.iter().position(|other| *other == frame.call) else { return next };
            if own > 0 {
                // Over the outermost call that it made.
                let behind = self.end(chain[own - 1]);
                at = lane.steps.partition_point(|other| *other < behind).max(at + 1);
                continue;
            }
            at += 1;
            let Some(RecordedStep::Statement(site)) = self.recording.step(next) else { continue };
            match self.sources.place(site) {
                Some(place) if place.offset == offset || !within.contains(&place.offset) => return next,
                _ => {}
            }
        }
        end
    }

    /// The entry behind which a statement evaluated what it did before a step: its own, or the newest before a later round of the
    /// loop whose head it is.
    pub fn evaluated(&self, own: &OwnStep, before: StepId) -> StepId {
        let lane = self.recording.call(own.call).and_then(|span| self.recording.lane(span.lane));
        let newest = lane.and_then(|lane| {
            let behind = lane.steps.partition_point(|step| *step < before);
            lane.steps.get(behind.checked_sub(1)?)
        });
        newest.copied().unwrap_or(own.step).max(own.step)
    }

    /// The calls of functions with this name that a statement made, the oldest first.
    pub fn callees(&self, own: &OwnStep, until: StepId, name: &str) -> Vec<CallId> {
        let Some(lane) = self.recording.call(own.call).and_then(|span| self.recording.lane(span.lane)) else {
            return Vec::new();
        };
        let span = |call: &CallId| self.recording.call(*call);
        let from = lane.calls.partition_point(|call| span(call).is_some_and(|span| span.first <= own.step));
        let calls =
            lane.calls[from..].iter().take_while(|call| span(call).is_some_and(|span| span.first < until));
        let is_it = |call: &&CallId| {
            span(call).is_some_and(|span| span.parent == Some(own.call) && span.called_from == Some(own.site))
                && self.name(**call) == name
        };
        calls.filter(is_it).copied().collect()
    }

    /// The functions that ran in a statement, or in its closures, the oldest first: what code in it that is not recorded may
    /// have called.
    pub fn ran_in(&self, own: &OwnStep, until: StepId) -> Vec<CallId> {
        let Some(lane) = self.recording.call(own.call).and_then(|span| self.recording.lane(span.lane)) else {
            return Vec::new();
        };
        let span = |call: &CallId| self.recording.call(*call);
        let from = lane.calls.partition_point(|call| span(call).is_some_and(|span| span.first <= own.step));
        let mut closures: Vec<CallId> = Vec::new();
        let mut found = Vec::new();
        for call in lane.calls[from..].iter().take(MOST_STEPS) {
            let Some(ran) = span(call).filter(|span| span.first < until) else { break };
            let is_own = ran.parent == Some(own.call) && ran.called_from == Some(own.site);
            if is_own || ran.parent.is_some_and(|parent| closures.contains(&parent)) {
                let of = if self.name(*call) == "{closure}" { &mut closures } else { &mut found };
                of.push(*call);
            }
        }
        found
    }

    /// The last part of the name of a call's function.
    pub fn name(&self, call: CallId) -> &'r str {
        let function = self.recording.call(call).map(|span| span.function.0 as usize);
        let function = function.and_then(|function| self.recording.functions.get(function));
        function.map_or("", |function| function.name.rsplit("::").next().unwrap_or_default())
    }

    /// The last statement of a call before a step, and its frame.
    pub fn last_statement(&mut self, call: CallId, before: StepId) -> Option<(OwnStep, SyntaxFrame)> {
        let lane = self.recording.lane(self.recording.call(call)?.lane)?;
        let first = self.recording.call(call)?.first;
        let behind = lane.steps.partition_point(|step| *step < before);
        for step in lane.steps[..behind].iter().rev().take(MOST_STEPS).take_while(|step| **step >= first) {
            if self.recording.call_at(*step) != Some(call) {
                continue;
            }
            let Some(RecordedStep::Statement(site)) = self.recording.step(*step) else {
                continue;
            };
            let place = self.sources.place(site)?;
            let frame = self.frame(call, site)?;
            return Some((OwnStep { step: *step, site, offset: place.offset, call }, frame));
        }
        None
    }

    /// The newest recorded value of a name of a call that this line binds or assigns, between two steps.
    pub fn value(&self, call: CallId, name: &str, line: u32, between: Range<StepId>) -> Option<String> {
        let recording = self.recording;
        let from = recording.values.partition_point(|value| value.step < between.start);
        let until = recording.values.partition_point(|value| value.step < between.end);
        let is_it = |value: &&ValueAt| {
            let is_here = value.line == line && recording.strings.get(value.name) == name;
            is_here && value.call == Some(call)
        };
        let mut values = recording.values[from..until.max(from)].iter().rev().take(MOST_STEPS);
        values.find(is_it).map(|value| recording.strings.get(value.text).to_owned())
    }
}
