//! The findings: the failure, suspects, parked async tasks, losses and the difference from a passed test.

use super::scene::Scene;
use crate::view::row::{PaneRows, RowRole, RowTarget, ViewRow};
use xhist_history::model::{LiveTask, TaskPlace};
use xhist_history::notes::typed;
use xhist_history::recording::EventKind;

/// Rows of one kind.
const MAX_ROWS: usize = 1000;

/// All findings, with headings.
pub fn rows<'s>(scene: &Scene<'s>) -> PaneRows<'s> {
    let recording = scene.recording;
    let evidence = &recording.evidence;
    let mut rows = Vec::new();
    let text = |line: &str| ViewRow::new(RowRole::Plain, format!("  {line}"));
    section(&mut rows, "failure", failures(scene), "");
    section(&mut rows, "message", evidence.message.lines().map(text).collect(), "");
    section(&mut rows, "suspects", suspects(scene), &typed::command("suspects"));
    let parked = recording.parked_tasks().into_iter().map(task).collect();
    section(&mut rows, "parked async tasks", parked, &typed::command("tasks"));
    let cancelled = recording.tasks.iter().flat_map(|tasks| &tasks.cancelled);
    let cancelled =
        cancelled.map(|cancelled| at(&format!("{} times", cancelled.count), &cancelled.at, "")).collect();
    section(&mut rows, "cancelled async tasks", cancelled, &typed::command("tasks"));
    section(&mut rows, "lost", recording.losses.iter().map(|line| text(line)).collect(), "");
    section(
        &mut rows,
        "difference from the passed test most like it",
        evidence.diff.lines().map(text).collect(),
        &typed::command("diff"),
    );
    if rows.is_empty() {
        rows.push(ViewRow::new(RowRole::Dim, "no failure, no parked task, no loss is known"));
    }
    PaneRows::list(rows, None)
}

/// Rows below a heading, not more than [`MAX_ROWS`] of them.
fn section(rows: &mut Vec<ViewRow>, heading: &str, more: Vec<ViewRow>, command: &str) {
    if more.is_empty() {
        return;
    }
    let hidden = more.len().saturating_sub(MAX_ROWS);
    rows.push(ViewRow::new(RowRole::Name, format!("{heading}:")));
    rows.extend(more.into_iter().take(MAX_ROWS));
    if hidden > 0 {
        rows.push(ViewRow::new(RowRole::Dim, format!("  {hidden} more: {command}")));
    }
}

/// Panics and signals.
fn failures(scene: &Scene<'_>) -> Vec<ViewRow> {
    let recording = scene.recording;
    let failures = scene.index.events().iter().filter_map(|step| {
        let event = recording.event(*step)?;
        matches!(event.kind, EventKind::Panic | EventKind::Signal).then_some((*step, event))
    });
    let row = |(step, event): (_, &xhist_history::recording::RecordedEvent)| {
        let lane = recording.lane(recording.lane_of(step)).map_or("", |lane| &lane.name);
        let site = recording.site_at(step);
        let place = site.map_or_else(String::new, |site| scene.place(site));
        ViewRow::new(RowRole::Dim, format!("  {} ", scene.number(step)))
            .with(RowRole::Name, format!("{lane} "))
            .with(RowRole::Place, format!("{place} "))
            .with(RowRole::Event, recording.strings.get(event.text))
            .with(RowRole::Plain, format!("  {}", site.map_or("", |site| scene.text(site))))
            .about(RowTarget::Step(step))
    };
    failures.map(row).collect()
}

fn suspects(scene: &Scene<'_>) -> Vec<ViewRow> {
    let row = |suspect: &xhist_history::recording::SuspectRow| {
        ViewRow::new(RowRole::Dim, format!("  {:>3}. {:.2} ", suspect.rank, suspect.score))
            .with(RowRole::Place, format!("{}:{} ", suspect.path, suspect.line))
            .with(RowRole::Name, format!("{} ", suspect.function))
            .with(RowRole::Plain, suspect.text.trim())
            .about(RowTarget::LastRun(suspect.path.clone(), suspect.line))
    };
    scene.recording.evidence.suspects.iter().map(row).collect()
}

/// Where a task is parked, and who waits for it.
fn task(task: &LiveTask) -> ViewRow {
    let around =
        task.around.iter().map(|around| format!("{} by task {}, ", around.link.name(), around.number));
    let time = task.for_at_least.map_or_else(String::new, |time| format!("for {:.3} s", time.as_secs_f64()));
    let more = format!("{}{time}", around.collect::<String>());
    let lead = format!("task {}", task.number);
    match &task.at {
        Some(place) => at(&lead, place, more.trim_end_matches(", ")),
        None => ViewRow::new(RowRole::Plain, format!("  {lead}: the history has no statement of it; {more}")),
    }
}

fn at(lead: &str, place: &TaskPlace, more: &str) -> ViewRow {
    let path = place.path.as_deref().unwrap_or("?");
    let name = path.rsplit('/').next().unwrap_or(path);
    ViewRow::new(RowRole::Plain, format!("  {lead} "))
        .with(RowRole::Place, format!("{name}:{} ", place.line))
        .with(RowRole::Name, format!("{} ", place.function))
        .with(RowRole::Plain, place.source.as_deref().unwrap_or_default().trim())
        .with(RowRole::Dim, format!("   {more}"))
        .about(RowTarget::LastRun(path.to_owned(), place.line))
}
