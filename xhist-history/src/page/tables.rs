//! The tables of a recording as blocks of a page.

use std::collections::HashMap;
use std::io;

use serde_json::{Value, json};

use super::columns::BlockWriter;
use super::origins::origins;
use crate::model::{FieldValue, LiveTask, TaskPlace, TaskSummary};
use crate::recording::{EventKind, LaneId, MoreRuns, RecordedStep, Recording, StepId};

/// The version of the tables.
const VERSION: u32 = 1;
/// The newest values that a page holds.
const MAX_VALUES: usize = 4_000_000;
/// Bytes of source text that a page holds.
const MAX_SOURCE: usize = 64 << 20;
/// Async tasks that a page lists.
const MAX_TASKS: usize = 20_000;
/// Bytes of texts in one block.
const TEXTS: usize = 1 << 20;

/// Writes all tables.
pub fn write(recording: &Recording, blocks: &mut BlockWriter<'_>) -> io::Result<()> {
    let values = &recording.values[recording.values.len().saturating_sub(MAX_VALUES)..];
    let mut left_out = Vec::new();
    if values.len() < recording.values.len() {
        left_out.push(format!("{} values older than these", recording.values.len() - values.len()));
    }
    let files = files(recording, &mut left_out);
    let tasks = recording.tasks.as_ref().map(|tasks| summary(tasks, &mut left_out));
    let evidence = &recording.evidence;
    let suspect = |row: &crate::recording::SuspectRow| {
        json!({"rank": row.rank, "score": row.score.min(1e9), "path": row.path, "line": row.line,
            "function": row.function, "text": row.text})
    };
    blocks.json(
        "tables",
        &json!({
            "version": VERSION,
            "origin": recording.origin,
            "skipped": recording.left_out,
            "leftOut": left_out,
            "losses": recording.losses,
            "opening": recording.opening_step().map_or(0, |step| step.0),
            "files": files,
            "functions": recording.functions.iter()
                .map(|function| json!([function.name, function.file, function.line])).collect::<Vec<_>>(),
            "lanes": recording.lanes.iter().map(|lane| json!({"name": lane.name, "pid": lane.pid, "tid": lane.tid,
                "ring": lane.ring, "status": lane.status})).collect::<Vec<_>>(),
            "tasks": tasks,
            "suspects": evidence.suspects.iter().map(suspect).collect::<Vec<_>>(),
            "origins": origins(recording),
            "diff": evidence.diff,
            "message": evidence.message,
            "epoch": recording.times.iter().map(|(_, time)| *time).min().map(|time| time.to_string()),
        }),
    )?;
    sites(recording, blocks)?;
    steps(recording, blocks)?;
    calls(recording, blocks)?;
    spans_and_times(recording, blocks)?;
    let more = events(recording, blocks)?;
    let of = |get: fn(&crate::recording::ValueAt) -> u64| values.iter().map(get);
    blocks.numbers("value_step", of(|value| value.step.0.into()))?;
    blocks.numbers("value_name", of(|value| value.name.0.into()))?;
    blocks.numbers("value_type", of(|value| value.type_name.0.into()))?;
    blocks.numbers("value_text", of(|value| value.text.0.into()))?;
    blocks.numbers("value_call", of(|value| value.call.map_or(0, |call| u64::from(call.0) + 1)))?;
    blocks.numbers("value_line", of(|value| value.line.into()))?;
    blocks.numbers("value_parameter", of(|value| value.is_parameter.into()))?;
    texts(recording.strings.iter().chain(more.iter().map(String::as_str)), blocks)
}

/// Files with their texts, as long as there is room.
fn files(recording: &Recording, left_out: &mut Vec<String>) -> Vec<Value> {
    let (mut room, mut without) = (MAX_SOURCE, 0);
    let files = recording.files.iter().map(|file| {
        let text = file.text.as_deref();
        let kept = text.filter(|text| text.len() <= room);
        room -= kept.map_or(0, str::len);
        without += usize::from(text.is_some() && kept.is_none());
        json!({"path": file.path, "text": kept, "map": file.is_from_map, "dependency": file.is_dependency})
    });
    let files = files.collect();
    if without > 0 {
        left_out.push(format!("the text of {}", crate::model::count(without, "source file")));
    }
    files
}

