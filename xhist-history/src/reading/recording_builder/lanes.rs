//! The lanes of a recording while it is made: the call stack of each, and the spans of its calls.

use std::collections::HashMap;

use crate::calls::{Activation, CallStack, Exit, Handler, Left, ThreadEntry};
use crate::model::Ring;
use crate::recording::{
    CallId, CallSpan, FunctionId, LaneId, RecordedLane, Recording, SiteId, SpanExit, StepId,
};

/// A lane that grows.
pub struct GrowingLane {
    /// Its number.
    pub id: LaneId,
    /// Its call stack; `None` before its first statement, and if calls are not known.
    pub stack: Option<CallStack>,
    /// The spans of the activations on its stack, the outermost first.
    pub open: Vec<CallId>,
    /// Its newest step.
    pub last: Option<StepId>,
    /// Its newest task, by its place among the task spans.
    pub task: Option<usize>,
    /// The steps of its panics.
    pub panics: Vec<Option<StepId>>,
}

/// The lanes by ring and interrupt.
#[derive(Default)]
pub struct GrowingLanes {
    lanes: Vec<GrowingLane>,
    by_key: HashMap<(usize, usize, u16), usize>,
}

impl GrowingLanes {
    /// The lane of an interrupt of a ring.
    pub fn of(&mut self, recording: &mut Recording, ring: &Ring, interrupt: u16) -> &mut GrowingLane {
        let key = (ring.target, ring.number, interrupt);
        let index = *self.by_key.entry(key).or_insert_with(|| {
            let id = LaneId(recording.lanes.len() as u32);
            recording.lanes.push(RecordedLane {
                name: ring.lane(interrupt),
                pid: ring.pid,
                tid: ring.tid,
                ring: ring.number,
                interrupt,
                status: ring.status,
                ..RecordedLane::default()
            });
            self.lanes.push(GrowingLane {
                id,
                stack: None,
                open: Vec::new(),
                last: None,
                task: None,
                panics: Vec::new(),
            });
            self.lanes.len() - 1
        });
        &mut self.lanes[index]
    }

    /// All lanes, with their stacks.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut GrowingLane> {
        self.lanes.iter_mut()
    }
}

impl GrowingLane {
    /// The stack takes the next entry, if calls are known.
    pub fn take(&mut self, recording: &mut Recording, handler: Handler, entry: ThreadEntry) {
        if let Some(mut stack) = self.stack.take() {
            self.leave_all(recording, &stack.take(handler, entry).left);
            self.stack = Some(stack);
        }
    }

    /// Keeps which panic is not known to be caught.
    pub fn note_panic(&self, recording: &mut Recording) {
        let Some(lane) = recording.lanes.get_mut(self.id.0 as usize) else { return };
        let open = self.stack.as_ref().and_then(|stack| stack.open_panics().first());
        lane.is_panicking = open.is_some();
        lane.panic = open.and_then(|panic| self.panics.get(panic.number).copied().flatten());
    }

    /// Activations were left. Those that were entered among skipped statements have no span.
    fn leave_all(&mut self, recording: &mut Recording, left: &[Left]) {
        for Left { depth, exit, .. } in left {
            if self.open.len() > *depth {
                self.leave(recording, *exit);
            }
        }
    }

    /// An activation was left.
    fn leave(&mut self, recording: &mut Recording, exit: Exit) {
        let Some(CallId(index)) = self.open.pop() else { return };
        let last = self.last;
        if let Some(span) = recording.calls.get_mut(index as usize) {
            span.exit = span_exit(exit);
            span.last = last.map_or(span.first, |last| last.max(span.first));
        }
    }

    /// An activation was entered at a step.
    pub fn enter(
        &mut self,
        recording: &mut Recording,
        (step, function): (StepId, FunctionId),
        called_from: Option<SiteId>,
        activation: &Activation,
    ) {
        let id = CallId(recording.calls.len() as u32);
        recording.calls.push(CallSpan {
            lane: self.id,
            function,
            first: step,
            // As long as it is open.
            last: StepId(u32::MAX),
            parent: self.open.last().copied(),
            depth: self.open.len() as u32,
            called_from,
            exit: SpanExit::Open,
            entered_before: activation.entered_before,
            is_uncertain: activation.is_uncertain,
            is_resumed: activation.is_resumed,
            in_unwinding: activation.in_unwinding,
            task: activation.task,
        });
        self.open.push(id);
        if let Some(lane) = recording.lanes.get_mut(self.id.0 as usize) {
            lane.calls.push(id);
        }
    }
}

fn span_exit(exit: Exit) -> SpanExit {
    match exit {
        Exit::Returned => SpanExit::Returned,
        Exit::Unwound => SpanExit::Unwound,
        Exit::Parked => SpanExit::Parked,
        Exit::Cancelled => SpanExit::Cancelled,
        Exit::Unknown => SpanExit::Unknown,
    }
}
