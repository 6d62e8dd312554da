//! The map file as a whole: stable file ids, statements, hash. One line of it is `qs_core::map`'s business.

use crate::Packed;
use crate::shape::{LINES_PER_ID, ids_needed};
use qs_core::map::{FileLine, Hash, Head, Line, StmtLine, Text};
use qs_core::record::Statement;
use rayon::prelude::*;
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, BufRead as _};
use std::path::{Component, Path, PathBuf};

/// Files whose lines are made at once, and in memory at once.
const BATCH: usize = 32;

/// A map in memory.
#[derive(Debug)]
pub struct MapFile {
    root: PathBuf,
    files: Vec<Entry>,
    by_path: HashMap<String, usize>,
    next_id: u32,
    /// Hash, root and tool in the first line of the file it was loaded from.
    loaded: Option<(u64, String, String)>,
}

/// One path. It keeps its ids for ever, also when the file is gone.
#[derive(Debug)]
struct Entry {
    path: String,
    /// One id for each 65,535 lines.
    ids: Vec<u16>,
    statements: Statements,
}

/// The statements of a file.
#[derive(Debug)]
enum Statements {
    /// Of an earlier run: lines of its map.
    Lines(String),
    Sites(Packed),
}

/// Why a map cannot be used.
#[derive(Debug)]
pub enum MapError {
    /// It could not be read.
    Read(PathBuf, io::Error),
    /// A line, from 1, is not one of a map.
    Line(PathBuf, usize, String),
    /// All 65,535 file ids are taken.
    Full,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Line(path, line, what) => {
                write!(
                    f,
                    "{}:{line}: {what}; repair or remove the map (ids then start again at 1)",
                    path.display()
                )
            }
            Self::Full => f.write_str("all 65535 file ids are taken; start a new map"),
        }
    }
}

impl std::error::Error for MapError {}

