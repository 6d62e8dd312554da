//! The map file (`xhist.map`): source files and statements for the ids in a ring.
//!
//! The format is JSON lines, one flat object per line, so `grep` and `jq` read it too:
//!
//! ```text
//! {"xhist":"map","version":3,"hash":"0123456789abcdef","root":"/home/me/project","tool":"0.1.0"}
//! {"file":3,"path":"src/crit_section.rs","base":0,"first":101,"room":51}
//! {"fn":3,"path":"crit_section::enter","at":"25:20","end":"31:2"}
//! {"fn":3,"path":"Guard::drop","at":"35:20","end":"39:6","trait":"Drop"}
//! {"fn":3,"path":"crit_section::enter","at":"27:18","end":"27:30","kind":"closure"}
//! {"loop":3,"at":"28:5","end":"30:6"}
//! {"branch":3,"at":"36:12","end":"36:30","past":"38:10"}
//! {"stmt":3,"line":26,"col":5,"end":"27:10","kind":"let","fn":"crit_section::enter","text":2166,"calls":"Lock::new .lock"}
//! {"stmt":3,"line":29,"col":5,"end":"29:30","kind":"expr","fn":"crit_section::enter","text":91,"await":true}
//! {"stmt":3,"line":30,"col":5,"end":"30:14","kind":"expr","fn":"crit_section::enter","text":7,"jump":"return"}
//! ```
//!
//! `hash` is the FNV-1a 64 of every byte behind the first line. A path is relative to
//! `root` if the file is below it. `base` is added to the recorded line (lines above 65,535
//! use a second id of the same path). Functions, loops, branches and statements follow their file's lines, in this order,
//! each in the order of the text. `await` means that a statement contains an `.await` of its own body. `silent` means that
//! it is not recorded; with `--detail function` only entries are.
//!
//! The structure of the code:
//!
//! * `fn` is a body: `at` and `end` are its first character and the one behind its last, including braces. `kind` is
//!   absent for a function; else `asyncfn`, `closure`, `asyncclosure` or `async`. A body without a path of its own has the
//!   path of the function around it. `trait` is the trait that the function implements, or that its default body is in.
//! * `loop` is a whole `for`, `while` or `loop` expression.
//! * `branch` is the body of a `then` branch with an `else`, or of a match arm. What lies between its end and `past`
//!   does not run after it in the same execution of the `if` or `match`.
//! * `calls` lists what the statement's own text calls, in the order of the text: not what statements inside it call, and
//!   not what bodies inside it call. `name` and `Type::name` are functions (the last two segments of the path), `.name`
//!   methods, `name!` macros, `()` values that are called, such as closures in variables. A star in front means that one
//!   execution of the statement may repeat the call, such as the condition of a `while`. `&name` is a function that is
//!   named and not called, such as an argument of an iterator adaptor. `Name` is a struct that is made, and `?` the
//!   operator, which may return. `@Add` is any other operator, by the trait that may implement it.
//! * `text` is the FNV-1a 64 of the statement's tokens, without spaces and comments, up to its first brace; its two halves
//!   are combined by exclusive or. It identifies a statement whose line has moved from one build to another.
//! * `jump` is `return`, `break`, `continue` or `panic` for a statement that starts with one, and `label` for a `break` or
//!   `continue` with a label.
//!
//! Each statement has a number in the program. A file owns `room` numbers from `first` on, and its statements have them in
//! the order of the map. The first range starts at 1. A file that outgrows its range gets a new one above all others; the
//! old numbers are never used again.
//!
//! A map that has values is of version 4, and any other of version 3. Readers refuse other versions:
//!
//! ```text
//! {"file":3,"path":"src/parse.rs","base":0,"first":101,"room":51,"values":1,"value_room":12}
//! {"value":3,"line":26,"col":9,"name":"len","kind":"let","fn":"parse::header"}
//! {"value":3,"line":27,"col":14,"name":"name","kind":"for","fn":"parse::names","generic":true}
//! ```
//!
//! `value` is a place where a value is recorded, a *value site*: the name, and where it is bound or assigned. These lines
//! follow the statements of the file, in the order of the text. Value sites have numbers of their own, from `values` on, by
//! the rules above. `text` means that the target of a reference is recorded too, and `generic` that the value may have
//! several types.
//!
//! Five fields may be absent, in any version:
//!
//! ```text
//! {"xhist":"map","version":3,"hash":"0123456789abcdef","root":"/home/me/project","tool":"0.1.0","mains":"1:fedcba9876543210"}
//! {"file":3,"path":"src/parse.rs","base":0,"first":101,"room":51,"source":"89abcdef01234567","skipped":"4-11 macro body"}
//! ```
//!
//! * `source` is the FNV-1a 64 of the file's text without inserted calls. The tools keep that text under this hash.
//! * `skipped` lists the file's lines that run and are not recorded, see [`SkippedLines`].
//! * `derived` lists, for each trait that types of the file derive, the types in their fields: `Clone:Vec,Name Eq:Name`.
//!   Derived code is not recorded and calls their implementations, see [`derived`].
//! * `priorities` lists interrupts with the priority that attributes of the file give them: `GPIOA:3 SSI0:1`.
//! * `mains` lists, for each file with a `main`, the hashes that this `main` carries in programs of these sources. A file
//!   that is instrumented after its `main` was changes the map, and `main` still carries the hash of the map before.
//!
//! This module parses and writes single lines. It opens no files and does not allocate.

