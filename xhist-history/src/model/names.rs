//! The names in a map: files by id, statements by number, functions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use qs_core::map::numbers::statement;
use qs_core::map::{self, BranchLine, FunctionLine, Hash, Line, LoopLine, MapError, SkippedLines, StmtLine};
use qs_core::record::{Numbers, Statement};
use qs_core::ring;

use super::{CallNames, FileCode, LineRange, Place, Repetition, Span, ValuePlace, visible};

/// The contents of a map that a report needs.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Hash in the map's first line.
    pub hash: Option<u64>,
    /// Hash of the bytes behind the first line.
    pub actual_hash: u64,
    /// Directory that relative paths start from.
    pub root: String,
    /// The project that the map file is in; the root in the map may be any other.
    pub project: Option<PathBuf>,
    /// Directories that may keep the texts of its sources.
    pub kept_texts: Vec<PathBuf>,
    /// Version of the tool that wrote it.
    pub tool: String,
    /// Why its first line cannot be read, if that is one of a tool of another version.
    pub other_version: Option<MapError>,
    /// Lines that could not be read.
    pub bad_lines: Vec<BadLine>,
    /// How many could not be read in all.
    pub bad_line_count: usize,
    /// Index is the file id.
    files: Vec<Option<File>>,
    /// Paths of functions, each once.
    functions: Vec<String>,
    function_ids: HashMap<String, u32>,
    call_names: CallNames,
    /// Index is the number of a statement.
    numbers: Arc<[Option<Statement>]>,
    /// File ids with value sites, by their first number.
    valued: Vec<(map::NumberRange, u16)>,
    /// The place of some numbered statement was asked for, and is not in the map.
    lacks_names: Arc<AtomicBool>,
    /// Statements of firmware in lines without one.
    impossible: Arc<AtomicU64>,
}

/// A value site of a file.
#[derive(Clone, Debug)]
struct ValueSite {
    line: u32,
    col: u32,
    name: String,
    kind: String,
    function: u32,
}

/// A line of a map that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

#[derive(Clone, Debug)]
struct File {
    path: String,
    shown: String,
    base: u32,
    /// The hash of its text.
    source: Option<u64>,
    /// Its lines that run and are not recorded, as the map lists them.
    skipped: String,
    derived: String,
    /// Numbers of its statements, if they have numbers.
    numbers: map::NumberRange,
    places: Vec<Span>,
    /// The function of each of them, and whether it is recorded.
    functions: Vec<(u32, bool)>,
    code: FileCode,
    /// The places of those with an `.await`, as indices.
    awaits: Vec<u32>,
    /// Its value sites, in the order of their numbers.
    values: Vec<ValueSite>,
}

/// A statement, as a map describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapStatement<'a> {
    /// Line that it starts in.
    pub line: u32,
    /// Path of its function; empty if the map has none.
    pub function: &'a str,
    /// The statement as recorded by number; no other statement of the program has this number.
    pub numbered: Option<Statement>,
    /// Whether the program records it.
    pub recorded: bool,
    /// Whether it contains an `.await` of its own body, outside of the statements inside it.
    pub awaits: bool,
}

/// Most bad lines that are reported one by one; a file of another kind has millions.
const BAD_LINES: usize = 5;

impl Names {
    /// Parses a map. Lines that cannot be parsed are noted and skipped.
    pub fn parse(map: &[u8]) -> Names {
        let mut names = Names { actual_hash: body_hash(map), ..Names::default() };
        for (index, line) in map.split(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            match std::str::from_utf8(line) {
                Err(_) => names.bad(index, "not UTF-8".to_owned()),
                Ok(text) => match Line::parse(text) {
                    Ok(line) => names.add(index, &line),
                    Err(error) => {
                        names.bad(index, error.to_string());
                        if matches!(error, MapError::Version(_)) {
                            names.other_version = Some(error);
                        }
                    }
                },
            }
        }
        names.numbers = numbers(&names.files).into();
        names.valued.sort_unstable_by_key(|(range, _)| range.first);
        if names.hash.is_none() {
            names.bad(0, MapError::Field("hash").to_string());
        }
        names
    }

