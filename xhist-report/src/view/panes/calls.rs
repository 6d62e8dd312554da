//! The calls: the stack at the cursor, and what the innermost call calls before and after it.

use super::scene::{Scene, column};
use crate::view::row::{PaneRows, RowRole, RowTarget, ViewRow};
use crate::view::state::PaneId;
use xhist_history::recording::{CallId, CallSpan, RecordedLane, SpanExit, StackFrame, StepId};

/// Calls of the stack that are shown: the innermost ones.
const MAX_FRAMES: usize = 200;
/// Calls that the innermost one made and will make, each way.
const MAX_CHILDREN: usize = 100;

/// The frame that the source and the values are shown of: the selected one, else the innermost one.
pub fn looked_at(scene: &Scene<'_>) -> Option<StackFrame> {
    let stack = scene.recording.stack_at(scene.state.step);
    let chosen = scene.state.selected(PaneId::Calls).and_then(|row| match (rows(scene).row)(row).target {
        RowTarget::Frame(frame) => Some(frame),
        _ => None,
    });
    stack.get(chosen.unwrap_or_default()).copied()
}

/// The stack, the outermost call first, and the calls in the innermost one.
pub fn rows<'s>(scene: &Scene<'s>) -> PaneRows<'s> {
    let (recording, step) = (scene.recording, scene.state.step);
    let stack = recording.stack_at(step);
    let mut rows = Vec::new();
    if stack.len() > MAX_FRAMES {
        let more = stack.len() - MAX_FRAMES;
        rows.push(ViewRow::new(
            RowRole::Dim,
            format!("{more} calls around these; U goes to the call around"),
        ));
    }
    let shown = stack.len().min(MAX_FRAMES);
    for (index, frame) in stack.iter().enumerate().take(MAX_FRAMES).rev() {
        rows.push(frame_row(scene, frame, (shown - 1 - index, index)));
    }
    let current = rows.len().checked_sub(1);
    let call = stack.first().and_then(|frame| frame.call);
    match call.and_then(|call| Some((call, recording.lane(recording.lane_of(step))?))) {
        Some((call, lane)) => {
            let children = Children { scene, lane, call };
            rows.extend(children.before(step).iter().map(|child| child_row(scene, *child, shown)));
            if let Some(site) = stack.first().and_then(|frame| frame.site) {
                rows.push(ViewRow::new(RowRole::Here, format!("{}{}", indent(shown), scene.text(site))));
            }
            rows.extend(children.after(step).iter().map(|child| child_row(scene, *child, shown)));
        }
        None => {
            rows.push(ViewRow::new(RowRole::Dim, "calls are not known: no map with the functions was found"))
        }
    }
    PaneRows::list(rows, current)
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(20))
}

fn frame_row(scene: &Scene<'_>, frame: &StackFrame, (depth, index): (usize, usize)) -> ViewRow {
    let recording = scene.recording;
    let name = recording.functions.get(frame.function.0 as usize).map_or("", |function| &function.name);
    let name = if name.is_empty() { "?" } else { name };
    let mut row = ViewRow::new(RowRole::Name, column_or_longer(&format!("{}{name}", indent(depth)), 30));
    if let Some(site) = frame.site {
        row = row.with(RowRole::Place, format!(" {}", column(&scene.place(site), 18)));
    }
    if let Some(span) = frame.call.and_then(|call| recording.call(call)) {
        row = row.with(RowRole::Dim, format!(" {}", steps(scene, span)));
    }
    row.about(RowTarget::Frame(index))
}

fn child_row(scene: &Scene<'_>, call: CallId, depth: usize) -> ViewRow {
    let Some(span) = scene.recording.call(call) else { return ViewRow::default() };
    let function = scene.recording.functions.get(span.function.0 as usize);
    let name = function.map_or("?", |function| &function.name);
    let exit = match span.exit {
        SpanExit::Returned => String::new(),
        exit => format!(" {}", exit.name()),
    };
    ViewRow::new(RowRole::Plain, column_or_longer(&format!("{}{name}", indent(depth)), 49))
        .with(RowRole::Dim, format!(" {}", steps(scene, span)))
        .with(RowRole::Event, exit)
        .about(RowTarget::Step(span.first))
}

fn column_or_longer(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

/// `#3-#9`, or `#3-` of an open call.
fn steps(scene: &Scene<'_>, span: &CallSpan) -> String {
    let last = if span.exit == SpanExit::Open { String::new() } else { scene.number(span.last) };
    let before = if span.entered_before { "before " } else { "" };
    format!("{before}{}-{last}", scene.number(span.first))
}

/// The calls directly in a call, found without a walk through the calls in them.
struct Children<'c, 's> {
    scene: &'c Scene<'s>,
    lane: &'c RecordedLane,
    call: CallId,
}

impl Children<'_, '_> {
    fn span(&self, index: usize) -> Option<(CallId, &CallSpan)> {
        let call = *self.lane.calls.get(index)?;
        Some((call, self.scene.recording.call(call)?))
    }

    /// How many calls of the lane were entered up to a step.
    fn entered(&self, step: StepId) -> usize {
        let is_before =
            |call: &CallId| self.scene.recording.call(*call).is_some_and(|span| span.first <= step);
        self.lane.calls.partition_point(is_before)
    }

    /// Those that were left before a step, the newest ones.
    fn before(&self, step: StepId) -> Vec<CallId> {
        let mut found = Vec::new();
        let mut behind = self.entered(step);
        while found.len() < MAX_CHILDREN && behind > 0 {
            let Some((entered, _)) = self.span(behind - 1) else { break };
            let mut around = self.scene.recording.ancestors(Some(entered));
            let child = around.find(|(_, span)| span.parent == Some(self.call));
            let Some((child, _)) = child else { break };
            found.push(child);
            behind = self.lane.calls.partition_point(|other| *other < child);
        }
        found.reverse();
        found
    }

    /// Those that are entered after a step, the next ones.
    fn after(&self, step: StepId) -> Vec<CallId> {
        let mut found = Vec::new();
        let mut next = self.entered(step);
        while let Some((child, span)) = self.span(next)
            && span.parent == Some(self.call)
            && found.len() < MAX_CHILDREN
        {
            found.push(child);
            next = self.entered(span.last).max(next + 1);
        }
        found
    }
}
