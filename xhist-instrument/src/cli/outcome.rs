//! What became of each file.

use crate::atomic::ReplaceError;
use crate::{Analysis, Packed, Refusal};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

/// Why a file is left alone although nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    BuildScript,
    ProcMacro,
    Recorder,
    UiTest,
    Data,
    Expression,
    OutsideTree,
    Off,
    HardLink,
    Excluded,
}

impl fmt::Display for Rule {
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

impl Rule {
    /// Whether calls of ours that an earlier run inserted go; `known`: the map has statements of the file. Text that
    /// only looks like a call must stay, so without the map it takes the user's own wish.
    pub fn is_cleaned(self, known: bool) -> bool {
        match self {
            Self::Off | Self::Excluded => true,
            Self::BuildScript | Self::ProcMacro | Self::UiTest | Self::Data | Self::Expression => known,
            Self::Recorder | Self::OutsideTree | Self::HardLink => false,
        }
    }
}

/// Why a file could not be handled.
#[derive(Debug)]
pub enum Failure {
    Refused(Refusal),
    Io(&'static str, io::Error),
    Changed,
    Panicked,
    Map(String),
}

impl Failure {
    /// One line that names the file.
    pub fn describe(&self, path: &Path) -> String {
        let path = super::console::shown(path);
        match self {
            Self::Refused(refusal) => format!("{path}:{refusal}"),
            Self::Io(what, error) => format!("{path}:1:1: cannot {what}: {error}; left alone"),
            Self::Changed => format!("{path}:1:1: changed while it was worked on; left alone, run again"),
            Self::Panicked => format!("{path}:1:1: this tool panicked (please report it); left alone"),
            Self::Map(error) => format!("{path}:1:1: {error}; left alone"),
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

/// A file after analysis.
#[derive(Debug)]
pub enum Outcome {
    Analyzed(Box<Analyzed>),
    LeftAlone(Rule),
    Failed(Failure),
}

/// What is kept of a file until all are analysed.
#[derive(Debug)]
pub struct Analyzed {
    pub sites: Packed,
    /// The analysis without its sites, and without what is asked for no more.
    pub rest: Analysis,
    /// To notice that the file changed in between.
    pub fingerprint: u64,
}

impl Analyzed {
    pub fn new(mut analysis: Analysis, fingerprint: u64) -> Self {
        let sites = Packed::new(&analysis);
        analysis.sites = Vec::new();
        analysis.modules = Vec::new();
        analysis.unknown_macros = BTreeSet::new();
        analysis.functions = Vec::new();
        Self { sites, rest: analysis, fingerprint }
    }

    pub fn analysis(&self) -> Analysis {
        Analysis { sites: self.sites.iter().collect(), ..self.rest.clone() }
    }
}

/// Runs `work`; a panic is a failure of this one file.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let work = std::panic::AssertUnwindSafe(work);
    std::panic::catch_unwind(work).unwrap_or(Err(Failure::Panicked))
}
