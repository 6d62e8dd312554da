//! `calls`: the calls that statements imply, thread by thread, and what was open at the end of each.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use crate::format::Format;
use crate::format::entries::{CallEntry, CallPart, CallRow, OpenFrame, Totals};
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::calls::{
    Activation, CallNode, CallStack, CallTree, Exit, Handler, NodeSubject, NoteKind, StatementId, Structure,
    ThreadEntry, TreeRow,
};
use xhist_history::events::context::Context;
use xhist_history::events::{Merged, Step};
use xhist_history::model::{
    CodePlace, FrameAtPanic, Item, LocatedPanic, Names, Opening, ProgramFiles, Ring, What, panic_text,
};
use xhist_history::options::selection::SelectedPlaces;
use xhist_history::program::values::{PanicFrames, ValueReader};
use xhist_history::reading::report::{Report, Summary};

/// Activations that are listed at each end of a stack that is open at the end.
const MAX_OPEN: usize = 100;

/// Writes call trees.
pub struct Calls<'o> {
    format: Box<dyn Format>,
    options: &'o Options,
    choice: CallChoice<'o>,
    /// By the number of the map.
    structures: HashMap<usize, Arc<Structure>>,
    thread: Option<Thread>,
    open: Vec<OpenCalls>,
    statements: u64,
    values: ValueReader,
    frames: PanicFrames,
    /// Maps without calls that were reported.
    reported: Vec<usize>,
}

/// What a thread, or an interrupt of it, had not left.
struct OpenCalls {
    ring: Ring,
    interrupt: u16,
    at: &'static str,
    frames: Vec<OpenFrame>,
    depth: usize,
}

/// The thread whose statements come now.
struct Thread {
    ring: Ring,
    map: usize,
    /// By the number of the interrupt.
    lanes: BTreeMap<u16, LaneCalls>,
    /// The interrupt whose tree was written last.
    heading: Option<u16>,
}

/// The calls of a thread, or of an interrupt of it.
struct LaneCalls {
    stack: CallStack,
    tree: CallTree,
    kept: KeptCalls,
    panics: Vec<LocatedPanic>,
}

/// Which calls are shown, by `--only` and `--not`. The callees of a call that is not shown move up to its caller.
struct CallChoice<'o> {
    places: SelectedPlaces<'o>,
    shown: u64,
    left_out: u64,
}

/// Whether each call on the way to the current row is shown, the outermost first.
#[derive(Default)]
struct KeptCalls(Vec<bool>);

impl KeptCalls {
    /// The depth of a row among the calls that are shown.
    fn depth(&self, depth: usize) -> usize {
        self.0.iter().take(depth).filter(|is| **is).count()
    }

    /// Whether the caller of a row is shown, or there is no caller.
    fn has_caller(&self, depth: usize) -> bool {
        depth.checked_sub(1).and_then(|caller| self.0.get(caller)).is_none_or(|is| *is)
    }
}

