//! The files of a program by the paths that the compiler names: where a panic was, and which statements its frames are at.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use qs_core::record::{MOST_FRAMES, Statement};

use super::{CodeBody, CodePlace, LocatedPanic, Names, PanicPlace, Span, short_path};

/// A recorded or a known statement around a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameStatement {
    /// The first id of its file.
    pub file: u16,
    /// From where to where.
    pub span: Span,
    /// As it is recorded, if it is.
    pub recorded: Option<Statement>,
}

/// Whether a panic came from the statement with this place.
pub fn comes_from(place: &CodePlace, (file, span): (u16, Span), names: &Names) -> bool {
    // A statement that the map does not know has no last line.
    let lines = span.line..=span.end_line.max(span.line);
    lines.contains(&place.line) && names.path(file).is_some_and(|path| place.is_in(path))
}

/// `panicked here`; or the line that the message or the innermost frame names, if the newest statement of the thread is not there.
/// Without frames that may be code of others, which the newest statement need not have called.
pub fn panic_text(panic: &LocatedPanic, newest: Option<(u16, Span)>, names: &Names) -> String {
    let files = ProgramFiles::of(names);
    let other = |place: &Option<CodePlace>| {
        let place =
            place.as_ref().filter(|place| newest.is_some_and(|newest| !comes_from(place, newest, names)))?;
        let known = files.file(&place.path).and_then(|file| names.shown_path(file)).map(str::to_owned);
        let path = known.clone().unwrap_or_else(|| short_path(&place.path).0);
        Some((known.is_some(), format!("{path}:{}", place.line)))
    };
    match (other(&panic.named), other(&panic.innermost)) {
        (Some((true, named)), _) => format!("panicked; its message names {named}"),
        (_, Some((_, innermost))) => format!("panicked at {innermost}"),
        (Some((false, named)), None) if panic.innermost.is_none() => {
            format!("panicked; its message names {named}")
        }
        _ => "panicked here".to_owned(),
    }
}

/// The files of a program, by the paths that a compiler may name them by.
#[derive(Debug)]
pub struct ProgramFiles<'n> {
    names: &'n Names,
    root: &'n Path,
    by_path: HashMap<PathBuf, u16>,
    /// Directories of packages' sources, up to the last `src` of a path.
    trees: Vec<PathBuf>,
}

