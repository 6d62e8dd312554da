//! QS records as items of the model: their line, their name and their fields. The rings of a process share it, because a name
//! that one thread recorded holds for all threads.

use std::cell::RefCell;
use std::rc::Rc;

use qs_core::frame::Frame;
use qs_core::record::trace;

use super::frame_kind::{FrameKind, marked};
use crate::model::defmt::DefmtTable;
use crate::model::{PanicPlace, Record, Ring, Trace, What, visible};
use crate::options::{EntryChoice, ReadOptions};
use qs_host::{
    DecodedRecord, Decoder, LineClass, LineFormatter, LineSink, Listener, OtherBuild, RecordFields,
    StreamEvent, TargetDescription, TargetSymbols,
};

/// Starts of a target that are distinguished.
const MAX_STARTS: usize = 64;

/// Makes records, and learns names from them.
#[derive(Clone, Debug)]
pub struct Records {
    known: KnownTarget,
    /// `None` before the first record: most rings have none.
    decoder: Option<Decoder>,
    /// For each start of the target, all names that were recorded until it restarted.
    starts: Vec<TargetSymbols>,
    start: usize,
    text: Option<LineFormatter>,
    entries: EntryChoice,
    /// What lines of `defmt` are in words.
    defmt: DefmtTable,
    /// The names of the options are of another build.
    other_build: Option<OtherBuild>,
}

/// What is known of a target before its first record.
#[derive(Clone, Debug)]
struct KnownTarget {
    target: TargetDescription,
    names: Option<TargetSymbols>,
}

impl KnownTarget {
    fn decoder(&self) -> Decoder {
        Decoder::new(self.names.clone().unwrap_or_else(|| TargetSymbols::new(self.target)))
    }
}

/// One for several rings.
pub type SharedRecords = Rc<RefCell<Records>>;

impl Records {
    /// With what the options know before the first record.
    pub fn new(options: &ReadOptions) -> Records {
        Records {
            known: KnownTarget { target: options.target, names: options.names.clone() },
            decoder: None,
            starts: Vec::new(),
            start: 0,
            text: None,
            entries: options.entries,
            defmt: DefmtTable::default(),
            other_build: None,
        }
    }

    /// The same, for these rings: one of them may have the table of `defmt`.
    #[must_use]
    pub fn with_defmt<'r>(self, mut rings: impl Iterator<Item = &'r Ring>) -> Records {
        let known = rings.find(|ring| !ring.defmt.is_empty());
        Records { defmt: known.map(|ring| ring.defmt.clone()).unwrap_or_default(), ..self }
    }

    /// Goes back to the first record, now that all names are known.
    #[must_use]
    pub fn rewound(mut self) -> Records {
        if let Some(decoder) = self.decoder.take() {
            self.starts.push(decoder.known);
            self.known.names = self.known.names.filter(|_| self.other_build.is_none());
            self.decoder = Some(self.known.decoder());
            self.take_names();
        }
        self
    }

    /// Whether the names of the options turned out to be of another build, once.
    pub fn take_other_build(&mut self) -> Option<OtherBuild> {
        self.other_build.take()
    }

    /// For several rings.
    pub fn shared(self) -> SharedRecords {
        Rc::new(RefCell::new(self))
    }

    /// Learns the names in a record.
    pub fn learn(&mut self, frame: &Frame<'_>) {
        let mut starts = std::mem::take(&mut self.starts);
        let mut learner =
            NameLearner { starts: &mut starts, is_over: false, other_build: &mut self.other_build };
        let decoder = self.decoder.get_or_insert_with(|| self.known.decoder());
        decoder.push_unframed(frame.seq, frame.id, frame.payload, &mut learner);
        self.starts = starts;
    }

    /// Builds the record of a frame.
    pub fn build(&mut self, frame: &Frame<'_>) -> BuiltRecord {
        let mut text = self.text.take().unwrap_or_default();
        let mut builder = RecordBuilder::new(&mut text, self.entries);
        let mut watcher =
            RestartWatcher { builder: &mut builder, is_over: false, other_build: &mut self.other_build };
        let decoder = self.decoder.get_or_insert_with(|| self.known.decoder());
        decoder.push_unframed(frame.seq, frame.id, frame.payload, &mut watcher);
        if watcher.is_over {
            self.start += 1;
            self.take_names();
        }
        let mut built = builder.built;
        built.trace = built.trace.map(|trace| trace.in_words(&self.defmt));
        self.text = Some(text);
        built
    }

    /// Takes the names that are recorded later in this start of the target.
    fn take_names(&mut self) {
        let names = self.starts.get(self.start).or(self.starts.last());
        if let Some((names, decoder)) = names.zip(self.decoder.as_mut()) {
            decoder.known.take_names(names);
        }
    }
}

/// Keeps the names of each start of the target.
struct NameLearner<'l> {
    starts: &'l mut Vec<TargetSymbols>,
    is_over: bool,
    other_build: &'l mut Option<OtherBuild>,
}

