//! The threads and async tasks: when each ran, along the steps, and where it is at the cursor.

use std::ops::Range;

use super::scene::{Scene, column, end_of};
use crate::view::index::TaskLane;
use crate::view::row::{PaneRows, RowRole, RowTarget, ViewRow};
use xhist_history::recording::{RecordedLane, Recording, StepId};

/// Columns of a name, of a state and of a place.
const NAME: usize = 16;
const STATUS: usize = 9;
const PLACE: usize = 18;

/// Threads, then async tasks.
pub fn rows<'s>(scene: &Scene<'s>, width: usize) -> PaneRows<'s> {
    let recording = scene.recording;
    let lanes = recording.lanes.len();
    let axis = Axis::new(recording, scene.state.step, scene.state.axis, width / 4);
    let number = |step: usize| recording.number(StepId(step as u32));
    let title = format!("#{} to #{}", number(axis.steps.start), number(axis.steps.end.saturating_sub(1)));
    let current = recording.lane_of(scene.state.step).0 as usize;
    let scene = *scene;
    let row = move |index: usize| match recording.lanes.get(index) {
        Some(lane) => lane_row(&scene, lane, &axis),
        None => scene
            .index
            .tasks()
            .get(index - lanes)
            .map_or_else(ViewRow::default, |task| task_row(&scene, task, &axis)),
    };
    let len = lanes + scene.index.tasks().len();
    PaneRows { title, len, current: Some(current), selected: current, row: Box::new(row) }
}

/// The step of a lane at the cursor: its newest one up to there, else its first one.
pub fn step_of(lane: &RecordedLane, step: StepId) -> Option<StepId> {
    lane.steps.get(lane.position(step).unwrap_or_default()).copied()
}

fn lane_row(scene: &Scene<'_>, lane: &RecordedLane, axis: &Axis) -> ViewRow {
    let at = step_of(lane, scene.state.step);
    let count = |steps: Range<usize>| {
        let before = |end: usize| lane.steps.partition_point(|step| (step.0 as usize) < end);
        before(steps.end) - before(steps.start)
    };
    row(scene, (&lane.name, end_of(lane)), axis.bar(count), at)
}

fn task_row(scene: &Scene<'_>, task: &TaskLane, axis: &Axis) -> ViewRow {
    let recording = scene.recording;
    let spans = || task.spans.iter().filter_map(|index| recording.task_spans.get(*index));
    let (pid, number) = task.key;
    let function = spans().map(|span| recording.strings.get(span.function)).find(|name| !name.is_empty());
    let function = function.unwrap_or_default();
    let live = recording.tasks.iter().flat_map(|tasks| &tasks.live);
    let live = live.clone().find(|live| (live.pid, live.number) == (pid, number));
    let status = match live {
        Some(live) if live.parked => "parked",
        Some(_) => "at work",
        None if recording.tasks.is_some() => "ended",
        None => "",
    };
    let span = |index: usize| recording.task_spans.get(task.spans[index]);
    let count = |steps: Range<usize>| {
        let behind = task.spans.partition_point(|index| {
            recording.task_spans.get(*index).is_some_and(|span| (span.first.0 as usize) < steps.end)
        });
        let is_in =
            behind.checked_sub(1).and_then(span).is_some_and(|span| span.last.0 as usize >= steps.start);
        if is_in { steps.len() } else { 0 }
    };
    let bar = axis.bar(count);
    let at = spans()
        .take_while(|span| span.first <= scene.state.step)
        .last()
        .map(|span| span.last.min(scene.state.step));
    let at = at.or_else(|| spans().next().map(|span| span.first));
    let name = format!("task {number} {}", function.rsplit("::").next().unwrap_or(function));
    row(scene, (&name, status), bar, at)
}

fn row(scene: &Scene<'_>, (name, status): (&str, &str), bar: String, at: Option<StepId>) -> ViewRow {
    let site = at.and_then(|step| scene.recording.site_at(step));
    let place = site.map_or_else(String::new, |site| scene.place(site));
    let is_bad = matches!(status, "panicked" | "killed" | "parked" | "blocked");
    let name: String = name.chars().take(NAME).collect();
    ViewRow::new(RowRole::Name, format!("{name:<NAME$} "))
        .with(if is_bad { RowRole::Event } else { RowRole::Dim }, format!("{status:<STATUS$} "))
        .with(RowRole::Plain, bar)
        .with(RowRole::Place, format!(" {}", column(&place, PLACE)))
        .with(RowRole::Plain, format!(" {}", site.map_or("", |site| scene.text(site))))
        .about(at.map_or(RowTarget::Nothing, RowTarget::Step))
}

/// The steps that the bars show, and how.
struct Axis {
    steps: Range<usize>,
    cursor: usize,
    width: usize,
}

impl Axis {
    /// All steps, halved this number of times around the cursor.
    fn new(recording: &Recording, step: StepId, halved: u32, width: usize) -> Axis {
        let (all, cursor) = (recording.len(), step.0 as usize);
        let len = (all >> halved.min(31)).max(width).min(all);
        let first = cursor.saturating_sub(len / 2).min(all - len);
        Axis { steps: first..first + len, cursor, width }
    }

    /// A character for each part of the axis: `=` for many steps, `-` for some, `|` at the cursor.
    fn bar(&self, count: impl Fn(Range<usize>) -> usize) -> String {
        let at = |column: usize| self.steps.start + self.steps.len() * column / self.width.max(1);
        let part = |column: usize| {
            let part = at(column)..at(column + 1);
            let count = count(part.clone());
            match part.contains(&self.cursor) {
                true if count > 0 => '#',
                true => '|',
                false if count == 0 => ' ',
                false if count * 4 >= part.len() => '=',
                false => '-',
            }
        };
        (0..self.width).map(part).collect()
    }
}
