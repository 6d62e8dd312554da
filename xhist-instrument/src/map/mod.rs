//! The map file: stable file ids, statements and the hash. `qs_core::map` knows the format of a line.

pub mod attach;
pub mod kept_maps;
pub mod kept_texts;

mod error;

pub use error::{MapError, MapLineError};

use crate::Analysis;
use crate::insert::shape::{LINES_PER_ID, Numbers, ids_needed};
use crate::site::structure::{Body, Region};
use qs_core::map::numbers::VALUE_END;
use qs_core::map::{
    self, BranchLine, FileLine, FunctionLine, Hash, Head, Line, LoopLine, StmtLine, Text, ValueLine,
};
use qs_core::record::{Statement, may_be_file};
use rayon::prelude::*;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Files whose lines are formatted in parallel, and so are in memory at the same time.
const BATCH: usize = 32;

/// A map in memory.
#[derive(Debug)]
pub struct MapFile {
    root: PathBuf,
    files: Vec<MappedFile>,
    by_path: HashMap<String, usize>,
    next_id: u32,
    /// The first number above all ranges of files.
    next_number: u32,
    /// The first number above all ranges of values.
    next_value: u32,
    loaded: Option<LoadedHead>,
}

/// The first line of the loaded file.
#[derive(Debug)]
struct LoadedHead {
    version: u32,
    hash: u64,
    root: String,
    tool: String,
    mains: String,
}

/// One path. It keeps its ids for ever, even after the file is removed.
#[derive(Debug)]
struct MappedFile {
    path: String,
    /// One id per 65,535 lines.
    ids: Vec<u16>,
    /// The range of statement numbers.
    numbers: map::NumberRange,
    /// The range of numbers of value sites.
    values: map::NumberRange,
    /// FNV-1a 64 of its text without inserted calls, if it is instrumented.
    source: Option<u64>,
    /// What else the map lists of it.
    facts: FileFacts,
    main: MainCarries,
    statements: MappedStatements,
}

/// Facts of a file in its line of the map, as it lists them.
#[derive(Clone, Debug, Default)]
pub struct FileFacts {
    /// Its lines that run and are not recorded.
    pub skipped: String,
    /// Traits that its types derive.
    pub derived: String,
    /// Priorities of interrupts.
    pub priorities: String,
}

/// The hash that the `main` of a file carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MainCarries {
    /// There is no `main`.
    #[default]
    Nothing,
    /// That of the map that this run writes.
    This,
    /// That of the map of the run that instrumented the file.
    Earlier(u64),
}

/// The statements of a file.
#[derive(Debug)]
enum MappedStatements {
    /// Lines of the loaded map, from an earlier run.
    Lines(String),
    Sites(Arc<Analysis>),
}

