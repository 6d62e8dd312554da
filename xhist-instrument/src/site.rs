//! What the analysis of one file finds: places to record, places left alone, and files it leads to.
//! Plain data, without any syntax tree behind it.

use crate::macros::Macros;
use crate::text::TokenPrint;
use crate::trigger::Trigger;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What kind of statement a site is.
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

/// How a site is written into the text. All offsets are bytes of the original file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// A call at `at`, with these attributes carried over from the statement.
    Call {
        /// Where the call is inserted.
        at: usize,
        /// Attributes on one line, or none.
        attributes: Option<Box<str>>,
    },
    /// The expression becomes a block.
    Wrap {
        /// The expression.
        range: Range<usize>,
        /// It must be parenthesised inside the block.
        parens: bool,
    },
}

/// One statement that will be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What it is.
    pub kind: SiteKind,
    /// Line of the first token behind the attributes, from 1.
    pub line: u32,
    /// Column of that token in characters, from 1.
    pub column: u32,
    /// Line of the last token.
    pub end_line: u32,
    /// Column just behind the last token.
    pub end_column: u32,
    /// Function it stands in, such as `Foo::bar`; empty when there is none.
    pub function: Arc<str>,
    /// Bytes of the statement, attributes left out.
    pub range: Range<usize>,
    /// What is written, and where.
    pub shape: Shape,
    /// It gets a call. In function detail others than entries do not.
    pub recorded: bool,
    /// Its call checks for room: the recorder need not look at any other.
    pub checks: bool,
    /// It contains an `.await`, those of closures, async blocks and items in it not counted.
    pub awaits: bool,
}

impl Site {
    /// Records it although its neighbours are not: nothing else near it checks for room.
    pub(crate) fn record(&mut self) {
        self.checks |= !self.recorded;
        self.recorded = true;
    }

    /// Takes over what was noted at the same statement elsewhere.
    pub(crate) fn note_of(&mut self, other: &Site) {
        self.recorded |= other.recorded;
        self.checks |= other.checks;
        self.awaits |= other.awaits;
    }

    /// Whether a `cfg` decides about it.
    pub(crate) fn may_vanish(&self) -> bool {
        match &self.shape {
            Shape::Call { attributes, .. } => attributes.as_ref().is_some_and(|text| text.contains("cfg")),
            Shape::Wrap { .. } => false,
        }
    }
}

/// The body of a function, or of a closure that no function of its path is around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub path: Arc<str>,
    /// Line and column of its first character and behind its last one, from 1.
    pub place: [u32; 4],
    /// The same in bytes.
    pub body: Range<usize>,
    pub is_closure: bool,
}

/// Why statements are left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The compiler evaluates it.
    ConstContext,
    /// A `const fn` runs in the program as well, but may call nothing there that the compiler could not evaluate.
    ConstFn,
    /// The arguments of a macro are tokens whose meaning only the macro knows.
    MacroArguments,
    /// The body of a `macro_rules!` or `macro` definition.
    MacroDefinition,
    /// `// xhist instrument FALSE`.
    Directive,
    /// `include` and `exclude` leave it out.
    Excluded,
    /// Of its function only the first statement is recorded.
    Thinned,
    /// Only entries are recorded.
    Detail,
    /// It stands behind a `return`, `break`, `panic!` or the like.
    Unreachable,
    /// A naked function has no prologue to call from.
    Naked,
    /// It runs before memory is initialised.
    PreInit,
    /// The panic handler, or the handler of failed allocations.
    PanicHandler,
    /// The recorder may be called while the allocator runs.
    GlobalAlloc,
    /// The recorder itself uses the critical section.
    CriticalSection,
    /// The compiler calls it for every copy of memory.
    MemoryPrimitive,
    /// `#![no_core]` or `#![compiler_builtins]`.
    NoCore,
    /// An attribute translates the body to something else.
    ForeignAttribute,
    /// A closure in front of the `else` of a let-else, where no brace may stand.
    LetElse,
    /// A test far down a chain of `else if`: each one recorded is a level more for the compiler, which has few.
    LongChain,
    /// The attributes of the statement cannot be repeated on one line.
    Attributes,
    /// Syntax that the parser hands on without understanding it.
    UnknownSyntax,
}

impl Reason {
    /// Whether what is left alone may run in the program: not what the compiler evaluates, nor what nothing reaches.
    pub fn is_executable(self) -> bool {
        !matches!(self, Self::ConstContext | Self::Unreachable)
    }

    /// Whether its statements are counted from tokens that nobody here can parse.
    pub fn is_estimate(self) -> bool {
        matches!(self, Self::MacroArguments | Self::MacroDefinition | Self::UnknownSyntax)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConstContext => "evaluated by the compiler (const context)",
            Self::ConstFn => "const fn, which cannot call the recorder",
            Self::MacroArguments => "inside the arguments of a macro",
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

/// Something left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Why.
    pub reason: Reason,
    /// How many statements this hides: exact for parsed code, for tokens of macros an estimate.
    pub statements: u32,
}

/// An inline module around a [`ModDecl`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineMod {
    /// Its name.
    pub name: String,
    /// Values of its `#[path]` attributes, also those under `cfg_attr`.
    pub paths: Vec<String>,
}

