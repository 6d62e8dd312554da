//! `export codetracer`: a folder that the CodeTracer viewer opens. It shows one thread.

mod events;

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::{Format, NewFile};
use events::{
    CallLine, ERROR, EventLine, FunctionLine, NONE, RAW, ReturnLine, ShownText, SpecificInfo, StepLine,
    TraceLine, TraceMetadata, TypeLine, ValueLine, WRITE,
};
use xhist_history::recording::{
    CallSpan, EventKind, RecordedLane, RecordedStep, Recording, SpanExit, StepId, StringId, ValueAt,
};

/// The folder.
pub struct CodeTracer;

/// Number of the type of no value, and of the function that is around all calls.
const FIRST: usize = 0;

impl Format for CodeTracer {
    fn folder(&mut self, recording: &Recording, new_file: NewFile<'_>) -> io::Result<()> {
        let built: Vec<_> = recording.files.iter().map(|file| file.built.display().to_string()).collect();
        let mut paths = new_file("trace_paths.json")?;
        serde_json::to_writer(&mut paths, &built)?;
        paths.flush()?;
        let root = recording.files.iter().find(|file| !file.is_dependency && !file.path.starts_with('/'));
        let root = root.and_then(|file| {
            let built = file.built.to_str()?;
            Some(built.strip_suffix(&file.path)?.trim_end_matches('/'))
        });
        let program = if recording.origin.is_empty() { "xhist" } else { &recording.origin };
        let mut metadata = new_file("trace_metadata.json")?;
        let about = TraceMetadata { workdir: root.unwrap_or("/"), program, args: [] };
        serde_json::to_writer(&mut metadata, &about)?;
        metadata.flush()?;
        let mut out = new_file("trace.json")?;
        let mut lines = LineWriter { out: &mut *out, is_first: true };
        if let Some(lane) = recording.opening_step().and_then(|step| recording.lane(recording.lane_of(step)))
        {
            let names = &ValueNames::of(recording);
            write_tables(recording, (&built, names), &mut lines)?;
            LaneTrace { recording, lane, names, open: Vec::new() }.write(&mut lines)?;
            // The list of events is all that it shows of other threads and of tasks.
            let ends = if recording.opens_at_failure() { Vec::new() } else { recording.ends() };
            for content in &ends {
                let metadata = "at the end";
                lines.line(&TraceLine::Event(EventLine { kind: WRITE, metadata, content }))?;
            }
        }
        lines.finish()?;
        out.flush()
    }
}

/// Writes one array of lines.
struct LineWriter<'w> {
    out: &'w mut dyn Write,
    is_first: bool,
}

impl LineWriter<'_> {
    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.out.write_all(if std::mem::take(&mut self.is_first) { b"[\n" } else { b",\n" })?;
        Ok(serde_json::to_writer(&mut *self.out, line)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(if self.is_first { b"[]\n" } else { b"\n]\n" })
    }
}

/// Writes what has a number: files, functions, types and names of variables.
fn write_tables(
    recording: &Recording,
    (built, names): (&[String], &ValueNames),
    lines: &mut LineWriter<'_>,
) -> io::Result<()> {
    for path in built {
        lines.line(&TraceLine::Path(path))?;
    }
    let first = recording.functions.first();
    let (path_id, line) = first.map_or((0, 1), |function| (function.file as usize, function.line));
    lines.line(&TraceLine::Function(FunctionLine { path_id, line, name: "<toplevel>" }))?;
    for function in &recording.functions {
        let (path_id, line) = (function.file as usize, function.line.max(1));
        let name = if function.name.is_empty() { "(unknown function)" } else { &function.name };
        lines.line(&TraceLine::Function(FunctionLine { path_id, line, name }))?;
    }
    let of_type =
        |kind, lang_type| TraceLine::Type(TypeLine { kind, lang_type, specific_info: SpecificInfo::None });
    lines.line(&of_type(NONE, "None"))?;
    for name in names.types.iter().map(|name| recording.strings.get(*name)) {
        lines.line(&of_type(RAW, if name.is_empty() { "unknown" } else { name }))?;
    }
    for name in &names.variables {
        lines.line(&TraceLine::VariableName(recording.strings.get(*name)))?;
    }
    lines.line(&TraceLine::Call(CallLine { function_id: FIRST, args: [] }))
}

/// The names of values and of their types, each once.
struct ValueNames {
    variables: Vec<StringId>,
    types: Vec<StringId>,
}

impl ValueNames {
    fn of(recording: &Recording) -> ValueNames {
        let unique = |name: fn(&ValueAt) -> StringId| {
            let names: BTreeSet<StringId> = recording.values.iter().map(name).collect();
            names.into_iter().collect()
        };
        ValueNames { variables: unique(|value| value.name), types: unique(|value| value.type_name) }
    }

    fn variable(&self, value: &ValueAt) -> usize {
        self.variables.binary_search(&value.name).unwrap_or_default()
    }

    /// The type of no value is the first.
    fn type_id(&self, value: &ValueAt) -> usize {
        self.types.binary_search(&value.type_name).map_or(FIRST, |index| index + 1)
    }
}

/// Writes what one thread ran.
struct LaneTrace<'r> {
    recording: &'r Recording,
    lane: &'r RecordedLane,
    names: &'r ValueNames,
    open: Vec<&'r CallSpan>,
}

impl LaneTrace<'_> {
    fn write(mut self, lines: &mut LineWriter<'_>) -> io::Result<()> {
        let recording = self.recording;
        let mut next = 0;
        for step in &self.lane.steps {
            while self.open.last().is_some_and(|call| call.last < *step) {
                self.open.pop();
                returned(lines)?;
            }
            let Some(RecordedStep::Statement(site)) = recording.step(*step) else {
                event(recording, *step, lines)?;
                continue;
            };
            let Some(site) = recording.site(site) else { continue };
            let here = TraceLine::Step(StepLine { path_id: site.file as usize, line: site.line });
            let mut is_written = false;
            while let Some(call) = self.lane.calls.get(next).and_then(|call| recording.call(*call)) {
                if call.first > *step {
                    break;
                }
                next += 1;
                if call.last < *step {
                    continue;
                }
                // A call is at the statement before it.
                lines.line(&here)?;
                is_written = true;
                let function_id = call.function.0 as usize + 1;
                lines.line(&TraceLine::Call(CallLine { function_id, args: [] }))?;
                self.open.push(call);
            }
            if !is_written {
                lines.line(&here)?;
            }
            for value in recording.values_at(*step) {
                let r = recording.strings.get(value.text);
                let value_line = ValueLine {
                    variable_id: self.names.variable(value),
                    value: ShownText::Raw { r, type_id: self.names.type_id(value) },
                };
                lines.line(&TraceLine::Value(value_line))?;
            }
        }
        // What was open when the program ended did not return.
        while let Some(call) = self.open.pop() {
            if call.exit != SpanExit::Open {
                returned(lines)?;
            }
        }
        Ok(())
    }
}

fn returned(lines: &mut LineWriter<'_>) -> io::Result<()> {
    lines.line(&TraceLine::Return(ReturnLine { return_value: ShownText::None { type_id: FIRST } }))
}

fn event(recording: &Recording, step: StepId, lines: &mut LineWriter<'_>) -> io::Result<()> {
    let Some(event) = recording.event(step) else { return Ok(()) };
    let kind = match event.kind {
        EventKind::Panic | EventKind::Signal | EventKind::Gap => ERROR,
        _ => WRITE,
    };
    let (metadata, content) = (recording.strings.get(event.name), recording.strings.get(event.text));
    lines.line(&TraceLine::Event(EventLine { kind, metadata, content }))
}