/// The async tasks at the end.
fn summary(tasks: &TaskSummary, left_out: &mut Vec<String>) -> Value {
    let place = |at: &TaskPlace| json!({"path": at.path, "line": at.line, "function": at.function});
    let live = |task: &LiveTask| {
        let around = task.around.iter().map(|around| {
            json!({"number": around.number, "link": around.link.name(), "at": around.at.as_ref().map(place)})
        });
        json!({
            "number": task.number,
            "parked": task.parked,
            "at": task.at.as_ref().map(place),
            "thread": task.thread,
            "ms": task.for_at_least.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            "around": around.collect::<Vec<_>>(),
            "leaf": task.is_leaf,
        })
    };
    let more = tasks.live.len().saturating_sub(MAX_TASKS);
    if more > 0 {
        left_out.push(format!("{} of those that have not ended", crate::model::count(more, "async task")));
    }
    let cancelled = tasks.cancelled.iter().take(MAX_TASKS);
    json!({
        "live": tasks.live.iter().take(MAX_TASKS).map(live).collect::<Vec<_>>(),
        "unlisted": tasks.unlisted,
        "cancelled": cancelled.map(|row| json!({"at": place(&row.at), "count": row.count})).collect::<Vec<_>>(),
    })
}

fn sites(recording: &Recording, blocks: &mut BlockWriter<'_>) -> io::Result<()> {
    let of = |get: fn(&crate::recording::RecordedSite) -> u32| {
        recording.sites.iter().map(move |site| get(site).into())
    };
    blocks.numbers("site_file", of(|site| site.file))?;
    blocks.numbers("site_line", of(|site| site.line))?;
    blocks.numbers("site_col", of(|site| site.col))?;
    blocks.numbers("site_end_line", of(|site| site.end_line))?;
    blocks.numbers("site_end_col", of(|site| site.end_col))?;
    blocks.numbers("site_function", of(|site| site.function.0))?;
    // As `source` counts: a repetition ran more often than it has steps.
    blocks.numbers("site_runs", MoreRuns::of(recording).of_sites(recording).into_iter())
}

/// Sites, counted from 1; events are 0, in their order. Lanes as runs: lane and length.
fn steps(recording: &Recording, blocks: &mut BlockWriter<'_>) -> io::Result<()> {
    let step = |step| match step {
        RecordedStep::Statement(site) => u64::from(site.0) + 1,
        RecordedStep::Event(_) => 0,
    };
    blocks.numbers("steps", recording.steps().map(step))?;
    let mut runs: Vec<(LaneId, u64)> = Vec::new();
    for lane in recording.lanes_of_steps() {
        match runs.last_mut() {
            Some((last, length)) if *last == lane => *length += 1,
            _ => runs.push((lane, 1)),
        }
    }
    blocks.numbers("run_lane", runs.iter().map(|run| run.0.0.into()))?;
    blocks.numbers("run_length", runs.iter().map(|run| run.1))?;
    let uncertain = (0..recording.len() as u32).filter(|step| recording.is_uncertain(StepId(*step)));
    blocks.numbers("uncertain", uncertain.map(u64::from))
}