    fn add(&mut self, index: usize, line: &Line<'_>) {
        match line {
            Line::Head(head) if index == 0 => {
                self.hash = Some(head.hash);
                self.root = head.root.chars().collect();
                self.tool = visible(&head.tool.chars().collect::<String>()).into_owned();
            }
            Line::Head(_) => self.bad(index, "a second first line".to_owned()),
            Line::File(file) => {
                let slot = usize::from(file.file);
                if self.files.len() <= slot {
                    self.files.resize(slot + 1, None);
                }
                let path: String = file.path.chars().collect();
                let shown = visible(&path).into_owned();
                match &self.files[slot] {
                    Some(known) if known.path != path => {
                        let reason = format!("file id {slot} is already {}", known.shown);
                        self.bad(index, reason);
                    }
                    _ => {
                        self.files[slot] = Some(File {
                            path,
                            shown,
                            base: file.base,
                            source: file.source,
                            skipped: file.skipped.chars().collect(),
                            derived: file.derived.chars().collect(),
                            numbers: file.numbers,
                            places: Vec::new(),
                            functions: Vec::new(),
                            code: FileCode::default(),
                            awaits: Vec::new(),
                            values: Vec::new(),
                        });
                        if file.values.room > 0 {
                            self.valued.push((file.values, file.file));
                        }
                    }
                }
            }
            Line::Function(FunctionLine { file, .. })
            | Line::Loop(LoopLine { file, .. })
            | Line::Branch(BranchLine { file, .. }) => match self.files.get_mut(usize::from(*file)) {
                Some(Some(file)) => file.code.add(line, &mut self.call_names),
                _ => self.bad(index, "a body, loop or branch without its file".to_owned()),
            },
            Line::Value(value) => {
                let function = self.function(value.function.chars().collect());
                let Some(Some(file)) = self.files.get_mut(usize::from(value.file)) else {
                    return self.bad(index, "a value without its file".to_owned());
                };
                let shown = |text: map::Text<'_>| visible(&text.chars().collect::<String>()).into_owned();
                let (name, kind) = (shown(value.name), shown(value.kind));
                file.values.push(ValueSite { line: value.line, col: value.col, name, kind, function });
            }
            Line::Stmt(stmt) => {
                let Some(Some(file)) = self.files.get_mut(usize::from(stmt.file)) else {
                    return self.bad(index, "a statement without its file".to_owned());
                };
                file.code.add(line, &mut self.call_names);
                let StmtLine { line, col, end_line, end_col, recorded, awaits, .. } = *stmt;
                if awaits {
                    file.awaits.push(file.places.len() as u32);
                }
                file.places.push(Span { line, col, end_line, end_col });
                let id = self.function(stmt.function.chars().collect());
                if let Some(Some(file)) = self.files.get_mut(usize::from(stmt.file)) {
                    file.functions.push((id, recorded));
                }
            }
        }
    }

    /// The number of a function's path.
    fn function(&mut self, path: String) -> u32 {
        let next = self.functions.len() as u32;
        *self.function_ids.entry(path).or_insert_with_key(|path| {
            self.functions.push(visible(path).into_owned());
            next
        })
    }

    fn bad(&mut self, index: usize, reason: String) {
        self.bad_line_count += 1;
        if self.bad_lines.len() < BAD_LINES {
            self.bad_lines.push(BadLine { line: index + 1, reason });
        }
    }

    /// The statements by number.
    pub fn numbers(&self) -> &Arc<[Option<Statement>]> {
        &self.numbers
    }

