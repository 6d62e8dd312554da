//! The code that a history ran through, as a listing names it: paths, packages, functions.

use std::collections::HashMap;
use std::sync::Arc;

use qs_core::record::Statement;

use crate::calls::{BodyId, CallStack, Handler, StatementId, Structure, ThreadEntry};
use crate::model::{Names, Place, Span, short_path};

/// A statement of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListedStatement {
    /// It is in the map.
    Known(StatementId),
    /// No map has it.
    Unknown {
        /// The id of its file.
        file: u16,
        /// Its line.
        line: u32,
    },
}

/// Statements and functions of a build.
#[derive(Debug)]
pub struct Code {
    structure: Arc<Structure>,
    files: HashMap<u16, ListedFile>,
    /// Functions of maps of version 1, by the place of a statement.
    functions: HashMap<(u16, u32, u32), String>,
}

/// A file.
#[derive(Debug)]
struct ListedFile {
    /// `src/main.rs`, or `tokio-1.54.1/src/sync.rs`.
    path: String,
    /// The package of another project that it is from: `tokio 1.54.1`.
    package: Option<String>,
}

impl Code {
    /// The code of a map.
    pub fn of(names: &Names) -> Code {
        let files = names.paths().map(|(file, _)| {
            let (path, package) = short_path(names.shown_path(file).unwrap_or_default());
            (file, ListedFile { path, package })
        });
        let without_bodies =
            names.files().filter(|file| names.code(*file).is_none_or(|code| code.bodies.is_empty()));
        let functions = without_bodies.flat_map(|file| {
            let spans = names.statements(file).iter();
            spans
                .zip(names.described(file))
                .map(move |(span, described)| ((file, span.line, span.col), described.function.to_owned()))
        });
        Code {
            structure: Arc::new(Structure::of(names)),
            files: files.collect(),
            functions: functions.collect(),
        }
    }

    /// The stack of a thread of this build, at its first entry.
    pub fn stack(&self) -> CallStack {
        CallStack::new(&self.structure)
    }

    /// The stack takes the next entry. Returns the statement if it is one.
    pub fn follow(
        &self,
        names: &Names,
        stack: &mut CallStack,
        (handler, entry): (Handler, ThreadEntry),
    ) -> Option<ListedStatement> {
        let ThreadEntry::Statement(recorded) = entry else {
            stack.take(handler, entry);
            return None;
        };
        let statement = self.find(names, recorded, stack.newest(handler));
        stack.step(handler, self.call_id(statement));
        Some(statement)
    }

    /// The statement that a ring recorded; `before` is the one before it.
    pub fn find(&self, names: &Names, recorded: Statement, before: Option<StatementId>) -> ListedStatement {
        let id = self.structure.statement(recorded, before);
        if id != self.structure.unknown() {
            return ListedStatement::Known(id);
        }
        let Place { file, line, .. } = names.place(recorded.file, recorded.line);
        ListedStatement::Unknown { file, line }
    }

    /// What the calls are found by. Where the map has no bodies, nothing shows what called what.
    fn call_id(&self, statement: ListedStatement) -> StatementId {
        match statement {
            ListedStatement::Known(id) if self.function_of(statement).is_some() => id,
            _ => self.structure.unknown(),
        }
    }

    /// The function of a statement.
    pub fn function_of(&self, statement: ListedStatement) -> Option<BodyId> {
        match statement {
            ListedStatement::Known(id) => {
                Some(self.structure.body_of(id)).filter(|body| self.is_function(*body))
            }
            ListedStatement::Unknown { .. } => None,
        }
    }

    /// Whether a body is in the map, and not made up for statements outside all bodies.
    pub fn is_function(&self, body: BodyId) -> bool {
        self.structure.body(body).span.line > 0
    }

    /// The name of the function of a statement; empty if it is not known.
    pub fn name_of(&self, statement: ListedStatement) -> String {
        match self.function_of(statement) {
            Some(function) => self.name(function),
            None => {
                let (file, Span { line, col, .. }) = self.place(statement);
                self.functions.get(&(file, line, col)).cloned().unwrap_or_default()
            }
        }
    }

    /// The name of a function.
    pub fn name(&self, function: BodyId) -> String {
        self.structure.body(function).name()
    }

    /// Whether a function is the body of a rule of a macro.
    pub fn is_macro(&self, function: BodyId) -> bool {
        self.structure.body(function).path.ends_with('!')
    }

    /// Whether a body is that of an `async fn`, block or closure.
    pub fn is_async(&self, body: BodyId) -> bool {
        self.structure.body(body).kind.is_async()
    }

    /// The name of a function without its path.
    pub fn short_name(&self, function: BodyId) -> &str {
        let body = self.structure.body(function);
        if body.kind.is_named() { body.path.rsplit("::").next().unwrap_or(&body.path) } else { "" }
    }

    /// Whether a body is the function of this name, or a closure in it.
    pub fn is_of(&self, body: BodyId, name: &str) -> bool {
        self.structure.body(body).path.rsplit("::").next() == Some(name)
    }

    /// Whether a function has a name of its own.
    pub fn is_named(&self, function: BodyId) -> bool {
        self.structure.body(function).kind.is_named()
    }

    /// Whether a function makes text of a value.
    pub fn is_format(&self, function: BodyId) -> bool {
        self.structure.body(function).formats()
    }

    /// The package of another project that a function is from.
    pub fn package(&self, function: BodyId) -> Option<&str> {
        self.files.get(&self.structure.body(function).file)?.package.as_deref()
    }

    /// The path of a function's file.
    pub fn path(&self, function: BodyId) -> &str {
        self.path_of(self.structure.body(function).file)
    }

    /// The path of a file.
    pub fn path_of(&self, file: u16) -> &str {
        self.files.get(&file).map_or("", |file| file.path.as_str())
    }

    /// The file id and place of a statement.
    pub fn place(&self, statement: ListedStatement) -> (u16, Span) {
        match statement {
            ListedStatement::Known(id) => self.structure.place(id),
            ListedStatement::Unknown { file, line } => {
                (file, Span { line, col: 1, end_line: line, end_col: 1 })
            }
        }
    }

    /// `src/main.rs:7`; `file#3:7` or `statement 7` if there is no map.
    pub fn shown_place(&self, statement: ListedStatement) -> String {
        let (file, Span { line, .. }) = self.place(statement);
        match (self.path_of(file), Place { file, line, path: None }.number()) {
            ("", Some(number)) => format!("statement {number}"),
            ("", None) => format!("file#{file}:{line}"),
            (path, _) => format!("{path}:{line}"),
        }
    }
}
