//! What a report is made of and how.

use std::path::PathBuf;

use crate::budget::Budget;
use crate::causes::order::Rule;
use crate::format::ReportKind;
use crate::format::entries::SharedAnswer;
use crate::format::{Budgeted, FORMATS, Format, FormatRow, Layout};
use crate::qspy::QsOptions;
use xhist_history::model::SuspectLine;
use xhist_history::recording::{RunEvidence, SharedRecording};
use xhist_history::{EntryChoice, ReadOptions};

/// Lines of a thread in an answer.
const LINES: usize = 28;

/// How a report is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is read for it.
    pub read: ReadOptions,
    /// The format, a row of [`FORMATS`].
    pub format: &'static FormatRow,
    /// What is shown beside each entry, and for whom.
    pub layout: Layout,
    /// Another report than that of the format.
    pub report: Option<ReportKind>,
    /// Where an answer is kept as data, too.
    pub answered: Option<SharedAnswer>,
    /// The ring of the thread of a failed test. Code such as an allocator may run behind the panic that ended the test.
    pub failed_test: Option<usize>,
    /// The answer is that to a test, or to a program that a test started.
    pub is_test: bool,
    /// Lines of a thread in an answer.
    pub lines: usize,
    /// Lines that an answer shows where they ran last, the most suspicious first.
    pub suspects: Vec<SuspectLine>,
    /// How long that listing may be; without it, as long as its lines are.
    pub room: Option<ListingRoom>,
    /// An answer is only for sources without trace events and QS records, because it shows neither; others get the whole history.
    pub keeps_records: bool,
    /// The folder of a report that has several files.
    pub folder: Option<PathBuf>,
    /// Where the whole history is kept, for a view that reads it itself; without it, the format gets it.
    pub recording: Option<SharedRecording>,
    /// What other commands found out about the run, for views of the whole history.
    pub evidence: RunEvidence,
    /// Rules of order, beside those in the sources.
    pub rules: Vec<Rule>,
    /// How QS records are decoded and shown.
    pub qs: QsOptions,
    /// How long it may be.
    pub budget: Option<Budget>,
}

/// How long the listing of an answer may be. Of long lines there are fewer.
#[derive(Clone, Copy, Debug)]
pub struct ListingRoom {
    /// Bytes, without those of styles and links.
    pub bytes: usize,
    /// Suspects take the room of other lines: the listing is as long as without them, but for a line that names the others.
    pub is_shared: bool,
}

impl Options {
    /// The report that is made.
    pub fn report(&self) -> ReportKind {
        self.report.unwrap_or(self.format.report)
    }

    /// The same, with what the format needs to be read.
    #[must_use]
    pub fn settled(&self) -> Options {
        let read = ReadOptions {
            target: self.qs.target,
            names: self.qs.names.clone(),
            entries: EntryChoice {
                written_out: self.written_out(),
                fields: self.format.fields,
                only_traces: self.format.only_traces,
                marks: (self.format.shows_marks)(self.layout),
            },
            ..self.read.clone()
        };
        Options { read, ..self.clone() }
    }

    /// Repetitions of up to this number of statements are written out. Only programs need that: at a terminal one line is enough.
    fn written_out(&self) -> u64 {
        let is_listing = self.layout.terminal && self.report() == ReportKind::History;
        if is_listing { 0 } else { self.format.writes_out }
    }

    /// A writer of the format.
    pub fn make_format(&self) -> Box<dyn Format> {
        let format = (self.format.make)(self.layout);
        match &self.budget {
            Some(budget) => Box::new(Budgeted::new(format, budget.clone(), self.format.has_opening)),
            None => format,
        }
    }

    /// Whether the async tasks that have not ended follow the entries. A live link has no end.
    pub fn shows_tasks(&self) -> bool {
        (self.format.shows_tasks)(self.layout)
    }

    /// An option that needs a ring.
    pub fn about_rings(&self) -> Option<&'static str> {
        let asked = [(!self.read.rings.is_empty(), "--ring"), (self.read.clear.is_some(), "--clear")];
        let other = asked.into_iter().find_map(|(asked, option)| asked.then_some(option));
        self.report.and_then(ReportKind::command).or(other)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            read: ReadOptions::default(),
            format: &FORMATS[0],
            layout: Layout::default(),
            report: None,
            answered: None,
            failed_test: None,
            is_test: false,
            lines: LINES,
            suspects: Vec::new(),
            room: None,
            keeps_records: false,
            folder: None,
            recording: None,
            evidence: RunEvidence::default(),
            rules: Vec::new(),
            qs: QsOptions::default(),
            budget: None,
        }
    }
}

impl From<ReadOptions> for Options {
    fn from(read: ReadOptions) -> Options {
        Options { read, ..Options::default() }
    }
}
