//! The statements of a map that patterns match, by file and line.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::Selection;
use super::names::{SourceNames, package_dir};
use super::pattern::Pattern;
use crate::model::{Names, visible};

/// Longest manifest that is read for the name of its package.
const MAX_MANIFEST: u64 = 256 << 10;

/// The lines of a file that are chosen.
#[derive(Clone, Debug)]
struct FileLines {
    /// Those with a statement in the map.
    described: HashMap<u32, bool>,
    source: SourceNames,
}

/// Whether a statement in this line of a function is chosen.
type Takes<'t> = &'t dyn Fn(&SourceNames, Option<&str>, u32, &[String]) -> bool;

impl FileLines {
    /// Of a file. A line with statements of several functions is chosen if one of them is.
    fn new(names: &Names, file: u16, source: SourceNames, crates: &[String], takes: Takes<'_>) -> FileLines {
        let mut described = HashMap::new();
        for statement in names.described(file) {
            let is = takes(&source, Some(statement.function), statement.line, crates);
            *described.entry(statement.line).or_insert(false) |= is;
        }
        FileLines { described, source }
    }

    fn takes(&self, line: u32, crates: &[String], takes: Takes<'_>) -> bool {
        let of_file = || takes(&self.source, None, line, crates);
        self.described.get(&line).copied().unwrap_or_else(of_file)
    }
}

/// The sources of a map, by path, and the crates that they belong to.
fn sources(names: &Names) -> (Vec<(u16, String, SourceNames)>, Vec<String>) {
    let mut packages: HashMap<String, Option<String>> = HashMap::new();
    let mut found = Vec::new();
    for (file, path) in names.files().filter_map(|file| Some((file, names.path(file)?))) {
        let package = packages.entry(package_dir(path)).or_insert_with_key(|dir| package_name(names, dir));
        let source = SourceNames::new(&names.root, path, package.as_deref());
        found.push((file, path.to_owned(), source));
    }
    let crates: BTreeSet<&String> = found.iter().flat_map(|(_, _, source)| source.crates()).collect();
    let crates = crates.into_iter().cloned().collect();
    (found, crates)
}

/// The name in the manifest of a package of the project. The directory of a dependency has its name.
fn package_name(names: &Names, dir: &str) -> Option<String> {
    if dir.starts_with('/') {
        return None;
    }
    let roots = names.project.iter().map(std::path::PathBuf::as_path).chain([Path::new(&names.root)]);
    roots.filter(|root| root.is_absolute()).find_map(|root| {
        let manifest = crate::source::text_of(&root.join(dir).join("Cargo.toml"), MAX_MANIFEST)?;
        let manifest: toml::Table = manifest.parse().ok()?;
        Some(manifest.get("package")?.get("name")?.as_str()?.to_owned())
    })
}

/// The crates of maps, sorted.
pub(super) fn crates(maps: &[&Names]) -> Vec<String> {
    let all: BTreeSet<String> = maps.iter().flat_map(|names| sources(names).1).collect();
    all.iter().map(|name| visible(name).into_owned()).collect()
}

/// The files of maps, sorted.
pub(super) fn files(maps: &[&Names]) -> Vec<String> {
    let paths = maps.iter().flat_map(|names| names.paths().map(|(_, path)| visible(path).into_owned()));
    paths.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The lines of all files of a map.
#[derive(Clone, Debug, Default)]
struct MapLines {
    crates: Vec<String>,
    /// By path.
    files: HashMap<String, FileLines>,
}

impl MapLines {
    fn new(names: &Names, takes: Takes<'_>) -> MapLines {
        let (sources, crates) = sources(names);
        let files = sources.into_iter().map(|(file, path, source)| {
            let lines = FileLines::new(names, file, source, &crates, takes);
            (path, lines)
        });
        MapLines { files: files.collect(), crates }
    }

    /// Whether a statement of the map is chosen; `None` if its file has no name.
    fn takes(&mut self, names: &Names, file: u16, line: u16, takes: Takes<'_>) -> Option<bool> {
        let place = names.place(file, line);
        let path = names.path(place.file)?;
        let MapLines { crates, files } = self;
        // A target names files as it goes on.
        if !files.contains_key(path) {
            let source = SourceNames::new(&names.root, path, None);
            files.insert(path.to_owned(), FileLines::new(names, place.file, source, crates, takes));
        }
        Some(files[path].takes(place.line, crates, takes))
    }
}

/// The statements that a selection chooses, for each map that was asked about.
#[derive(Debug)]
pub struct SelectedPlaces<'s> {
    selection: &'s Selection,
    /// By the number of the map.
    maps: HashMap<usize, MapLines>,
    /// By the number of the map, file id and line, as they were recorded.
    known: HashMap<(usize, u16, u16), bool>,
}