pub mod derived;
mod error;
mod json;
pub mod numbers;
mod skipped;
mod value;
mod version;

pub use error::MapError;
pub use json::Text;
pub use numbers::NumberRange;
pub use skipped::SkippedLines;
pub use value::ValueLine;
pub use version::{VALUE_VERSION, VERSION};

use core::fmt;

/// The hash of a program whose sources were instrumented without any map.
pub const NO_MAP: u64 = u64::MAX;

/// The section of a program's file that holds its map. It is never loaded, and compressed as the ELF specification has it.
pub const SECTION: &str = ".xhist_map";

/// The last bytes of a program for Windows that has its map in it; a signature may come behind them. In front of them is a length
/// of eight bytes, the lowest first. That is the length of what is in front of it: the map, compressed with zlib, and zeros.
pub const PROGRAM_END: [u8; 8] = *b"xhistmap";
/// Bytes behind the map: its length, and the last bytes.
pub const PROGRAM_END_LEN: u64 = 16;

/// One line of a map file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The first line.
    Head(Head<'a>),
    /// A file id and its path.
    File(FileLine<'a>),
    /// The body of a function.
    Function(FunctionLine<'a>),
    /// A loop.
    Loop(LoopLine),
    /// A branch that excludes the text behind it.
    Branch(BranchLine),
    /// A recorded statement.
    Stmt(StmtLine<'a>),
    /// A recorded value.
    Value(ValueLine<'a>),
}

/// The first line of a map. It identifies the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// Version of the format.
    pub version: u32,
    /// FNV-1a 64 of all bytes behind the first line. The program's ring header contains it.
    pub hash: u64,
    /// Base directory of relative paths.
    pub root: Text<'a>,
    /// Version of the tool that wrote the map.
    pub tool: Text<'a>,
    /// `file id:hash`, separated by spaces: the hashes that the programs' `main` functions carry.
    pub mains: Text<'a>,
}

impl Head<'_> {
    /// File id and hash of each `main`.
    pub fn mains(&self) -> impl Iterator<Item = (u16, u64)> {
        let of_one = |text: &str| {
            let (file, hash) = text.split_once(':')?;
            Some((file.parse().ok()?, u64::from_str_radix(hash, 16).ok()?))
        };
        self.mains.raw().split(' ').filter_map(of_one)
    }

    /// Whether a program that carries this hash may be built of the sources of this map.
    pub fn may_be_of(&self, hash: u64) -> bool {
        self.hash == hash || self.mains().any(|(_, carried)| carried == hash)
    }
}

/// A file id. Ids are stable from run to run, and never change to another path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileLine<'a> {
    /// The id in records.
    pub file: u16,
    /// Path of the source file, with `/` as separator.
    pub path: Text<'a>,
    /// Lines to add to a recorded line: 0, or a multiple of 65,535.
    pub base: u32,
    /// The numbers of the file's statements. Only the first line of a path has them.
    pub numbers: NumberRange,
    /// The numbers of the file's value sites. Only the first line of a path has them.
    pub values: NumberRange,
    /// FNV-1a 64 of the file's text without inserted calls, if known. Only the first line of a path has it.
    pub source: Option<u64>,
    /// Its lines that run and are not recorded. Only the first line of a path has them.
    pub skipped: Text<'a>,
    /// Traits that its types derive, with the types in their fields. Only the first line of a path has them.
    pub derived: Text<'a>,
    /// Priorities of interrupts that its attributes give. Only the first line of a path has them.
    pub priorities: Text<'a>,
}

/// The body of a function, recorded or not, in the user's own source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionLine<'a> {
    /// File id of the first 65,535 lines of its file.
    pub file: u16,
    /// Path of the function.
    pub path: Text<'a>,
    /// First line of the body, from 1.
    pub line: u32,
    /// Column of its first character, from 1.
    pub col: u32,
    /// Last line of the body, from 1.
    pub end_line: u32,
    /// Column behind its last character.
    pub end_col: u32,
    /// The kind of the body.
    pub kind: BodyKind,
    /// Last segment of the trait that the function implements; empty for any other body.
    pub of_trait: Text<'a>,
}

