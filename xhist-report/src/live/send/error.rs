//! Why a command was not sent, or not carried out.

use std::{fmt, io};

use crate::live::link::LinkError;
use qs_host::control::filter_spec::FilterError;
use qs_host::front_end::SILENCE;

/// Why a command was not sent, or not carried out.
#[derive(Debug)]
pub enum SendError {
    /// The command is wrong, whatever the target is.
    Command(CommandError),
    /// The link cannot be opened.
    Source(LinkError),
    /// The name is not that of a link.
    NotALink {
        /// What the user wrote.
        name: String,
        /// How the port of a session is written.
        scheme: &'static str,
    },
    /// No target connected within the timeout.
    NoTarget(Missing),
    /// No session answered within the timeout.
    NoSession(Missing),
    /// The other end closed the link.
    Closed(String),
    /// The link failed.
    Link(io::Error),
    /// The user wants the program to end.
    Interrupted,
    /// The target does not answer.
    NoAnswer,
    /// The target does not answer `info`, so its names are not known.
    NoNames,
    /// The target refused the command.
    Refused,
    /// The target neither restarted nor left.
    NoReset,
}

/// What is missing on the way to a target.
#[derive(Debug)]
pub enum Missing {
    /// No connection was made.
    Connection,
    /// The port does not answer, or belongs to another front-end.
    Answer,
    /// What the link reported last.
    Noted(String),
}

impl SendError {
    /// Whether the arguments are wrong, so that nothing was sent.
    pub fn is_usage(&self) -> bool {
        matches!(self, SendError::Command(_) | SendError::Source(_) | SendError::NotALink { .. })
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Command(error) => error.fmt(f),
            SendError::Source(error) => error.fmt(f),
            SendError::NotALink { name, scheme } => {
                write!(
                    f,
                    "{name} is not a link to a target: expected tcp://, serial:// or {scheme}, for example"
                )
            }
            SendError::NoTarget(missing) => write!(f, "no target within the timeout: {missing}"),
            SendError::NoSession(missing) => write!(f, "no session within the timeout: {missing}"),
            SendError::Closed(reason) => f.write_str(reason),
            SendError::Link(error) => error.fmt(f),
            SendError::Interrupted => f.write_str("interrupted"),
            SendError::NoAnswer => f.write_str("no answer; is the target's receive channel read?"),
            SendError::NoNames => f.write_str("the names of the target are not known: no answer to `info`"),
            SendError::Refused => f.write_str("the target refused"),
            SendError::NoReset => f.write_str("no sign of a reset"),
        }
    }
}

impl std::error::Error for SendError {}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Connection => f.write_str("no connection"),
            Missing::Answer => write!(
                f,
                "the port does not answer, or another front-end holds it until it detaches or has been silent for {} s",
                SILENCE.as_secs()
            ),
            Missing::Noted(note) => f.write_str(note),
        }
    }
}

impl From<io::Error> for SendError {
    fn from(error: io::Error) -> SendError {
        SendError::Link(error)
    }
}

impl From<CommandError> for SendError {
    fn from(error: CommandError) -> SendError {
        SendError::Command(error)
    }
}

impl From<LinkError> for SendError {
    fn from(error: LinkError) -> SendError {
        SendError::Source(error)
    }
}

/// Why the arguments of a command are wrong.
#[derive(Debug, PartialEq, Eq)]
pub enum CommandError {
    /// A word of the filter names nothing.
    Filter(FilterError),
    /// More items than one packet holds.
    TooManyItems,
    /// An item is too large for its size.
    ItemSize {
        /// The item.
        value: u32,
        /// Bytes of an item.
        size: u8,
    },
    /// `query` takes a single kind.
    NotAKind,
    /// The target has no room for this number.
    NumberTooLarge {
        /// What it is the number of: `signal`.
        kind: &'static str,
        /// What the user wrote.
        text: String,
        /// The largest number.
        most: u64,
    },
    /// The target sent no such name.
    UnknownName {
        /// What it is the name of: `signal`.
        kind: &'static str,
        /// What the user wrote.
        text: String,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Filter(error) => error.fmt(f),
            CommandError::TooManyItems => f.write_str("one packet writes at most 255 items"),
            CommandError::ItemSize { value, size } => write!(f, "{value} does not fit in {size} bytes"),
            CommandError::NotAKind => f.write_str("query takes one kind: sm, ao, mp, eq, te or ap"),
            CommandError::NumberTooLarge { kind, text, most } => {
                write!(f, "{kind} `{text}`: expected a number up to {most}, decimal or 0x and hexadecimal")
            }
            CommandError::UnknownName { kind, text } => write!(
                f,
                "the target has sent no {kind} `{text}`: write its number, or see the names with `xhist-report qspy`"
            ),
        }
    }
}

impl std::error::Error for CommandError {}

impl From<FilterError> for CommandError {
    fn from(error: FilterError) -> CommandError {
        CommandError::Filter(error)
    }
}