impl<'o> Calls<'o> {
    /// Writes in the format that was asked for.
    pub fn new(options: &'o Options) -> Calls<'o> {
        let places = SelectedPlaces::new(&options.read.selection);
        Calls {
            format: options.make_format(),
            options,
            choice: CallChoice { places, shown: 0, left_out: 0 },
            structures: HashMap::new(),
            thread: None,
            open: Vec::new(),
            statements: 0,
            values: ValueReader::default(),
            frames: PanicFrames::default(),
            reported: Vec::new(),
        }
    }

    fn event(&mut self, ring: &Ring, event: &Merged, context: &mut Context<'_, '_>) -> io::Result<()> {
        if self.thread.as_ref().is_none_or(|thread| thread.ring.number != ring.number) {
            self.end_thread(context)?;
            self.begin_thread(ring, context);
        }
        let Some(thread) = &mut self.thread else { return Ok(()) };
        if !event.gap.is_empty() {
            context.notes.missing(&event.gap, format_args!("{ring}: {}", event.gap));
        }
        let (map, names) = context.maps.of(ring);
        let Some(structure) = self.structures.get(&map).filter(|structure| structure.has_calls()) else {
            return Ok(());
        };
        let item = event.item.as_ref();
        // Interrupts have stacks of their own.
        let interrupt = item.map_or(0, |item| item.interrupt);
        let handler = item.map_or(Handler::default(), Handler::of_signals);
        let LaneCalls { stack, tree, kept, panics } =
            thread.lanes.entry(interrupt).or_insert_with(|| LaneCalls {
                stack: CallStack::new(structure),
                tree: CallTree::default(),
                kept: KeptCalls::default(),
                panics: Vec::new(),
            });
        let mut rows = RowWriter {
            format: &mut *self.format,
            ring,
            interrupt,
            heading: &mut thread.heading,
            structure,
            map: (map, names),
            choice: &mut self.choice,
            kept,
        };
        let out = &mut *context.out;
        let mut take = |depth: usize, row: TreeRow<'_>| rows.row(depth, row, out);
        for entry in ThreadEntry::all(&event.gap, item) {
            let moves = stack.take(handler, entry);
            if !matches!(entry, ThreadEntry::Statement(_) | ThreadEntry::Again { .. }) {
                tree.left(moves, &mut take)?;
            }
            match entry {
                ThreadEntry::Statement(_) => {
                    self.statements += 1;
                    tree.step(stack, item.and_then(|item| item.time), &mut take)?;
                }
                ThreadEntry::Again { statements, times } => {
                    let all = times.saturating_mul(statements as u64);
                    self.statements = self.statements.saturating_add(all);
                    tree.repetition(stack, statements, times, &mut take)?;
                }
                ThreadEntry::Gap | ThreadEntry::Overwritten => {
                    tree.note(NoteKind::Gap, event.gap.to_string(), &mut take)?
                }
                ThreadEntry::Panic => {
                    let Some(Item { what: What::Panic(_, place), .. }) = item else { continue };
                    let frames = self.frames.of(ring, place, context.options);
                    let located = ProgramFiles::of(names).locate(place, frames);
                    let text = panic_text(&located, stack.newest_place(), names);
                    panics.push(located);
                    tree.note(NoteKind::Panic, text, &mut take)?;
                }
                ThreadEntry::Signal(signal) => {
                    tree.note(NoteKind::Signal, format!("signal {signal}"), &mut take)?;
                }
                ThreadEntry::Task(_) => {
                    if let Some(dropped) = &moves.cancelled {
                        let body = structure.body(dropped.body).name();
                        let line = structure.place(dropped.statement).1.line;
                        let text = format!("{body} was dropped while it waited at line {line}");
                        tree.note(NoteKind::Cancelled, text, &mut take)?;
                    }
                }
                ThreadEntry::Other => {
                    if let Some(Item { what: What::Trace(line), .. }) = item
                        && line.is_log_line()
                    {
                        let text = context.options.trace.formats.describe(line).logged();
                        tree.note(NoteKind::Log, text, &mut take)?;
                    }
                }
            }
        }
        if let Some(Item { what: What::Statement { file, line }, values, .. }) = item
            && !values.is_empty()
            && stack.moves().entered > 0
        {
            let place = names.place(*file, *line);
            let (at, to) = (Some((place.file, place.line)), (context.options, &mut *context.notes));
            let mut arguments = self.values.show(ring, (map, names), at, values, to);
            arguments.retain(|value| value.is_parameter && value.is_here);
            tree.arguments(arguments);
        }
        Ok(())
    }

    fn begin_thread(&mut self, ring: &Ring, context: &mut Context<'_, '_>) {
        context.need_map(ring);
        let (map, names) = context.maps.of(ring);
        let structure = self.structures.entry(map).or_insert_with(|| context.structures.of((map, names)));
        if !structure.has_calls() && !self.reported.contains(&map) {
            self.reported.push(map);
            context.notes.incomplete();
            context
                .notes
                .error(format_args!("{ring} has no map, so its calls are not known: --map names one"));
        }
        if ring.entries_only {
            context.notes.incomplete();
            context.notes.note(format_args!(
                "{ring} holds entries only (--detail function), so the end of a call is not known"
            ));
        }
        self.thread = Some(Thread { ring: ring.clone(), map, lanes: BTreeMap::new(), heading: None });
    }

    fn end_thread(&mut self, context: &mut Context<'_, '_>) -> io::Result<()> {
        let Some(Thread { ring, map, lanes, mut heading }) = self.thread.take() else { return Ok(()) };
        let Some(structure) = self.structures.get(&map) else { return Ok(()) };
        let (_, names) = context.maps.of(&ring);
        for (interrupt, LaneCalls { stack, mut tree, mut kept, panics }) in lanes {
            let has_ended = matches!(ring.status, "ended" | "exited");
            let open = stack.open(has_ended);
            let exit = (open.is_empty() && stack.depth() > 0).then_some(Exit::Returned);
            let mut rows = RowWriter {
                format: &mut *self.format,
                ring: &ring,
                interrupt,
                heading: &mut heading,
                structure,
                map: (map, names),
                choice: &mut self.choice,
                kept: &mut kept,
            };
            let out = &mut *context.out;
            tree.finish(stack.stack(), exit, &mut |depth, row| rows.row(depth, row, out))?;
            let at = if stack.open_panics().is_empty() { "end" } else { "panic" };
            let depth = open.len() + stack.folded_below(open.len()) as usize;
            let panic = stack.ending_panic().and_then(|panic| panics.get(panic.number));
            let first_returned =
                open.len() - panic.map_or(0, |panic| returned(&open, panic, structure, names));
            let mut frames: Vec<OpenFrame> = Vec::new();
            let mut is_shown =
                |activation: &Activation| self.choice.takes((map, names), structure, activation.statement);
            for (index, activation) in open.iter().enumerate().rev() {
                if !is_shown(activation) {
                    continue;
                }
                if open.len() <= 2 * MAX_OPEN || index < MAX_OPEN || index >= open.len() - MAX_OPEN {
                    let depth = index + stack.folded_below(index) as usize;
                    let mut frame = open_frame(structure, names, activation, depth, false);
                    frame.is_uncertain |= index >= first_returned;
                    frames.push(frame);
                }
            }
            let parked = stack.parked().filter(|parked| is_shown(parked)).take(MAX_OPEN);
            frames.extend(parked.map(|activation| open_frame(structure, names, activation, 0, true)));
            if !frames.is_empty() {
                self.open.push(OpenCalls { ring: ring.clone(), interrupt, at, frames, depth });
            }
        }
        Ok(())
    }
}

/// How many of the innermost calls have returned at a panic, as far as is known.
fn returned(open: &[&Activation], panic: &LocatedPanic, structure: &Structure, names: &Names) -> usize {
    let at_panic = |activation: &&Activation| {
        let statement = activation.statement;
        let ends = (structure.may_end(statement), structure.panic_calls(statement).checks);
        let (file, span) = structure.place(statement);
        let is_in = |place: &CodePlace| names.path(file).is_some_and(|path| place.is_in(path));
        panic.frame(ends, &(span.line..=span.end_line.max(span.line)), &is_in)
    };
    panic.returned(&open.iter().rev().map(at_panic).collect::<Vec<FrameAtPanic>>())
}

/// An activation as a user reads it.
fn open_frame(
    structure: &Structure,
    names: &Names,
    activation: &Activation,
    depth: usize,
    is_parked: bool,
) -> OpenFrame {
    let (file, span) = structure.place(activation.statement);
    OpenFrame {
        function: structure.body(activation.body).name(),
        file: names.place(file, 1).path.map(str::to_owned),
        line: span.line,
        depth,
        is_uncertain: activation.is_uncertain,
        is_parked,
    }
}

impl CallChoice<'_> {
    /// Whether the call that runs this statement is shown.
    fn takes(&mut self, map: (usize, &Names), structure: &Structure, statement: StatementId) -> bool {
        let (file, span) = structure.place(statement);
        self.places.takes_line(map, file, span.line)
    }
}

