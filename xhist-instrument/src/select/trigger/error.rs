//! Why a trigger cannot be set.

use crate::site::value_site::ValueReason;
use crate::site::{Action, Reason};
use std::fmt;
use std::path::PathBuf;

/// Why the triggers of a program cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TriggerError {
    /// There are more than the limit.
    TooMany {
        /// Triggers requested.
        requested: usize,
        /// Triggers that a program can have.
        limit: usize,
    },
    /// One request cannot be met.
    Request {
        /// The option or the key of the manifest, with its value.
        request: String,
        /// The problem with it.
        problem: RequestProblem,
    },
}

impl fmt::Display for TriggerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { requested, limit } => {
                write!(f, "{requested} triggers; a program can have {limit}")
            }
            Self::Request { request, problem } => write!(f, "{request}: {problem}"),
        }
    }
}

impl std::error::Error for TriggerError {}

/// A name that gets no value in its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownValue {
    /// The name.
    pub name: String,
    /// The line, from 1.
    pub line: u32,
    /// The reason why the binding is skipped.
    pub reason: Option<ValueReason>,
    /// The nearest names: of this line, or else of others, with their lines.
    pub nearest: Vec<(String, u32)>,
}

/// Why one trigger cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestProblem {
    /// The text has another form than the action takes.
    Malformed(Action),
    /// The text of a trigger at a value has another form.
    MalformedWatch,
    /// Firmware cannot go on behind the line.
    StopsLater,
    /// Firmware cannot compare a value.
    ComparesValue,
    /// No value of this name is recorded in the line.
    NoValue(Box<UnknownValue>),
    /// No instrumented source is at this path.
    NoFile(PathBuf),
    /// Several sources match the end of the path.
    Ambiguous(Vec<PathBuf>),
    /// The source of this trigger could not be analysed.
    NotAnalyzed(String),
    /// No statement of the line is recorded.
    NoStatement {
        /// The line, from 1.
        line: u32,
        /// The reason why code in this line is skipped.
        reason: Option<Reason>,
        /// The nearest line above with a recorded statement.
        above: Option<u32>,
        /// The nearest line below with a recorded statement.
        below: Option<u32>,
    },
}

impl fmt::Display for RequestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(Action::Start) => f.write_str("expected FILE:LINE[#HIT], numbers from 1"),
            Self::Malformed(Action::Stop { .. }) => {
                f.write_str("expected FILE:LINE[#HIT][+AFTER], numbers from 1")
            }
            Self::MalformedWatch => f.write_str(
                "expected FILE:LINE[+AFTER]:NAME[=VALUE], numbers from 1, and the name of a variable",
            ),
            Self::StopsLater => f.write_str(
                "firmware stops at its line, because nothing counts statements there: leave out +AFTER",
            ),
            Self::ComparesValue => f.write_str(
                "firmware compares no values, because that would take flash for each type: leave out =VALUE",
            ),
            Self::NoValue(unknown) => {
                let UnknownValue { name, line, reason, nearest } = &**unknown;
                write!(f, "`{name}` gets no value in line {line} that can be recorded")?;
                if let Some(reason) = reason {
                    write!(f, " ({reason})")?;
                }
                for (index, (name, line)) in nearest.iter().enumerate() {
                    let joint = if index == 0 { "; the nearest are" } else { "," };
                    write!(f, "{joint} `{name}` in line {line}")?;
                }
                Ok(())
            }
            Self::NoFile(path) => write!(f, "{} is not among the instrumented sources", path.display()),
            Self::Ambiguous(files) => {
                let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                write!(f, "several files end like this, give more of the path: {}", files.join(", "))
            }
            Self::NotAnalyzed(why) => f.write_str(why),
            Self::NoStatement { line, reason, above, below } => {
                write!(f, "no statement of line {line} is recorded")?;
                if let Some(reason) = reason {
                    write!(f, " ({reason})")?;
                }
                match (above, below) {
                    (Some(above), Some(below)) => write!(f, "; the nearest are in lines {above} and {below}"),
                    (Some(nearest), None) | (None, Some(nearest)) => {
                        write!(f, "; the nearest is in line {nearest}")
                    }
                    (None, None) => f.write_str("; the file has none"),
                }
            }
        }
    }
}
