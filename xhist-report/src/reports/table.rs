//! Which report is made of a source, and where it goes: the table of reports, with what each of them reads.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::qspy::QspyLines;
use super::{
    AnswerReport, Builds, Calls, Coverage, EntryWriter, Hotspots, Order, PrintedElsewhere, RecordingDocument,
    Tasks,
};
use crate::budget::{BudgetedLines, Weight};
use crate::format::ReportKind;
use crate::interrupt;
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::calls::Structures;
use xhist_history::events::context::Context;
use xhist_history::notes::{Notes, outcome};
use xhist_history::program::map::Maps;
use xhist_history::reading::recording_builder::RecordingReport;
use xhist_history::reading::report::Report;
use xhist_history::reading::{Reading, Reads, Reports, SourceContent, Streams, read};

/// A kind of report.
#[derive(Debug)]
struct ReportRow {
    /// Which one it is.
    kind: ReportKind,
    /// What it reads.
    reading: Reading,
    /// Makes it.
    make: MakeReport,
}

/// Makes a report with these options.
type MakeReport = for<'o> fn(&'o Options) -> Box<dyn Report + 'o>;

/// Every kind of report.
static REPORTS: &[ReportRow] = &[
    ReportRow {
        kind: ReportKind::History,
        reading: Reading { reads: Reads::Entries, streams: Streams::IfAny, numbered: true },
        make: |options| Box::new(EntryWriter::new(options)),
    },
    ReportRow {
        kind: ReportKind::Answer,
        reading: Reading { reads: Reads::Entries, streams: Streams::No, numbered: false },
        make: |options| Box::new(AnswerReport::new(options)),
    },
    ReportRow {
        kind: ReportKind::Coverage,
        reading: Reading { reads: Reads::Executed, streams: Streams::No, numbered: true },
        make: |options| Box::new(Coverage::new(options)),
    },
    ReportRow {
        kind: ReportKind::Hotspots,
        reading: Reading { reads: Reads::Statements, streams: Streams::No, numbered: true },
        make: |options| Box::new(Hotspots::new(options)),
    },
    ReportRow {
        kind: ReportKind::Tasks,
        reading: Reading { reads: Reads::Entries, streams: Streams::No, numbered: true },
        make: |options| Box::new(Tasks::new(options)),
    },
    ReportRow {
        kind: ReportKind::Order,
        reading: Reading { reads: Reads::Entries, streams: Streams::No, numbered: true },
        make: |options| Box::new(Order::new(options)),
    },
    ReportRow {
        kind: ReportKind::Calls,
        reading: Reading { reads: Reads::Threads, streams: Streams::No, numbered: true },
        make: |options| Box::new(Calls::new(options)),
    },
    ReportRow {
        kind: ReportKind::Recording,
        reading: RecordingReport::READING,
        make: |options| Box::new(RecordingDocument::new(options)),
    },
    ReportRow {
        kind: ReportKind::Builds,
        reading: Reading { reads: Reads::Headers, streams: Streams::No, numbered: true },
        make: |options| Box::new(Builds::new(options)),
    },
    ReportRow {
        kind: ReportKind::Qspy,
        reading: Reading { reads: Reads::Frames, streams: Streams::Always, numbered: true },
        // Of a link. Rings and streams have `QspyLines`: opening its files may fail.
        make: |_| Box::new(PrintedElsewhere),
    },
];

impl ReportRow {
    /// The row of a kind.
    fn of(kind: ReportKind) -> &'static ReportRow {
        REPORTS.iter().find(|row| row.kind == kind).unwrap_or(&REPORTS[0])
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_row() {
        use ReportKind::{Answer, Builds, Calls, Coverage, History, Hotspots, Order, Qspy, Recording, Tasks};
        for kind in [History, Answer, Coverage, Hotspots, Tasks, Order, Calls, Builds, Qspy, Recording] {
            assert_eq!(ReportRow::of(kind).kind, kind);
        }
    }
}