impl MapFile {
    /// An empty map for files below `root`, which must be absolute.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            files: Vec::new(),
            by_path: HashMap::new(),
            next_id: 1,
            loaded: None,
        }
    }

    /// The map in this file, or an empty one when there is none. `root` is where paths start from now on.
    ///
    /// # Errors
    /// The file cannot be read, or is no map.
    pub fn load(path: &Path, root: &Path) -> Result<Self, MapError> {
        let mut map = Self::new(root);
        let unreadable = |error| MapError::Read(path.to_path_buf(), error);
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(map),
            file => file.map_err(unreadable)?,
        };
        let mut old_root = PathBuf::new();
        for (index, line) in io::BufReader::new(file).lines().enumerate() {
            let result = map.read_line(index, &line.map_err(unreadable)?, &mut old_root);
            result.map_err(|what| MapError::Line(path.to_path_buf(), index + 1, what))?;
        }
        Ok(map)
    }

    fn read_line(&mut self, index: usize, line: &str, old_root: &mut PathBuf) -> Result<(), String> {
        match (Line::parse(line).map_err(|error| error.to_string())?, index) {
            (Line::Head(head), 0) => {
                *old_root = PathBuf::from(owned(head.root));
                self.loaded = Some((head.hash, owned(head.root), owned(head.tool)));
            }
            (Line::Head(_), _) => return Err("second first line".to_owned()),
            (_, 0) => return Err("the first line of a map is missing".to_owned()),
            (Line::File(file), _) => {
                let path = self.relative(&old_root.join(owned(file.path)));
                let entry = self.entry(&path);
                if file.base != entry.ids.len() as u32 * LINES_PER_ID {
                    return Err("file ids of one path out of order".to_owned());
                }
                entry.ids.push(file.file);
                self.next_id = self.next_id.max(u32::from(file.file) + 1);
            }
            (Line::Stmt(stmt), _) => {
                let entry = self.files.last_mut().filter(|entry| entry.ids.first() == Some(&stmt.file));
                let entry = entry.ok_or("statement without its file")?;
                if let Statements::Lines(lines) = &mut entry.statements {
                    lines.push_str(line);
                    lines.push('\n');
                }
            }
        }
        Ok(())
    }

    /// The directory that relative paths start from.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How the map writes this absolute path: relative to the root when below it, always with `/`.
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

    fn entry(&mut self, path: &str) -> &mut Entry {
        let index = *self.by_path.entry(path.to_owned()).or_insert_with(|| {
            let statements = Statements::Lines(String::new());
            self.files.push(Entry { path: path.to_owned(), ids: Vec::new(), statements });
            self.files.len() - 1
        });
        &mut self.files[index]
    }

    /// The ids of a file of this many lines: those it has, and new ones where it has none yet.
    ///
    /// # Errors
    /// No id is left.
    pub fn ids(&mut self, path: &str, lines: u32) -> Result<Vec<u16>, MapError> {
        let mut next_id = self.next_id;
        let entry = self.entry(path);
        let needed = ids_needed(lines);
        if next_id as usize + needed.saturating_sub(entry.ids.len()) > usize::from(u16::MAX) + 1 {
            return Err(MapError::Full);
        }
        while entry.ids.len() < needed {
            entry.ids.push(next_id as u16);
            next_id += 1;
        }
        let ids = entry.ids.clone();
        self.next_id = next_id;
        Ok(ids)
    }

    /// The path and line that a record means.
    pub fn place(&self, file: u16, line: u16) -> Option<(&str, u32)> {
        self.files.iter().find_map(|entry| {
            let index = entry.ids.iter().position(|id| *id == file)?;
            Some((entry.path.as_str(), u32::from(line) + index as u32 * LINES_PER_ID))
        })
    }

    /// Statements of the functions whose path is wanted, as records name them. Of a map that was loaded.
    pub fn statements_of(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Statement> {
        let mut found = Vec::new();
        for entry in &self.files {
            let Statements::Lines(lines) = &entry.statements else { continue };
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

    /// Replaces the statements of a file that has ids.
    pub fn set_sites(&mut self, path: &str, sites: Packed) {
        self.entry(path).statements = Statements::Sites(sites);
    }

    /// Whether a file has statements.
    pub fn has_statements(&self, path: &str) -> bool {
        let entry = self.by_path.get(path).map(|index| &self.files[*index].statements);
        entry.is_some_and(|statements| match statements {
            Statements::Lines(lines) => !lines.is_empty(),
            Statements::Sites(sites) => !sites.is_empty(),
        })
    }

    /// Forgets the statements of a file that is no longer instrumented. Its ids stay its own.
    pub fn clear_sites(&mut self, path: &str) {
        if self.by_path.contains_key(path) {
            self.set_sites(path, Packed::new(&[]));
        }
    }

    /// All lines after the first, a file at a time.
    fn parts(&self) -> impl Iterator<Item = String> + '_ {
        let batches = self.files.chunks(BATCH);
        batches.flat_map(|files| files.par_iter().map(Entry::lines).collect::<Vec<_>>())
    }

    /// The hash that the instrumented program carries.
    pub fn hash(&self) -> u64 {
        let mut hash = Hash::new();
        self.parts().for_each(|part| hash.update(part.as_bytes()));
        hash.finish()
    }

    fn write_to(&self, hash: u64, out: &mut impl io::Write) -> io::Result<()> {
        let root = self.root.to_string_lossy();
        let tool = Text::plain(env!("CARGO_PKG_VERSION"));
        writeln!(out, "{}", Line::Head(Head { hash, root: Text::plain(&root), tool }))?;
        self.parts().try_for_each(|part| out.write_all(part.as_bytes()))
    }

    /// The text of the map file.
    pub fn to_text(&self, hash: u64) -> Vec<u8> {
        let mut text = Vec::new();
        self.write_to(hash, &mut text).expect("writing to memory does not fail");
        text
    }

    /// Replaces the map file, which names its hash. The one before is kept, see [`crate::kept_maps`]. A file that says the
    /// same already is left as it is.
    ///
    /// # Errors
    /// As [`crate::atomic::write`].
    pub fn write(&self, hash: u64, path: &Path) -> io::Result<()> {
        if let Some((old, root, tool)) = &self.loaded {
            if *old == hash && *root == self.root.to_string_lossy() && tool == env!("CARGO_PKG_VERSION") {
                return Ok(());
            }
            if *old != hash {
                crate::kept_maps::keep(path, *old)?;
            }
        }
        crate::atomic::write(path, |file| self.write_to(hash, file))
    }
}

impl Entry {
    /// Its lines in the map.
    fn lines(&self) -> String {
        let mut text = String::new();
        let mut add = |line: Line<'_>| writeln!(text, "{line}").expect("writing to memory does not fail");
        for (index, &file) in self.ids.iter().enumerate() {
            let base = index as u32 * LINES_PER_ID;
            add(Line::File(FileLine { file, path: Text::plain(&self.path), base }));
        }
        match (&self.statements, self.ids.first()) {
            (Statements::Lines(lines), Some(_)) => text.push_str(lines),
            (Statements::Sites(sites), Some(&file)) => sites.iter().for_each(|site| {
                add(Line::Stmt(StmtLine {
                    file,
                    line: site.line,
                    col: site.column,
                    end_line: site.end_line,
                    end_col: site.end_column,
                    kind: Text::plain(site.kind.name()),
                    function: Text::plain(&site.function),
                }));
            }),
            (_, None) => {}
        }
        text
    }
}

fn owned(text: Text<'_>) -> String {
    text.chars().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_text(map: &MapFile) -> String {
        String::from_utf8(map.to_text(map.hash())).unwrap()
    }

    #[test]
    fn ids_are_stable_and_never_reused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(map.ids("src/a.rs", 10).unwrap(), [1]);
        assert_eq!(map.ids("src/b.rs", 70_000).unwrap(), [2, 3]);
        map.write(map.hash(), &file).unwrap();

        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(map.ids("src/c.rs", 10).unwrap(), [4]);
        assert_eq!(map.ids("src/a.rs", 70_000).unwrap(), [1, 5]);
        assert_eq!(map.ids("src/b.rs", 10).unwrap(), [2, 3]);
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
        let analysis = crate::analyze(text, &crate::Options::default()).unwrap();
        let mut map = MapFile::new(Path::new("/r"));
        map.ids("a.rs", 1).unwrap();
        map.set_sites("a.rs", Packed::new(&analysis.sites));
        assert!(to_text(&map).contains(r#"{"stmt":1,"line":1,"col":10,"end":"1:22","kind":"let","fn":"f"}"#));
        let hash = map.hash();

        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        map.write(map.hash(), &file).unwrap();
        let mut map = MapFile::load(&file, Path::new("/r")).unwrap();
        assert_eq!(map.hash(), hash);
        assert_eq!(map.statements_of(|function| function == "f"), [Statement { file: 1, line: 1 }]);
        assert_eq!(map.statements_of(|function| function == "g"), []);
        map.ids("b.rs", 1).unwrap();
        assert_ne!(map.hash(), hash);
    }

    #[test]
    fn paths_are_relative_below_the_root_only() {
        let map = MapFile::new(Path::new("/r"));
        assert_eq!(map.relative(Path::new("/r/src/a.rs")), "src/a.rs");
        assert_eq!(map.relative(Path::new("/other/a.rs")), "/other/a.rs");
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("xhist.map");
        std::fs::write(&file, "{\"file\":1}\n").unwrap();
        let error = MapFile::load(&file, Path::new("/r")).unwrap_err().to_string();
        assert!(error.contains("xhist.map:1:"), "{error}");
    }

    #[test]
    fn the_last_id_is_65535() {
        let mut map = MapFile::new(Path::new("/r"));
        assert_eq!(map.ids("a.rs", 65_535 * 65_535).unwrap().last(), Some(&65_535));
        assert!(matches!(map.ids("b.rs", 1), Err(MapError::Full)));
    }
}