impl Listener for NameLearner<'_> {
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        if let StreamEvent::OtherBuild(builds) = event {
            *self.other_build = Some(builds);
        }
        // A record may report it twice.
        let is_over = matches!(event, StreamEvent::Clear) && !self.is_over;
        self.is_over |= is_over;
        if is_over && self.starts.len() < MAX_STARTS {
            self.starts.push(known.clone());
        }
    }
}

/// Builds the record, and detects a restart of the target.
struct RestartWatcher<'w, 't> {
    builder: &'w mut RecordBuilder<'t>,
    is_over: bool,
    other_build: &'w mut Option<OtherBuild>,
}

impl Listener for RestartWatcher<'_, '_> {
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        match event {
            StreamEvent::Clear => self.is_over = true,
            StreamEvent::TargetInfo => known.widen(),
            StreamEvent::OtherBuild(builds) => *self.other_build = Some(builds),
            event => self.builder.event(event, known),
        }
    }
}

/// A record, and the trace event in it if it is one.
#[derive(Clone, Debug, Default)]
pub struct BuiltRecord {
    record: Record,
    trace: Option<Trace>,
    /// What was printed is a trace event like others.
    only_traces: bool,
}

impl BuiltRecord {
    /// Of a frame that is only counted. `time_width`: bytes of the stamp in front of its elements.
    pub fn unread(frame: &Frame<'_>, time_width: usize) -> BuiltRecord {
        let elements = frame.payload.get(time_width..).unwrap_or_default();
        let event = Some(frame.id).filter(|id| *id == trace::EXCEPTION);
        let event = event.and_then(|id| trace::ParsedEvent::parse(id, elements));
        let trace = event.map(|event| Trace {
            args: event.args().to_vec(),
            is_cut: event.is_cut,
            ..Trace::of(event.class)
        });
        // What was printed has no number.
        BuiltRecord { trace: trace.filter(Trace::is_output), ..BuiltRecord::default() }
    }

    /// Whether it is what a statement printed, which has no number.
    pub fn is_printed(&self) -> bool {
        self.trace.as_ref().is_some_and(Trace::is_output)
    }

    /// As an entry of a frame of this kind, with this payload.
    pub fn entry(self, kind: FrameKind, payload: &[u8]) -> What {
        match kind {
            FrameKind::Panic(_) => What::Panic(self.record, Box::new(PanicPlace::read(payload))),
            FrameKind::Signal(signal, _) => What::Signal(signal, self.record),
            FrameKind::Mark(kind, value) => What::Record(marked(self.record, kind, value)),
            _ => match self.trace {
                Some(mut event) if event.is_output() => {
                    let line = event.args.drain(..).next().map_or(0, |line| line.bits() as u32);
                    if self.only_traces { What::Trace(event) } else { What::Output(event, line) }
                }
                Some(event) => What::Trace(event),
                None => What::Record(self.record),
            },
        }
    }
}

/// Builds the record of a decoder's event.
pub struct RecordBuilder<'t> {
    text: &'t mut LineFormatter,
    with_fields: bool,
    /// The record that was built.
    pub built: BuiltRecord,
}

impl<'t> RecordBuilder<'t> {
    /// Writes lines with `text`, and makes fields if they are wanted.
    pub fn new(text: &'t mut LineFormatter, entries: EntryChoice) -> RecordBuilder<'t> {
        let built = BuiltRecord { only_traces: entries.only_traces, ..BuiltRecord::default() };
        RecordBuilder { text, with_fields: entries.fields, built }
    }
}

impl LineSink for Record {
    /// The last line of several is the record's own.
    fn line(&mut self, _: LineClass, line: &[u8]) {
        self.text = visible(&String::from_utf8_lossy(line)).into_owned();
    }
}

impl Listener for RecordBuilder<'_> {
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        let StreamEvent::Record(decoded) = event else { return };
        self.built.trace = trace_of(decoded, known);
        if self.built.trace.is_some() {
            return;
        }
        let record = &mut self.built.record;
        record.id = decoded.id();
        record.is_misfit = !self.text.record(decoded, known, record);
        if self.with_fields {
            let RecordFields { name, fields, elements } = RecordFields::of(decoded, known);
            (record.name, record.fields, record.elements) = (name, fields, elements);
        }
    }
}

/// The trace event that a record is, whatever the width of its time stamp.
fn trace_of(decoded: &DecodedRecord<'_>, known: &TargetSymbols) -> Option<Trace> {
    let event = trace::ParsedEvent::parse(decoded.id(), decoded.elements()?)?;
    let opcode_name = match event.class {
        trace::Class::Exception { .. } => None,
        trace::Class::Profile { opcode, .. } => known.enums[usize::from(trace::OPCODES)].get(opcode.into()),
    };
    Some(Trace {
        args: event.args().to_vec(),
        buffer: event.buffer().map(|pieces| pieces.collect::<Vec<_>>().concat()),
        is_cut: event.is_cut,
        stamp: decoded.time,
        opcode_name: opcode_name.map(|name| visible(&String::from_utf8_lossy(name)).into_owned()),
        ..Trace::of(event.class)
    })
}
