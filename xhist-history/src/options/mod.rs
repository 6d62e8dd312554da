//! What is read, which entries and trace events of it, and where maps, sources and programs are looked for.

pub mod selection;
pub mod trace;

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use crate::model::What;
use crate::options::selection::{Pattern, Selection};
use crate::options::trace::TraceOptions;
use qs_host::{TargetDescription, TargetSymbols};

/// What is read, and how.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Only this number of the newest entries.
    pub last: Option<u64>,
    /// That number of each thread.
    pub each: bool,
    /// Only these entries.
    pub selection: Selection,
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
    /// Set when what follows is no longer wanted; without it, Ctrl-C ends it.
    pub stop: Option<Arc<AtomicBool>>,
    /// The file to mark what was shown in, so that it is not shown again.
    pub clear: Option<PathBuf>,
    /// Shows how far the search for rings is.
    pub progress: Option<StartProgress>,
    /// Where it comes from, when there are several sources.
    pub origin: Option<String>,
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
    /// Sizes and version of a QS target, until it sends its own.
    pub target: TargetDescription,
    /// Names of a QS target that are known before its first byte.
    pub names: Option<TargetSymbols>,
    /// Which entries there are.
    pub entries: EntryChoice,
}

/// Starts to show progress over a number of bytes; what it returns takes how many are done.
pub type StartProgress = fn(usize) -> Box<dyn FnMut(usize)>;

/// Which entries are read, and what of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryChoice {
    /// Repetitions of up to this number of statements are written out; a longer one is one entry.
    pub written_out: u64,
    /// QS records come with their fields, and not only with their lines.
    pub fields: bool,
    /// Trace events only.
    pub only_traces: bool,
    /// Marks of the recorder (a panic, a trigger) are entries, and what statements printed is shown.
    pub marks: bool,
}

impl EntryChoice {
    /// Statements and QS records by their lines: the listing of the paper.
    pub const LISTING: EntryChoice =
        EntryChoice { written_out: 10_000, fields: false, only_traces: false, marks: false };
    /// All that a recording holds.
    pub const RECORDING: EntryChoice = EntryChoice { fields: true, marks: true, ..EntryChoice::LISTING };
}

impl ReadOptions {
    /// Whether an entry is read.
    pub fn shows(&self, what: &What) -> bool {
        match what {
            What::Trace(event) => self.trace.filter.takes(event),
            What::Output(event, _) => self.entries.marks && self.trace.filter.takes(event),
            what => !self.entries.only_traces && (self.entries.marks || !what.is_mark()),
        }
    }

    /// The symbols of a QS target that are known before its first byte.
    pub fn known(&self) -> TargetSymbols {
        self.names.clone().unwrap_or_else(|| TargetSymbols::new(self.target))
    }

    /// Whether the statements of all rings are read.
    pub fn is_whole(&self) -> bool {
        self.rings.is_empty() && self.selection.is_all()
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
        self.entries.only_traces || !self.trace.filter.is_all()
    }
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            last: None,
            each: false,
            selection: Selection::default(),
            rings: Vec::new(),
            maps: MapPlaces::default(),
            data: None,
            written: None,
            moment: None,
            live: None,
            follow: None,
            stop: None,
            clear: None,
            progress: None,
            origin: None,
            trace: TraceOptions::default(),
            programs: ProgramPlaces::default(),
            redact: Vec::new(),
            shows_sources: true,
            source_roots: Vec::new(),
            target: TargetDescription::default(),
            names: None,
            entries: EntryChoice::LISTING,
        }
    }
}

/// Where the file of a program comes from. By default nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
