//! Why a whole file is refused, and where in the file the cause is.

use std::fmt;
use std::io;

/// A file that cannot be instrumented or stripped; displayed as `line:column: reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The cause, with a remedy where there is one.
    pub reason: RefusalReason,
}

impl Refusal {
    pub(crate) fn new((line, column): (u32, u32), reason: impl Into<RefusalReason>) -> Self {
        Self { line, column, reason: reason.into() }
    }

    /// A refusal that concerns the whole file; its place is the start of the file.
    pub(crate) fn of_file(reason: impl Into<RefusalReason>) -> Self {
        Self::new((1, 1), reason)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.reason)
    }
}

impl std::error::Error for Refusal {}

/// The cause of a [`Refusal`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalReason {
    /// The text is not UTF-8.
    NotUtf8,
    /// A second byte-order mark follows the first.
    SecondByteOrderMark,
    /// The frontmatter of a cargo script.
    Frontmatter,
    /// The nesting is deeper than the limit.
    TooDeep {
        /// Levels of the text.
        nesting: usize,
        /// Levels accepted.
        limit: usize,
    },
    /// The system refused a thread with a stack for this nesting.
    NoStack {
        /// Bytes of the stack.
        bytes: usize,
        /// The system's error.
        error: io::ErrorKind,
    },
    /// The parser's error.
    Unparsable(String),
    /// The text holds calls already, or text that looks like them.
    AlreadyInstrumented,
    /// A module of edition 2015 has the recorder's name.
    HidesRecorder,
    /// `--reflow` drops comments, and with them directives.
    ReflowDropsDirectives,
    /// The reflowed text has other statements.
    ReflowChangesStatements,
    /// The map gave the file too few ids.
    TooFewIds {
        /// Lines of the file.
        lines: u32,
        /// Ids that these lines need.
        needed: usize,
        /// Ids given.
        given: usize,
    },
    /// The analysis was made from another text.
    ForeignAnalysis,
    /// A call in the text cannot be removed.
    NotRemovable(Obstacle),
    /// The proof of the instrumented text failed.
    Unproved(ProofFailure),
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("not UTF-8; the compiler refuses it too"),
            Self::SecondByteOrderMark => f.write_str("second byte-order mark; the compiler refuses it too"),
            Self::Frontmatter => {
                f.write_str("frontmatter of a cargo script is not supported; move the code to a package")
            }
            Self::TooDeep { nesting, limit } => {
                write!(f, "nested {nesting} levels deep, more than {limit}; left alone")
            }
            Self::NoStack { bytes, error } => write!(f, "no stack of {bytes} bytes: {error}"),
            Self::Unparsable(message) => write!(f, "does not parse: {message}; left alone"),
            Self::AlreadyInstrumented => {
                f.write_str("already instrumented, or text that looks like it; --strip first")
            }
            Self::HidesRecorder => {
                f.write_str("a module named xhist_rt hides the recorder in edition 2015; rename it")
            }
            Self::ReflowDropsDirectives => {
                f.write_str("has directives in comments, which --reflow would drop; left alone")
            }
            Self::ReflowChangesStatements => {
                f.write_str("could not be reflowed without changing its statements; left alone")
            }
            Self::TooFewIds { lines, needed, given } => {
                write!(f, "a file of {lines} lines needs {needed} file ids, got {given}")
            }
            Self::ForeignAnalysis => f.write_str("the analysis belongs to another text"),
            Self::NotRemovable(obstacle) => {
                write!(f, "looks like an inserted call, but {obstacle}; remove it by hand; left alone")
            }
            Self::Unproved(failure) => {
                write!(f, "{failure} (a defect of this tool, please report it); left alone")
            }
        }
    }
}

impl From<Obstacle> for RefusalReason {
    fn from(obstacle: Obstacle) -> Self {
        Self::NotRemovable(obstacle)
    }
}

impl From<ProofFailure> for RefusalReason {
    fn from(failure: ProofFailure) -> Self {
        Self::Unproved(failure)
    }
}

/// Why an inserted call cannot be removed without changing the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// No semicolon follows the call.
    NoSemicolon,
    /// The call is an operand of something.
    InExpression,
    /// The numbers are not written the way this tool writes them.
    OtherNumbers,
    /// The mark of a call has no call.
    LoneMark,
    /// The attributes have no mark in front of them.
    NoMark,
    /// The block that the call opened is missing.
    NoBlock,
    /// Without the call its neighbours would become one token.
    JoinsTokens,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSemicolon => "no `;` follows it, so it is part of an expression",
            Self::InExpression => "it is part of an expression",
            Self::OtherNumbers => "its numbers are not written the way this tool writes them",
            Self::LoneMark => "it is only the mark of one, without the call",
            Self::NoMark => "its attributes may be yours: the mark in front of them is missing",
            Self::NoBlock => "the block that was put around an expression with it is missing",
            Self::JoinsTokens => "without it the text around it would join (a defect of this tool)",
        })
    }
}

/// Why an instrumented text is not proved to be the original plus calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofFailure {
    /// The calls cannot be removed.
    NotStripped(Box<Refusal>),
    /// Without the calls the bytes differ from the original.
    OtherBytes,
    /// Without the calls the tokens differ from the original.
    OtherTokens,
    /// The number of lines differs.
    MovedLines,
}

impl fmt::Display for ProofFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStripped(refusal) => write!(f, "could not be undone ({refusal})"),
            Self::OtherBytes => f.write_str("could not be undone exactly"),
            Self::OtherTokens => f.write_str("would change the code around the calls"),
            Self::MovedLines => f.write_str("would move lines"),
        }
    }
}
