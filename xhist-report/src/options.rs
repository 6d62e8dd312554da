//! What a report is made of and how, for the library.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use crate::format::{FORMATS, FormatRow, Layout};
use crate::model::{ReportKind, SuspectLine, What};
use crate::order::Rule;
use crate::qs_host::qspy::QsOptions;
use crate::recording::{RunEvidence, SharedRecording};
use crate::selection::{Pattern, Selection};
use crate::trace::TraceOptions;

/// Lines of a thread in an answer.
const LINES: usize = 28;

/// How a report is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format, a row of [`FORMATS`].
    pub format: &'static FormatRow,
    /// What is shown beside each entry, and for whom.
    pub layout: Layout,
    /// Another report than that of the format.
    pub report: Option<ReportKind>,
    /// Lines of a thread in an answer.
    pub lines: usize,
    /// Lines that an answer shows where they ran last, the most suspicious first.
    pub suspects: Vec<SuspectLine>,
    /// An answer is only for sources without trace events and QS records, because it shows neither; others get the whole history.
    pub keeps_records: bool,
    /// Only this number of the newest entries.
    pub last: Option<u64>,
    /// That number of each thread.
    pub each: bool,
    /// Only these entries.
    pub selection: Selection,
    /// The folder of a report that has several files.
    pub folder: Option<PathBuf>,
    /// Where the whole history is kept, for a view that reads it itself; without it, the format gets it.
    pub recording: Option<SharedRecording>,
    /// What other commands found out about the run, for views of the whole history.
    pub evidence: RunEvidence,
    /// Rules of order, beside those in the sources.
    pub rules: Vec<Rule>,
    /// Only the rings of these numbers, counted from 1 in the order of their offsets; without any, all.
    pub rings: Vec<usize>,
    /// Where maps come from.
    pub maps: MapPlaces,
    /// The pieces of the image that may hold anything but zeros; `None` means everything.
    pub data: Option<Vec<Range<usize>>>,
    /// When the image was last written; `None` when that is not known.
    pub written: Option<SystemTime>,
    /// When its program ended or was dumped, and how that is known: `None` when it is not.
    pub moment: Option<(SystemTime, &'static str)>,
    /// The file of the image, where a program may be writing it meanwhile.
    pub live: Option<Arc<File>>,
    /// The path of the image, to show what is new there as it comes.
    pub follow: Option<PathBuf>,
    /// Set when a report that follows is no longer wanted; without it, Ctrl-C ends the report.
    pub stop: Option<Arc<AtomicBool>>,
    /// The file to mark what was shown in, so that it is not shown again.
    pub clear: Option<PathBuf>,
    /// Show progress on stderr when scanning takes long.
    pub progress: bool,
    /// Where it comes from, when there are several sources.
    pub origin: Option<String>,
    /// How QS records are decoded and shown.
    pub qs: QsOptions,
    /// How trace events are shown, and which.
    pub trace: TraceOptions,
    /// Where the program is looked for, whose types the values have.
    pub programs: ProgramPlaces,
    /// Values of these places are not shown.
    pub redact: Vec<Pattern>,
    /// Whether a recording has the text of its files.
    pub shows_sources: bool,
    /// Directories whose sources may be shown too, and are looked for there; without any, those of the map's own project are.
    pub source_roots: Vec<PathBuf>,
}

impl Options {
    /// The report that is made.
    pub fn report(&self) -> ReportKind {
        self.report.unwrap_or(self.format.report)
    }

    /// Repetitions of up to this number of statements are written out. Only programs need that: at a terminal one line is enough.
    pub fn written_out(&self) -> u64 {
        let is_listing = self.layout.terminal && self.report() == ReportKind::History;
        if is_listing { 0 } else { self.format.writes_out }
    }

    /// Whether an entry is shown.
    pub fn shows(&self, what: &What) -> bool {
        match what {
            What::Trace(event) => self.trace.filter.takes(event),
            what => !self.format.only_traces && (self.shows_marks() || !what.is_mark()),
        }
    }

    /// Whether marks of the recorder (a panic, a trigger) are entries of this report.
    pub fn shows_marks(&self) -> bool {
        (self.format.shows_marks)(self.layout)
    }

    /// Whether the async tasks that have not ended follow the entries. A live link has no end.
    pub fn shows_tasks(&self) -> bool {
        (self.format.shows_tasks)(self.layout)
    }

    /// Whether the statements of all rings are read.
    pub fn is_whole(&self) -> bool {
        self.rings.is_empty() && self.selection.is_all()
    }

    /// An option that needs a ring.
    pub fn about_rings(&self) -> Option<&'static str> {
        let asked = [(!self.rings.is_empty(), "--ring"), (self.clear.is_some(), "--clear")];
        let other = asked.into_iter().find_map(|(asked, option)| asked.then_some(option));
        self.report.and_then(ReportKind::command).or(other)
    }

    /// Whether entries are chosen by more than their kind, or counted for each thread.
    pub fn filters(&self) -> bool {
        !self.selection.is_all() || self.each && self.last.is_some()
    }

    /// The number of the newest entries that a source gives; filters count themselves.
    pub fn last_at_source(&self) -> Option<u64> {
        self.last.filter(|_| !self.filters())
    }

    /// Whether there may be entries that are not shown.
    pub fn chooses(&self) -> bool {
        self.format.only_traces || !self.trace.filter.is_all()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: &FORMATS[0],
            layout: Layout::default(),
            report: None,
            lines: LINES,
            suspects: Vec::new(),
            keeps_records: false,
            last: None,
            each: false,
            selection: Selection::default(),
            folder: None,
            recording: None,
            evidence: RunEvidence::default(),
            rules: Vec::new(),
            rings: Vec::new(),
            maps: MapPlaces::default(),
            data: None,
            written: None,
            moment: None,
            live: None,
            follow: None,
            stop: None,
            clear: None,
            progress: false,
            origin: None,
            qs: QsOptions::default(),
            trace: TraceOptions::default(),
            programs: ProgramPlaces::default(),
            redact: Vec::new(),
            shows_sources: true,
            source_roots: Vec::new(),
        }
    }
}

/// Where the file of a program comes from. By default nowhere.
#[derive(Clone, Debug, Default)]
pub struct ProgramPlaces {
    /// The file that the user named.
    pub given: Option<PathBuf>,
    /// The file that a core names.
    pub core: Option<PathBuf>,
    /// The file of the rings: its name has that of the program.
    pub source: Option<PathBuf>,
}

/// Where maps come from. By default nowhere: a call of the library reads no file that was not named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapPlaces {
    /// The map to use, whatever the rings say.
    pub given: Option<PathBuf>,
    /// Directories that hold maps.
    pub dirs: Vec<PathBuf>,
    /// Directory of the dump; it and the directories above are searched.
    pub dump_dir: Option<PathBuf>,
    /// Working directory; `target/xhist` in it and in the directories above are searched.
    pub work_dir: Option<PathBuf>,
}
