//! JSON lines, one object a line; its `kind` says what it is. The first line names the schema version,
//! the last is of kind `end`; a report without it is not complete.

mod builds;
mod calls;
mod findings;
mod interrupts;
mod values;

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use self::builds::{JsonBuild, json_build};
use self::findings::JsonEvidence;
use self::interrupts::JsonInterrupt;
use self::values::{JsonShownValue, json_values};
use super::Format;
use crate::format::Layout;
use crate::format::entries::{CallRow, Entry, Finding, Hotspot, Subject, Totals};
use xhist_history::model::{
    Arg, Build, CancelledTasks, DescribedTrace, FieldValue, Gap, LineRange, LiveTask, Opening, Origin,
    Record, Ring, TaskAround, TaskPlace, TaskSummary, Trace, TraceClass, is_visible,
};

/// Raised when a field changes its meaning or is removed. New fields may be added at any time.
pub const SCHEMA: u32 = 2;

/// The program and its version.
pub const TOOL: &str = concat!("xhist-report ", env!("CARGO_PKG_VERSION"));

/// Writes the lines.
pub struct Json {
    layout: Layout,
    /// That of the call tree whose rows come now.
    interrupt: Option<JsonInterrupt>,
}

impl Json {
    /// With the source text, if that was asked for; everything else is always there.
    pub fn new(layout: Layout) -> Json {
        Json { layout, interrupt: None }
    }
}

/// `schema` comes first in the first line, so that a reader knows what it reads.
#[derive(Serialize)]
struct Schema {
    schema: u32,
    kind: &'static str,
    tool: &'static str,
    entries: u64,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum JsonLine<'a> {
    Ring {
        ring: usize,
        offset: usize,
        layout: u8,
        size: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tid: Option<u32>,
        thread: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        clock_hz: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        map: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'static str>,
        /// There may be values of variables in it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        values: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        dropped: Option<u32>,
    },
    Build {
        #[serde(skip_serializing_if = "Option::is_none")]
        map: Option<String>,
        rings: Vec<usize>,
        /// Whether its map was found: then there is all that is in the map, otherwise where to look for it.
        known: bool,
        #[serde(flatten)]
        build: JsonBuild<'a>,
    },
    Statement {
        #[serde(flatten)]
        head: EntryHead<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_id: Option<u16>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// Of a statement that no map names.
        #[serde(skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<&'a str>,
    },
    Again {
        ring: usize,
        /// Counted back from here.
        statements: usize,
        times: u64,
        rounds: u64,
        places: Vec<JsonLines<'a>>,
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        order: Option<&'static str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        values: Vec<JsonShownValue<'a>>,
    },
    /// Behind an entry that is not here, or was given before they came.
    Values {
        ring: usize,
        values: Vec<JsonShownValue<'a>>,
    },
    /// What the statement before it printed.
    Output {
        ring: usize,
        stream: &'a str,
        /// Of the macro that printed.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        text: &'a str,
    },
    Hot {
        #[serde(skip_serializing_if = "Option::is_none")]
        function: Option<&'a str>,
        file: &'a str,
        first: u32,
        last: u32,
        statements: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        exclude: &'a Option<String>,
    },
    Finding {
        check: &'static str,
        rule: &'a str,
        text: &'a str,
        certain: bool,
        times: u64,
        evidence: Vec<JsonEvidence<'a>>,
    },
    Record {
        #[serde(flatten)]
        head: EntryHead<'a>,
        id: u8,
        name: &'a str,
        #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "by_name")]
        fields: &'a [(&'static str, FieldValue)],
        #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "in_turn")]
        elements: &'a [FieldValue],
        /// What a mark of our own says.
        #[serde(skip_serializing_if = "Option::is_none")]
        mark: Option<&'a str>,
        text: &'a str,
    },
    Trace {
        #[serde(flatten)]
        head: EntryHead<'a>,
        /// `exception` or `profile`.
        class: &'static str,
        #[serde(flatten)]
        what: JsonTraceClass,
        #[serde(skip_serializing_if = "Option::is_none")]
        owner: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        args: Vec<JsonArg>,
        /// In hexadecimal.
        #[serde(skip_serializing_if = "Option::is_none")]
        buffer: Option<String>,
        /// Arguments or the end of the buffer are missing.
        cut: bool,
        text: &'a str,
    },
    Panic {
        #[serde(flatten)]
        head: EntryHead<'a>,
    },
    Signal {
        #[serde(flatten)]
        head: EntryHead<'a>,
        signal: u64,
    },
    /// An async task that has not ended.
    Task {
        task: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// `parked` at an `.await`, or `running`.
        state: &'static str,
        thread: &'a str,
        #[serde(flatten)]
        at: Option<JsonTaskPlace<'a>>,
        /// The head of its loop, at which it may wait if it is not `running`.
        #[serde(skip_serializing_if = "Option::is_none")]
        or_parked_at: Option<JsonTaskPlace<'a>>,
        /// How long it has been there, at least.
        #[serde(skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        /// The tasks around it, innermost first.
        around: Vec<JsonTaskAround<'a>>,
        /// Its last statements, oldest first.
        before: Vec<JsonTaskPlace<'a>>,
    },
    /// Async tasks that were dropped while they were parked.
    Cancelled {
        tasks: u64,
        #[serde(flatten)]
        at: JsonTaskPlace<'a>,
    },
    /// What the recorder counted, where that is not the number of the tasks above.
    #[serde(rename = "task_count")]
    TaskCount {
        /// Tasks that have not ended, without a statement in the history.
        unlisted: u64,
        /// Listed tasks that have ended.
        ended: u64,
    },
    Gap {
        ring: usize,
        missing_frames: u64,
        damaged_bytes: u64,
        cut_bytes: u64,
        #[serde(skip_serializing_if = "findings::is_zero")]
        overwritten_bytes: u64,
        torn: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        overrun: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        overtaken_bytes: Option<u64>,
        text: String,
    },
    End {
        entries: u64,
        complete: bool,
    },
}

