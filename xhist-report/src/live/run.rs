//! A live session as a report: which view it has, and where that goes.

use std::io::{self, Write};

use super::link::RawTerminal;
use super::session::{HistoryView, LiveSession, QspyView, Setup};
use crate::format::ReportKind;
use crate::interrupt;
use crate::options::Options;
use crate::reports::{EntryWriter, PrintedElsewhere};
use xhist_history::ExitCode;
use xhist_history::calls::Structures;
use xhist_history::events::context::Context;
use xhist_history::notes::Notes;
use xhist_history::program::map::Maps;
use xhist_history::reading::report::{Report, Selected};
use xhist_history::reading::{exit_code, pump};

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
