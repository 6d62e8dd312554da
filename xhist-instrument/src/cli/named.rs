//! Whether a file was ever instrumented, according to the map: the map has its path, or its calls.

use super::folder::FolderSource;
use super::paths::absolute;
use qs_core::map::{Line, Text};
use std::collections::{HashMap, HashSet};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

/// The files and statements of a map. Without a map every file may have been instrumented.
#[derive(Default)]
pub struct Named(Option<Map>);

#[derive(Default)]
struct Map {
    paths: HashSet<PathBuf>,
    /// The first id of a file, and what is added to lines, for each of its ids.
    ids: HashMap<u16, (u16, u32)>,
    /// First id and line.
    statements: HashSet<(u16, u32)>,
}

impl Named {
    /// Reads a map. A map that cannot be read counts as missing.
    pub fn load(path: &Path) -> Self {
        Self(read(path))
    }

    /// Whether the map has the path of a file.
    pub fn may_name(&self, real: &Path) -> bool {
        self.0.as_ref().is_none_or(|map| map.paths.contains(real))
    }

    /// Whether the map has the path of a file, or all these calls (the file has another name now).
    pub fn names(&self, real: &Path, calls: &[(u16, u16)]) -> bool {
        let Some(map) = &self.0 else { return true };
        let is_known = |(file, line): &(u16, u16)| {
            let id = map.ids.get(file);
            id.is_some_and(|(first, base)| map.statements.contains(&(*first, base + u32::from(*line))))
        };
        self.may_name(real) || !calls.is_empty() && calls.iter().all(is_known)
    }

    /// Whether the map has the path of any of these files.
    pub fn is_for_any(&self, sources: &[FolderSource]) -> bool {
        sources.iter().any(|source| self.may_name(&source.real))
    }
}

fn read(path: &Path) -> Option<Map> {
    let file = std::fs::File::open(path).ok()?;
    let mut map = Map::default();
    let mut root = PathBuf::new();
    let mut first = 0;
    for line in std::io::BufReader::new(file).lines() {
        let line = line.ok()?;
        match Line::parse(&line).ok()? {
            Line::Head(head) => root = absolute(path).parent()?.join(owned(head.root)),
            Line::File(file) => {
                if file.base == 0 {
                    first = file.file;
                    map.paths.insert(absolute(&root.join(owned(file.path))));
                }
                map.ids.insert(file.file, (first, file.base));
            }
            Line::Function(_) | Line::Loop(_) | Line::Branch(_) | Line::Value(_) => {}
            Line::Stmt(statement) => {
                map.statements.insert((statement.file, statement.line));
            }
        }
    }
    Some(map)
}

fn owned(text: Text<'_>) -> String {
    text.chars().collect()
}
