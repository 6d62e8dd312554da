//! The outcome of one source: analysed, left alone, or failed.

use crate::files::atomic::ReplaceError;
use crate::map::{FileFacts, MapError};
use crate::select::trigger::Placed;
use crate::{Analysis, Numbers, Options, Refusal};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::Arc;

/// Why a file is left alone although nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exemption {
    /// A build script: it runs when the project is built.
    BuildScript,
    /// The crate of a procedural macro: it runs in the compiler.
    ProcMacro,
    /// The recorder, or what it is made of.
    Recorder,
    /// Its compiler messages are compared with a file, and have columns.
    UiTest,
    /// Read by `include_str!` or `include_bytes!`.
    Data,
    /// Read by `include!`, and not items.
    Expression,
    /// A link out of the tree.
    OutsideTree,
    /// A directive at its head says so.
    Off,
    /// Another name of a file of the tree.
    HardLink,
    /// The user's settings exclude it.
    Excluded,
}

impl fmt::Display for Exemption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuildScript => "build script",
            Self::ProcMacro => "procedural macro crate",
            Self::Recorder => "the recorder or what it is made of",
            Self::UiTest => "compiler-message test (has a .stderr file)",
            Self::Data => "read as data by include_str! or include_bytes!",
            Self::Expression => "not items, read by include!",
            Self::Off => "switched off by a directive at its head",
            Self::OutsideTree => "link that leaves the tree",
            Self::HardLink => "another name of a file that is done already",
            Self::Excluded => "excluded",
        })
    }
}

impl Exemption {
    /// Whether calls that an earlier run inserted are removed; `known`: the map has statements of the file. Text that only
    /// looks like a call must stay: where the map does not know the file, only the user's request removes calls.
    pub fn is_cleaned(self, known: bool) -> bool {
        match self {
            Self::Off | Self::Excluded => true,
            Self::BuildScript | Self::ProcMacro | Self::UiTest | Self::Data | Self::Expression => known,
            Self::Recorder | Self::OutsideTree | Self::HardLink => false,
        }
    }
}

/// Why a source could not be handled.
#[derive(Debug)]
pub enum Failure {
    /// The text cannot be instrumented.
    Refused(Refusal),
    /// A file cannot be read, written or copied.
    Io(&'static str, io::Error),
    /// The file changed between analysis and writing.
    Changed,
    /// This program has a bug.
    Panicked,
    /// The map has no room for the source.
    Map(MapError),
    /// The sink cannot take any source.
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

impl Failure {
    /// One line that names the source.
    pub fn describe(&self, name: &str) -> String {
        match self {
            Self::Refused(refusal) => format!("{name}:{refusal}"),
            Self::Io(what, error) => format!("{name}:1:1: cannot {what}: {error}; left alone"),
            Self::Changed => {
                format!("{name}:1:1: changed while this program worked on it; left alone, run again")
            }
            Self::Panicked => format!("{name}:1:1: this program panicked (please report it); left alone"),
            Self::Map(error) => format!("{name}:1:1: {error}; left alone"),
            Self::Sink(error) => format!("{name}:1:1: {error}"),
        }
    }
}

impl From<ReplaceError> for Failure {
    fn from(error: ReplaceError) -> Self {
        match error {
            ReplaceError::Changed => Self::Changed,
            ReplaceError::Io(error) => Self::Io("write", error),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A source after a step of the pipeline.
#[derive(Debug)]
pub enum Outcome {
    /// Its statements are known.
    Analyzed(Box<Analyzed>),
    /// It is compiled as it is.
    LeftAlone(Exemption),
    /// It could not be handled.
    Failed(Failure),
}

/// The analysis of a source.
#[derive(Debug)]
pub struct Analyzed {
    /// What was found. The map lists it, too.
    pub analysis: Arc<Analysis>,
    /// Hash of the text, to notice that the file changed since.
    pub fingerprint: u64,
    /// Hash of the text without calls, for the map.
    pub source: u64,
    /// What else the map lists of it.
    pub facts: FileFacts,
}

impl Analyzed {
    /// A sum of all that decides about the instrumented text, for this program.
    pub(super) fn inputs(&self, numbers: &Numbers, options: &Options) -> u64 {
        let mut hash = DefaultHasher::new();
        let settings = format!("{numbers:?} {options:?}");
        (self.fingerprint, self.analysis.to_bytes(), settings).hash(&mut hash);
        hash.finish()
    }

    /// Sets a trigger; its statement is recorded from now on.
    pub fn add_trigger(&mut self, trigger: &Placed) {
        let analysis = Arc::make_mut(&mut self.analysis);
        match trigger {
            Placed::Statement(trigger) => analysis.add_trigger(*trigger),
            Placed::Value(watch) => analysis.add_watch(watch.clone()),
        }
    }
}
