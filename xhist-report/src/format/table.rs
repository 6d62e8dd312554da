//! The one table of formats, with the report that each of them shows.

use super::{
    Format, Layout, calls, codetracer, folded, history, html, json, lanes, lcov, perfetto, qspy, terminal,
    traceinfo,
};

/// What a report shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// The entries, one after another.
    History,
    /// The end of each thread, folded.
    Answer,
    /// The statements that were ever executed, file by file.
    Coverage,
    /// The functions that fill the rings.
    Hotspots,
    /// Broken rules of order.
    Order,
    /// The calls that statements imply.
    Calls,
    /// The builds that the rings came from.
    Builds,
    /// The async tasks that have not ended.
    Tasks,
    /// Every record of a QS stream, and every error in it.
    Qspy,
    /// The whole history at once, for views that go back and forth.
    Recording,
}

impl ReportKind {
    /// The command that asks for this report instead of that of the format.
    pub fn command(self) -> Option<&'static str> {
        match self {
            ReportKind::Builds => Some("builds"),
            ReportKind::Hotspots => Some("hot"),
            ReportKind::Tasks => Some("tasks"),
            ReportKind::Order => Some("order"),
            ReportKind::History
            | ReportKind::Answer
            | ReportKind::Coverage
            | ReportKind::Calls
            | ReportKind::Qspy
            | ReportKind::Recording => None,
        }
    }
}

/// A format that users can ask for.
#[derive(Debug)]
pub struct FormatRow {
    /// Its name after `--format`.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// The report that it shows.
    pub report: ReportKind,
    /// For programs, repetitions of up to this number of statements are written out; a longer one is one line.
    pub writes_out: u64,
    /// It shows the fields of records, and not only their lines.
    pub fields: bool,
    /// Of all entries it shows trace events only.
    pub only_traces: bool,
    /// Whether marks of the recorder (a panic, a trigger) are entries of it.
    pub shows_marks: fn(Layout) -> bool,
    /// Whether the async tasks that have not ended follow its entries.
    pub shows_tasks: fn(Layout) -> bool,
    /// Its first line declares how the others are read.
    pub has_opening: bool,
    /// It is for one source, to be opened by another program.
    pub document: Option<Document>,
    /// Makes a writer of it.
    pub make: fn(Layout) -> Box<dyn Format>,
}

/// What another program opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// A page for a browser.
    Page,
    /// A file.
    File,
    /// A folder with files of fixed names.
    Folder,
}

/// Every format; the first is the default.
pub static FORMATS: &[FormatRow] = &[
    FormatRow {
        name: "history",
        help: "one line an entry, oldest first: number, file:line",
        report: ReportKind::History,
        writes_out: 10_000,
        fields: false,
        only_traces: false,
        // On a pipe it is the paper's listing and QS records, and nothing else.
        shows_marks: |layout| layout.lanes || layout.terminal,
        shows_tasks: |layout| layout.lanes || layout.terminal,
        has_opening: false,
        document: None,
        make: |layout| match (layout.lanes, layout.terminal) {
            (true, _) => Box::new(lanes::Lanes::new(layout)),
            (_, true) => Box::new(terminal::Terminal::new(layout)),
            (_, false) => Box::new(history::History::new(layout)),
        },
    },
    FormatRow {
        name: "json",
        help: "JSON lines; the first names the schema version",
        report: ReportKind::History,
        writes_out: 0,
        fields: true,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| true,
        has_opening: true,
        document: None,
        make: |layout| Box::new(json::Json::new(layout)),
    },
    FormatRow {
        name: "calls",
        help: "a tree of calls for each thread, and what was open at the end",
        report: ReportKind::Calls,
        writes_out: 10_000,
        fields: false,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: false,
        document: None,
        make: |layout| Box::new(calls::CallText::new(layout)),
    },
    FormatRow {
        name: "calls-json",
        help: "the same as JSON lines",
        report: ReportKind::Calls,
        writes_out: 10_000,
        fields: false,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: true,
        document: None,
        make: |layout| Box::new(json::Json::new(layout)),
    },
    FormatRow {
        name: "folded",
        help: "a line for each call with its stack and its statements, for flame graphs",
        report: ReportKind::Calls,
        writes_out: 10_000,
        fields: false,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: false,
        document: None,
        make: |_| Box::<folded::Folded>::default(),
    },
    FormatRow {
        name: "html",
        help: "one page to step through the history in a browser, for a bug report",
        report: ReportKind::Recording,
        writes_out: 10_000,
        fields: true,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: false,
        document: Some(Document::Page),
        make: |_| Box::new(html::Html),
    },
    FormatRow {
        name: "perfetto",
        help: "a trace for ui.perfetto.dev: threads, tasks, calls, events, counters",
        report: ReportKind::Recording,
        writes_out: 10_000,
        fields: true,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: false,
        document: Some(Document::File),
        make: |_| Box::new(perfetto::Perfetto),
    },
    FormatRow {
        name: "codetracer",
        help: "a folder for the CodeTracer viewer; --output names it",
        report: ReportKind::Recording,
        writes_out: 10_000,
        fields: true,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: false,
        document: Some(Document::Folder),
        make: |_| Box::new(codetracer::CodeTracer),
    },
    FormatRow {
        name: "traceinfo",
        help: "trace events only, with the time and the severity in words",
        report: ReportKind::History,
        writes_out: 0,
        fields: false,
        only_traces: true,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: false,
        document: None,
        make: |layout| Box::new(traceinfo::TraceInfo::new(layout)),
    },
    FormatRow {
        name: "qspy",
        help: "every QS record of a stream or a ring as QSPY prints it",
        report: ReportKind::Qspy,
        writes_out: 0,
        fields: false,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: false,
        document: None,
        make: |_| Box::new(qspy::Qspy),
    },
    FormatRow {
        name: "lcov",
        help: "LCOV tracefile; 1 means that a statement ever ran",
        report: ReportKind::Coverage,
        writes_out: 0,
        fields: false,
        only_traces: false,
        shows_marks: |_| true,
        shows_tasks: |_| false,
        has_opening: false,
        document: None,
        make: |_| Box::new(lcov::Lcov),
    },
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static FormatRow> {
    FORMATS.iter().find(|row| row.name == name)
}
