//! The table of reports: what each of them reads.

use super::{
    AnswerReport, Builds, Calls, Coverage, EntryWriter, Hotspots, Order, PrintedElsewhere, RecordingDocument,
    Tasks,
};
use crate::entries::ReportKind;
use crate::options::Options;
use xhist_history::reading::{Reading, Reads, Streams};
use xhist_history::recording_builder::RecordingReport;
use xhist_history::report::Report;

/// A kind of report.
#[derive(Debug)]
pub struct ReportRow {
    /// Which one it is.
    pub kind: ReportKind,
    /// What it reads.
    pub reading: Reading,
    /// Makes it.
    pub make: MakeReport,
}

/// Makes a report with these options.
pub type MakeReport = for<'o> fn(&'o Options) -> Box<dyn Report + 'o>;

/// Every kind of report.
pub static REPORTS: &[ReportRow] = &[
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
        // Of a link. `run` makes `QspyLines` for rings and streams: opening its files may fail.
        make: |_| Box::new(PrintedElsewhere),
    },
];

impl ReportRow {
    /// The row of a kind.
    pub fn of(kind: ReportKind) -> &'static ReportRow {
        REPORTS.iter().find(|row| row.kind == kind).unwrap_or(&REPORTS[0])
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
