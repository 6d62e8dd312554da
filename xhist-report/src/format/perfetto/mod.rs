//! `export perfetto`: a trace for ui.perfetto.dev. Calls are slices, everything else is an instant or a counter.

mod counters;
mod messages;
mod times;
mod tracks;
mod writer;

use std::collections::HashMap;
use std::io::{self, Write};

use counters::Counters;
use messages::{AnnotationValue, EventType};
use tracks::Tracks;
use writer::{PacketWriter, SliceEvent};

use super::Format;
use xhist_history::model::FieldValue;
use xhist_history::recording::{
    CallId, CallSpan, EventKind, RecordedLane, RecordedStep, Recording, SiteId, SpanExit, StepId,
};

/// The trace.
pub struct Perfetto;

impl Format for Perfetto {
    fn recording(&mut self, recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
        let writer = &mut PacketWriter::new(out);
        let tracks = Tracks::write(recording, writer)?;
        let times: Vec<Vec<u64>> =
            recording.lanes.iter().map(|lane| times::of_lane(recording, lane)).collect();
        for (index, (lane, times)) in recording.lanes.iter().zip(&times).enumerate() {
            let (track, newest) = (tracks.lane(index), newest_of(recording, lane));
            LaneWriter { recording, lane, track, times, newest }.write(writer)?;
        }
        write_tasks(recording, (&tracks, &times), writer)?;
        Counters::of(recording).write((recording, &times), writer)
    }
}

/// Writes what a lane ran.
struct LaneWriter<'r> {
    recording: &'r Recording,
    lane: &'r RecordedLane,
    track: u64,
    /// By position in the lane.
    times: &'r [u64],
    /// The newest statement of each call that was open at the end.
    newest: HashMap<CallId, SiteId>,
}

/// Where each call of a lane was at the end.
fn newest_of(recording: &Recording, lane: &RecordedLane) -> HashMap<CallId, SiteId> {
    let stack = lane.steps.last().map(|step| recording.stack_at(*step)).unwrap_or_default();
    stack.iter().filter_map(|frame| Some((frame.call?, frame.site?))).collect()
}

impl<'r> LaneWriter<'r> {
    fn write(&self, writer: &mut PacketWriter<'_>) -> io::Result<()> {
        let mut calls = self.lane.calls.iter().copied().filter_map(|id| Some((id, self.recording.call(id)?)));
        let mut next = calls.next();
        let mut open: Vec<&CallSpan> = Vec::new();
        for (position, step) in self.lane.steps.iter().enumerate() {
            let time = self.times[position];
            while open.last().is_some_and(|call| call.last < *step) {
                open.pop();
                self.end(time, writer)?;
            }
            while let Some((id, call)) = next.filter(|(_, call)| call.first <= *step) {
                // A call that was left between two steps of the lane has no time of its own.
                if call.last >= *step {
                    self.begin((id, call), time, writer)?;
                    open.push(call);
                }
                next = calls.next();
            }
            self.step((position, *step), writer)?;
        }
        let end = self.times.last().map_or(0, |time| time.saturating_add(1));
        while let Some(call) = open.pop() {
            // The viewer shows a slice without an end as one that did not finish.
            if call.exit != SpanExit::Open {
                self.end(end, writer)?;
            }
        }
        Ok(())
    }

    fn begin(
        &self,
        (id, call): (CallId, &CallSpan),
        time: u64,
        writer: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        let recording = self.recording;
        let function = recording.functions.get(call.function.0 as usize);
        let mut arguments = vec![("step", AnnotationValue::Uint(recording.number(call.first)))];
        if let Some((known, file)) =
            function.and_then(|known| Some((known, recording.files.get(known.file as usize)?)))
        {
            let place = format!("{}:{}", file.path, known.line);
            arguments.push(("function at", AnnotationValue::Text(place)));
        }
        if let Some(place) = call.called_from.and_then(|site| place(recording, site)) {
            arguments.push(("called from", AnnotationValue::Text(place)));
        }
        arguments.push(("left", AnnotationValue::Text(call.exit.name().to_owned())));
        if call.exit == SpanExit::Open
            && let Some(text) = self.newest.get(&id).and_then(|site| recording.place_text(*site))
        {
            arguments.push(("newest statement", AnnotationValue::Text(text)));
        }
        if call.entered_before {
            arguments.push(("entered", AnnotationValue::Text("before the first step".to_owned())));
        }
        if let Some(task) = call.task {
            arguments.push(("async task", AnnotationValue::Uint(task)));
        }
        let parameters = recording.values_at(call.first).iter().filter(|value| value.call == Some(id));
        for value in parameters.filter(|value| value.is_parameter) {
            let text = recording.strings.get(value.text).to_owned();
            arguments.push((recording.strings.get(value.name), AnnotationValue::Text(text)));
        }
        let name = function.map_or("", |function| &function.name);
        let name = if name.is_empty() { "(unknown function)" } else { name };
        let category = if call.in_unwinding { "unwinding" } else { "call" };
        let (track, event_type) = (self.track, EventType::SliceBegin);
        writer.event(SliceEvent { time, track, event_type, name, category, arguments })
    }

