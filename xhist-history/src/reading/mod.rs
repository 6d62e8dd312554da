//! The main loop: passes the steps of an event source to a report. Also picks the source that each report reads.

pub mod dumps;
pub mod recording_builder;
pub mod report;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use qs_core::record::{Numbers, Statement};

use crate::events::context::Context;
use crate::events::{
    ChosenRings, EventSource, GrowingRings, Merged, Progress, RecordedStatements, RingFrames, RingHeaders,
    RingHistory, Step, StreamBytes, StreamHistory, Survey, ThreadStatements, align_cores, choose, clear,
    find_rings, looks_like_qs_stream, report_damage, report_dropped, report_emptied, report_empty,
    report_findings, report_foreign_handlers, report_width, rings_of, survey, was_cleared,
};
use crate::model::{Ring, What};
use crate::notes::ExitCode;
use crate::notes::{Notes, outcome};
use crate::program::values::name_interrupts;
use crate::reading::report::{Report, Selected, Summary};
use crate::ring::{Findings, Placed, RingSnapshot, executed};
use crate::source;

/// What a report reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Of rings.
    pub reads: Reads,
    /// Of a source without a ring.
    pub streams: Streams,
    /// Whether it wants to know which of the statements in a line it was.
    pub numbered: bool,
}

/// What a report reads of rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Entries, by time.
    Entries,
    /// Statements as they were recorded, one ring after another.
    Statements,
    /// Statements by their numbers and marks, one ring after another.
    Threads,
    /// The same of all rings, also what was shown before; and the executed bitmaps.
    Executed,
    /// Headers only.
    Headers,
    /// Frames, one ring after another.
    Frames,
}

/// What a report does with a source without a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// It reads rings only.
    No,
    /// It reads a source that looks like a QS stream.
    IfAny,
    /// It reads every source as a QS stream.
    Always,
}

/// What is in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceContent {
    /// No ring.
    NoRing,
    /// Rings.
    Rings,
    /// Rings with QS records or trace events.
    Records,
    /// Rings in a file that a program goes on to write.
    Growing,
}

/// What the caller wants to make of a source.
pub trait Reports {
    /// Chooses the report by what is in the source, and says what it reads.
    fn choose(&mut self, content: SourceContent) -> Reading;

    /// An option of the user that needs a ring.
    fn about_rings(&self) -> Option<&'static str> {
        None
    }

    /// Set when the user no longer wants to follow.
    fn stop(&self) -> Arc<AtomicBool> {
        Arc::default()
    }

    /// Makes the report that was chosen.
    ///
    /// # Errors
    /// A file of the report cannot be written.
    fn make(&mut self) -> Result<Box<dyn Report + '_>, String>;
}

/// Reads an image, or the file that it was read from while that grows.
pub fn read(image: &[u8], reports: &mut dyn Reports, context: &mut Context<'_, '_>) -> ExitCode {
    context.options.trace.report(context.notes);
    match (&context.options.live, &context.options.follow) {
        (Some(file), Some(path)) => read_growing(file, path, reports, context),
        _ => read_image(image, reports, context),
    }
}

/// Gives the steps of a source to a report until the source ends.
///
/// # Errors
/// Those of the output.
pub fn pump(
    source: &mut dyn EventSource,
    report: &mut dyn Report,
    context: &mut Context<'_, '_>,
) -> io::Result<Summary> {
    report.start(&source.opening(), context)?;
    loop {
        let step = &mut |step: Step<'_>, context: &mut Context<'_, '_>| {
            if let Step::Event(ring, Merged { item: Some(item), .. }) = step
                && let What::Statement { file, line } = item.what
            {
                context.maps.look_up(ring, Statement { file, line });
            }
            report.step(step, context)
        };
        match source.read(step, context)? {
            Progress::More => {}
            Progress::Wait(pause) => {
                context.out.flush()?;
                std::thread::sleep(pause);
            }
            Progress::End => {
                context.maps.report_lacks(context.notes);
                let summary = report.finish(context)?;
                // Some reports ask for names only now.
                let code = context.maps.report_lacks(context.notes);
                return Ok(Summary { code: summary.code.max(code), ..summary });
            }
        }
    }
}

/// The exit code of a report that was written so far.
pub fn exit_code(summary: io::Result<Summary>, notes: &mut Notes<'_>) -> ExitCode {
    summary.map_or_else(|error| outcome(Err(error), notes), |summary| summary.code)
}

