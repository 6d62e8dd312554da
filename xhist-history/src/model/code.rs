//! The structure of a file's code, as its map describes it: bodies, loops, branches, and what each statement calls.

use std::collections::HashMap;
use std::ops::Range;

pub use qs_core::map::{BodyKind, Jump};
use qs_core::map::{Line, StmtLine};

use super::visible;

/// The place of a statement in its file, all counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Line it starts in.
    pub line: u32,
    /// Column of its first character.
    pub col: u32,
    /// Line it ends in.
    pub end_line: u32,
    /// Column behind its last character.
    pub end_col: u32,
}

impl Span {
    /// Whether it has text in a line.
    pub fn has_line(&self, line: u32) -> bool {
        (self.line..=self.end_line).contains(&line)
    }

    /// Whether another place lies in this one.
    pub fn contains(&self, inner: &Span) -> bool {
        (self.line, self.col) <= (inner.line, inner.col)
            && (inner.end_line, inner.end_col) <= (self.end_line, self.end_col)
    }
}

/// The structure of one file.
#[derive(Clone, Debug, Default)]
pub struct FileCode {
    /// Functions, closures and async blocks.
    pub bodies: Vec<CodeBody>,
    /// `for`, `while` and `loop`.
    pub loops: Vec<Span>,
    /// Branches, each with the end of its `if` or `match`.
    pub branches: Vec<(Span, (u32, u32))>,
    /// What is known of each statement, in the order of [`super::Names::statements`].
    pub statements: Vec<CodeStatement>,
}

/// A function, a closure or an async block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBody {
    /// Path of the function, or of the function around it; printable.
    pub path: String,
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: BodyKind,
    /// The trait that it implements; empty for none.
    pub of_trait: String,
}

/// A statement beside its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeStatement {
    /// A sum of its text; 0 = not known.
    pub text: u32,
    /// What its own text calls, in [`CallNames`].
    pub calls: Range<u32>,
    /// How it leaves the text around it.
    pub jump: Option<Jump>,
    /// It has an `.await` of its own body.
    pub awaits: bool,
    /// It is a `let`.
    pub binds: bool,
}

/// A name in the list of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallName {
    /// Index of the name.
    pub name: u32,
    /// One execution of the statement may repeat the call.
    pub repeats: bool,
}

/// The names of calls of a map, each once.
#[derive(Clone, Debug, Default)]
pub struct CallNames {
    names: Vec<String>,
    ids: HashMap<String, u32>,
    calls: Vec<CallName>,
}

impl CallNames {
    /// Adds the list of a statement.
    fn add(&mut self, list: &str) -> Range<u32> {
        let start = self.calls.len() as u32;
        for name in list.split_ascii_whitespace() {
            let (repeats, name) = name.strip_prefix('*').map_or((false, name), |name| (true, name));
            let name = match self.ids.get(name) {
                Some(id) => *id,
                None => {
                    let id = self.names.len() as u32;
                    self.names.push(name.to_owned());
                    self.ids.insert(name.to_owned(), id);
                    id
                }
            };
            self.calls.push(CallName { name, repeats });
        }
        start..self.calls.len() as u32
    }

    /// The names, by their index.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The list of a statement.
    pub fn of(&self, calls: &Range<u32>) -> &[CallName] {
        self.calls.get(calls.start as usize..calls.end as usize).unwrap_or_default()
    }
}

impl FileCode {
    /// Adds a line of the file.
    pub(super) fn add(&mut self, line: &Line<'_>, names: &mut CallNames) {
        let span = |(line, col), (end_line, end_col)| Span { line, col, end_line, end_col };
        match *line {
            Line::Function(body) => self.bodies.push(CodeBody {
                path: visible(&body.path.chars().collect::<String>()).into_owned(),
                span: span((body.line, body.col), (body.end_line, body.end_col)),
                kind: body.kind,
                of_trait: body.of_trait.chars().collect(),
            }),
            Line::Loop(line) => self.loops.push(span(line.at, line.end)),
            Line::Branch(line) => self.branches.push((span(line.at, line.end), line.past)),
            Line::Stmt(StmtLine { text, kind, calls, jump, awaits, .. }) => {
                let (calls, binds) = (names.add(calls.raw()), kind.raw() == "let");
                self.statements.push(CodeStatement { text, calls, jump, awaits, binds });
            }
            Line::Head(_) | Line::File(_) | Line::Value(_) => {}
        }
    }
}