/// Writes the rows of a tree with names.
struct RowWriter<'w, 'o> {
    format: &'w mut dyn Format,
    ring: &'w Ring,
    interrupt: u16,
    heading: &'w mut Option<u16>,
    structure: &'w Structure,
    /// The number of the map, and the names in it.
    map: (usize, &'w Names),
    choice: &'w mut CallChoice<'o>,
    kept: &'w mut KeptCalls,
}

impl RowWriter<'_, '_> {
    /// Writes a row, if it is shown.
    fn row(&mut self, depth: usize, row: TreeRow<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let ring = self.ring;
        if self.heading.replace(self.interrupt) != Some(self.interrupt) {
            self.format.call(&CallRow::Thread { ring, interrupt: self.interrupt }, out)?;
        }
        let (node, part) = match row {
            TreeRow::Whole(node) => (node, CallPart::Whole),
            TreeRow::Begin(node) => (node, CallPart::Begin),
            TreeRow::End(node) => (node, CallPart::End),
        };
        let shown_depth = self.kept.depth(depth);
        match &node.subject {
            NodeSubject::Note(kind, text) => {
                let depth = shown_depth;
                let what = match kind {
                    NoteKind::Panic => "panic",
                    NoteKind::Signal => "signal",
                    NoteKind::Cancelled => "cancelled",
                    NoteKind::Log => "log",
                    NoteKind::Gap => "gap",
                };
                self.format.call(&CallRow::Note { ring, depth, what, text }, out)
            }
            NodeSubject::Repetition { .. } if !self.kept.has_caller(depth) => Ok(()),
            NodeSubject::Repetition { statements, times, calls } => {
                let (depth, statements, times, calls) = (shown_depth, *statements, *times, *calls);
                self.format.call(&CallRow::Repetition { ring, depth, statements, times, calls }, out)
            }
            NodeSubject::Call { at, .. } => {
                let is_shown = match part {
                    CallPart::End => self.kept.0.get(depth).is_none_or(|is| *is),
                    CallPart::Whole | CallPart::Begin => {
                        let is = self.choice.takes(self.map, self.structure, *at);
                        let count = if is { &mut self.choice.shown } else { &mut self.choice.left_out };
                        *count = count.saturating_add(node.times);
                        is
                    }
                };
                self.kept.0.truncate(depth);
                if part != CallPart::End {
                    self.kept.0.push(is_shown);
                }
                if is_shown { self.call(shown_depth, node, part, out) } else { Ok(()) }
            }
        }
    }