impl MapFile {
    /// An empty map for files below `root`, which must be absolute.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            files: Vec::new(),
            by_path: HashMap::new(),
            next_id: 1,
            next_number: 1,
            next_value: 1,
            loaded: None,
        }
    }

    /// Loads the map in this file, or makes an empty one if the file does not exist. Paths are relative to `root` from now
    /// on.
    ///
    /// # Errors
    /// The file cannot be read, or is not a map.
    pub fn load(path: &Path, root: &Path) -> Result<Self, MapError> {
        Self::load_without(path, root, |_| false)
    }

    /// Like [`Self::load`], without the statements of files that the caller describes again, by their paths in the map.
    ///
    /// # Errors
    /// The errors of [`Self::load`].
    pub fn load_without(
        path: &Path,
        root: &Path,
        is_replaced: impl Fn(&str) -> bool,
    ) -> Result<Self, MapError> {
        let mut map = Self::new(root);
        let unreadable = |error| MapError::Read(path.to_path_buf(), error);
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(map),
            file => file.map_err(unreadable)?,
        };
        let (mut old_root, mut carried) = (PathBuf::new(), HashMap::new());
        let mut skips = false;
        for (index, line) in io::BufReader::new(file).lines().enumerate() {
            let line = line.map_err(unreadable)?;
            let is_file = line.starts_with(r#"{"file""#);
            if skips && !is_file {
                continue;
            }
            let result = map.read_line(index, &line, &mut old_root, &mut carried);
            result.map_err(|what| MapError::Line(path.to_path_buf(), index + 1, what))?;
            skips = is_file && map.files.last().is_some_and(|file| is_replaced(&file.path));
        }
        Ok(map)
    }

    /// `carried`: the newest hash of each `main`, by the file's id.
    fn read_line(
        &mut self,
        index: usize,
        line: &str,
        old_root: &mut PathBuf,
        carried: &mut HashMap<u16, u64>,
    ) -> Result<(), MapLineError> {
        match (Line::parse(line).map_err(MapLineError::Syntax)?, index) {
            (Line::Head(head), 0) => {
                *old_root = PathBuf::from(owned(head.root));
                let (root, tool, mains) = (owned(head.root), owned(head.tool), owned(head.mains));
                self.loaded = Some(LoadedHead { version: head.version, hash: head.hash, root, tool, mains });
                carried.extend(head.mains());
            }
            (Line::Head(_), _) => return Err(MapLineError::SecondHead),
            (_, 0) => return Err(MapLineError::NoHead),
            (Line::File(file), _) => {
                let path = self.relative(&old_root.join(owned(file.path)));
                let entry = self.entry(&path);
                if file.base != entry.ids.len() as u32 * LINES_PER_ID {
                    return Err(MapLineError::IdOrder);
                }
                entry.ids.push(file.file);
                if file.base == 0 {
                    (entry.numbers, entry.values) = (file.numbers, file.values);
                    entry.source = file.source;
                    entry.facts = FileFacts {
                        skipped: owned(file.skipped),
                        derived: owned(file.derived),
                        priorities: owned(file.priorities),
                    };
                    entry.main = carried
                        .get(&file.file)
                        .map_or(MainCarries::Nothing, |hash| MainCarries::Earlier(*hash));
                }
                self.next_value = self.next_value.max(file.values.first + file.values.room);
                self.next_number = self.next_number.max(file.numbers.first + file.numbers.room);
                self.next_id = self.next_id.max(u32::from(file.file) + 1);
            }
            (
                Line::Function(FunctionLine { file, .. })
                | Line::Loop(LoopLine { file, .. })
                | Line::Branch(BranchLine { file, .. })
                | Line::Stmt(StmtLine { file, .. })
                | Line::Value(ValueLine { file, .. }),
                _,
            ) => {
                let entry = self.files.last_mut().filter(|entry| entry.ids.first() == Some(&file));
                let entry = entry.ok_or(MapLineError::NoFile)?;
                if let MappedStatements::Lines(lines) = &mut entry.statements {
                    lines.push_str(line);
                    lines.push('\n');
                }
            }
        }
        Ok(())
    }

    /// The path as the map writes it: relative to the root if below it, always with `/`.
    pub fn relative(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        let mut text = String::new();
        for component in path.components() {
            match component {
                Component::RootDir => text.push('/'),
                other => {
                    if !text.is_empty() && !text.ends_with('/') {
                        text.push('/');
                    }
                    text.push_str(&other.as_os_str().to_string_lossy());
                }
            }
        }
        text
    }

    fn entry(&mut self, path: &str) -> &mut MappedFile {
        let index = *self.by_path.entry(path.to_owned()).or_insert_with(|| {
            let statements = MappedStatements::Lines(String::new());
            self.files.push(MappedFile {
                path: path.to_owned(),
                ids: Vec::new(),
                numbers: map::NumberRange::default(),
                values: map::NumberRange::default(),
                source: None,
                facts: FileFacts::default(),
                main: MainCarries::Nothing,
                statements,
            });
            self.files.len() - 1
        });
        &mut self.files[index]
    }

    /// The ids of a file, and the numbers of its first statement and value site. Existing ids and numbers are kept; missing
    /// ones are added. A file without value sites has no numbers for them.
    ///
    /// # Errors
    /// No ids or no numbers are left.
    pub fn numbers(&mut self, path: &str, found: &Analysis) -> Result<Numbers, MapError> {
        self.numbers_for(path, found.lines, [found.sites.len(), found.value_count()])
    }

    fn numbers_for(
        &mut self,
        path: &str,
        lines: u32,
        [statements, values]: [usize; 2],
    ) -> Result<Numbers, MapError> {
        let (mut next_id, mut next_number, mut next_value) =
            (self.next_id, self.next_number, self.next_value);
        let entry = self.entry(path);
        let needed = ids_needed(lines);
        // Maps of earlier versions may have given these ids to files.
        if entry.ids.iter().any(|id| !may_be_file(*id)) {
            entry.ids.clear();
        }
        let mut ids = (next_id..=u32::from(u16::MAX))
            .filter_map(|id| u16::try_from(id).ok())
            .filter(|id| may_be_file(*id));
        let missing = needed.saturating_sub(entry.ids.len());
        let new: Vec<u16> = ids.by_ref().take(missing).collect();
        if new.len() < missing {
            return Err(MapError::Full);
        }
        next_id = new.last().map_or(next_id, |id| u32::from(*id) + 1);
        if entry.numbers.room < statements as u32 {
            // New ranges start above all others, so the old range is never reused.
            let (first, room) = (next_number, room(statements as u32));
            next_number = first.checked_add(room).ok_or(MapError::NoNumber)?;
            entry.numbers = map::NumberRange { first, room };
        }
        if values == 0 {
            entry.values = map::NumberRange::default();
        } else if entry.values.room < values as u32 {
            let (first, room) = (next_value, room(values as u32));
            let next = first.checked_add(room).filter(|next| *next <= VALUE_END);
            next_value = next.ok_or(MapError::NoNumber)?;
            entry.values = map::NumberRange { first, room };
        }
        entry.ids.extend(new);
        let (first, values) = (entry.numbers.first, entry.values.first);
        let numbers = Numbers { ids: entry.ids.clone(), first, values };
        (self.next_id, self.next_number, self.next_value) = (next_id, next_number, next_value);
        Ok(numbers)
    }

    /// The path and line of a statement in a record.
    pub fn place(&self, file: u16, line: u16) -> Option<(&str, u32)> {
        if let Some(number) = (Statement { file, line }).number() {
            return self.numbered(u32::from(number));
        }
        self.files.iter().find_map(|entry| {
            let index = entry.ids.iter().position(|id| *id == file)?;
            Some((entry.path.as_str(), u32::from(line) + index as u32 * LINES_PER_ID))
        })
    }

    /// The path and line of a statement with this number. Only for a loaded map.
    fn numbered(&self, number: u32) -> Option<(&str, u32)> {
        let is_in = |entry: &&MappedFile| {
            let map::NumberRange { first, room } = entry.numbers;
            (first..first.saturating_add(room)).contains(&number)
        };
        let entry = self.files.iter().find(is_in)?;
        let MappedStatements::Lines(lines) = &entry.statements else { return None };
        let mut statements = lines.lines().filter_map(|line| match Line::parse(line) {
            Ok(Line::Stmt(stmt)) => Some(stmt),
            _ => None,
        });
        statements.nth((number - entry.numbers.first) as usize).map(|stmt| (entry.path.as_str(), stmt.line))
    }

    /// Statements of the functions that match, as records name them. Only for a loaded map.
    pub fn statements_of(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Statement> {
        let mut found = Vec::new();
        for entry in &self.files {
            let MappedStatements::Lines(lines) = &entry.statements else { continue };
            for line in lines.lines() {
                let Ok(Line::Stmt(stmt)) = Line::parse(line) else { continue };
                let index = stmt.line.saturating_sub(1) / LINES_PER_ID;
                let line = (stmt.line - index * LINES_PER_ID) as u16;
                if let Some(file) = entry.ids.get(index as usize).filter(|_| is_wanted(&owned(stmt.function)))
                {
                    found.push(Statement { file: *file, line });
                }
            }
        }
        found
    }

    /// Sets what else the map lists of a file.
    pub fn set_facts(&mut self, path: &str, facts: FileFacts) {
        self.entry(path).facts = facts;
    }

    /// Replaces the statements of a file.
    pub fn set_sites(&mut self, path: &str, found: Arc<Analysis>) {
        self.entry(path).statements = MappedStatements::Sites(found);
    }

    /// Sets the hash of a file's text, and whether the file has a `main`, which this run gives the hash of the map.
    pub fn set_source(&mut self, path: &str, source: u64, has_main: bool) {
        let entry = self.entry(path);
        entry.source = Some(source);
        entry.main = if has_main { MainCarries::This } else { MainCarries::Nothing };
    }

    /// Whether some file has value sites.
    pub fn has_values(&self) -> bool {
        self.files.iter().any(|file| file.values.room > 0)
    }

    /// The version of the format that the map needs.
    fn version(&self) -> u32 {
        if self.has_values() { map::VALUE_VERSION } else { map::VERSION }
    }

    /// Whether a file has statements.
    pub fn has_statements(&self, path: &str) -> bool {
        let entry = self.by_path.get(path).map(|index| &self.files[*index].statements);
        entry.is_some_and(|statements| match statements {
            MappedStatements::Lines(lines) => {
                lines.lines().any(|line| matches!(Line::parse(line), Ok(Line::Stmt(_))))
            }
            MappedStatements::Sites(found) => !found.sites.is_empty(),
        })
    }

    /// Forgets the statements of a file that is no longer instrumented. The file keeps its ids.
    pub fn clear_sites(&mut self, path: &str) {
        if self.by_path.contains_key(path) {
            self.set_sites(path, Arc::default());
            let entry = self.entry(path);
            entry.values = map::NumberRange::default();
            (entry.source, entry.main) = (None, MainCarries::Nothing);
            entry.facts = FileFacts::default();
        }
    }

    /// All lines after the first, one file at a time.
    fn parts(&self) -> impl Iterator<Item = String> + '_ {
        let batches = self.files.chunks(BATCH);
        batches.flat_map(|files| files.par_iter().map(MappedFile::lines).collect::<Vec<_>>())
    }

    /// The hash that an instrumented program carries.
    pub fn hash(&self) -> u64 {
        let mut hash = Hash::new();
        self.parts().for_each(|part| hash.update(part.as_bytes()));
        hash.finish()
    }

    /// The hashes that the `main` functions carry in programs of these sources, as the first line has them.
    fn mains(&self, hash: u64) -> String {
        let carried = self.files.iter().filter_map(|file| {
            let carried = match file.main {
                MainCarries::Nothing => return None,
                MainCarries::This => hash,
                MainCarries::Earlier(earlier) => earlier,
            };
            Some(format!("{}:{carried:016x}", file.ids.first()?))
        });
        // There may be programs of the same sources whose `main` was instrumented before.
        let same = self.loaded.as_ref().filter(|loaded| loaded.hash == hash);
        let known = same.map_or("", |loaded| &loaded.mains).split_whitespace().map(str::to_owned);
        let carried: Vec<String> = carried.collect();
        let mut mains: Vec<String> = known.filter(|known| !carried.contains(known)).collect();
        mains.extend(carried);
        mains.join(" ")
    }

    /// The first line.
    fn head(&self, hash: u64, mains: &str) -> String {
        let (version, root) = (self.version(), self.root.to_string_lossy());
        let tool = Text::plain(env!("CARGO_PKG_VERSION"));
        let head = Head { version, hash, root: Text::plain(&root), tool, mains: Text::plain(mains) };
        Line::Head(head).to_string()
    }

    fn write_to(&self, hash: u64, mains: &str, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "{}", self.head(hash, mains))?;
        self.parts().try_for_each(|part| out.write_all(part.as_bytes()))
    }

    /// The hash, and the text of the map file, for programs that get the hash when they are compiled.
    pub fn to_text(&self) -> (u64, Vec<u8>) {
        let mut hash = Hash::new();
        let parts: Vec<String> = self.parts().inspect(|part| hash.update(part.as_bytes())).collect();
        let hash = hash.finish();
        let mut text = format!("{}\n", self.head(hash, "")).into_bytes();
        parts.iter().for_each(|part| text.extend(part.as_bytes()));
        (hash, text)
    }

    /// Replaces the map file. [`crate::map::kept_maps`] keeps a copy of the previous one. An equal file stays untouched.
    ///
    /// # Errors
    /// The errors of [`crate::files::atomic::write`].
    pub fn write(&self, hash: u64, path: &Path) -> io::Result<()> {
        let new_mains = self.mains(hash);
        if let Some(LoadedHead { version, hash: old, root, tool, mains }) = &self.loaded {
            let is_same = *old == hash && *version == self.version() && *mains == new_mains;
            if is_same && *root == self.root.to_string_lossy() && tool == env!("CARGO_PKG_VERSION") {
                return Ok(());
            }
            if *old != hash {
                crate::map::kept_maps::keep(path, *old)?;
            }
        }
        // With equal contents it stays as old: a reader compares its time with that of a dump.
        let is_equal = self.loaded.as_ref().is_some_and(|loaded| loaded.hash == hash);
        let written = path.metadata().and_then(|meta| meta.modified()).ok().filter(|_| is_equal);
        crate::files::atomic::write(path, |file| {
            self.write_to(hash, &new_mains, file)?;
            written.map_or(Ok(()), |written| file.set_modified(written))
        })
    }
}

