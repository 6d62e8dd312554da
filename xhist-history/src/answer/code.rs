//! The code that a history ran through, as a listing names it: paths, packages, functions.

use std::collections::HashMap;
use std::sync::Arc;

use qs_core::record::Statement;

use crate::calls::{BodyId, CallStack, Handler, StatementId, Structure, ThreadEntry};
use crate::model::{Names, Place, Span};

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
            let (path, package) = shortened(names.shown_path(file).unwrap_or_default());
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

/// The package of a file among cargo's sources of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryPackage<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its version, if the directory has one.
    pub version: Option<&'p str>,
    /// The path of the file from the package's directory on.
    file: &'p str,
}

impl<'p> RegistryPackage<'p> {
    /// `None` for a file that is elsewhere.
    pub fn of(path: &'p str) -> Option<RegistryPackage<'p>> {
        let (_, file) = path.split_once("/registry/src/")?.1.split_once('/')?;
        let (directory, _) = file.split_once('/')?;
        let is_version = |at: &usize| directory[at + 1..].starts_with(|char: char| char.is_ascii_digit());
        let at = directory.match_indices('-').map(|(at, _)| at).find(is_version);
        let (name, version) =
            at.map_or((directory, None), |at| (&directory[..at], Some(&directory[at + 1..])));
        Some(RegistryPackage { name, version, file })
    }
}

/// A path in cargo's directories, without those: `tokio-1.54.1/src/sync.rs`; and the package: `tokio 1.54.1`.
pub(super) fn shortened(path: &str) -> (String, Option<String>) {
    let own = || (path.to_owned(), None);
    if let Some(package) = RegistryPackage::of(path) {
        let name = match package.version {
            Some(version) => format!("{} {version}", package.name),
            None => package.name.to_owned(),
        };
        return (package.file.to_owned(), Some(name));
    }
    let Some((_, rest)) = path.split_once("/git/checkouts/") else { return own() };
    let mut parts = rest.splitn(3, '/');
    let (Some(checkout), Some(revision), Some(inside)) = (parts.next(), parts.next(), parts.next()) else {
        return own();
    };
    // The name of a checkout ends in a hash.
    let name = checkout.rsplit_once('-').map_or(checkout, |(name, _)| name);
    (format!("{name}-{revision}/{inside}"), Some(format!("{name} {revision}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_packages_are_shortened() {
        let registry = "/home/a/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
        let short = |path: &str| {
            let (path, package) = shortened(path);
            format!("{path} of {}", package.unwrap_or_default())
        };
        assert_eq!(
            short(&format!("{registry}/tokio-1.54.1/src/a.rs")),
            "tokio-1.54.1/src/a.rs of tokio 1.54.1"
        );
        assert_eq!(
            short(&format!("{registry}/rand-core-0.9.0-rc-1/src/a.rs")),
            "rand-core-0.9.0-rc-1/src/a.rs of rand-core 0.9.0-rc-1"
        );
        assert_eq!(
            short("/c/git/checkouts/a-b-0f1e2d/9c8b7a6/b/src/l.rs"),
            "a-b-9c8b7a6/b/src/l.rs of a-b 9c8b7a6"
        );
        assert_eq!(short("src/registry.rs"), "src/registry.rs of ");
    }
}