/// Gives a source to the report that was chosen. Its selection may be applied in front of it.
fn give(
    source: &mut dyn EventSource,
    reports: &mut dyn Reports,
    is_selected: bool,
    context: &mut Context<'_, '_>,
) -> Result<io::Result<Summary>, ExitCode> {
    let report = reports.make().map_err(|why| {
        context.notes.error(format_args!("{why}"));
        ExitCode::Usage
    })?;
    let mut report = if is_selected { Selected::of(report, context.options) } else { report };
    Ok(pump(source, &mut *report, context))
}

/// The same, to its exit code.
fn run(
    source: &mut dyn EventSource,
    reports: &mut dyn Reports,
    is_selected: bool,
    context: &mut Context<'_, '_>,
) -> ExitCode {
    match give(source, reports, is_selected, context) {
        Ok(summary) => exit_code(summary, context.notes),
        Err(code) => code,
    }
}

/// Reads an image: finds its rings or its stream, and picks the source that the report reads.
fn read_image(image: &[u8], reports: &mut dyn Reports, context: &mut Context<'_, '_>) -> ExitCode {
    let options = context.options;
    let mut findings = find_rings(image, options);
    name_interrupts(findings.rings.iter_mut().map(|placed| &mut placed.ring), options);
    let reading = reports.choose(match findings.rings.is_empty() {
        true => SourceContent::NoRing,
        false => SourceContent::Rings,
    });
    if reading.reads == Reads::Executed {
        return read_executed(image, &findings, reports, context);
    }
    if findings.rings.is_empty()
        && let Some(code) = read_stream(image, reading, reports, context)
    {
        return code;
    }
    report_findings(&findings, image, options, context.notes);
    let Some(placed) = choose(&findings.rings, image, options, context.notes) else {
        return if findings.rings.is_empty() { ExitCode::NothingFound } else { ExitCode::Usage };
    };
    if reading.reads == Reads::Headers {
        return run(&mut RingHeaders { rings: &rings_of(&placed) }, reports, false, context);
    }
    report_width(placed.iter().copied(), options, context.notes);
    let chosen = ChosenRings::read(placed, image, options);
    let rings = rings_of(&chosen.placed);
    if reading.reads == Reads::Frames {
        return run(&mut RingFrames::new(&rings, &chosen.snapshots()), reports, false, context);
    }
    read_rings(&chosen, &rings, (reading, reports), context)
}

/// Reads rings by their statements or entries.
fn read_rings(
    chosen: &ChosenRings<'_>,
    rings: &[Ring],
    (reading, reports): (Reading, &mut dyn Reports),
    context: &mut Context<'_, '_>,
) -> ExitCode {
    let options = context.options;
    let snapshots = chosen.snapshots();
    let longest = options.entries.written_out;
    let mut surveys: Vec<Survey> = snapshots.iter().map(|ring| survey(ring, longest)).collect();
    align_cores(&chosen.placed, &mut surveys);
    let has_records = surveys.iter().any(|survey| survey.records > 0 || survey.traces > 0);
    let reading = if has_records { reports.choose(SourceContent::Records) } else { reading };
    if surveys.iter().all(|survey| survey.frames == 0) {
        // A script that asks again and again for what is new finds nothing most of the time.
        let polls = options.clear.is_some() && chosen.placed.iter().any(|placed| was_cleared(placed));
        report_empty(&chosen.placed, &snapshots, polls, context.notes);
        let code = context.notes.finish();
        return if polls { code } else { ExitCode::NothingFound };
    }
    rings.iter().for_each(|ring| report_dropped(ring, context.notes));
    report_emptied(&chosen.placed, context.notes);
    report_foreign_handlers(&chosen.placed, context.notes);
    if let Err(code) = load_maps(rings, context) {
        return code;
    }
    if reading.reads == Reads::Statements {
        return run(&mut RecordedStatements::new(rings, &snapshots), reports, true, context);
    }
    if reading.reads == Reads::Threads {
        let source = &mut ThreadStatements::new((&chosen.placed, rings), &snapshots, &surveys, options);
        return run(source, reports, false, context);
    }
    let tables: Vec<_> = rings.iter().map(|ring| Arc::clone(context.maps.of(ring).1.numbers())).collect();
    let numbered = snapshots.iter().zip(&tables).map(|(ring, table)| ring.with_numbers(Numbers::new(table)));
    let snapshots: Vec<RingSnapshot<'_>> = if reading.numbered { numbered.collect() } else { snapshots };
    let source = &mut RingHistory::new(&chosen.placed, &snapshots, &surveys, options);
    let summary = match give(source, reports, true, context) {
        Ok(summary) => summary,
        Err(code) => return code,
    };
    if let (Ok(_), Some(path)) = (&summary, &options.clear) {
        clear(path, &chosen.placed, &surveys, context.notes);
        return context.notes.finish();
    }
    exit_code(summary, context.notes)
}

