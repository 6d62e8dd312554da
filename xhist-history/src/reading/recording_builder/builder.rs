//! Adds events to a recording.

use std::collections::HashMap;
use std::sync::Arc;

use qs_core::record::Statement;
use qs_core::record::value::RecordedValue;

use super::lanes::GrowingLanes;
use super::places::Places;
use crate::calls::{CallStack, Handler, Structure, ThreadEntry};
use crate::events::Merged;
use crate::events::context::Context;
use crate::model::{
    FieldValue, Item, Opening, ProgramFiles, Record, Ring, ShownValue, Trace, What, panic_text,
};
use crate::notes::Notes;
use crate::options::ReadOptions;
use crate::options::selection::SelectedPlaces;
use crate::program::values::{PanicFrames, ValueReader};
use crate::recording::{
    CallId, EventKind, LINE, LaneId, RecordedEvent, RecordedStep, Recording, SpanExit, StepId, StringId,
    TaskSpan, ValueAt,
};
use crate::tasks::TaskTracker;

/// Knows what is open while a recording is made.
pub struct RecordingBuilder<'o> {
    chosen: SelectedPlaces<'o>,
    places: Places,
    values: ValueReader,
    frames: PanicFrames,
    tasks: TaskTracker,
    lanes: GrowingLanes,
    /// By the number of the map.
    structures: HashMap<usize, Arc<Structure>>,
    /// Rings that were seen, by number and target.
    rings: HashMap<(usize, usize), Ring>,
}

