//! What the analysis of a file finds: statements to record, code that is skipped, and files that it names.
//! Plain data, without a syntax tree.

pub(crate) mod analysis;
pub(crate) mod constness;
mod kept;
pub(crate) mod map_word;
pub(crate) mod structure;
pub(crate) mod value_site;

use crate::site::structure::Jump;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SiteKind {
    /// `let` with an initialiser.
    Let,
    /// Expression statement, with or without semicolon.
    Expr,
    /// Macro call in statement position.
    Macro,
    /// Body of a match arm.
    Arm,
    /// Body of a closure.
    Closure,
    /// Entry of a `then` block without a recorded statement.
    Then,
    /// Entry of an `else` block without a recorded statement.
    Else,
    /// Test of an `else if`.
    Test,
    /// Entry of a loop body without a recorded statement.
    Loop,
}

impl SiteKind {
    /// The word used in maps and listings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Let => "let",
            Self::Expr => "expr",
            Self::Macro => "macro",
            Self::Arm => "arm",
            Self::Closure => "closure",
            Self::Then => "then",
            Self::Else => "else",
            Self::Test => "test",
            Self::Loop => "loop",
        }
    }
}

/// How a site is written into the text. Offsets are bytes of the original file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Insertion {
    /// A call at `at`, with these attributes of the statement.
    Call {
        /// Offset of the call.
        at: usize,
        /// Attributes on one line.
        attributes: Option<Box<str>>,
    },
    /// The expression becomes a block.
    Wrap {
        /// The expression.
        range: Range<usize>,
        /// The block needs parentheses around the expression.
        parens: bool,
    },
}

/// One statement that will be recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Its kind.
    pub kind: SiteKind,
    /// Line of the first token after the attributes, from 1.
    pub line: u32,
    /// Column of that token in characters, from 1.
    pub column: u32,
    /// Line of the last token.
    pub end_line: u32,
    /// Column after the last token.
    pub end_column: u32,
    /// Path of its function, such as `Foo::bar`; empty outside functions.
    pub function: Arc<str>,
    /// Bytes of the statement, without its attributes.
    pub range: Range<usize>,
    /// The text to insert, and its place.
    pub insertion: Insertion,
    /// The statement gets a call. With function detail, only entries do.
    pub recorded: bool,
    /// The call checks for room in the ring; other calls write without a check.
    pub checks: bool,
    /// The statement holds an `.await`, not counting its closures, async blocks and items, nor the statements inside it.
    pub awaits: bool,
    /// The sum of its text, as in maps.
    pub text: u32,
    /// What its own text calls, as in maps.
    pub calls: Box<str>,
    /// How it leaves the text around it.
    #[serde(with = "map_word")]
    pub jump: Option<Jump>,
}

impl Site {
    /// Records the site although its neighbours are not recorded. The call then has to check for room.
    pub(crate) fn record(&mut self) {
        self.checks |= !self.recorded;
        self.recorded = true;
    }

    /// Merges the flags of the same statement in another expansion.
    pub(crate) fn merge_flags(&mut self, other: &Site) {
        self.recorded |= other.recorded;
        self.checks |= other.checks;
        self.awaits |= other.awaits;
    }

    /// Whether a `cfg` can remove the statement.
    pub(crate) fn may_vanish(&self) -> bool {
        match &self.insertion {
            Insertion::Call { attributes, .. } => {
                attributes.as_ref().is_some_and(|text| text.contains("cfg"))
            }
            Insertion::Wrap { .. } => false,
        }
    }
}

/// What a trigger does when the program passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Recording starts; the statement of the trigger is the first.
    Start,
    /// Recording stops.
    Stop {
        /// Statements that are still recorded after the one of the trigger.
        after: u32,
    },
}

impl Action {
    /// The option, and the key of a manifest, that requests it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Start => "start-at",
            Self::Stop { .. } => "stop-at",
        }
    }
}

/// A trigger at a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Index of the statement among the sites.
    pub site: usize,
    /// Number of the trigger in the program, from 0.
    pub number: u8,
    /// Pass at which it acts, from 1.
    pub hit: u32,
    /// The action.
    pub action: Action,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.action.name(), self.hit)?;
        match self.action {
            Action::Stop { after: after @ 1.. } => write!(f, "+{after}"),
            _ => Ok(()),
        }
    }
}

/// The body of an async function, block or closure with an `.await` of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskBody {
    /// Where its task begins: before its first statement.
    pub at: usize,
    /// The body in bytes.
    pub body: Range<usize>,
    /// Starts of the sites before which the task may have waited, ascending.
    pub resumes: Vec<usize>,
}