    fn end(&self, time: u64, writer: &mut PacketWriter<'_>) -> io::Result<()> {
        let (track, event_type) = (self.track, EventType::SliceEnd);
        writer.event(SliceEvent { time, track, event_type, name: "", category: "", arguments: Vec::new() })
    }

    /// Writes what is not a statement; statements too, where calls are not known.
    fn step(&self, (position, step): (usize, StepId), writer: &mut PacketWriter<'_>) -> io::Result<()> {
        let recording = self.recording;
        let mut arguments = vec![("step", AnnotationValue::Uint(recording.number(step)))];
        let (name, category) = match recording.step(step) {
            Some(RecordedStep::Event(_)) => {
                let Some(event) = recording.event(step) else { return Ok(()) };
                let text = recording.strings.get(event.text);
                arguments.push(("text", AnnotationValue::Text(text.to_owned())));
                if let EventKind::Repetition { statements, times } = event.kind {
                    arguments.push(("statements", AnnotationValue::Uint(statements)));
                    arguments.push(("times", AnnotationValue::Uint(times)));
                }
                let fields = event.fields.iter();
                arguments
                    .extend(fields.map(|(name, value)| (recording.strings.get(*name), annotation(value))));
                (recording.strings.get(event.name), event.kind.name())
            }
            Some(RecordedStep::Statement(site)) if self.lane.calls.is_empty() => {
                let Some(place) = place(recording, site) else { return Ok(()) };
                arguments.push(("place", AnnotationValue::Text(place)));
                ("statement", "statement")
            }
            _ => return Ok(()),
        };
        let name = if name.is_empty() { category } else { name };
        let (time, track, event_type) = (self.times[position], self.track, EventType::Instant);
        writer.event(SliceEvent { time, track, event_type, name, category, arguments })
    }
}

/// Writes the async tasks: each has a track, with a slice for each time that a thread ran it.
fn write_tasks(
    recording: &Recording,
    (tracks, times): (&Tracks, &[Vec<u64>]),
    writer: &mut PacketWriter<'_>,
) -> io::Result<()> {
    for span in &recording.task_spans {
        let (Some(track), Some(lane)) = (tracks.task(span), recording.lane(span.lane)) else { continue };
        let times = &times[span.lane.0 as usize];
        let (Some(first), Some(last)) = (lane.position(span.first), lane.position(span.last)) else {
            continue;
        };
        let begin = times[first];
        let end = times.get(last + 1).copied().unwrap_or_else(|| times[last].saturating_add(1)).max(begin);
        let step = AnnotationValue::Uint(recording.number(span.first));
        let thread = AnnotationValue::Text(lane.name.clone());
        let name = match recording.strings.get(span.function) {
            "" => "(async task)",
            name => name,
        };
        let arguments = vec![("step", step), ("thread", thread)];
        let category = "async task";
        let event_type = EventType::SliceBegin;
        writer.event(SliceEvent { time: begin, track, event_type, name, category, arguments })?;
        let event_type = EventType::SliceEnd;
        let arguments = Vec::new();
        writer.event(SliceEvent { time: end, track, event_type, name: "", category: "", arguments })?;
    }
    Ok(())
}

/// `src/main.rs:12`.
fn place(recording: &Recording, site: SiteId) -> Option<String> {
    Some(format!("{}:{}", recording.file_of(site)?.path, recording.site(site)?.line))
}

fn annotation(value: &FieldValue) -> AnnotationValue {
    match value {
        FieldValue::Uint(value) => AnnotationValue::Uint(*value),
        FieldValue::Int(value) => AnnotationValue::Int(*value),
        FieldValue::Float(value) => AnnotationValue::Double(*value),
        FieldValue::Text(text) => AnnotationValue::Text(text.clone()),
        FieldValue::Bytes(bytes) => {
            AnnotationValue::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
        }
    }
}
