//! Why a command line cannot be carried out.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::how_to_dump::DumpError;
use crate::causes::order::RuleError;
use crate::causes::suspects::NearestError;
use crate::live::link::LinkError;
use crate::qspy::SessionError;
use crate::view::ScreenError;
use xhist_history::options::trace::FormatsError;
use xhist_history::runs::NoRingFile;
use xhist_history::runs::pack::PackError;
use xhist_history::source::SourceError;

/// Why a command line cannot be carried out; shown with what to do instead.
#[derive(Debug)]
pub enum UsageError {
    /// An option that has no meaning with another option, or with this source.
    Conflict {
        /// The option.
        option: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A source that this command line cannot read.
    Source {
        /// What it is called.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A source without a ring file, which cannot be `followed` or `cleared`.
    NotARingFile(&'static str),
    /// A document that would be printed on a terminal.
    Document(&'static str),
    /// A folder without a name.
    Folder(&'static str),
    /// A document of several sources.
    SeveralSources(&'static str),
    /// A file that would be read and overwritten.
    Overwritten(PathBuf),
    /// A map that cannot be read.
    Map(PathBuf, io::Error),
    /// A run that is not there.
    NoRun(PathBuf),
    /// A file of rules that cannot be read.
    ReadRules(PathBuf, io::Error),
    /// A line of a file of rules that is not a rule.
    Rule(PathBuf, usize, RuleError),
    /// An address that cannot be listened at.
    Listen(String, io::Error),
    /// No working directory.
    WorkDir(io::Error),
    /// A source, a link or a port that cannot be opened.
    Open(LinkError),
    /// Side files or dictionaries that cannot be used.
    Session(SessionError),
    /// No ring file where runs keep theirs.
    Runs(NoRingFile),
    /// A run that cannot be packed or unpacked.
    Pack(PackError),
    /// Formats of trace events that cannot be read.
    Formats(FormatsError),
    /// No passed test to compare with.
    Nearest(NearestError),
    /// A value whose origin cannot be looked for.
    Origin(String),
    /// A program whose rings cannot be located.
    Dump(DumpError),
    /// No terminal for a view.
    Screen(ScreenError),
}

macro_rules! from {
    ($($variant:ident($error:ty)),* $(,)?) => {
        $(
            impl From<$error> for UsageError {
                fn from(error: $error) -> UsageError {
                    UsageError::$variant(error)
                }
            }
        )*
    };
}

from!(
    Open(LinkError),
    Session(SessionError),
    Runs(NoRingFile),
    Pack(PackError),
    Formats(FormatsError),
    Dump(DumpError),
    Screen(ScreenError),
);

impl From<SourceError> for UsageError {
    fn from(error: SourceError) -> UsageError {
        UsageError::Open(error.into())
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageError::Conflict { option, why } => write!(f, "{option} {why}"),
            UsageError::Source { name, why } => write!(f, "{name} {why}"),
            UsageError::NotARingFile(what) => write!(f, "only a ring file can be {what}"),
            UsageError::Document("html") => {
                f.write_str("`page` is for a browser: `--open` shows it, `-o history.html` keeps it")
            }
            UsageError::Document(name) => {
                write!(f, "`export {name}` is a file for another program: `-o FILE` writes it")
            }
            UsageError::Folder(name) => {
                write!(f, "`export {name}` is a folder for another program: `-o DIR` writes it")
            }
            UsageError::SeveralSources(name) => {
                let command = if *name == "html" { "page".to_owned() } else { format!("export {name}") };
                write!(f, "`{command}` is one document of one source; start a report for each")
            }
            UsageError::Overwritten(path) => {
                write!(f, "{} is read, and would be overwritten", path.display())
            }
            UsageError::Map(path, error) => write!(f, "cannot read the map {}: {error}", path.display()),
            UsageError::NoRun(path) => write!(f, "{}: no such file or directory", path.display()),
            UsageError::ReadRules(path, error) => {
                write!(f, "cannot read the rules {}: {error}", path.display())
            }
            UsageError::Rule(path, line, error) => write!(f, "{}:{line}: {error}", path.display()),
            UsageError::Listen(address, error) => write!(f, "cannot listen at {address}: {error}"),
            UsageError::WorkDir(error) => write!(f, "no working directory: {error}"),
            UsageError::Open(error) => error.fmt(f),
            UsageError::Session(error) => error.fmt(f),
            UsageError::Runs(error) => error.fmt(f),
            UsageError::Pack(error) => error.fmt(f),
            UsageError::Formats(error) => error.fmt(f),
            UsageError::Nearest(error) => error.fmt(f),
            UsageError::Origin(why) => f.write_str(why),
            UsageError::Dump(error) => error.fmt(f),
            UsageError::Screen(error) => error.fmt(f),
        }
    }
}