impl<'n> ProgramFiles<'n> {
    /// Those of a map.
    pub fn of(names: &'n Names) -> ProgramFiles<'n> {
        let root = Path::new(&names.root);
        // A path of many lines has several ids; the first one has the statements.
        let mut by_path = HashMap::new();
        names.paths().for_each(|(file, path)| {
            by_path.entry(plain(root, path)).or_insert(file);
        });
        let recorded = by_path.iter().filter(|(_, file)| !names.statements(**file).is_empty());
        let mut trees: Vec<PathBuf> = recorded.filter_map(|(path, _)| tree(path)).collect();
        trees.sort_unstable();
        trees.dedup();
        ProgramFiles { names, root, by_path, trees }
    }

    /// A panic with the lines of its frames, innermost first.
    pub fn locate(&self, panic: &PanicPlace, frames: &[CodePlace]) -> LocatedPanic {
        let around = |frame: &CodePlace| self.function_around(frame).map(|(_, body)| body.span);
        let is_own = |frame: &&CodePlace| self.statement(frame).is_some() || around(frame).is_some();
        let innermost = frames.iter().find(is_own).cloned();
        let within = innermost.as_ref().and_then(around).map(|span| span.line..=span.end_line);
        let is_there = |frame: &&CodePlace| Some(*frame) == innermost.as_ref();
        let frames = frames.iter().filter(is_there).count();
        LocatedPanic { named: panic.at.clone(), innermost, within, frames }
    }

    /// The function around a line that is of no statement, such as one that ends a scope, where values are dropped. Its first file
    /// id as well. `None` if the line is not recorded.
    pub fn function_around(&self, place: &CodePlace) -> Option<(u16, &'n CodeBody)> {
        let file = self.file(&place.path)?;
        if self.statement_in(file, place.line).is_some() || self.skips(file, place.line) {
            return None;
        }
        let around = self.bodies(file).filter(|body| body.span.has_line(place.line));
        Some((file, around.max_by_key(|body| (body.span.line, body.span.col))?))
    }

    /// The innermost statement around a line of a frame.
    pub fn statement(&self, place: &CodePlace) -> Option<FrameStatement> {
        self.statement_in(self.file(&place.path)?, place.line)
    }

    /// Whether a panic came when all recorded calls had returned: its frames are known, and all of them are in other code, as
    /// that of a test framework which calls a function and then fails by itself. `frames`: the lines of all frames.
    pub fn is_outside(&self, panic: &PanicPlace, frames: &[CodePlace]) -> bool {
        let is_own = |CodePlace { path, line }: &CodePlace| match self.file(path) {
            Some(file) => {
                self.bodies(file).any(|body| body.span.has_line(*line))
                    || self.statement_in(file, *line).is_some()
                    || self.skips(file, *line)
            }
            None => self.unknown_own(path).is_some(),
        };
        has_lines(frames) && panic.frames.len() < MOST_FRAMES && !frames.iter().any(is_own)
    }

    fn bodies(&self, file: u16) -> impl Iterator<Item = &'n CodeBody> + use<'n> {
        self.names.code(file).into_iter().flat_map(|code| &code.bodies)
    }

    /// Whether a line has code that is not recorded.
    fn skips(&self, file: u16, line: u32) -> bool {
        self.names.skipped(file).any(|lines| (lines.first..=lines.last).contains(&line))
    }

    /// The file with this path.
    pub(crate) fn file(&self, path: &str) -> Option<u16> {
        self.by_path.get(&plain(self.root, path)).copied()
    }

    pub(crate) fn statement_in(&self, file: u16, line: u32) -> Option<FrameStatement> {
        let statements = self.names.described(file).zip(self.names.statements(file));
        let around = statements.filter(|(_, span)| span.has_line(line));
        let (statement, span) = around.max_by_key(|(_, span)| span.line)?;
        Some(FrameStatement { file, span: *span, recorded: statement.numbered })
    }

    /// The path as a listing names it, of a file of the program's packages that the map does not have.
    pub(crate) fn unknown_own(&self, path: &str) -> Option<String> {
        let path = plain(self.root, path);
        let is_own = tree(&path).is_some_and(|tree| self.trees.binary_search(&tree).is_ok());
        is_own.then(|| path.strip_prefix(self.root).unwrap_or(&path).to_string_lossy().into_owned())
    }
}

/// An absolute path without `.` and `..`.
fn plain(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// Whether frames have lines of the program. The standard library always has lines, also where the program has none.
pub fn has_lines(frames: &[CodePlace]) -> bool {
    frames.iter().any(|frame| !is_of_std(&frame.path))
}

/// Whether a path is of the standard library's sources.
fn is_of_std(path: &str) -> bool {
    path.starts_with("/rustc/") || path.contains("/rustlib/src/rust/")
}

/// The directory of the sources of a file's package.
fn tree(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|dir| dir.ends_with("src")).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_frame_may_be_where_a_scope_ends() {
        let map = br#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"src/a.rs","base":0,"first":1,"room":9,"skipped":"20-29 const fn"}
{"fn":1,"path":"f","at":"1:1","end":"9:2"}
{"fn":1,"path":"g","at":"20:1","end":"29:2"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"f"}
"#;
        let names = Names::parse(map);
        let files = ProgramFiles::of(&names);
        let place = |line| CodePlace { path: "src/a.rs".to_owned(), line };
        let located = |lines: &[u32]| {
            let frames: Vec<CodePlace> = lines.iter().map(|line| place(*line)).collect();
            let located = files.locate(&PanicPlace::default(), &frames);
            (located.innermost.map(|innermost| innermost.line), located.within, located.frames)
        };
        assert_eq!(located(&[40, 9, 2, 9]), (Some(9), Some(1..=9), 2), "what `f` dropped at its end");
        assert_eq!(located(&[2, 9]), (Some(2), None, 1));
        assert_eq!(located(&[29, 2]), (Some(2), None, 1), "`g` is not recorded");
        assert_eq!(located(&[40]), (None, None, 0));
    }
}