/// The kind of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// A function.
    #[default]
    Function,
    /// An `async fn`.
    AsyncFunction,
    /// A closure.
    Closure,
    /// An `async` closure.
    AsyncClosure,
    /// An `async` block.
    AsyncBlock,
}

impl BodyKind {
    const NAMES: [(BodyKind, &'static str); 4] = [
        (BodyKind::AsyncFunction, "asyncfn"),
        (BodyKind::Closure, "closure"),
        (BodyKind::AsyncClosure, "asyncclosure"),
        (BodyKind::AsyncBlock, "async"),
    ];

    /// The word in a map. A plain function has none.
    pub fn name(self) -> Option<&'static str> {
        BodyKind::NAMES.iter().find(|(kind, _)| *kind == self).map(|(_, name)| *name)
    }

    /// The kind with this word in a map.
    pub fn by_name(name: &str) -> Option<BodyKind> {
        BodyKind::NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Whether the body runs in steps, one for each poll.
    pub const fn is_async(self) -> bool {
        matches!(self, BodyKind::AsyncFunction | BodyKind::AsyncClosure | BodyKind::AsyncBlock)
    }

    /// Whether the body has a name of its own.
    pub const fn is_named(self) -> bool {
        matches!(self, BodyKind::Function | BodyKind::AsyncFunction)
    }
}

/// A `for`, `while` or `loop` expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopLine {
    /// File id of the first 65,535 lines of its file.
    pub file: u16,
    /// Line and column of its first character, from 1.
    pub at: (u32, u32),
    /// Last line, and the column behind its last character.
    pub end: (u32, u32),
}

/// A branch of an `if` or `match`. The text from its end to `past` does not run after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchLine {
    /// File id of the first 65,535 lines of its file.
    pub file: u16,
    /// Line and column of its first character, from 1.
    pub at: (u32, u32),
    /// Last line, and the column behind its last character.
    pub end: (u32, u32),
    /// End of the `if` or `match`.
    pub past: (u32, u32),
}

/// How a statement leaves the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Jump {
    /// `return`.
    Return,
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `break` or `continue` with a label.
    Label,
    /// A macro that panics.
    Panic,
}

impl Jump {
    const NAMES: [(Jump, &'static str); 5] = [
        (Jump::Return, "return"),
        (Jump::Break, "break"),
        (Jump::Continue, "continue"),
        (Jump::Label, "label"),
        (Jump::Panic, "panic"),
    ];

    /// The word in a map.
    pub fn name(self) -> &'static str {
        Jump::NAMES.iter().find(|(jump, _)| *jump == self).map_or("", |(_, name)| *name)
    }

