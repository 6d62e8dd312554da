//! Which statements ever ran, file by file. It must not know where that is known from.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use qs_core::record::Statement;

use super::{Names, visible};

/// What ran of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Its path with the root that the map names, printable.
    pub path: String,
    /// Lines with a statement, and whether it ran.
    pub lines: BTreeMap<u32, bool>,
    /// Functions by their paths: the line of the first statement, and whether any ran.
    pub functions: BTreeMap<String, (u32, bool)>,
}

/// What ran of all files of a map.
pub fn coverage(names: &Names, ran: &HashSet<Statement>) -> Vec<Covered> {
    let mut files: BTreeMap<&str, Covered> = BTreeMap::new();
    for Statement { file, line } in ran {
        let place = names.place(*file, *line);
        if let Some(path) = names.path(place.file) {
            files.entry(path).or_default().lines.insert(place.line, true);
        }
    }
    for file in names.files() {
        let Some(path) = names.path(file) else { continue };
        let covered = files.entry(path).or_default();
        for (line, function) in names.functions(file) {
            let ran = *covered.lines.entry(line).or_insert(false);
            if !function.is_empty() {
                let (first, any) = covered.functions.entry(function.to_owned()).or_insert((line, false));
                (*first, *any) = ((*first).min(line), *any || ran);
            }
        }
    }
    let named = files.into_iter().map(|(path, covered)| {
        let path = Path::new(&names.root).join(path);
        Covered { path: visible(&path.to_string_lossy()).into_owned(), ..covered }
    });
    named.collect()
}
