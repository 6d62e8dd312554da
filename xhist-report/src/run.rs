//! The main loop: passes the steps of an event source to a report. Also picks the source that each report reads.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use qs_core::record::{Numbers, Statement};

use crate::calls::Structures;
use crate::console::{Notes, outcome};
use crate::context::Context;
use crate::events::{
    ChosenRings, EventSource, GrowingRings, Merged, Progress, RecordedStatements, RingFrames, RingHeaders,
    RingHistory, Step, StreamBytes, StreamHistory, Survey, ThreadStatements, choose, clear, find_rings,
    looks_like_qs_stream, report_damage, report_dropped, report_emptied, report_empty, report_findings,
    report_foreign_handlers, report_width, rings_of, survey, was_cleared,
};
use crate::exit_code::ExitCode;
use crate::interrupt;
use crate::live::{HistoryView, LiveSession, QspyView, Setup};
use crate::map::Maps;
use crate::model::{ReportKind, Ring, What};
use crate::options::Options;
use crate::reports::table::{Reads, ReportRow, Streams};
use crate::reports::{EntryWriter, PrintedElsewhere, QspyLines, Report, Selected, Summary};
use crate::ring::{Findings, Placed, RingSnapshot, executed};
use crate::source;
use crate::source::link::RawTerminal;

/// Reports on an image, or on the file that it was read from while that grows: entries to `out`, everything else to `notes`.
pub fn report(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    report_on(image, options, (&mut Maps::default(), &mut Structures::default()), out, notes)
}

/// The same, with maps and structures of reports before.
pub fn report_on(
    image: &[u8],
    options: &Options,
    (maps, structures): (&mut Maps, &mut Structures),
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    options.trace.report(notes);
    let context = &mut Context { options, maps, structures, out, notes };
    match (&options.live, &options.follow) {
        (Some(file), Some(path)) => run_growing(file, path, context),
        _ => run_image(image, context),
    }
}

/// Gives the steps of a source to a report until the source ends.
fn pump(
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
fn exit_code(summary: io::Result<Summary>, notes: &mut Notes<'_>) -> ExitCode {
    summary.map_or_else(|error| outcome(Err(error), notes), |summary| summary.code)
}

/// Reports on an image: finds its rings or its stream, and picks the source that the report reads.
fn run_image(image: &[u8], context: &mut Context<'_, '_>) -> ExitCode {
    let options = context.options;
    let findings = find_rings(image, options);
    let row = match options.report() {
        // A stream has no threads whose end could be shown.
        ReportKind::Answer if findings.rings.is_empty() => ReportRow::of(ReportKind::History),
        kind => ReportRow::of(kind),
    };
    if row.reads == Reads::Executed {
        return run_executed(image, &findings, row, context);
    }
    if findings.rings.is_empty()
        && let Some(code) = run_stream(image, row, context)
    {
        return code;
    }
    report_findings(&findings, image.len(), context.notes);
    let Some(placed) = choose(&findings.rings, image, options, context.notes) else {
        return if findings.rings.is_empty() { ExitCode::NothingFound } else { ExitCode::Usage };
    };
    if row.reads == Reads::Headers {
        let rings = rings_of(&placed);
        let summary = pump(&mut RingHeaders { rings: &rings }, &mut *(row.make)(options), context);
        return exit_code(summary, context.notes);
    }
    report_width(placed.iter().copied(), options, context.notes);
    let chosen = ChosenRings::read(placed, image, options);
    let rings = rings_of(&chosen.placed);
    if row.reads == Reads::Frames {
        return run_qspy(&mut RingFrames::new(&rings, &chosen.snapshots()), context);
    }
    run_rings(&chosen, &rings, row, context)
}

/// Reports on rings by their statements or entries.
fn run_rings(
    chosen: &ChosenRings<'_>,
    rings: &[Ring],
    row: &ReportRow,
    context: &mut Context<'_, '_>,
) -> ExitCode {
    let options = context.options;
    let snapshots = chosen.snapshots();
    let surveys: Vec<Survey> = snapshots.iter().map(|ring| survey(ring, options.written_out())).collect();
    let has_records = surveys.iter().any(|survey| survey.records > 0 || survey.traces > 0);
    let row = match row.kind {
        ReportKind::Answer if options.keeps_records && has_records => ReportRow::of(ReportKind::History),
        _ => row,
    };
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
    if let Err(code) = context.maps.load_more(&rings.iter().collect::<Vec<_>>(), options, context.notes) {
        return code;
    }
    if let Err(code) = check_selection(rings, context) {
        return code;
    }
    if row.reads == Reads::Statements {
        let source = &mut RecordedStatements::new(rings, &snapshots);
        let summary = pump(source, &mut *Selected::of((row.make)(options), options), context);
        return exit_code(summary, context.notes);
    }
    if row.reads == Reads::Threads {
        let source = &mut ThreadStatements::new((&chosen.placed, rings), &snapshots, &surveys, options);
        let summary = pump(source, &mut *(row.make)(options), context);
        return exit_code(summary, context.notes);
    }
    // These want to know which of the statements in a line it was.
    let tables: Vec<_> = rings.iter().map(|ring| Arc::clone(context.maps.of(ring).1.numbers())).collect();
    let numbered = snapshots.iter().zip(&tables).map(|(ring, table)| ring.with_numbers(Numbers::new(table)));
    let snapshots: Vec<RingSnapshot<'_>> = match row.kind {
        ReportKind::Answer | ReportKind::Recording => snapshots,
        _ => numbered.collect(),
    };
    let source = &mut RingHistory::new(&chosen.placed, &snapshots, &surveys, options);
    let summary = pump(source, &mut *Selected::of((row.make)(options), options), context);
    if let (Ok(_), Some(path)) = (&summary, &options.clear) {
        clear(path, &chosen.placed, &surveys, context.notes);
        return context.notes.finish();
    }
    exit_code(summary, context.notes)
}

