//! Which statements ever ran, file by file. It must not know where that is known from.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use qs_core::record::Statement;

use super::{Described, Names, visible};

/// What ran of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Its path with the root that the map names, printable.
    pub path: String,
    /// Lines with a statement that is recorded, and whether one ran.
    pub lines: BTreeMap<u32, bool>,
    /// Functions by their paths: the line of the first such statement, and whether any ran.
    pub functions: BTreeMap<String, (u32, bool)>,
}

/// What ran of all files of a map.
pub fn coverage(names: &Names, ran: &HashSet<Statement>) -> Vec<Covered> {
    let mut files: BTreeMap<&str, Covered> = BTreeMap::new();
    // Lines in which something ran of which only the line is known.
    let mut lines: HashSet<(&str, u32)> = HashSet::new();
    for statement in ran {
        let place = names.place(statement.file, statement.line);
        if let Some(path) = names.path(place.file) {
            files.entry(path).or_default().lines.insert(place.line, true);
            if statement.number().is_none() {
                lines.insert((path, place.line));
            }
        }
    }
    for file in names.files() {
        let Some(path) = names.path(file) else { continue };
        let covered = files.entry(path).or_default();
        for Described { line, function, numbered, recorded } in names.described(file) {
            // Nobody knows whether a statement ran that is not recorded.
            if !recorded {
                continue;
            }
            let ran =
                numbered.is_some_and(|numbered| ran.contains(&numbered)) || lines.contains(&(path, line));
            *covered.lines.entry(line).or_insert(false) |= ran;
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