    /// The place of a recorded statement.
    pub fn place(&self, file: u16, line: u16) -> Place<'_> {
        let Statement { file, line } = Numbers::new(&self.numbers).resolve(Statement { file, line });
        match self.file(file) {
            Some(known) => {
                Place { file, line: known.base.saturating_add(u32::from(line)), path: Some(&known.shown) }
            }
            None => {
                if file == Statement::NUMBERED {
                    self.lacks_names.store(true, Ordering::Relaxed);
                }
                Place { file, line: u32::from(line), path: None }
            }
        }
    }

    /// Whether [`Names::place`] was asked for a numbered statement that is not in the map.
    pub fn lacks_names(&self) -> bool {
        self.lacks_names.load(Ordering::Relaxed)
    }

    /// Checks that a file has a statement in a line, if the map has any statement of the file, and counts those that are not.
    pub fn check_line(&self, Statement { file, line }: Statement) {
        let Some((known, first)) = self.file(file).zip(self.first(file)) else { return };
        let line = known.base.saturating_add(u32::from(line));
        let at = first.places.partition_point(|span| span.line < line);
        if !first.places.is_empty() && first.places.get(at).is_none_or(|span| span.line != line) {
            self.impossible.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many statements [`Names::check_line`] found to be impossible.
    pub fn impossible(&self) -> u64 {
        self.impossible.load(Ordering::Relaxed)
    }

    /// The place of a recorded value.
    pub fn value(&self, number: u32) -> Option<ValuePlace<'_>> {
        let index = self.valued.partition_point(|(range, _)| range.first <= number).checked_sub(1)?;
        let (range, file) = self.valued[index];
        let site = self.file(file)?.values.get(range.ordinal(number)?)?;
        let ValueSite { line, col, name, kind, function } = site;
        let function = self.functions.get(*function as usize).map_or("", String::as_str);
        Some(ValuePlace { file, line: *line, col: *col, name, kind, function })
    }

    /// Whether a value is bound in a statement that begins in this line, or is a parameter of its function.
    pub fn is_bound_at(&self, value: &ValuePlace<'_>, file: u16, line: u32) -> bool {
        let Some(known) = self.first(file) else { return false };
        if self.first(value.file).is_none_or(|other| other.path != known.path) {
            return false;
        }
        let in_line = known.places.partition_point(|span| span.line < line);
        let at = (value.line, value.col);
        let of_line = known.places.iter().zip(&known.functions).skip(in_line);
        of_line.take_while(|(span, _)| span.line == line).any(|(span, (function, _))| {
            let is_inside = (span.line, span.col) <= at && at <= (span.end_line, span.end_col);
            let is_same = self.functions.get(*function as usize).is_some_and(|path| path == value.function);
            is_inside || value.kind == "param" && is_same && value.line <= line
        })
    }

    /// A repetition of statements, with names.
    pub fn repetition(&self, again: &ring::Repetition) -> Repetition {
        let again = &again.resolve(Numbers::new(&self.numbers));
        let name = |Statement { file, line }| {
            let place = self.place(file, line);
            (place.path.map_or_else(|| Cow::Owned(format!("file#{file}")), Cow::Borrowed), place.line)
        };
        let lines = |place: &ring::LineRange| {
            let first = self.place(place.file, place.first);
            let last = self.place(place.file, place.last).line;
            LineRange { file: place.file, path: first.path.map(str::to_owned), first: first.line, last }
        };
        Repetition {
            statements: again.statements,
            times: again.times,
            rounds: again.iterations(),
            places: again.places().iter().map(lines).collect(),
            text: again.show(name).to_string(),
        }
    }

    /// Adds the name of a file that a target sent.
    pub fn add_path(&mut self, file: u16, path: &str) {
        let slot = usize::from(file);
        if self.files.len() <= slot {
            self.files.resize(slot + 1, None);
        }
        let shown = visible(path).into_owned();
        let (places, functions, code) = (Vec::new(), Vec::new(), FileCode::default());
        self.files[slot] = Some(File {
            path: path.to_owned(),
            shown,
            base: 0,
            source: None,
            skipped: String::new(),
            derived: String::new(),
            numbers: map::NumberRange::default(),
            places,
            functions,
            code,
            awaits: Vec::new(),
            values: Vec::new(),
        });
    }

    /// Every file id and its path.
    pub fn paths(&self) -> impl Iterator<Item = (u16, &str)> {
        let files = self.files.iter().enumerate();
        files.filter_map(|(id, file)| Some((id as u16, file.as_ref()?.path.as_str())))
    }

    /// Path of a file as the map has it, to open it.
    pub fn path(&self, file: u16) -> Option<&str> {
        self.file(file).map(|file| file.path.as_str())
    }

    /// Path of a file, printable.
    pub fn shown_path(&self, file: u16) -> Option<&str> {
        self.file(file).map(|file| file.shown.as_str())
    }

    /// The hash of a file's text without inserted calls, if the map has it; `file` may be any of its ids.
    pub fn source(&self, file: u16) -> Option<u64> {
        self.first(file)?.source
    }

    /// Derived traits of a file, each with a type in the fields of its types; `file` may be any of its ids.
    pub fn derived(&self, file: u16) -> impl Iterator<Item = (&str, &str)> {
        map::derived::pairs(self.first(file).map_or("", |file| &file.derived))
    }

    /// The lines of a file that run and are not recorded; `file` may be any of its ids.
    pub fn skipped(&self, file: u16) -> impl Iterator<Item = SkippedLines<'_>> {
        SkippedLines::list(self.first(file).map_or("", |file| &file.skipped))
    }

    /// The places of the statements of a file; `file` may be any of its ids.
    pub fn statements(&self, file: u16) -> &[Span] {
        self.first(file).map_or(&[], |file| &file.places)
    }

    /// The entry of the file's first id, which has the statements.
    fn first(&self, file: u16) -> Option<&File> {
        let known = self.file(file)?;
        let is_first = |other: &&File| other.base == 0 && other.path == known.path;
        if known.base == 0 { Some(known) } else { self.files.iter().flatten().find(is_first) }
    }

    /// The statements of a file; `file` may be any of its ids.
    pub fn described(&self, file: u16) -> impl Iterator<Item = MapStatement<'_>> {
        self.first(file).into_iter().flat_map(|known| {
            known.places.iter().zip(&known.functions).enumerate().map(|(ordinal, (span, (id, recorded)))| {
                let function = self.functions.get(*id as usize).map_or("", String::as_str);
                let number = known.numbers.number(ordinal).and_then(|number| u16::try_from(number).ok());
                let numbered = number.map(Statement::numbered);
                let awaits = known.awaits.binary_search(&(ordinal as u32)).is_ok();
                MapStatement { line: span.line, function, numbered, recorded: *recorded, awaits }
            })
        })
    }

    /// The number of statements, and how many of them the program records.
    pub fn count(&self) -> (usize, usize) {
        let own = self.files.iter().flatten().flat_map(|file| &file.functions);
        own.fold((0, 0), |(all, recorded), (_, is)| (all + 1, recorded + usize::from(*is)))
    }

    /// A line of a file, as records name it; `file` is its first id.
    pub fn recorded(&self, file: u16, line: u32) -> Option<Statement> {
        let path = &self.file(file)?.path;
        statement(line, |base| match base {
            0 => Some(file),
            _ => {
                let is_it = |other: &Option<File>| {
                    other.as_ref().is_some_and(|other| other.base == base && other.path == *path)
                };
                self.files.iter().position(is_it).map(|id| id as u16)
            }
        })
    }

    /// The structure of a file; `file` may be any of its ids.
    pub fn code(&self, file: u16) -> Option<&FileCode> {
        self.first(file).map(|file| &file.code)
    }

    /// What the statements of this map call.
    pub fn call_names(&self) -> &CallNames {
        &self.call_names
    }

    /// Whether a map says what statements call.
    pub fn has_calls(&self) -> bool {
        self.hash.is_some()
    }

    /// The first id of each file.
    pub fn files(&self) -> impl Iterator<Item = u16> {
        let first = self
            .files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.as_ref().is_some_and(|file| file.base == 0));
        first.map(|(id, _)| id as u16)
    }

    fn file(&self, file: u16) -> Option<&File> {
        self.files.get(usize::from(file))?.as_ref()
    }

    /// Whether the hash in the first line is that of the map.
    pub fn is_intact(&self) -> bool {
        self.hash == Some(self.actual_hash)
    }
}