/// Checks that what the user asks for is in one of the maps.
fn check_selection(rings: &[Ring], context: &mut Context<'_, '_>) -> Result<(), ExitCode> {
    let maps: Vec<_> = rings.iter().map(|ring| context.maps.of(ring).1).collect();
    context.options.selection.check(&maps).map_err(|error| {
        context.notes.error(format_args!("{error}"));
        error.exit_code()
    })
}

/// Reports everything that was ever executed: by the bitmaps of the image, and by all its rings.
fn run_executed(
    image: &[u8],
    findings: &Findings,
    row: &ReportRow,
    context: &mut Context<'_, '_>,
) -> ExitCode {
    report_damage(findings, context.notes);
    let placed: Vec<&Placed> = findings.rings.iter().collect();
    let chosen = ChosenRings::read(placed, image, context.options);
    let bitmaps = executed(image);
    if chosen.placed.is_empty() && bitmaps.by_map.is_empty() {
        report_findings(findings, image.len(), context.notes);
        return ExitCode::NothingFound;
    }
    let snapshots: Vec<_> = chosen.snapshots().into_iter().map(RingSnapshot::with_cleared).collect();
    let rings = rings_of(&chosen.placed);
    let source = &mut RecordedStatements::new(&rings, &snapshots).with_executed(bitmaps);
    let summary = pump(source, &mut *(row.make)(context.options), context);
    exit_code(summary, context.notes)
}

/// Reports on an image without a ring; `None` when it is not a stream, or the report reads none.
fn run_stream(image: &[u8], row: &ReportRow, context: &mut Context<'_, '_>) -> Option<ExitCode> {
    if let Some(option) = context.options.about_rings() {
        return looks_like_qs_stream(image).then(|| {
            context
                .notes
                .error(format_args!("{option} is about rings, and this is a QS stream without a ring"));
            ExitCode::NothingFound
        });
    }
    match row.streams {
        Streams::Always => Some(run_qspy(&mut StreamBytes { bytes: image }, context)),
        Streams::IfAny if looks_like_qs_stream(image) => {
            let source = &mut StreamHistory::new(image, context);
            let report = &mut *Selected::of((row.make)(context.options), context.options);
            let summary = pump(source, report, context);
            Some(exit_code(summary, context.notes))
        }
        Streams::IfAny | Streams::No => None,
    }
}