impl MappedFile {
    /// Its lines in the map.
    fn lines(&self) -> String {
        let mut text = String::new();
        let mut add = |line: Line<'_>| writeln!(text, "{line}").expect("writing to memory does not fail");
        for (index, &file) in self.ids.iter().enumerate() {
            let base = index as u32 * LINES_PER_ID;
            let path = Text::plain(&self.path);
            let mut line = FileLine { file, path, base, ..FileLine::default() };
            if index == 0 {
                (line.numbers, line.values, line.source) = (self.numbers, self.values, self.source);
                let FileFacts { skipped, derived, priorities } = &self.facts;
                (line.skipped, line.derived) = (Text::plain(skipped), Text::plain(derived));
                line.priorities = Text::plain(priorities);
            }
            add(Line::File(line));
        }
        match (&self.statements, self.ids.first()) {
            (MappedStatements::Lines(lines), Some(_)) => text.push_str(lines),
            (MappedStatements::Sites(found), Some(&file)) => {
                found.structure.bodies.iter().for_each(|Body { path, place, kind, of_trait, .. }| {
                    let ([line, col, end_line, end_col], kind) = (*place, *kind);
                    let (path, of_trait) = (Text::plain(path), Text::plain(of_trait));
                    let body = FunctionLine { file, path, line, col, end_line, end_col, kind, of_trait };
                    add(Line::Function(body));
                });
                found.structure.regions.iter().for_each(
                    |&Region { place: [line, col, end_line, end_col], past }| {
                        let (at, end) = ((line, col), (end_line, end_col));
                        add(match past {
                            None => Line::Loop(LoopLine { file, at, end }),
                            Some([line, col]) => {
                                Line::Branch(BranchLine { file, at, end, past: (line, col) })
                            }
                        });
                    },
                );
                found.sites.iter().for_each(|site| {
                    add(Line::Stmt(StmtLine {
                        file,
                        line: site.line,
                        col: site.column,
                        end_line: site.end_line,
                        end_col: site.end_column,
                        kind: Text::plain(site.kind.name()),
                        function: Text::plain(&site.function),
                        text: site.text,
                        calls: Text::plain(&site.calls),
                        jump: site.jump,
                        awaits: site.awaits,
                        recorded: site.recorded,
                    }))
                });
                if self.values.room > 0 {
                    found.values.iter().filter(|site| site.recorded).for_each(|site| {
                        add(Line::Value(ValueLine {
                            file,
                            line: site.line,
                            col: site.column,
                            name: Text::plain(&site.name),
                            kind: Text::plain(site.kind.name()),
                            function: Text::plain(&site.function),
                            text: site.targets,
                            generic: site.generic,
                        }))
                    });
                }
            }
            (_, None) => {}
        }
        text
    }
}