/// Why statements are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reason {
    /// The compiler evaluates it.
    ConstContext,
    /// A `const fn` also runs in the program, but its body may call only what the compiler can evaluate.
    ConstFn,
    /// The arguments of a macro are tokens whose meaning only the macro knows.
    MacroArguments,
    /// The body of a `macro_rules!` or `macro` definition.
    MacroDefinition,
    /// The rules of a macro that a constant may call.
    ConstMacro,
    /// `// xhist instrument FALSE`.
    Directive,
    /// Excluded by `include` or `exclude`.
    Excluded,
    /// Only the first statement of its function is recorded.
    Thinned,
    /// Only entries are recorded.
    Detail,
    /// Follows a `return`, `break`, `panic!` or the like.
    Unreachable,
    /// A naked function has no prologue, so it cannot call.
    Naked,
    /// Runs before memory is initialised.
    PreInit,
    /// The panic handler, or the handler of failed allocations.
    PanicHandler,
    /// The recorder may be called while the allocator runs.
    GlobalAlloc,
    /// The recorder itself uses this critical section.
    CriticalSection,
    /// The compiler inserts calls to it for every copy of memory.
    MemoryPrimitive,
    /// `#![no_core]` or `#![compiler_builtins]`.
    NoCore,
    /// An attribute translates the body to another language.
    ForeignAttribute,
    /// A closure before the `else` of a let-else, where the grammar forbids braces.
    LetElse,
    /// A test deep in an `else if` chain: each recorded test nests the compiler's syntax tree one level deeper.
    LongChain,
    /// The attributes of the statement do not fit on one line.
    Attributes,
    /// Syntax that the parser keeps as tokens.
    UnknownSyntax,
}

impl Reason {
    /// Whether the skipped code may run in the program. Code that the compiler evaluates or that is unreachable
    /// cannot.
    pub fn is_executable(self) -> bool {
        !matches!(self, Self::ConstContext | Self::Unreachable)
    }

    /// Whether the statements are counted from unparsed tokens.
    pub fn is_estimate(self) -> bool {
        matches!(self, Self::MacroArguments | Self::MacroDefinition | Self::ConstMacro | Self::UnknownSyntax)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConstContext => "evaluated by the compiler (const context)",
            Self::ConstFn => "const fn, which cannot call the recorder",
            Self::MacroArguments => "inside the arguments of a macro",
            Self::ConstMacro => "inside a macro that a constant may call",
            Self::MacroDefinition => "inside a macro definition",
            Self::Directive => "switched off by a directive",
            Self::Excluded => "left out by include or exclude",
            Self::Thinned => "thinned",
            Self::Detail => "no entry (detail: function)",
            Self::Unreachable => "unreachable behind a jump or panic",
            Self::Naked => "naked function",
            Self::PreInit => "runs before memory is initialised (pre_init)",
            Self::PanicHandler => "panic or allocation-error handler",
            Self::GlobalAlloc => "implementation of the global allocator",
            Self::CriticalSection => "implementation of critical-section",
            Self::MemoryPrimitive => "definition of a memory primitive",
            Self::NoCore => "crate without core",
            Self::ForeignAttribute => "attribute that translates the body to another language",
            Self::LetElse => "closure in front of the `else` of a let-else",
            Self::LongChain => "test far down a chain of `else if`",
            Self::Attributes => "attributes that cannot be carried over",
            Self::UnknownSyntax => "syntax unknown to the parser",
        })
    }
}

/// Code that is skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The reason.
    pub reason: Reason,
    /// Number of hidden statements: exact for parsed code, estimated for tokens of macros.
    pub statements: u32,
}

/// An inline module around a [`ModDecl`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlineMod {
    /// Its name.
    pub name: String,
    /// Values of its `#[path]` attributes, also those under `cfg_attr`.
    pub paths: Vec<String>,
}

/// `mod name;`: code in another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModDecl {
    /// Its name, without `r#`.
    pub name: String,
    /// Inline modules around it, outermost first.
    pub inside: Vec<InlineMod>,
    /// Values of its `#[path]` attributes, also those under `cfg_attr`.
    pub paths: Vec<String>,
    /// One of `paths` has no `cfg_attr`, so the module is never at its default path.
    pub path_is_certain: bool,
    /// Line, from 1.
    pub line: u32,
}

/// The macro that reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IncludeKind {
    /// `include!`: code.
    Code,
    /// `include_str!`: data.
    Str,
    /// `include_bytes!`: data.
    Bytes,
    /// Any of them with a composed path: data somewhere in this directory.
    Directory,
}

/// A file that a macro reads by a literal path, or the directory that a composed path starts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Include {
    /// The macro.
    pub kind: IncludeKind,
    /// The literal, relative to the directory of the including file.
    pub path: String,
    /// Line, from 1.
    pub line: u32,
}
