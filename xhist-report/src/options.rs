//! What the arguments mean, for the library. It must not know how they were typed.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::format::{FORMATS, FormatRow};
use crate::model::What;
use crate::qspy::QsOptions;
use crate::trace::TraceOptions;

/// How a report is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format, a row of [`FORMATS`].
    pub format: &'static FormatRow,
    /// What is shown beside each entry, and for whom.
    pub layout: Layout,
    /// Say which builds the rings came from instead of what is in them.
    pub identify: bool,
    /// Say what fills the rings instead of what is in them.
    pub hot: bool,
    /// Only so many of the newest entries.
    pub last: Option<u64>,
    /// Only the ring of this number, counted from 1 in the order of their offsets.
    pub ring: Option<usize>,
    /// Where maps come from.
    pub maps: MapPlaces,
    /// The pieces of the image that may hold anything but zeros; `None` means everything.
    pub data: Option<Vec<Range<usize>>>,
    /// When the image was last written; `None` when that is not known.
    pub written: Option<SystemTime>,
    /// The file of the image, where a program may be writing it meanwhile.
    pub live: Option<Arc<File>>,
    /// The path of the image, to tell what is new there as it comes.
    pub follow: Option<PathBuf>,
    /// The file to mark what was shown in, so that it is not shown again.
    pub clear: Option<PathBuf>,
    /// Show progress on stderr when scanning takes long.
    pub progress: bool,
    /// Where it comes from, when there are several sources.
    pub origin: Option<String>,
    /// How QS records are decoded and shown.
    pub qs: QsOptions,
    /// How trace events are told, and which.
    pub trace: TraceOptions,
    /// Directories whose sources may be shown too, and are looked for there; without any, those of the map's own project are.
    pub source_roots: Vec<PathBuf>,
}

impl Options {
    /// Whether an entry is told.
    pub fn tells(&self, what: &What) -> bool {
        match what {
            What::Trace(event) => self.trace.filter.takes(event),
            what => !self.format.only_traces && (self.shows_marks() || !what.is_mark()),
        }
    }

    /// Whether marks of our own (a panic, a trigger) are entries of this report.
    pub fn shows_marks(&self) -> bool {
        (self.format.shows_marks)(self.layout)
    }

    /// What was asked that only rings can tell.
    pub fn about_rings(&self) -> Option<&'static str> {
        let asked = [
            (self.identify, "--identify"),
            (self.hot, "--hot"),
            (self.ring.is_some(), "--ring"),
            (self.clear.is_some(), "--clear"),
        ];
        asked.into_iter().find_map(|(asked, option)| asked.then_some(option))
    }

    /// Whether there may be entries that are not told.
    pub fn chooses(&self) -> bool {
        self.format.only_traces || !self.trace.filter.is_all()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: &FORMATS[0],
            layout: Layout::default(),
            identify: false,
            hot: false,
            last: None,
            ring: None,
            maps: MapPlaces::default(),
            data: None,
            written: None,
            live: None,
            follow: None,
            clear: None,
            progress: false,
            origin: None,
            qs: QsOptions::default(),
            trace: TraceOptions::default(),
            source_roots: Vec::new(),
        }
    }
}

/// What is shown beside each entry, and for whom.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// For a person at a terminal: colour, headings, aligned columns. Otherwise for a program.
    pub terminal: bool,
    /// Show the time of each entry.
    pub time: bool,
    /// Show the thread of each entry.
    pub thread: bool,
    /// Show the source line of each statement.
    pub source: bool,
    /// A column for each thread.
    pub lanes: bool,
}

/// Where maps come from. By default nowhere: a library call reads no file it was not told of.
#[derive(Clone, Debug, Default)]
pub struct MapPlaces {
    /// The map to use, whatever the rings say.
    pub given: Option<PathBuf>,
    /// Directory of the dump; it and the directories above are searched.
    pub dump_dir: Option<PathBuf>,
    /// Working directory; `target/xhist` in it and in the directories above are searched.
    pub work_dir: Option<PathBuf>,
}