/// A statement of a task.
#[derive(Serialize)]
struct JsonTaskPlace<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    function: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

/// A task around another one.
#[derive(Serialize)]
struct JsonTaskAround<'a> {
    task: u32,
    /// `awaited` by it, or `created` in its body.
    link: &'static str,
    #[serde(flatten)]
    at: Option<JsonTaskPlace<'a>>,
}

#[derive(Serialize)]
struct JsonLines<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    /// Line numbers; statement numbers if the file id is missing.
    first: u32,
    last: u32,
}

#[derive(Serialize)]
struct EntryHead<'a> {
    n: u64,
    ring: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: Option<u64>,
    #[serde(flatten)]
    interrupt: Option<JsonInterrupt>,
    /// Number of the async task that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    /// Recorded behind it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<JsonShownValue<'a>>,
}

/// What identifies a trace event.
#[derive(Serialize)]
#[serde(untagged)]
enum JsonTraceClass {
    Exception { severity: &'static str, severity_number: u8, major: u32, minor: u8 },
    Profile { opcode: u8, data: u32 },
}

/// An argument of a trace event.
#[derive(Serialize)]
#[serde(untagged)]
enum JsonArg {
    Signed(i64),
    Unsigned(u64),
}

/// The value of a field as JSON has it.
struct JsonValue<'a>(&'a FieldValue);

impl Serialize for JsonValue<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            FieldValue::Uint(number) => to.serialize_u64(*number),
            FieldValue::Int(number) => to.serialize_i64(*number),
            FieldValue::Float(number) => to.serialize_f64(*number),
            FieldValue::Text(text) => to.serialize_str(text),
            FieldValue::Bytes(bytes) => to.collect_seq(bytes),
        }
    }
}