/// The statements of a map by their numbers.
fn numbers(files: &[Option<File>]) -> Vec<Option<Statement>> {
    let mut ids: HashMap<(&str, u32), u16> = HashMap::new();
    for (id, file) in files.iter().enumerate().filter_map(|(id, file)| Some((id, file.as_ref()?))) {
        ids.insert((&file.path, file.base), id as u16);
    }
    let mut table = Vec::new();
    for file in files.iter().flatten() {
        for (ordinal, span) in file.places.iter().enumerate() {
            let Some(number) = file.numbers.number(ordinal) else { break };
            let slot = number as usize;
            if table.len() <= slot {
                table.resize(slot + 1, None);
            }
            table[slot] = statement(span.line, |base| ids.get(&(file.path.as_str(), base)).copied());
        }
    }
    table
}

fn body_hash(map: &[u8]) -> u64 {
    let first_line = map.iter().position(|byte| *byte == b'\n').map_or(map.len(), |end| end + 1);
    let mut hash = Hash::new();
    hash.update(&map[first_line..]);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/p","tool":"0"}"#;

    #[test]
    fn a_map_of_this_version_is_read() {
        let lines = [
            HEAD.to_owned(),
            r#"{"file":3,"path":"a.rs","base":0,"first":17,"room":18}"#.to_owned(),
            r#"{"fn":3,"path":"f","at":"1:8","end":"9:2","kind":"asyncfn","trait":"T"}"#.to_owned(),
            r#"{"loop":3,"at":"2:1","end":"3:2"}"#.to_owned(),
            r#"{"branch":3,"at":"2:1","end":"3:2","past":"4:2"}"#.to_owned(),
            r#"{"stmt":3,"line":2,"col":5,"end":"2:9","kind":"expr","fn":"f","calls":"g *.h g","await":true}"#
                .to_owned(),
        ];
        let names = Names::parse(lines.join("\n").as_bytes());
        assert_eq!((names.bad_line_count, names.path(3)), (0, Some("a.rs")));
        assert_eq!(names.statements(3), [Span { line: 2, col: 5, end_line: 2, end_col: 9 }]);
        let code = names.code(3).unwrap();
        assert_eq!(
            (code.bodies[0].kind, code.bodies[0].of_trait.as_str()),
            (map::BodyKind::AsyncFunction, "T")
        );
        assert_eq!((code.loops.len(), code.branches[0].1, code.statements[0].awaits), (1, (4, 2), true));
        let calls = names.call_names().of(&code.statements[0].calls);
        let calls: Vec<_> = calls.iter().map(|call| (call.name, call.repeats)).collect();
        assert_eq!(
            (names.call_names().names(), calls),
            (&["g".to_owned(), ".h".to_owned()][..], vec![(0, false), (1, true), (0, false)])
        );
        assert!(names.has_calls() && !Names::default().has_calls());
    }

    #[test]
    fn a_place_gets_path_and_base() {
        let map = format!("{HEAD}\n{}\n", r#"{"file":3,"path":"a\u001b.rs","base":65535}"#);
        let names = Names::parse(map.as_bytes());
        assert_eq!(names.place(3, 7), Place { file: 3, line: 65542, path: Some("a\\u{1b}.rs") });
        assert_eq!(names.path(3), Some("a\u{1b}.rs"));
        assert_eq!(names.place(2, 7), Place { file: 2, line: 7, path: None });
        assert_eq!((names.hash, names.root.as_str(), names.is_intact()), (Some(255), "/p", false));
    }

    #[test]
    fn bad_lines_are_numbered_and_the_others_read() {
        let map = format!(
            "{HEAD}\nnonsense\n{}\n\n{}\n",
            r#"{"file":1,"path":"a.rs","base":0}"#, r#"{"file":1,"path":"b.rs","base":0}"#
        );
        let names = Names::parse(map.as_bytes());
        assert_eq!(names.bad_lines.iter().map(|bad| bad.line).collect::<Vec<_>>(), [2, 5]);
        assert_eq!(names.place(1, 1).path, Some("a.rs"));
    }

    #[test]
    fn a_statement_is_named_by_its_number() {
        let map = [
            HEAD,
            r#"{"file":1,"path":"a.rs","base":0,"first":5,"room":2}"#,
            r#"{"stmt":1,"line":7,"col":1,"end":"7:2","kind":"let","fn":"f"}"#,
            r#"{"stmt":1,"line":65540,"col":1,"end":"65540:2","kind":"let","fn":"f"}"#,
            r#"{"stmt":1,"line":65541,"col":1,"end":"65541:2","kind":"let","fn":"f"}"#,
            r#"{"file":2,"path":"a.rs","base":65535}"#,
            r#"{"file":3,"path":"b.rs","base":0}"#,
        ];
        let names = Names::parse(map.join("\n").as_bytes());
        let place = |number| {
            let Statement { file, line } = Statement::numbered(number);
            names.place(file, line)
        };
        assert_eq!(place(5), Place { file: 1, line: 7, path: Some("a.rs") });
        assert_eq!(place(6), Place { file: 2, line: 65540, path: Some("a.rs") });
        // The range has no room for the third.
        for number in [0, 4, 7] {
            assert_eq!(place(number).path, None);
            assert_eq!((place(number).file, place(number).line), (Statement::NUMBERED, number.into()));
        }
    }

    #[test]
    fn a_line_without_a_statement_is_impossible_where_the_map_has_others() {
        let map = [
            HEAD,
            r#"{"file":1,"path":"a.rs","base":0}"#,
            r#"{"stmt":1,"line":7,"col":1,"end":"9:2","kind":"let","fn":"f"}"#,
            r#"{"stmt":1,"line":65540,"col":1,"end":"65540:2","kind":"let","fn":"f"}"#,
            r#"{"file":2,"path":"a.rs","base":65535}"#,
            r#"{"file":3,"path":"b.rs","base":0}"#,
        ];
        let names = Names::parse(map.join("\n").as_bytes());
        let counted = |file, line| {
            names.check_line(Statement { file, line });
            names.impossible()
        };
        let possible = [(1, 7), (2, 5), (3, 9), (4, 1)].map(|(file, line)| counted(file, line));
        assert_eq!(possible, [0; 4]);
        assert_eq!([(1, 8), (1, 6), (2, 7)].map(|(file, line)| counted(file, line)), [1, 2, 3]);
    }

    #[test]
    fn noise_is_no_map() {
        let names = Names::parse(&[0xFF; 100]);
        assert_eq!((names.hash, names.bad_line_count), (None, 2));
        assert_eq!(Names::parse(b"").bad_line_count, 1);
    }
}