/// Prints records as QSPY does.
fn run_qspy(source: &mut dyn EventSource, context: &mut Context<'_, '_>) -> ExitCode {
    let Context { options, maps, structures, out, notes } = context;
    let mut report = match QspyLines::new(&options.qs, out) {
        Ok(report) => report,
        Err(why) => {
            notes.error(format_args!("{why}"));
            return ExitCode::Usage;
        }
    };
    // The report writes to the output itself.
    let context = &mut Context { options, maps, structures, out: &mut io::sink(), notes };
    let summary = pump(source, &mut report, context);
    exit_code(summary, context.notes)
}

/// Follows a file until its program has ended or the user has seen enough.
fn run_growing(file: &File, path: &Path, context: &mut Context<'_, '_>) -> ExitCode {
    let options = context.options;
    let (mut source, findings) = GrowingRings::find(file, path, options);
    let rings = source.rings();
    if rings.is_empty() {
        match source::Image::of_file(file, &path.display().to_string()) {
            Ok(image) if looks_like_qs_stream(&image) => context.notes.error(format_args!(
                "this is a QS stream without a ring; `tail -c +1 -f FILE | xhist-report --follow -` follows it, \
                 `xhist-report --follow - < FILE` shows it to its end"
            )),
            _ => report_findings(&findings, source.scanned, context.notes),
        }
        return ExitCode::NothingFound;
    }
    report_width(source.placed(), options, context.notes);
    if let Err(code) = context.maps.load_more(&rings.iter().collect::<Vec<_>>(), options, context.notes) {
        return code;
    }
    if let Err(code) = check_selection(&rings, context) {
        return code;
    }
    source.stop = options.stop.clone().unwrap_or_else(|| interrupt::requested(|| {}));
    let row = match options.report() {
        ReportKind::Recording => ReportRow::of(ReportKind::Recording),
        _ => ReportRow::of(ReportKind::History),
    };
    let report = &mut *Selected::of((row.make)(options), options);
    let summary = pump(&mut source, report, context);
    if options.last.is_none() && matches!(summary, Ok(Summary { entries: 0, .. })) {
        context.notes.error(format_args!("nothing was recorded"));
        return ExitCode::NothingFound;
    }
    exit_code(summary, context.notes)
}

/// Shows what comes on links until all have ended or the user has seen enough.
pub fn report_live(setup: Setup, options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    options.trace.report(notes);
    let raw = if setup.keys { RawTerminal::enter() } else { None };
    let stop = interrupt::requested(RawTerminal::leave);
    let (maps, structures) = (&mut Maps::default(), &mut Structures::default());
    let (has_keys, mut sink) = (raw.is_some(), io::sink());
    match options.report() {
        // The view writes to the output itself.
        ReportKind::Qspy => {
            let session = LiveSession::new(setup, has_keys, Box::new(QspyView::new(&options.qs, out)), stop);
            let context = &mut Context { options, maps, structures, out: &mut sink, notes };
            run_session(session, &mut PrintedElsewhere, context)
        }
        _ => {
            let session = LiveSession::new(setup, has_keys, Box::new(HistoryView::new(options)), stop);
            let context = &mut Context { options, maps, structures, out, notes };
            let report = &mut *Selected::of(Box::new(EntryWriter::new(options)), options);
            run_session(session, report, context)
        }
    }
}

/// Runs a live session to its end.
fn run_session(
    mut session: LiveSession<'_>,
    report: &mut dyn Report,
    context: &mut Context<'_, '_>,
) -> ExitCode {
    let summary = pump(&mut session, report, context);
    if let Some(why) = session.failure() {
        context.notes.error(format_args!("{why}"));
        return ExitCode::Usage;
    }
    if summary.is_ok() && !session.has_started() {
        return context.notes.no_frame();
    }
    exit_code(summary, context.notes)
}