fn by_name<S: Serializer>(fields: &[(&'static str, FieldValue)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(fields.iter().map(|(name, value)| (name, JsonValue(value))))
}

fn in_turn<S: Serializer>(elements: &[FieldValue], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(elements.iter().map(JsonValue))
}

fn known(number: u32) -> Option<u32> {
    (number != 0).then_some(number)
}

fn ring_line(ring: &Ring) -> JsonLine<'static> {
    JsonLine::Ring {
        ring: ring.number,
        offset: ring.offset,
        layout: ring.layout,
        size: ring.size,
        pid: known(ring.pid),
        tid: known(ring.tid),
        thread: ring.thread(),
        origin: ring.origin.clone(),
        status: ring.status,
        clock_hz: known(ring.clock_hz),
        map: (ring.map_hash != 0).then(|| format!("{:016x}", ring.map_hash)),
        detail: ring.entries_only.then_some("function"),
        values: ring.has_values,
        dropped: known(ring.dropped),
    }
}

/// Only written if it is not certain.
fn order(entry: &Entry<'_>) -> Option<&'static str> {
    entry.uncertain.then_some("uncertain")
}

fn json_lines(lines: &LineRange) -> JsonLines<'_> {
    let LineRange { path, first, last, .. } = lines;
    JsonLines { file_id: lines.file_id(), file: path.as_deref(), first: *first, last: *last }
}

fn json_place(place: &TaskPlace) -> JsonTaskPlace<'_> {
    let TaskPlace { path, line, function, source } = place;
    JsonTaskPlace { file: path.as_deref(), line: *line, function, source: source.as_deref() }
}

fn task_line(task: &LiveTask) -> JsonLine<'_> {
    let around = task.around.iter().map(|TaskAround { number, link, at }| {
        let at = at.as_ref().map(json_place);
        JsonTaskAround { task: *number, link: link.name(), at }
    });
    JsonLine::Task {
        task: task.number,
        pid: known(task.pid),
        state: if task.parked { "parked" } else { "running" },
        thread: &task.thread,
        at: task.at.as_ref().map(json_place),
        or_parked_at: task.or_parked_at.as_ref().map(json_place),
        seconds: task.for_at_least.map(|time| time.as_secs_f64()),
        around: around.collect(),
        before: task.before.iter().map(json_place).collect(),
    }
}

fn trace_line<'a>(head: EntryHead<'a>, event: &Trace, trace: &'a DescribedTrace) -> JsonLine<'a> {
    let (class, what) = match event.class {
        TraceClass::Exception { severity, code } => {
            let (major, minor) = (code.major(), code.minor());
            let severity_number = severity as u8;
            ("exception", JsonTraceClass::Exception { severity: trace.class, severity_number, major, minor })
        }
        TraceClass::Profile { opcode, data } => ("profile", JsonTraceClass::Profile { opcode, data }),
    };
    let arg = |arg: &Arg| match arg.is_signed() {
        true => JsonArg::Signed(arg.signed()),
        false => JsonArg::Unsigned(arg.bits()),
    };
    JsonLine::Trace {
        head,
        class,
        what,
        owner: trace.owner.as_deref(),
        name: trace.name.as_deref(),
        args: event.args.iter().map(arg).collect(),
        buffer: event.buffer.as_ref().map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        cut: event.is_cut,
        text: &trace.text,
    }
}

fn put(line: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    line.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, Visible))?;
    out.write_all(b"\n")
}

/// JSON as any reader takes it, with nothing in its texts that would act on a terminal or turn a line.
struct Visible;

