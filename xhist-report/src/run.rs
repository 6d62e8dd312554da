//! Which report is made of a source, and where it goes.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::budget::{BudgetedLines, Weight};
use crate::entries::ReportKind;
use crate::interrupt;
use crate::link::RawTerminal;
use crate::live::{HistoryView, LiveSession, QspyView, Setup};
use crate::options::Options;
use crate::reports::table::ReportRow;
use crate::reports::{EntryWriter, PrintedElsewhere, QspyLines};
use xhist_history::ExitCode;
use xhist_history::calls::Structures;
use xhist_history::context::Context;
use xhist_history::map::Maps;
use xhist_history::notes::{Notes, outcome};
use xhist_history::reading::{Reading, Reports, SourceContent, exit_code, pump, read};
use xhist_history::report::{Report, Selected};

/// Reports on an image, or on the file that it was read from while that grows: entries to `out`, everything else to `notes`.
pub fn report(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    // The lines of QSPY are entries; other reports give theirs to a format.
    let budget = options.budget.clone().filter(|_| options.report() == ReportKind::Qspy);
    let Some(budget) = budget else { return report_whole(image, options, out, notes) };
    let mut lines = BudgetedLines::new(budget, false, Weight::newer);
    let code = report_whole(image, options, &mut lines, notes);
    outcome(lines.finish(out), notes).max(code)
}

fn report_whole(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let options = &options.settled();
    let (maps, structures, mut sink) = (&mut Maps::default(), &mut Structures::default(), io::sink());
    let follows = options.read.live.is_some() && options.read.follow.is_some();
    // The lines of QSPY write to the output themselves.
    let (own, out): (Option<&mut dyn Write>, &mut dyn Write) =
        match options.report() == ReportKind::Qspy && !follows {
            true => (Some(out), &mut sink),
            false => (None, out),
        };
    let mut reports = AskedReports { options, row: ReportRow::of(options.report()), out: own };
    read(image, &mut reports, &mut Context { options: &options.read, maps, structures, out, notes })
}

/// The report that the user asked for, or the history where it shows nothing.
struct AskedReports<'o> {
    options: &'o Options,
    row: &'static ReportRow,
    /// The output of a report that writes to it itself.
    out: Option<&'o mut dyn Write>,
}

impl Reports for AskedReports<'_> {
    fn choose(&mut self, content: SourceContent) -> Reading {
        self.row = ReportRow::of(match (self.options.report(), content) {
            // A stream has no threads whose end could be shown.
            (ReportKind::Answer, SourceContent::NoRing) => ReportKind::History,
            (ReportKind::Answer, SourceContent::Records) if self.options.keeps_records => ReportKind::History,
            (ReportKind::Recording, _) => ReportKind::Recording,
            (_, SourceContent::Growing) => ReportKind::History,
            (kind, _) => kind,
        });
        self.row.reading
    }

    fn about_rings(&self) -> Option<&'static str> {
        self.options.about_rings()
    }

    fn stop(&self) -> Arc<AtomicBool> {
        interrupt::requested(|| {})
    }

    fn make(&mut self) -> Result<Box<dyn Report + '_>, String> {
        match self.out.take() {
            Some(out) => match QspyLines::new(&self.options.qs, out) {
                Ok(report) => Ok(Box::new(report)),
                Err(why) => Err(why.to_string()),
            },
            None => Ok((self.row.make)(self.options)),
        }
    }
}

/// Shows what comes on links until all have ended or the user has seen enough.
pub fn report_live(setup: Setup, options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let options = &options.settled();
    options.read.trace.report(notes);
    let raw = if setup.keys { RawTerminal::enter() } else { None };
    let stop = interrupt::requested(RawTerminal::leave);
    let (maps, structures) = (&mut Maps::default(), &mut Structures::default());
    let (has_keys, mut sink, read) = (raw.is_some(), io::sink(), &options.read);
    match options.report() {
        // The view writes to the output itself.
        ReportKind::Qspy => {
            let session = LiveSession::new(setup, has_keys, Box::new(QspyView::new(&options.qs, out)), stop);
            let context = &mut Context { options: read, maps, structures, out: &mut sink, notes };
            run_session(session, &mut PrintedElsewhere, context)
        }
        _ => {
            let session = LiveSession::new(setup, has_keys, Box::new(HistoryView::new(options)), stop);
            let context = &mut Context { options: read, maps, structures, out, notes };
            let report = &mut *Selected::of(Box::new(EntryWriter::new(options)), read);
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
