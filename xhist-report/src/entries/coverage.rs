//! Coverage: which statements ran, file by file.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use qs_core::record::Statement;

use xhist_history::model::{MapStatement, Names, visible};

/// The coverage of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Its path with the root that the map names, printable.
    pub path: String,
    /// Lines with a statement that is recorded, and whether one ran.
    pub lines: BTreeMap<u32, bool>,
    /// Functions by their paths: the line of the first such statement, and whether any ran.
    pub functions: BTreeMap<String, (u32, bool)>,
}

/// The coverage of all files of a map; of the statements of each file in a line of a function, those that `takes` chooses.
pub fn coverage(
    names: &Names,
    ran: &HashSet<Statement>,
    takes: &dyn Fn(u16, &str, u32) -> bool,
) -> Vec<FileCoverage> {
    let mut files: BTreeMap<&str, FileCoverage> = BTreeMap::new();
    // Lines of statements that ran, if only their lines are known.
    let mut lines: HashSet<(&str, u32)> = HashSet::new();
    // Lines with a recorded statement in the map.
    let mut described: HashSet<(&str, u32)> = HashSet::new();
    for file in names.files() {
        if let Some(path) = names.path(file) {
            let recorded = names.described(file).filter(|statement| statement.recorded);
            described.extend(recorded.map(|statement| (path, statement.line)));
        }
    }
    for statement in ran {
        let place = names.place(statement.file, statement.line);
        if let Some(path) = names.path(place.file) {
            if !described.contains(&(path, place.line)) && takes(place.file, "", place.line) {
                files.entry(path).or_default().lines.insert(place.line, true);
            }
            if statement.number().is_none() {
                lines.insert((path, place.line));
            }
        }
    }
    for file in names.files() {
        let Some(path) = names.path(file) else { continue };
        if takes(file, "", 0) {
            files.entry(path).or_default();
        }
        for MapStatement { line, function, numbered, recorded, .. } in names.described(file) {
            // It is not known whether a statement ran that is not recorded.
            if !recorded || !takes(file, function, line) {
                continue;
            }
            let ran =
                numbered.is_some_and(|numbered| ran.contains(&numbered)) || lines.contains(&(path, line));
            let covered = files.entry(path).or_default();
            *covered.lines.entry(line).or_insert(false) |= ran;
            if !function.is_empty() {
                let (first, any) = covered.functions.entry(function.to_owned()).or_insert((line, false));
                (*first, *any) = ((*first).min(line), *any || ran);
            }
        }
    }
    let named = files.into_iter().map(|(path, covered)| {
        let path = Path::new(&names.root).join(path);
        FileCoverage { path: visible(&path.to_string_lossy()).into_owned(), ..covered }
    });
    named.collect()
}
