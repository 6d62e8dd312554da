//! Errors before cargo runs.

use std::error::Error as StdError;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use xhist_instrument::select::SettingsError;
use xhist_instrument::select::trigger::TriggerError;

/// Why `cargo xhist` did not run cargo.
#[derive(Debug)]
pub(crate) enum Error {
    /// The command line or a manifest is wrong.
    Usage(UsageError),
    /// A file could not be read or written.
    File { what: &'static str, path: Box<Path>, source: std::io::Error },
    /// A step failed.
    Step { what: &'static str, source: Box<dyn StdError + Send + Sync> },
}

/// What is wrong with the command line or a manifest.
#[derive(Debug)]
pub(crate) enum UsageError {
    /// No command of `cargo xhist` has this name; the one that was probably meant.
    Command { word: OsString, meant: Option<String> },
    /// `cargo nextest` without the one command that is here.
    Nextest(&'static str),
    /// An option of `cargo xhist`, in clap's words.
    Option(String),
    /// A dependency of `--deps`.
    Dependency { name: String, problem: String },
    /// A trigger names no statement, or cannot be read.
    Trigger(TriggerError),
    /// Settings of a manifest.
    Manifest { manifest: PathBuf, table: String, source: SettingsError },
    /// The value of an environment variable is not a size.
    Size { variable: &'static str, value: String },
    /// Why a recorded test cannot be run again.
    Again(String),
    /// The user configured `build.build-dir`, which takes no directory with braces.
    Braces(PathBuf),
    /// The user's runner of firmware is one text, which cargo splits at the blanks in the path of ours.
    Blanks(PathBuf),
}

impl Error {
    /// The exit code, as cargo has it: 101 for failures, 1 for usage.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 1,
            Error::File { .. } | Error::Step { .. } => 101,
        }
    }

    /// For `map_err` on file operations.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { what, path, source }
    }

    /// A step failed; the source may be what a program printed.
    pub(crate) fn step(what: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        Error::Step { what, source: source.into() }
    }
}

impl From<UsageError> for Error {
    fn from(error: UsageError) -> Error {
        Error::Usage(error)
    }
}

impl From<TriggerError> for Error {
    fn from(error: TriggerError) -> Error {
        Error::Usage(UsageError::Trigger(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(error) => error.fmt(f),
            Error::File { what, path, source } => write!(f, "cannot {what} {}: {source}", path.display()),
            Error::Step { what, source } => write!(f, "{what} failed: {}", source.to_string().trim_end()),
        }
    }
}

impl StdError for Error {}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageError::Command { word, meant } => write!(
                f,
                "`{}` is not a command of cargo xhist; {}\n\nSee `cargo xhist --help`.",
                word.display(),
                match meant {
                    Some(meant) => format!("did you mean `cargo xhist {meant}`?"),
                    None => {
                        let reports = xhist_report::cli::command_names().join(", ");
                        format!(
                            "`cargo xhist` has run, test, build, check, bench, nextest run, why and clean, and to read what was \
                             recorded {reports}"
                        )
                    }
                }
            ),
            UsageError::Nextest(word) => {
                write!(f, "of `cargo nextest` only `cargo xhist nextest {word}` is there")
            }
            UsageError::Option(text) | UsageError::Again(text) => f.write_str(text),
            UsageError::Dependency { name, problem } => write!(f, "--deps {name}: {problem}"),
            UsageError::Trigger(error) => error.fmt(f),
            UsageError::Manifest { manifest, table, source } => {
                write!(f, "{}: [{table}.metadata.xhist]: {source}", manifest.display())
            }
            UsageError::Size { variable, value } => write!(
                f,
                "`{variable}={value}` is not a size; write the most bytes that all runs may take, as `500m` or `2g`"
            ),
            UsageError::Blanks(program) => write!(
                f,
                "your `runner` is a text, and cargo would split {} at its blanks; write the runner as a list, or name a directory \
                 without blanks: --target-dir DIR",
                program.display()
            ),
            UsageError::Braces(directory) => write!(
                f,
                "your configuration sets `build.build-dir`, and {} cannot be its value because of its braces; go to the \
                 project's directory, or name another one: --target-dir DIR (for the recorder, XHIST_CACHE=DIR)",
                directory.display()
            ),
        }
    }
}