impl<'o> RecordingBuilder<'o> {
    /// With the sources and values that these options allow.
    pub fn new(options: &'o ReadOptions) -> RecordingBuilder<'o> {
        RecordingBuilder {
            chosen: SelectedPlaces::new(&options.selection),
            places: Places::new(options),
            values: ValueReader::default(),
            frames: PanicFrames::default(),
            tasks: TaskTracker::new(options),
            lanes: GrowingLanes::default(),
            structures: HashMap::new(),
            rings: HashMap::new(),
        }
    }

    /// Before the first event.
    pub fn start(&mut self, opening: &Opening<'_>, context: &Context<'_, '_>) {
        if context.options.is_whole() {
            self.tasks.count(opening.rings);
        }
    }

    /// Adds what comes next in a ring. What is skipped changes call stacks only.
    pub fn event(
        &mut self,
        recording: &mut Recording,
        (ring, event): (&Ring, &Merged),
        is_skipped: bool,
        context: &mut Context<'_, '_>,
    ) {
        let known = self.rings.get(&(ring.target, ring.number));
        let is_new = known.is_none();
        if known.is_none_or(|known| (known.status, known.map_hash) != (ring.status, ring.map_hash)) {
            self.rings.insert((ring.target, ring.number), ring.clone());
        }
        if is_new {
            context.need_map(ring);
        }
        let interrupt = event.item.as_ref().map_or(0, |item| item.interrupt);
        let map = context.maps.of(ring).0;
        self.structures.entry(map).or_insert_with(|| context.structures.of(context.maps.of(ring)));
        if let Some(gap) = ThreadEntry::of_gap(&event.gap) {
            let text = event.gap.to_string();
            context.notes.missing(&event.gap, format_args!("{ring}: {text}"));
            if event.gap.is_loss() {
                recording.losses.push(format!("{ring}: {text}"));
            }
            let lane = self.lanes.of(recording, ring, interrupt);
            lane.take(recording, Handler::default(), gap);
            if !is_skipped {
                let id = lane.id;
                let step = push_event(recording, id, EventKind::Gap, ("gap", &text), Vec::new());
                self.lanes.of(recording, ring, interrupt).last = Some(step);
            }
        }
        let Some(item) = &event.item else { return };
        self.tasks.gap(ring, &event.gap);
        let task = self.tasks.take(ring, item, context.maps);
        let step = match &item.what {
            What::Statement { file, line } => {
                let statement = Statement { file: *file, line: *line };
                self.statement(recording, (ring, item), (statement, event.uncertain), is_skipped, context)
            }
            _ if is_skipped => {
                self.other(recording, (ring, item), true, context);
                None
            }
            _ => self.other(recording, (ring, item), false, context),
        };
        let is_entry = item.what.is_entry() && context.options.shows(&item.what);
        recording.left_out += u64::from(is_entry && is_skipped);
        let Some(step) = step else { return };
        if let (Some(time), true) = (item.time, ring.clock_hz > 0 && !ring.exact) {
            let ns = u128::from(time) * 1_000_000_000 / u128::from(ring.clock_hz);
            recording.times.push((step, u64::try_from(ns).unwrap_or(u64::MAX)));
        }
        self.task(recording, ring, (step, interrupt), task);
        if !item.values.is_empty() {
            self.add_values(recording, (ring, item.interrupt), step, &item.values, context);
        }
    }

    /// A statement: moves the call stack of its lane, and becomes a step unless it is skipped or not chosen.
    fn statement(
        &mut self,
        recording: &mut Recording,
        (ring, item): (&Ring, &Item),
        (statement, is_uncertain): (Statement, bool),
        is_skipped: bool,
        context: &mut Context<'_, '_>,
    ) -> Option<StepId> {
        let map = context.maps.of(ring);
        let structure = &self.structures[&map.0];
        let lane = self.lanes.of(recording, ring, item.interrupt);
        let place = map.1.place(statement.file, statement.line);
        let is_chosen = !is_skipped
            && (!context.options.selection.has_places()
                || self.chosen.takes(map, statement.file, statement.line));
        if !structure.has_calls() {
            if !is_chosen {
                return None;
            }
            let site = self.places.line(recording, map, (place.file, place.line), context.notes);
            let step = recording.push(lane.id, RecordedStep::Statement(site), is_uncertain);
            lane.last = Some(step);
            return Some(step);
        }
        lane.stack.get_or_insert_with(|| CallStack::new(structure));
        lane.take(recording, Handler::of_signals(item), ThreadEntry::Statement(statement));
        let stack = lane.stack.take()?;
        let step = is_chosen.then(|| {
            let known = stack.top().map(|top| top.statement).filter(|id| *id != structure.unknown());
            let site = match known {
                Some(id) => self.places.site(recording, map, (structure, id), context.notes),
                None => self.places.line(recording, map, (place.file, place.line), context.notes),
            };
            let step = recording.push(lane.id, RecordedStep::Statement(site), is_uncertain);
            for activation in stack.stack().skip(lane.open.len()) {
                let body = (&**structure, activation.body);
                let function = self.places.function(recording, map, body, context.notes);
                let from = activation.called_from;
                let from =
                    from.map(|from| self.places.site(recording, map, (structure, from), context.notes));
                lane.enter(recording, (step, function), from, activation);
            }
            lane.last = Some(step);
            step
        });
        lane.stack = Some(stack);
        if !lane.panics.is_empty() {
            lane.note_panic(recording);
        }
        step
    }

    /// What is not a statement.
    fn other(
        &mut self,
        recording: &mut Recording,
        (ring, item): (&Ring, &Item),
        is_skipped: bool,
        context: &mut Context<'_, '_>,
    ) -> Option<StepId> {
        let map = context.maps.of(ring);
        let lane = self.lanes.of(recording, ring, item.interrupt);
        lane.take(recording, Handler::of_signals(item), ThreadEntry::of(&item.what));
        let is_panic = matches!(item.what, What::Panic(..));
        if is_panic && let Some(recorded) = recording.lanes.get_mut(lane.id.0 as usize) {
            recorded.is_panicking = true;
        }
        if is_skipped || !context.options.shows(&item.what) {
            lane.panics.extend(is_panic.then_some(None));
            return None;
        }
        let id = lane.id;
        let mut located = None;
        let (kind, name, text, fields) = match &item.what {
            What::Statement { .. } => return None,
            What::Values => return lane.last,
            What::Task(_) => {
                let (task, function) = self.tasks.take_cancelled()?;
                let text = format!("async task {task} ({function}) was cancelled");
                (EventKind::Cancelled, "cancelled".to_owned(), text, Vec::new())
            }
            What::Again(again) => {
                lane.last?;
                let text = map.1.repetition(again).text;
                let kind = EventKind::Repetition { statements: again.statements as u64, times: again.times };
                (kind, "repetition".to_owned(), text, Vec::new())
            }
            What::Panic(_, place) => {
                let stack = self.lanes.of(recording, ring, item.interrupt).stack.as_ref();
                let newest = stack.and_then(CallStack::newest_place);
                let frames = self.frames.of(ring, place, context.options);
                let panic = located.insert(ProgramFiles::of(map.1).locate(place, frames));
                let text = format!("the thread {}", panic_text(panic, newest, map.1));
                (EventKind::Panic, "panic".to_owned(), text, Vec::new())
            }
            What::Signal(signal, _) => {
                let text = format!("signal {signal} arrived here");
                (EventKind::Signal, format!("signal {signal}"), text, Vec::new())
            }
            What::Output(event, line) => {
                let described = context.options.trace.formats.describe(event);
                let text = described.printed();
                let line = Some(*line).filter(|line| *line > 0);
                let line = line.map(|line| (LINE.to_owned(), FieldValue::Uint(line.into())));
                (EventKind::Output, described.name.unwrap_or_default(), text, line.into_iter().collect())
            }
            What::Trace(event) => {
                let (name, text, fields) = trace(event, context);
                (EventKind::Trace, name, text, fields)
            }
            What::Record(record) => {
                let kind = if record.mark.is_some() { EventKind::Mark } else { EventKind::Record };
                let text = record.mark.as_ref().unwrap_or(&record.text).clone();
                (kind, record.name.clone(), text, fields(record))
            }
        };
        let fields = fields_by_id(recording, fields);
        let step = push_event(recording, id, kind, (&name, &text), fields);
        let lane = self.lanes.of(recording, ring, item.interrupt);
        lane.last = Some(step);
        if let Some(located) = located {
            let is_placed = located.named.is_some();
            recording.panics.extend(is_placed.then_some((step, located)));
            lane.panics.push(Some(step));
            if let Some(lane) = recording.lanes.get_mut(id.0 as usize) {
                // An outer panic is the cause of one in a destructor.
                lane.panic = lane.panic.or(Some(step));
            }
        }
        Some(step)
    }

    /// Which task a step belongs to.
    fn task(
        &mut self,
        recording: &mut Recording,
        ring: &Ring,
        (step, interrupt): (StepId, u16),
        task: Option<u32>,
    ) {
        let lane = self.lanes.of(recording, ring, interrupt);
        let Some(task) = task else {
            lane.task = None;
            return;
        };
        let known = lane.task.and_then(|index| recording.task_spans.get_mut(index));
        if let Some(span) = known.filter(|span| span.task == task) {
            span.last = step;
            if span.function == StringId(0) {
                span.function = recording.strings.add(self.tasks.function(ring, task));
            }
            return;
        }
        let function = recording.strings.add(self.tasks.function(ring, task));
        let id = lane.id;
        lane.task = Some(recording.task_spans.len());
        recording.task_spans.push(TaskSpan { task, function, lane: id, first: step, last: step });
    }

    /// Values that were recorded behind a step.
    fn add_values(
        &mut self,
        recording: &mut Recording,
        (ring, interrupt): (&Ring, u16),
        step: StepId,
        values: &[RecordedValue],
        context: &mut Context<'_, '_>,
    ) {
        let at = recording.site_at(step).and_then(|site| recording.site(site)).copied();
        let map = context.maps.of(ring);
        let file = at.and_then(|site| {
            let path = &recording.files.get(site.file as usize)?.path;
            map.1.files().find(|file| map.1.shown_path(*file) == Some(path))
        });
        let at = file.zip(at).map(|(file, site)| (file, site.line));
        let shown = self.values.show(ring, map, at, values, (context.options, context.notes));
        let open = self.lanes.of(recording, ring, interrupt).open.clone();
        for value in shown {
            let call = owner(recording, &open, step, &value);
            let strings = &mut recording.strings;
            recording.values.push(ValueAt {
                step,
                name: strings.add(&value.name),
                type_name: strings.add(&value.type_name),
                text: strings.add(&value.text),
                call,
                function: strings.add(&value.function),
                line: value.line,
                is_parameter: value.is_parameter,
            });
        }
    }

    /// Notes which files have changed since the build.
    pub fn report_changed(&mut self, notes: &mut Notes<'_>) {
        self.places.report_changed(notes);
    }

    /// Behind the last event.
    pub fn finish(&mut self, recording: &mut Recording, context: &Context<'_, '_>) {
        let mut ended: HashMap<usize, bool> = HashMap::new();
        for ring in self.rings.values() {
            ended.insert(ring.number, matches!(ring.status, "ended" | "exited"));
        }
        for lane in self.lanes.iter_mut() {
            let ring = recording.lanes.get(lane.id.0 as usize).map_or(0, |lane| lane.ring);
            let has_ended = ended.get(&ring).copied().unwrap_or_default();
            let is_left = lane
                .stack
                .as_ref()
                .is_some_and(|stack| stack.depth() > 0 && stack.open(has_ended).is_empty());
            for call in &lane.open {
                let Some(span) = recording.calls.get_mut(call.0 as usize) else { continue };
                span.last = lane.last.unwrap_or(span.first).max(span.first);
                span.exit = if is_left { SpanExit::Returned } else { SpanExit::Open };
            }
        }
        if self.tasks.has_marks() {
            let tracker = std::mem::replace(&mut self.tasks, TaskTracker::new(context.options));
            recording.tasks = Some(tracker.summary(context.maps));
        }
    }
}

/// The call whose name a value has: the innermost one of its function. Calls that may have ended are still open at a value
/// that their caller binds, so the one at the line of the name comes first.
fn owner(recording: &Recording, open: &[CallId], step: StepId, value: &ShownValue) -> Option<CallId> {
    let mut site = recording.site_at(step);
    let mut innermost = None;
    for (depth, call) in open.iter().rev().enumerate() {
        let here = site.and_then(|site| recording.site(site));
        site = recording.call(*call).and_then(|span| span.called_from);
        if is_function(recording, *call, &value.function) {
            let is_its = value.is_parameter || here.is_some_and(|here| here.has_line(value.line));
            if is_its {
                return Some(*call);
            }
            innermost = innermost.or(Some(*call));
        }
        let has_ended = depth < MOST_ENDED && here.is_some_and(|here| here.may_end);
        if innermost.is_some() && !has_ended {
            break;
        }
    }
    innermost
}

/// Calls that end together at most, as far as it is looked.
const MOST_ENDED: usize = 64;

/// Whether a call is that of the function with this path, or of a closure in it.
fn is_function(recording: &Recording, call: CallId, path: &str) -> bool {
    let function = recording.call(call).and_then(|call| recording.functions.get(call.function.0 as usize));
    function.is_some_and(|function| {
        let name = &function.name;
        !path.is_empty()
            && (name == path
                || name.strip_suffix("::{closure}") == Some(path)
                || name.strip_suffix("::{async}") == Some(path))
    })
}

fn push_event(
    recording: &mut Recording,
    lane: LaneId,
    kind: EventKind,
    (name, text): (&str, &str),
    fields: Vec<(StringId, FieldValue)>,
) -> StepId {
    let (name, text) = (recording.strings.add(name), recording.strings.add(text));
    recording.events.push(RecordedEvent { kind, name, text, fields });
    let event = recording.events.len() as u32 - 1;
    recording.push(lane, RecordedStep::Event(event), false)
}

/// Name, line and fields of a trace event.
fn trace(event: &Trace, context: &Context<'_, '_>) -> (String, String, Vec<(String, FieldValue)>) {
    let described = context.options.trace.formats.describe(event);
    let mut fields = Vec::new();
    let text = |text: &str| FieldValue::Text(text.to_owned());
    for (name, value) in [
        ("owner", described.owner.as_deref()),
        ("name", described.name.as_deref()),
        ("meaning", described.meaning),
        ("text", Some(described.text.as_str())),
    ] {
        fields.extend(value.filter(|value| !value.is_empty()).map(|value| (name.to_owned(), text(value))));
    }
    let name = match &described.name {
        Some(name) => format!("{} {name}", described.class),
        None => described.class.to_owned(),
    };
    (name, format!("{} {}", described.class, described.subject), fields)
}

/// The fields of a record; elements have their positions as names.
fn fields(record: &Record) -> Vec<(String, FieldValue)> {
    let named = record.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let elements =
        record.elements.iter().enumerate().map(|(index, value)| (index.to_string(), value.clone()));
    named.chain(elements).collect()
}

fn fields_by_id(recording: &mut Recording, fields: Vec<(String, FieldValue)>) -> Vec<(StringId, FieldValue)> {
    fields.into_iter().map(|(name, value)| (recording.strings.add(&name), value)).collect()
}
