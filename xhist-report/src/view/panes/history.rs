//! The history: a row for each step of all threads.

use super::scene::{Scene, column};
use crate::view::row::{PaneRows, RowRole, RowTarget, ViewRow};
use xhist_history::recording::{RecordedStep, StepId};

/// Columns of a place.
const PLACE: usize = 18;
/// Columns of a thread's name, at most.
const THREAD: usize = 12;
/// Calls that indent a row, at most.
const MAX_INDENT: usize = 16;

/// All steps.
pub fn rows<'s>(scene: &Scene<'s>, width: usize) -> PaneRows<'s> {
    let recording = scene.recording;
    let last = recording.last().unwrap_or_default();
    let digits = recording.number(last).to_string().len() + 1;
    let names = recording.lanes.iter().map(|lane| lane.name.chars().count());
    let threads = if recording.lanes.len() > 1 { names.max().unwrap_or_default().min(THREAD) } else { 0 };
    let place = PLACE.min(width / 4);
    let scene = *scene;
    let row = move |index: usize| row(&scene, StepId(index as u32), (digits, threads, place));
    let current = scene.state.step.0 as usize;
    PaneRows {
        title: String::new(),
        len: recording.len(),
        current: Some(current),
        selected: current,
        row: Box::new(row),
    }
}

fn row(scene: &Scene<'_>, step: StepId, (digits, threads, place): (usize, usize, usize)) -> ViewRow {
    let recording = scene.recording;
    let is_numbered = recording.event(step).is_none_or(|event| event.kind.is_numbered());
    let number = if is_numbered { scene.number(step) } else { String::new() };
    let mut row = ViewRow::new(RowRole::Dim, format!("{number:>digits$} ")).about(RowTarget::Step(step));
    if threads > 0 {
        let name = recording.lane(recording.lane_of(step)).map_or("", |lane| &lane.name);
        let sign = if recording.is_uncertain(step) { '~' } else { ' ' };
        row = row.with(RowRole::Name, column(name, threads)).with(RowRole::Dim, sign);
    }
    let depth = recording.call_at(step).and_then(|call| recording.call(call)).map_or(0, |call| call.depth);
    let indent = "  ".repeat((depth as usize).min(MAX_INDENT));
    match recording.step(step) {
        Some(RecordedStep::Statement(site)) => {
            row = row.with(RowRole::Place, column(&scene.place(site), place));
            row = row.with(RowRole::Plain, format!(" {indent}{}", scene.text(site)));
        }
        Some(RecordedStep::Event(event)) => {
            let event = recording.events.get(event as usize);
            let (kind, text) =
                event.map_or(("", ""), |event| (event.kind.name(), recording.strings.get(event.text)));
            row = row.with(RowRole::Event, format!("{} {indent}{text}", column(kind, place)));
        }
        None => {}
    }
    let values = scene.values(step);
    if values.is_empty() { row } else { row.with(RowRole::Value, format!("   {values}")) }
}