fn calls(recording: &Recording, blocks: &mut BlockWriter<'_>) -> io::Result<()> {
    let calls = || recording.calls.iter();
    let newest = recording.last().unwrap_or_default().0;
    blocks.numbers("call_lane", calls().map(|call| call.lane.0.into()))?;
    blocks.numbers("call_function", calls().map(|call| call.function.0.into()))?;
    blocks.numbers("call_first", calls().map(|call| call.first.0.into()))?;
    blocks.numbers("call_last", calls().map(|call| call.last.0.min(newest).into()))?;
    blocks.numbers(
        "call_parent",
        calls().map(|call| call.parent.map_or(0, |parent| u64::from(parent.0) + 1)),
    )?;
    blocks
        .numbers("call_from", calls().map(|call| call.called_from.map_or(0, |site| u64::from(site.0) + 1)))?;
    blocks.numbers("call_exit", calls().map(|call| call.exit as u64))?;
    let flags = |call: &crate::recording::CallSpan| {
        let flags = [call.entered_before, call.is_uncertain, call.is_resumed, call.in_unwinding];
        flags.iter().rev().fold(0, |all, flag| all << 1 | u64::from(*flag))
    };
    blocks.numbers("call_flags", calls().map(flags))?;
    blocks.numbers("call_task", calls().map(|call| call.task.map_or(0, |task| task.saturating_add(1))))
}

fn spans_and_times(recording: &Recording, blocks: &mut BlockWriter<'_>) -> io::Result<()> {
    let spans = || recording.task_spans.iter();
    blocks.numbers("span_task", spans().map(|span| span.task.into()))?;
    blocks.numbers("span_function", spans().map(|span| span.function.0.into()))?;
    blocks.numbers("span_lane", spans().map(|span| span.lane.0.into()))?;
    blocks.numbers("span_first", spans().map(|span| span.first.0.into()))?;
    blocks.numbers("span_last", spans().map(|span| span.last.0.into()))?;
    let first = recording.times.iter().map(|(_, time)| *time).min().unwrap_or_default();
    blocks.numbers("time_step", recording.times.iter().map(|(step, _)| step.0.into()))?;
    blocks.numbers("time_value", recording.times.iter().map(|(_, time)| time - first))
}

/// Events and their fields; returns texts beside those of the recording.
fn events(recording: &Recording, blocks: &mut BlockWriter<'_>) -> io::Result<Vec<String>> {
    let events = || recording.events.iter();
    let kind = |kind: EventKind| match kind {
        EventKind::Panic => 0,
        EventKind::Signal => 1,
        EventKind::Trace => 2,
        EventKind::Record => 3,
        EventKind::Mark => 4,
        EventKind::Repetition { .. } => 5,
        EventKind::Cancelled => 6,
        EventKind::Gap => 7,
        EventKind::Output => 8,
    };
    blocks.numbers("event_kind", events().map(|event| kind(event.kind)))?;
    blocks.numbers("event_name", events().map(|event| event.name.0.into()))?;
    blocks.numbers("event_text", events().map(|event| event.text.0.into()))?;
    blocks.numbers("event_fields", events().map(|event| event.fields.len() as u64))?;
    let fields = || events().flat_map(|event| &event.fields);
    blocks.numbers("field_name", fields().map(|(name, _)| name.0.into()))?;
    let (mut more, mut known) = (Vec::new(), HashMap::new());
    let before = recording.strings.iter().len() as u64;
    let mut text = |value: &FieldValue| {
        let text = field_text(value);
        *known.entry(text).or_insert_with_key(|text| {
            more.push(text.clone());
            before + more.len() as u64 - 1
        })
    };
    blocks.numbers("field_text", fields().map(|(_, value)| text(value)))?;
    Ok(more)
}

fn field_text(value: &FieldValue) -> String {
    match value {
        FieldValue::Uint(number) => number.to_string(),
        FieldValue::Int(number) => number.to_string(),
        FieldValue::Float(number) => number.to_string(),
        FieldValue::Text(text) => text.clone(),
        FieldValue::Bytes(bytes) => {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
        }
    }
}

/// Texts in blocks of about a megabyte.
fn texts<'t>(texts: impl Iterator<Item = &'t str>, blocks: &mut BlockWriter<'_>) -> io::Result<()> {
    let (mut part, mut len) = (Vec::new(), 0);
    for text in texts {
        part.push(text);
        len += text.len() + 4;
        if len > TEXTS {
            blocks.json("texts", &part)?;
            (part, len) = (Vec::new(), 0);
        }
    }
    blocks.json("texts", &part)
}