/// `mod name;`: code in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModDecl {
    /// Its name, without `r#`.
    pub name: String,
    /// Inline modules around it, outermost first.
    pub inside: Vec<InlineMod>,
    /// Values of its `#[path]` attributes, also those under `cfg_attr`.
    pub paths: Vec<String>,
    /// One of `paths` stands without `cfg_attr`: the module is never at its default place.
    pub path_is_certain: bool,
    /// Line, from 1.
    pub line: u32,
}

/// Which macro reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeKind {
    /// `include!`: code.
    Code,
    /// `include_str!`: data.
    Str,
    /// `include_bytes!`: data.
    Bytes,
    /// Any of them with a path that is put together: data somewhere in this directory.
    Directory,
}

/// A file read by a macro with a literal path, or the directory that such a path starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// Which macro.
    pub kind: IncludeKind,
    /// The literal, relative to the directory of the including file.
    pub path: String,
    /// Line, from 1.
    pub line: u32,
}

/// Everything known about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Statements that will be recorded, in the order of the text.
    pub sites: Vec<Site>,
    /// What is left alone, in the order of the text.
    pub skips: Vec<Skip>,
    /// Triggers at statements, in the order of these. To be set last: they count the sites.
    pub triggers: Vec<Trigger>,
    /// Modules in other files.
    pub modules: Vec<ModDecl>,
    /// Files read by macros.
    pub includes: Vec<Include>,
    /// Where the hash of the map goes: into each `fn main`, of which a file may have several under `cfg`.
    pub main_at: Vec<usize>,
    /// Functions, in the order of the text.
    pub(crate) functions: Vec<Function>,
    /// Lines between `// xhist debug TRUE` and `FALSE`, end excluded.
    pub debug_lines: Vec<Range<u32>>,
    /// Lines of the file.
    pub lines: u32,
    /// The whole file is switched off by a directive in front of all code.
    pub is_off: bool,
    /// Macros that hold code in their arguments and whose rules are not known.
    pub(crate) unknown_macros: BTreeSet<String>,
    /// Macros taken for the program's own because nothing in it was known to bring another one of that name.
    pub(crate) assumed_macros: BTreeSet<String>,
    /// Fingerprint of where the tokens of the file stand, for the proof.
    pub(crate) tokens: TokenPrint,
}

impl Analysis {
    /// Whether these macros show more of the file: [`crate::analyze_among`] them then.
    pub fn wants(&self, macros: &Macros) -> bool {
        !self.assumed_macros.is_empty() || self.unknown_macros.iter().any(|name| macros.has(name))
    }

    /// Leaves the statements of these functions alone.
    pub fn leave_out(&mut self, is_unwanted: impl Fn(&str) -> bool) {
        let mut last: Option<(Arc<str>, bool)> = None;
        let skips = &mut self.skips;
        self.sites.retain(|site| {
            // Statements of one function stand together.
            let known = last.as_ref().filter(|(function, _)| *function == site.function);
            let leave = known.map_or_else(|| is_unwanted(&site.function), |(_, leave)| *leave);
            last = Some((site.function.clone(), leave));
            if leave {
                let (line, column) = (site.line, site.column);
                skips.push(Skip { line, column, reason: Reason::Excluded, statements: 1 });
            }
            !leave
        });
        skips.sort_by_key(|skip| (skip.line, skip.column));
    }

    /// Leaves all but the first statement of these functions alone, and what is nested in them.
    pub fn thin(&mut self, is_thin: impl Fn(&str) -> bool) {
        let thin = self.functions.iter().filter(|function| !function.is_closure && is_thin(&function.path));
        let mut thin: Vec<(Arc<str>, Range<usize>)> =
            thin.map(|function| (function.path.clone(), function.body.clone())).collect();
        thin.sort_by_key(|(_, body)| (body.start, std::cmp::Reverse(body.end)));
        // Of nested ones the outermost counts.
        let mut end = 0;
        thin.retain(|(_, body)| {
            let is_outer = body.start >= end;
            end = end.max(body.end);
            is_outer
        });
        let mut entered = vec![false; thin.len()];
        let skips = &mut self.skips;
        self.sites.retain(|site| {
            let at = site.range.start;
            let index = thin.partition_point(|(_, body)| body.start <= at).checked_sub(1);
            let Some(index) = index.filter(|&index| at < thin[index].1.end) else { return true };
            if !entered[index] && site.function == thin[index].0 {
                // What a `cfg` may take away does not tell that the function was entered.
                entered[index] = !site.may_vanish();
                return true;
            }
            let (line, column) = (site.line, site.column);
            skips.push(Skip { line, column, reason: Reason::Thinned, statements: 1 });
            false
        });
        skips.sort_by_key(|skip| (skip.line, skip.column));
    }

    /// Sets a trigger. Its statement is recorded, whatever the detail.
    pub fn add_trigger(&mut self, trigger: Trigger) {
        if let Some(site) = self.sites.get_mut(trigger.site) {
            site.record();
        }
        let at = self.triggers.partition_point(|other| other.site <= trigger.site);
        self.triggers.insert(at, trigger);
    }

    /// The triggers at a statement.
    pub fn triggers_at(&self, site: usize) -> &[Trigger] {
        let start = self.triggers.partition_point(|trigger| trigger.site < site);
        let end = self.triggers.partition_point(|trigger| trigger.site <= site);
        &self.triggers[start..end]
    }

    /// Statements left alone.
    pub fn skipped_statements(&self) -> u64 {
        self.skips.iter().map(|skip| u64::from(skip.statements)).sum()
    }
}
