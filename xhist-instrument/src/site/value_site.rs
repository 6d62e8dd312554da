//! Value sites: the places where the value of a binding is recorded, and the bindings that are left alone.

use crate::site::Reason;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// How a name gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ValueKind {
    /// `let` with an initialiser.
    Let,
    /// Parameter of a function.
    Param,
    /// Pattern of a `for`.
    For,
    /// Pattern of a match arm.
    Match,
    /// Parameter of a closure.
    Closure,
    /// `if let`.
    If,
    /// `while let`.
    While,
    /// Assignment to a local name.
    Assign,
}

impl ValueKind {
    /// The word in maps and listings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Let => "let",
            Self::Param => "param",
            Self::For => "for",
            Self::Match => "match",
            Self::Closure => "closure",
            Self::If => "if",
            Self::While => "while",
            Self::Assign => "assign",
        }
    }
}

/// A binding whose value can be recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSite {
    /// How the name gets its value.
    pub kind: ValueKind,
    /// Line of the name, from 1.
    pub line: u32,
    /// Column of the name in characters, from 1.
    pub column: u32,
    /// The name, as in the source.
    pub name: Box<str>,
    /// Path of its function.
    pub function: Arc<str>,
    /// Offset of the statement behind whose call the value is recorded.
    pub host: usize,
    /// Where the call is. `None`: directly behind that of the statement.
    pub at: Option<usize>,
    /// Attributes that the call repeats.
    pub attributes: Option<Box<str>>,
    /// The call takes a reference to a copy, because a reference to the variable would change an async body.
    pub copies: bool,
    /// The value may have several types.
    pub generic: bool,
    /// The target of a reference is recorded too.
    pub targets: bool,
    /// The text of the source says that the value is a reference, whatever it refers to.
    pub is_reference: bool,
    /// A pattern of the user matches the function.
    pub recorded: bool,
}

impl ValueSite {
    /// The same binding as one that is left alone.
    pub(crate) fn skip(&self, reason: ValueReason) -> ValueSkip {
        let Self { line, column, ref name, ref function, .. } = *self;
        ValueSkip { line, column, name: name.clone(), function: function.clone(), reason }
    }
}

/// A binding that is left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSkip {
    /// Line of the name, from 1.
    pub line: u32,
    /// Column of the name in characters, from 1.
    pub column: u32,
    /// The name, as in the source.
    pub name: Box<str>,
    /// Path of its function.
    pub function: Arc<str>,
    /// The reason.
    pub reason: ValueReason,
}

/// Why the value of a binding is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ValueReason {
    /// The statement that the value belongs to is skipped.
    Code(Reason),
    /// `// xhist values FALSE`.
    Directive,
    /// No statement of the block is recorded in front of the value.
    NoStatement,
    /// A reference would live on over an `.await`: the future could grow, or lose `Send`.
    Await,
    /// An attribute of the pattern or parameter may remove the binding.
    Attributes,
    /// `#[expect(unused_..)]` would not be fulfilled.
    Expectation,
    /// An item or a later `let` of the same block has the same name.
    Shadowed,
    /// An assignment that is the value of its block has no place behind it.
    NoSemicolon,
    /// More bindings than there is room for between two checks.
    TooMany,
    /// A `let` without a value. Assignments to it are recorded.
    Uninitialised,
    /// A name with a capital letter may be a constant or a variant.
    MaybeConstant,
}

impl ValueReason {
    /// Whether a value of the user's is not recorded.
    pub fn is_loss(self) -> bool {
        match self {
            Self::Code(reason) => reason.is_executable(),
            reason => !matches!(reason, Self::Uninitialised | Self::MaybeConstant),
        }
    }
}

impl fmt::Display for ValueReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code(reason) => return reason.fmt(f),
            Self::Directive => "switched off by a directive (values)",
            Self::NoStatement => "no statement of the block is recorded in front of it",
            Self::Await => "may live on over an `.await`",
            Self::Attributes => "attribute of a pattern or parameter",
            Self::Expectation => "`expect` of an unused name or value",
            Self::Shadowed => "another name of the block hides it",
            Self::NoSemicolon => "assignment without a semicolon",
            Self::TooMany => "too many bindings in one place",
            Self::Uninitialised => "`let` without a value",
            Self::MaybeConstant => "may be a constant or a variant",
        })
    }
}

/// A trigger at a value: recording stops when the binding has this value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueWatch {
    /// Index of the binding among the values.
    pub value: usize,
    /// Number of the trigger in the program, from 0.
    pub number: u8,
    /// Statements that are still recorded behind it.
    pub after: u32,
    /// The value as text. `None`: the first value.
    pub expected: Option<Box<str>>,
}

impl fmt::Display for ValueWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("watch")?;
        if let Some(expected) = &self.expected {
            write!(f, "={expected}")?;
        }
        if self.after > 0 {
            write!(f, "+{}", self.after)?;
        }
        Ok(())
    }
}