    /// The jump with this word in a map.
    pub fn by_name(name: &str) -> Option<Jump> {
        Jump::NAMES.iter().find(|(_, known)| *known == name).map(|(jump, _)| *jump)
    }
}

/// A recorded statement in the user's own source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StmtLine<'a> {
    /// File id of the first 65,535 lines of its file.
    pub file: u16,
    /// Line in the file, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
    /// Last line of the statement, from 1.
    pub end_line: u32,
    /// Column behind its last character.
    pub end_col: u32,
    /// What kind of statement: `let`, `expr`, `arm`, ...
    pub kind: Text<'a>,
    /// Path of the surrounding function.
    pub function: Text<'a>,
    /// A sum of its text; 0 = not known.
    pub text: u32,
    /// What its own text calls, separated by spaces.
    pub calls: Text<'a>,
    /// How it leaves the text around it.
    pub jump: Option<Jump>,
    /// The statement contains an `.await` of its own body.
    pub awaits: bool,
    /// The program records the statement. With function detail, only entries are recorded.
    pub recorded: bool,
}

impl<'a> Line<'a> {
    /// Parses one line, without its line end.
    ///
    /// # Errors
    /// [`MapError`] names the wrong field. Unknown fields are ignored.
    #[inline]
    pub fn parse(line: &'a str) -> Result<Line<'a>, MapError> {
        let object = json::Object::parse(line).ok_or(MapError::Syntax)?;
        let text = |name| object.text(name).ok_or(MapError::Field(name));
        let number = |name| object.number(name).ok_or(MapError::Field(name));
        let place = |name| {
            let parts = text(name)?.raw().split_once(':');
            let parts = parts.and_then(|(line, col)| Some((line.parse().ok()?, col.parse().ok()?)));
            parts.ok_or(MapError::Field(name))
        };
        let file_id = |name| u16::try_from(number(name)?).map_err(|_| MapError::Field(name));
        if object.text("xhist").is_some() {
            let version = number("version")?;
            if !(VERSION..=VALUE_VERSION).contains(&version) {
                return Err(MapError::Version(version));
            }
            let hash = u64::from_str_radix(text("hash")?.raw(), 16).map_err(|_| MapError::Field("hash"))?;
            let (root, tool) = (text("root")?, text("tool")?);
            Ok(Line::Head(Head {
                version,
                hash,
                root,
                tool,
                mains: object.text("mains").unwrap_or_default(),
            }))
        } else if object.number("stmt").is_some() {
            let (end_line, end_col) = place("end")?;
            Ok(Line::Stmt(StmtLine {
                file: file_id("stmt")?,
                line: number("line")?,
                col: number("col")?,
                end_line,
                end_col,
                kind: text("kind")?,
                function: text("fn")?,
                text: object.number("text").unwrap_or_default(),
                calls: object.text("calls").unwrap_or_default(),
                jump: object.text("jump").and_then(|jump| Jump::by_name(jump.raw())),
                awaits: object.is_true("await"),
                recorded: !object.is_true("silent"),
            }))
        } else if object.number("value").is_some() {
            Ok(Line::Value(ValueLine::read(&object)?))
        } else if object.number("fn").is_some() {
            let ((line, col), (end_line, end_col)) = (place("at")?, place("end")?);
            let (file, path) = (file_id("fn")?, text("path")?);
            let kind = object.text("kind").and_then(|kind| BodyKind::by_name(kind.raw())).unwrap_or_default();
            let of_trait = object.text("trait").unwrap_or_default();
            Ok(Line::Function(FunctionLine { file, path, line, col, end_line, end_col, kind, of_trait }))
        } else if object.number("loop").is_some() {
            Ok(Line::Loop(LoopLine { file: file_id("loop")?, at: place("at")?, end: place("end")? }))
        } else if object.number("branch").is_some() {
            let (at, end, past) = (place("at")?, place("end")?, place("past")?);
            Ok(Line::Branch(BranchLine { file: file_id("branch")?, at, end, past }))
        } else {
            let range = |first, length| {
                let Some(room) = object.number(length) else { return Ok(NumberRange::default()) };
                let range = NumberRange { first: number(first)?, room };
                range.first.checked_add(room).map(|_| range).ok_or(MapError::Field(length))
            };
            let (numbers, values) = (range("first", "room")?, range("values", "value_room")?);
            let (file, path, base) = (file_id("file")?, text("path")?, number("base")?);
            let source = object.text("source").map(|hash| u64::from_str_radix(hash.raw(), 16));
            let source = source.transpose().map_err(|_| MapError::Field("source"))?;
            let skipped = object.text("skipped").unwrap_or_default();
            let derived = object.text("derived").unwrap_or_default();
            let priorities = object.text("priorities").unwrap_or_default();
            let line = FileLine { file, path, base, numbers, values, source, skipped, derived, priorities };
            Ok(Line::File(line))
        }
    }
}

impl fmt::Display for Line<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Head(Head { version, hash, root, tool, mains }) => {
                write!(f, r#"{{"xhist":"map","version":{version},"hash":"{hash:016x}","root":"{root}""#)?;
                write!(f, r#","tool":"{tool}""#)?;
                if !mains.is_empty() {
                    write!(f, r#","mains":"{mains}""#)?;
                }
                f.write_str("}")
            }
            Line::File(file) => {
                write!(f, r#"{{"file":{},"path":"{}","base":{}"#, file.file, file.path, file.base)?;
                let NumberRange { first, room } = file.numbers;
                if room > 0 {
                    write!(f, r#","first":{first},"room":{room}"#)?;
                }
                let NumberRange { first, room } = file.values;
                if room > 0 {
                    write!(f, r#","values":{first},"value_room":{room}"#)?;
                }
                if let Some(source) = file.source {
                    write!(f, r#","source":"{source:016x}""#)?;
                }
                if !file.skipped.is_empty() {
                    write!(f, r#","skipped":"{}""#, file.skipped)?;
                }
                if !file.derived.is_empty() {
                    write!(f, r#","derived":"{}""#, file.derived)?;
                }
                if !file.priorities.is_empty() {
                    write!(f, r#","priorities":"{}""#, file.priorities)?;
                }
                f.write_str("}")
            }
            Line::Value(value) => value.fmt(f),
            Line::Function(function) => {
                let FunctionLine { file, path, line, col, end_line, end_col, kind, of_trait } = function;
                write!(
                    f,
                    r#"{{"fn":{file},"path":"{path}","at":"{line}:{col}","end":"{end_line}:{end_col}""#
                )?;
                if let Some(kind) = kind.name() {
                    write!(f, r#","kind":"{kind}""#)?;
                }
                if !of_trait.is_empty() {
                    write!(f, r#","trait":"{of_trait}""#)?;
                }
                f.write_str("}")
            }
            Line::Loop(LoopLine { file, at: (line, col), end: (end_line, end_col) }) => {
                write!(f, r#"{{"loop":{file},"at":"{line}:{col}","end":"{end_line}:{end_col}"}}"#)
            }
            Line::Branch(BranchLine { file, at, end, past }) => {
                let ((line, col), (end_line, end_col), (past_line, past_col)) = (at, end, past);
                write!(f, r#"{{"branch":{file},"at":"{line}:{col}","end":"{end_line}:{end_col}","#)?;
                write!(f, r#""past":"{past_line}:{past_col}"}}"#)
            }
            Line::Stmt(stmt) => {
                let StmtLine { file, line, col, end_line, end_col, kind, function, .. } = stmt;
                let StmtLine { text, calls, jump, awaits, recorded, .. } = stmt;
                let awaits = if *awaits { r#","await":true"# } else { "" };
                let silent = if *recorded { "" } else { r#","silent":true"# };
                write!(f, r#"{{"stmt":{file},"line":{line},"col":{col},"end":"{end_line}:{end_col}","#)?;
                write!(f, r#""kind":"{kind}","fn":"{function}""#)?;
                if *text != 0 {
                    write!(f, r#","text":{text}"#)?;
                }
                if !calls.is_empty() {
                    write!(f, r#","calls":"{calls}""#)?;
                }
                if let Some(jump) = jump {
                    write!(f, r#","jump":"{}""#, jump.name())?;
                }
                write!(f, "{awaits}{silent}}}")
            }
        }
    }
}

/// FNV-1a, 64 bits: the hash that connects a program to its map.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u64);

impl Hash {
    /// The hash of no bytes.
    pub const fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The hash of all bytes so far.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Hash {
    fn default() -> Hash {
        Hash::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn lines_round_trip() {
        for line in [
            r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/a \"b\"","tool":"0.1.0"}"#,
            r#"{"file":3,"path":"src/é\\x.rs","base":65535}"#,
            r#"{"file":3,"path":"a.rs","base":0,"first":101,"room":51}"#,
            r#"{"file":3,"path":"a.rs","base":0,"values":7,"value_room":5}"#,
            r#"{"file":3,"path":"a.rs","base":0,"first":101,"room":51,"source":"0000000000000abc"}"#,
            r#"{"file":3,"path":"a.rs","base":0,"first":101,"room":51,"values":7,"value_room":5}"#,
            r#"{"value":3,"line":26,"col":9,"name":"len","kind":"let","fn":"f"}"#,
            r#"{"value":3,"line":26,"col":9,"name":"r#type","kind":"param","fn":"A::g","text":true,"generic":true}"#,
            r#"{"fn":3,"path":"<A as B<'_>>::f","at":"69999:3","end":"70002:4"}"#,
            r#"{"fn":3,"path":"A::drop","at":"1:3","end":"2:4","trait":"Drop"}"#,
            r#"{"fn":3,"path":"f","at":"1:3","end":"2:4","kind":"asyncfn"}"#,
            r#"{"fn":3,"path":"f","at":"1:3","end":"2:4","kind":"closure"}"#,
            r#"{"fn":3,"path":"f","at":"1:3","end":"2:4","kind":"asyncclosure"}"#,
            r#"{"fn":3,"path":"f","at":"1:3","end":"2:4","kind":"async"}"#,
            r#"{"loop":3,"at":"1:3","end":"2:4"}"#,
            r#"{"branch":3,"at":"1:3","end":"2:4","past":"70000:1"}"#,
            r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"let","fn":"f","text":7,"calls":"f A::g *.m p!","jump":"panic"}"#,
            r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"arm","fn":"f","jump":"return","await":true}"#,
            r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"arm","fn":"f","jump":"break"}"#,
            r#"{"file":3,"path":"a.rs","base":0,"source":"0123456789abcdef","skipped":"1-2 const fn","derived":"Eq:A,B"}"#,
            r#"{"file":3,"path":"a.rs","base":0,"priorities":"GPIOA:3 SSI0:1"}"#,
            r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"arm","fn":"f","jump":"continue"}"#,
            r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"expr","fn":"f","await":true}"#,
            r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"expr","fn":"f","await":true,"silent":true}"#,
            r#"{"stmt":3,"line":70000,"col":5,"end":"70001:10","kind":"let","fn":"<A as B<'_>>::f"}"#,
        ] {
            assert_eq!(Line::parse(line).unwrap().to_string(), line);
        }
    }

    #[test]
    fn plain_text_is_escaped_and_read_back() {
        let path = "a\"b\\c\n\u{1}é.rs";
        let line =
            Line::File(FileLine { file: 1, path: Text::plain(path), ..FileLine::default() }).to_string();
        assert_eq!(line, "{\"file\":1,\"path\":\"a\\\"b\\\\c\\n\\u0001é.rs\",\"base\":0}");
        let Line::File(read) = Line::parse(&line).unwrap() else { panic!("not a file line") };
        assert_eq!(read.path.chars().collect::<String>(), path);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap()["path"], path);
    }

    #[test]
    fn unknown_fields_and_spaces_are_passed_over() {
        let line =
            r#" { "new" : [1, {"x":"]}"}, true, null], "file": 3 , "path":"a", "base": 0, "z":-1.5e3 } "#;
        let Ok(Line::File(read)) = Line::parse(line) else { panic!("not a file line") };
        assert_eq!((read.file, read.path.raw()), (3, "a"));
    }

    #[test]
    fn lines_of_a_later_tool_are_read() {
        let line = r#"{"fn":3,"path":"f","at":"1:3","end":"2:4","kind":"generator","new":1}"#;
        let Ok(Line::Function(function)) = Line::parse(line) else { panic!("not a function") };
        assert_eq!((function.kind, function.of_trait), (BodyKind::Function, Text::default()));
        let line = r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"let","fn":"f","jump":"yield"}"#;
        let Ok(Line::Stmt(stmt)) = Line::parse(line) else { panic!("not a statement") };
        assert_eq!((stmt.calls, stmt.jump), (Text::default(), None));
    }

    #[test]
    fn a_program_is_of_a_map_whose_hash_or_main_it_carries() {
        let line = r#"{"xhist":"map","version":3,"hash":"00000000000000aa","root":"/r","tool":"0","mains":"1:00000000000000bb 4:00000000000000cc x 5:"}"#;
        let Ok(Line::Head(head)) = Line::parse(line) else { panic!("not a head") };
        assert!(head.mains().eq([(1, 0xBB), (4, 0xCC)]));
        assert_eq!([0xAA, 0xBB, 0xCC, 4].map(|hash| head.may_be_of(hash)), [true, true, true, false]);
        assert_eq!(Line::Head(head).to_string(), line);
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        assert_eq!(Line::parse(""), Err(MapError::Syntax));
        assert_eq!(Line::parse("{\"file\":3"), Err(MapError::Syntax));
        assert_eq!(Line::parse(r#"{"file":70000,"path":"a","base":0}"#), Err(MapError::Field("file")));
        assert_eq!(Line::parse(r#"{"file":1,"base":0}"#), Err(MapError::Field("path")));
        let room = r#"{"file":1,"path":"a","base":0,"room":5}"#;
        assert_eq!(Line::parse(room), Err(MapError::Field("first")));
        let place = r#"{"fn":1,"path":"f","at":"7","end":"8:1"}"#;
        assert_eq!(Line::parse(place), Err(MapError::Field("at")));
        let beyond = r#"{"file":1,"path":"a","base":0,"first":4294967295,"room":1}"#;
        assert_eq!(Line::parse(beyond), Err(MapError::Field("room")));
        let room = r#"{"file":1,"path":"a","base":0,"values":4294967295,"value_room":1}"#;
        assert_eq!(Line::parse(room), Err(MapError::Field("value_room")));
        let nameless = r#"{"value":3,"line":26,"col":9,"kind":"let","fn":"f"}"#;
        assert_eq!(Line::parse(nameless), Err(MapError::Field("name")));
        let values = r#"{"xhist":"map","version":4,"hash":"0","root":"","tool":""}"#;
        assert!(matches!(Line::parse(values), Ok(Line::Head(Head { version: 4, .. }))));
        for version in [1, 2, 5] {
            let other = values.replace("4", &version.to_string());
            assert_eq!(Line::parse(&other), Err(MapError::Version(version)));
        }
        let source = r#"{"file":1,"path":"a","base":0,"source":"text"}"#;
        assert_eq!(Line::parse(source), Err(MapError::Field("source")));
        let past = r#"{"branch":1,"at":"7:1","end":"8:1"}"#;
        assert_eq!(Line::parse(past), Err(MapError::Field("past")));
    }

    #[test]
    fn fnv_matches_the_published_vector() {
        let mut hash = Hash::new();
        hash.update(b"foobar");
        assert_eq!(hash.finish(), 0x8594_4171_f739_67e8);
    }
}