/// The size of a new range for this many statements, with a reserve for later ones.
fn room(statements: u32) -> u32 {
    statements.saturating_add(statements / 4).saturating_add(16)
}

fn owned(text: Text<'_>) -> String {
    text.chars().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_text(map: &MapFile) -> String {
        let (hash, text) = map.to_text();
        assert_eq!(hash, map.hash());
        String::from_utf8(text).unwrap()
    }

    fn ids(map: &mut MapFile, path: &str, lines: u32) -> Vec<u16> {
        map.numbers_for(path, lines, [0, 0]).unwrap().ids
    }

    #[test]
    fn ids_are_stable_and_never_reused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(ids(&mut map, "src/a.rs", 10), [1]);
        assert_eq!(ids(&mut map, "src/b.rs", 70_000), [2, 3]);
        map.write(map.hash(), &file).unwrap();

        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(ids(&mut map, "src/c.rs", 10), [4]);
        assert_eq!(ids(&mut map, "src/a.rs", 70_000), [1, 5]);
        assert_eq!(ids(&mut map, "src/b.rs", 10), [2, 3]);
        map.write(map.hash(), &file).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(to_text(&map), text);
        assert_eq!(map.place(3, 7), Some(("src/b.rs", 65_542)));
        assert_eq!(map.place(9, 7), None);
    }

    #[test]
    fn statements_survive_a_run_that_leaves_their_file_out() {
        let text = b"fn f() { let x = g(); }";
        let analysis = Arc::new(crate::analyze(text, &crate::Options::default()).unwrap());
        let mut map = MapFile::new(Path::new("/r"));
        ids(&mut map, "a.rs", 1);
        map.set_sites("a.rs", Arc::clone(&analysis));
        assert!(
            to_text(&map)
                .contains(r#"{"stmt":1,"line":1,"col":10,"end":"1:22","kind":"let","fn":"f","text":"#)
        );
        let hash = map.hash();

        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        map.write(map.hash(), &file).unwrap();
        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(map.hash(), hash);
        assert_eq!(map.statements_of(|function| function == "f"), [Statement { file: 1, line: 1 }]);
        assert_eq!(map.statements_of(|function| function == "g"), []);
        ids(&mut map, "b.rs", 1);
        assert_ne!(map.hash(), hash);
    }

    #[test]
    fn numbers_are_stable_and_never_reused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        let first =
            |map: &mut MapFile, path, statements| map.numbers_for(path, 1, [statements, 0]).unwrap().first;
        assert_eq!(first(&mut map, "a.rs", 8), 1);
        assert_eq!(first(&mut map, "b.rs", 100), 1 + 8 + 2 + 16);
        assert_eq!(first(&mut map, "empty.rs", 0), 0, "none for no statements");
        map.write(map.hash(), &file).unwrap();

        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(first(&mut map, "c.rs", 1), 27 + 100 + 25 + 16);
        assert_eq!(first(&mut map, "a.rs", 26), 1, "the slack is used up");
        assert_eq!(first(&mut map, "b.rs", 3), 27);
        // Outgrown: the new range is above all others. The old one is not reused, not even later.
        assert_eq!(first(&mut map, "a.rs", 27), 185);
        map.write(map.hash(), &file).unwrap();
        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(first(&mut map, "a.rs", 1), 185);
        assert_eq!(first(&mut map, "d.rs", 1), 185 + 27 + 6 + 16);
        assert!(to_text(&map).contains(r#"{"file":1,"path":"a.rs","base":0,"first":185,"room":49}"#));
    }

    /// As a Makefile does it: a run for each file, of which one has `main`.
    #[test]
    fn the_map_knows_which_hash_main_carries() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        let run = |path: &str, source, has_main| {
            let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
            ids(&mut map, path, 1);
            map.set_source(path, source, has_main);
            let hash = map.hash();
            map.write(hash, &file).unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            let Ok(Line::Head(head)) = Line::parse(text.lines().next().unwrap()) else { panic!("a head") };
            (hash, head.mains().collect::<Vec<_>>())
        };
        let (main, mains) = run("main.rs", 1, true);
        assert_eq!(mains, [(1, main)]);
        let (queue, mains) = run("queue.rs", 2, false);
        assert_eq!(mains, [(1, main)], "main was not instrumented");
        assert_ne!(main, queue);
        // Nothing but main changes: programs of both kinds exist.
        assert_eq!(run("main.rs", 1, true), (queue, vec![(1, main), (1, queue)]));
        assert_eq!(run("main.rs", 1, true), (queue, vec![(1, main), (1, queue)]));
        let (edited, mains) = run("queue.rs", 3, false);
        assert_eq!(mains, [(1, queue)]);
        assert_eq!(run("other.rs", 4, true).1[0], (1, queue));
        let (last, mains) = run("main.rs", 5, false);
        assert_ne!(last, edited);
        assert_eq!(mains.iter().map(|(file, _)| *file).collect::<Vec<_>>(), [3], "main.rs has no main now");
    }

    #[test]
    fn the_last_number_is_not_exceeded() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        let (root, tool, mains) = (Text::plain("/r"), Text::plain(""), Text::default());
        let head = Line::Head(Head { version: map::VERSION, hash: 0, root, tool, mains });
        let line = r#"{"file":1,"path":"a.rs","base":0,"first":4294967000,"room":200}"#;
        std::fs::write(&file, format!("{head}\n{line}\n")).unwrap();
        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(map.numbers_for("b.rs", 1, [8, 0]).unwrap().first, 4_294_967_200);
        assert!(matches!(map.numbers_for("c.rs", 1, [100, 0]), Err(MapError::NoNumber)));
    }

    #[test]
    fn a_map_of_another_version_is_refused_with_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        let head = r#"{"xhist":"map","version":2,"hash":"00000000000000ff","root":"/r","tool":"0.1.0"}"#;
        std::fs::write(&file, format!("{head}\n")).unwrap();
        let error = MapFile::load(&file, Path::new("/r")).expect_err("refused").to_string();
        assert!(error.contains("map version 2 (this tool reads 3 and 4); remove this map"), "{error}");
    }

    #[test]
    fn functions_and_awaits_are_recorded() {
        let text = "async fn f() {\n    g(async { a.await });\n    if b { c.await; }\n}\nfn none() {}\n\
                    static S: T = T::new(|| { d() });\n";
        let analysis = Arc::new(crate::analyze(text.as_bytes(), &crate::Options::default()).unwrap());
        let mut map = MapFile::new(Path::new("/r"));
        map.numbers("a.rs", &analysis).unwrap();
        map.set_sites("a.rs", Arc::clone(&analysis));
        let lines: Vec<String> = to_text(&map).lines().skip(2).map(str::to_owned).collect();
        assert_eq!(
            lines,
            [
                r#"{"fn":1,"path":"f","at":"1:14","end":"4:2","kind":"asyncfn"}"#,
                r#"{"fn":1,"path":"f","at":"2:13","end":"2:24","kind":"async"}"#,
                r#"{"fn":1,"path":"none","at":"5:11","end":"5:13"}"#,
                r#"{"fn":1,"path":"S","at":"6:25","end":"6:32","kind":"closure"}"#,
                r#"{"stmt":1,"line":2,"col":5,"end":"2:26","kind":"expr","fn":"f","text":1075108568,"calls":"g"}"#,
                r#"{"stmt":1,"line":2,"col":15,"end":"2:22","kind":"expr","fn":"f","text":649647950,"await":true}"#,
                r#"{"stmt":1,"line":3,"col":5,"end":"3:22","kind":"expr","fn":"f","text":3289399867}"#,
                r#"{"stmt":1,"line":3,"col":12,"end":"3:20","kind":"expr","fn":"f","text":1893856521,"await":true}"#,
                r#"{"stmt":1,"line":6,"col":27,"end":"6:30","kind":"expr","fn":"S","text":1093333733,"calls":"d"}"#,
            ]
        );
        // A file without statements still has functions, and keeps them.
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        let analysis = Arc::new(crate::analyze(b"fn none() {}", &crate::Options::default()).unwrap());
        map.numbers_for("b.rs", 1, [0, 0]).unwrap();
        map.set_sites("b.rs", analysis);
        map.write(map.hash(), &file).unwrap();
        let again = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(to_text(&again), to_text(&map));
        assert!(again.has_statements("a.rs") && !again.has_statements("b.rs"));
    }

    #[test]
    fn statements_that_are_described_again_are_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        let mut map = MapFile::new(Path::new("/r"));
        for (path, text) in [("a.rs", "fn a() { b(); }"), ("b.rs", "fn c() { d(); }")] {
            let analysis = crate::analyze(text.as_bytes(), &crate::Options::default()).unwrap();
            map.numbers(path, &analysis).unwrap();
            map.set_sites(path, Arc::new(analysis));
        }
        map.write(map.hash(), &file).unwrap();
        let mut without = MapFile::load_without(&file, Path::new("/r"), |path| path == "a.rs").unwrap();
        assert!(!without.has_statements("a.rs") && without.has_statements("b.rs"));
        let first = |map: &mut MapFile, path| map.numbers_for(path, 1, [1, 0]).unwrap().first;
        assert_eq!([first(&mut without, "a.rs"), first(&mut without, "b.rs")], [1, 18], "numbers stay");
    }

    #[test]
    fn paths_are_relative_below_the_root_only() {
        let map = MapFile::new(Path::new("/r"));
        assert_eq!(map.relative(Path::new("/r/src/a.rs")), "src/a.rs");
        assert_eq!(map.relative(Path::new("/other/a.rs")), "/other/a.rs");
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        std::fs::write(&file, "{\"file\":1}\n").unwrap();
        let error = MapFile::load(&file, Path::new("/r")).unwrap_err().to_string();
        assert!(error.contains("xhist.map:1:"), "{error}");
    }

    #[test]
    fn the_last_id_is_65535_and_tasks_and_values_keep_theirs() {
        let mut map = MapFile::new(Path::new("/r"));
        let taken = (0..=u16::MAX).filter(|id| !may_be_file(*id)).count() as u32;
        let all = ids(&mut map, "a.rs", (65_535 - taken) * 65_535);
        assert_eq!(all.last(), Some(&65_535));
        assert!(all.iter().all(|id| may_be_file(*id)));
        assert!(matches!(map.numbers_for("b.rs", 1, [0, 0]), Err(MapError::Full)));
    }
}