/// Loads the maps of rings, and checks that what the user asks for is in one of them.
fn load_maps(rings: &[Ring], context: &mut Context<'_, '_>) -> Result<(), ExitCode> {
    context.maps.load_more(&rings.iter().collect::<Vec<_>>(), context.options, context.notes)?;
    let maps: Vec<_> = rings.iter().map(|ring| context.maps.of(ring).1).collect();
    context.options.selection.check(&maps).map_err(|error| {
        context.notes.error(format_args!("{error}"));
        error.exit_code()
    })
}

/// Reads everything that was ever executed: by the bitmaps of the image, and by all its rings.
fn read_executed(
    image: &[u8],
    findings: &Findings,
    reports: &mut dyn Reports,
    context: &mut Context<'_, '_>,
) -> ExitCode {
    report_damage(findings, context.notes);
    let placed: Vec<&Placed> = findings.rings.iter().collect();
    let chosen = ChosenRings::read(placed, image, context.options);
    let bitmaps = executed(image);
    if chosen.placed.is_empty() && bitmaps.by_map.is_empty() {
        report_findings(findings, image, context.options, context.notes);
        return ExitCode::NothingFound;
    }
    let snapshots: Vec<_> = chosen.snapshots().into_iter().map(RingSnapshot::with_cleared).collect();
    let rings = rings_of(&chosen.placed);
    let source = &mut RecordedStatements::new(&rings, &snapshots).with_executed(bitmaps);
    run(source, reports, false, context)
}

/// Reads an image without a ring; `None` when it is not a stream, or the report reads none.
fn read_stream(
    image: &[u8],
    reading: Reading,
    reports: &mut dyn Reports,
    context: &mut Context<'_, '_>,
) -> Option<ExitCode> {
    if let Some(option) = reports.about_rings() {
        return looks_like_qs_stream(image).then(|| {
            context
                .notes
                .error(format_args!("{option} is about rings, and this is a QS stream without a ring"));
            ExitCode::NothingFound
        });
    }
    match reading.streams {
        Streams::Always => Some(run(&mut StreamBytes { bytes: image }, reports, false, context)),
        Streams::IfAny if looks_like_qs_stream(image) => {
            let source = &mut StreamHistory::new(image, context);
            Some(run(source, reports, true, context))
        }
        Streams::IfAny | Streams::No => None,
    }
}

/// Follows a file until its program has ended or the user has seen enough.
fn read_growing(
    file: &File,
    path: &Path,
    reports: &mut dyn Reports,
    context: &mut Context<'_, '_>,
) -> ExitCode {
    let options = context.options;
    let (mut source, findings) = GrowingRings::find(file, path, options);
    let rings = source.rings();
    if rings.is_empty() {
        match source::Image::of_file(file, &path.display().to_string()) {
            Ok(image) if looks_like_qs_stream(&image) => context.notes.error(format_args!(
                "this is a QS stream without a ring; `tail -c +1 -f FILE | xhist-report --follow -` follows it, \
                 `xhist-report --follow - < FILE` shows it to its end"
            )),
            Ok(image) => report_findings(&findings, &image, options, context.notes),
            Err(why) => context.notes.error(format_args!("{why}")),
        }
        return ExitCode::NothingFound;
    }
    report_width(source.placed(), options, context.notes);
    if let Err(code) = load_maps(&rings, context) {
        return code;
    }
    source.stop = options.stop.clone().unwrap_or_else(|| reports.stop());
    reports.choose(SourceContent::Growing);
    let summary = match give(&mut source, reports, true, context) {
        Ok(summary) => summary,
        Err(code) => return code,
    };
    if options.last.is_none() && matches!(summary, Ok(Summary { entries: 0, .. })) {
        context.notes.error(format_args!("nothing was recorded"));
        return ExitCode::NothingFound;
    }
    exit_code(summary, context.notes)
}