impl serde_json::ser::Formatter for Visible {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|char| !is_visible(char)) {
            out.write_all(&rest.as_bytes()[..at])?;
            let hidden = rest[at..].chars().next().unwrap_or_default();
            hidden.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
            rest = &rest[at + hidden.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

impl Format for Json {
    fn start(&mut self, opening: &Opening<'_>, out: &mut dyn Write) -> io::Result<()> {
        put(&Schema { schema: SCHEMA, kind: "report", tool: TOOL, entries: opening.entries }, out)?;
        opening.rings.iter().try_for_each(|ring| put(&ring_line(ring), out))
    }

    fn hotspots(&mut self, functions: &[Hotspot], out: &mut dyn Write) -> io::Result<()> {
        functions.iter().try_for_each(|hot| {
            let Hotspot { function, file, lines: (first, last), statements, exclude } = hot;
            let (first, last, statements) = (*first, *last, *statements);
            put(&JsonLine::Hot { function: function.as_deref(), file, first, last, statements, exclude }, out)
        })
    }

    fn tasks(&mut self, tasks: &TaskSummary, out: &mut dyn Write) -> io::Result<()> {
        tasks.live.iter().try_for_each(|task| put(&task_line(task), out))?;
        if tasks.unlisted + tasks.ended > 0 {
            put(&JsonLine::TaskCount { unlisted: tasks.unlisted, ended: tasks.ended }, out)?;
        }
        let mut cancelled = tasks.cancelled.iter();
        cancelled.try_for_each(|CancelledTasks { at, count }| {
            put(&JsonLine::Cancelled { tasks: *count, at: json_place(at) }, out)
        })
    }

    fn ring(&mut self, ring: &Ring, out: &mut dyn Write) -> io::Result<()> {
        put(&ring_line(ring), out)
    }

    fn marks_order(&self) -> bool {
        true
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (ticks, ticket) = if entry.ring.exact { (None, entry.time) } else { (entry.time, None) };
        let order = order(entry);
        let interrupt = JsonInterrupt::of(entry.ring, entry.interrupt);
        let task = entry.task.map(|(number, _)| number);
        let (n, ring, values) = (entry.number, entry.ring.number, json_values(entry.values));
        let head = EntryHead { n, ring, ticks, ticket, interrupt, task, order, values };
        let line = match entry.subject {
            Subject::Statement(place, source) => JsonLine::Statement {
                head,
                file_id: place.number().is_none().then_some(place.file),
                file: place.path,
                line: place.number().is_none().then_some(place.line),
                number: place.number(),
                source: source.filter(|_| self.layout.source),
            },
            Subject::Values => JsonLine::Values { ring, values: head.values },
            Subject::Again(again) => JsonLine::Again {
                ring,
                statements: again.statements,
                times: again.times,
                rounds: again.rounds,
                places: again.places.iter().map(json_lines).collect(),
                text: &again.text,
                order,
                values: head.values,
            },
            Subject::Panic(_) => JsonLine::Panic { head },
            Subject::Signal(signal, _) => JsonLine::Signal { head, signal },
            Subject::Output(trace, line) => {
                let stream = trace.name.as_deref().unwrap_or_default();
                let line = Some(line).filter(|line| *line > 0);
                JsonLine::Output { ring, stream, line, text: &trace.text }
            }
            Subject::Trace(event, trace) => trace_line(head, event, trace),
            Subject::Record(record) => {
                let Record { id, text, name, fields, elements, mark, .. } = record;
                JsonLine::Record { head, id: *id, name, fields, elements, mark: mark.as_deref(), text }
            }
        };
        put(&line, out)
    }

    fn build(&mut self, build: &Build, rings: &[&Ring], out: &mut dyn Write) -> io::Result<()> {
        let line = JsonLine::Build {
            map: (build.hash != 0).then(|| format!("{:016x}", build.hash)),
            rings: rings.iter().map(|ring| ring.number).collect(),
            known: matches!(build.origin, Origin::Known(_)),
            build: json_build(&build.origin),
        };
        put(&line, out)
    }

    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        let Finding { check, rule, text, certain, times, evidence } = finding;
        let evidence = evidence.iter().map(JsonEvidence::new).collect();
        put(&JsonLine::Finding { check, rule, text, certain: *certain, times: *times, evidence }, out)
    }

    fn call(&mut self, row: &CallRow<'_>, out: &mut dyn Write) -> io::Result<()> {
        match row {
            // A heading: its ring and interrupt are in every line behind it.
            CallRow::Thread { ring, interrupt } => self.interrupt = JsonInterrupt::of(ring, *interrupt),
            row => calls::lines(row, &self.interrupt).iter().try_for_each(|line| put(line, out))?,
        }
        Ok(())
    }

    fn gap(&mut self, ring: &Ring, gap: &Gap, out: &mut dyn Write) -> io::Result<()> {
        let line = JsonLine::Gap {
            ring: ring.number,
            missing_frames: gap.missing_frames,
            damaged_bytes: gap.damaged.as_ref().map_or(0, |damaged| damaged.bytes),
            cut_bytes: gap.cut_bytes,
            overwritten_bytes: gap.overwritten_bytes,
            torn: gap.torn,
            overrun: gap.overrun,
            overtaken_bytes: gap.overtaken.as_ref().map(|overtaken| overtaken.bytes),
            text: gap.to_string(),
        };
        put(&line, out)
    }

    fn finish(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        put(&JsonLine::End { entries: totals.entries, complete: totals.complete }, out)
    }
}