    fn call(
        &mut self,
        depth: usize,
        node: &CallNode,
        part: CallPart,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let NodeSubject::Call {
            body,
            called_from,
            at,
            exit,
            entered_before,
            is_uncertain,
            is_resumed,
            in_unwinding,
            is_handler,
            task,
            ..
        } = node.subject
        else {
            return Ok(());
        };
        let known = self.structure.body(body);
        let (_, names) = self.map;
        let path = |file: u16| names.path(file).and(names.place(file, 1).path);
        let line_of = |statement: StatementId| self.structure.place(statement).1.line;
        let from = called_from.map(|from| {
            let (file, span) = self.structure.place(from);
            (path(file).filter(|_| file != known.file), span.line)
        });
        let through = called_from.and_then(|from| self.structure.through_derived(from, body));
        let function = known.name();
        let has_clock = self.ring.clock_hz > 0 && !self.ring.exact;
        let entry = CallEntry {
            ring: self.ring,
            depth,
            part,
            function: &function,
            arguments: &node.arguments,
            file: path(known.file),
            line: known.span.line,
            from,
            times: node.times,
            own: node.own,
            statements: node.statements,
            ticks: Some(node.ticks).filter(|ticks| has_clock && *ticks > 0),
            exit: exit.map_or("open", Exit::name),
            at: line_of(at),
            entered_before,
            through,
            is_uncertain,
            is_resumed,
            in_unwinding,
            is_handler,
            task,
        };
        self.format.call(&CallRow::Call(&entry), out)
    }
}

impl Report for Calls<'_> {
    fn chooses_places(&self) -> bool {
        true
    }

    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        self.format.start(opening, context.out)
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        match step {
            Step::Event(ring, event) => self.event(ring, event, context),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        self.end_thread(context)?;
        let CallChoice { shown, left_out, .. } = self.choice;
        if let Some(note) = self.options.read.selection.left_out(shown, left_out, "calls") {
            context.notes.note(format_args!("{note}"));
        }
        for OpenCalls { ring, interrupt, at, frames: calls, depth } in &self.open {
            let (interrupt, at, depth) = (*interrupt, *at, *depth);
            self.format.call(&CallRow::Open { ring, interrupt, at, calls, depth }, context.out)?;
        }
        let complete = context.notes.finish() == ExitCode::Complete;
        self.format.finish(&Totals { entries: self.statements, complete }, context.out)?;
        context.out.flush()?;
        Ok(Summary { code: context.notes.finish(), entries: self.statements })
    }
}