impl<'s> SelectedPlaces<'s> {
    /// Of this selection.
    pub fn new(selection: &'s Selection) -> SelectedPlaces<'s> {
        SelectedPlaces { selection, maps: HashMap::new(), known: HashMap::new() }
    }

    /// Whether a statement is chosen by its line in the file, of which the file id is that of the first lines.
    pub fn takes_line(&mut self, map: (usize, &Names), file: u16, line: u32) -> bool {
        match map.1.recorded(file, line) {
            Some(statement) => self.takes(map, statement.file, statement.line),
            None => true,
        }
    }

    /// Whether a statement is chosen. `map`: the number of its map, and the names in it.
    pub fn takes(&mut self, (number, names): (usize, &Names), file: u16, line: u16) -> bool {
        if !self.selection.has_places() {
            return true;
        }
        if let Some(is) = self.known.get(&(number, file, line)) {
            return *is;
        }
        let selection = self.selection;
        let takes: Takes<'_> =
            &|source, function, line, crates| selection.takes(source, function, line, crates);
        let map = self.maps.entry(number).or_insert_with(|| MapLines::new(names, takes));
        match map.takes(names, file, line, takes) {
            Some(is) => {
                self.known.insert((number, file, line), is);
                is
            }
            // A file without a name matches no pattern; it may get its name later.
            None => selection.only.is_empty(),
        }
    }
}

impl Selection {
    fn takes(&self, source: &SourceNames, function: Option<&str>, line: u32, crates: &[String]) -> bool {
        let is = |pattern: &Pattern| pattern.matches(source, function, line, crates);
        (self.only.is_empty() || self.only.iter().any(is)) && !self.not.iter().any(is)
    }

    /// Whether a function of a map is chosen, with the statements of it in this line.
    pub fn takes_function(&self, names: &Names) -> impl Fn(u16, &str, u32) -> bool + use<> {
        let selection = self.clone();
        let (sources, crates) = if self.has_places() { sources(names) } else { Default::default() };
        let sources: HashMap<u16, SourceNames> =
            sources.into_iter().map(|(file, _, source)| (file, source)).collect();
        move |file, function, line| {
            let source = sources.get(&file);
            let takes = |source| selection.takes(source, Some(function), line, &crates);
            source.map_or(selection.only.is_empty(), takes)
        }
    }
}

/// The statements of one map that one pattern matches.
#[derive(Clone, Debug)]
pub struct PatternPlaces<'p> {
    pattern: &'p Pattern,
    lines: MapLines,
}

impl<'p> PatternPlaces<'p> {
    /// In this map.
    pub fn new(pattern: &'p Pattern, names: &Names) -> PatternPlaces<'p> {
        let takes: Takes<'_> =
            &|source, function, line, crates| pattern.matches(source, function, line, crates);
        PatternPlaces { pattern, lines: MapLines::new(names, takes) }
    }

    /// Whether any statement of the map matches, or a file without statements.
    pub fn has_any(&self) -> bool {
        let MapLines { crates, files } = &self.lines;
        files.values().any(|lines| match lines.described.is_empty() {
            true => self.pattern.is_about(&lines.source, crates),
            false => lines.described.values().any(|is| *is),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let head =
            r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/nowhere/app","tool":"0"}"#;
        let statement = |line: u32, function: &str| {
            format!(r#"{{"stmt":1,"line":{line},"col":5,"end":"{line}:9","kind":"expr","fn":"{function}"}}"#)
        };
        let lines = [
            head.to_owned(),
            r#"{"file":1,"path":"src/main.rs","base":0}"#.to_owned(),
            statement(2, "main"),
            statement(5, "run"),
            statement(5, "stop"),
            r#"{"file":2,"path":"/r/tokio-1.2.3/src/lib.rs","base":0}"#.to_owned(),
        ];
        Names::parse(lines.join("\n").as_bytes())
    }

    fn chosen(only: &[&str], not: &[&str]) -> Vec<(u16, u16)> {
        let parse = |texts: &[&str]| texts.iter().map(|text| Pattern::parse(text).unwrap()).collect();
        let selection = Selection { only: parse(only), not: parse(not), ..Selection::default() };
        let names = names();
        let mut places = SelectedPlaces::new(&selection);
        let all = [(1, 2), (1, 5), (1, 9), (2, 1), (3, 1)];
        all.into_iter().filter(|(file, line)| places.takes((0, &names), *file, *line)).collect()
    }

    #[test]
    fn not_wins_over_only() {
        assert_eq!(chosen(&[], &[]).len(), 5);
        assert_eq!(chosen(&["src/main.rs"], &[]), [(1, 2), (1, 5), (1, 9)]);
        assert_eq!(chosen(&["src/"], &["main"]), [(1, 5), (1, 9)]);
        assert_eq!(chosen(&[], &["tokio"]), [(1, 2), (1, 5), (1, 9), (3, 1)]);
        assert_eq!(chosen(&["tokio", "app::main"], &[]), [(1, 2), (2, 1)]);
        assert_eq!(chosen(&["main.rs:3-9"], &[]), [(1, 5), (1, 9)]);
    }

    #[test]
    fn a_line_of_two_functions_belongs_to_both() {
        assert_eq!(chosen(&["stop"], &[]), [(1, 5)]);
        assert_eq!(chosen(&["run"], &[]), [(1, 5)]);
    }
}
