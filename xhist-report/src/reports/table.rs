//! The table of reports: what each of them reads.

use super::{
    AnswerReport, Builds, Calls, Coverage, EntryWriter, Hotspots, Order, PrintedElsewhere, RecordingReport,
    Report, Tasks,
};
use crate::model::ReportKind;
use crate::options::Options;

/// A kind of report.
#[derive(Debug)]
pub struct ReportRow {
    /// Which one it is.
    pub kind: ReportKind,
    /// What it reads of rings.
    pub reads: Reads,
    /// What it does with a source without a ring.
    pub streams: Streams,
    /// Makes it.
    pub make: MakeReport,
}

/// Makes a report with these options.
pub type MakeReport = for<'o> fn(&'o Options) -> Box<dyn Report + 'o>;

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

/// Every kind of report.
pub static REPORTS: &[ReportRow] = &[
    ReportRow {
        kind: ReportKind::History,
        reads: Reads::Entries,
        streams: Streams::IfAny,
        make: |options| Box::new(EntryWriter::new(options)),
    },
    ReportRow {
        kind: ReportKind::Answer,
        reads: Reads::Entries,
        streams: Streams::No,
        make: |options| Box::new(AnswerReport::new(options)),
    },
    ReportRow {
        kind: ReportKind::Coverage,
        reads: Reads::Executed,
        streams: Streams::No,
        make: |_| Box::<Coverage>::default(),
    },
    ReportRow {
        kind: ReportKind::Hotspots,
        reads: Reads::Statements,
        streams: Streams::No,
        make: |_| Box::<Hotspots>::default(),
    },
    ReportRow {
        kind: ReportKind::Tasks,
        reads: Reads::Entries,
        streams: Streams::No,
        make: |options| Box::new(Tasks::new(options)),
    },
    ReportRow {
        kind: ReportKind::Order,
        reads: Reads::Entries,
        streams: Streams::No,
        make: |options| Box::new(Order::new(options)),
    },
    ReportRow {
        kind: ReportKind::Calls,
        reads: Reads::Threads,
        streams: Streams::No,
        make: |options| Box::new(Calls::new(options)),
    },
    ReportRow {
        kind: ReportKind::Recording,
        reads: Reads::Entries,
        streams: Streams::IfAny,
        make: |options| Box::new(RecordingReport::new(options)),
    },
    ReportRow {
        kind: ReportKind::Builds,
        reads: Reads::Headers,
        streams: Streams::No,
        make: |_| Box::<Builds>::default(),
    },
    ReportRow {
        kind: ReportKind::Qspy,
        reads: Reads::Frames,
        streams: Streams::Always,
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
