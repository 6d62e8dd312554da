//! Hotspots: the functions that fill the rings, with patterns that exclude them from a build.

use std::collections::HashMap;
use std::path::{Component, Path};

use qs_core::record::Statement;

use xhist_history::model::{MapStatement, Names, is_visible};

/// A function whose statements are in the rings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hotspot {
    /// Its path in the map; `None` if no map has it.
    pub function: Option<String>,
    /// Path of its file, printable, or the number of the file.
    pub file: String,
    /// First and last of its lines in the rings.
    pub lines: (u32, u32),
    /// Statements of it in the rings.
    pub statements: u64,
    /// A pattern for `exclude`, if the function has one.
    pub exclude: Option<String>,
}

/// The functions of a build, the hottest first.
pub fn hotspots(names: &Names, counts: &HashMap<Statement, u64>) -> Vec<Hotspot> {
    // A number says which of the statements in a line it is.
    let mut by_number: HashMap<Statement, &str> = HashMap::new();
    let mut by_line: HashMap<(&str, u32), &str> = HashMap::new();
    for file in names.files() {
        let Some(path) = names.path(file) else { continue };
        for MapStatement { line, function, numbered, .. } in names.described(file) {
            by_line.entry((path, line)).or_insert(function);
            by_number.extend(numbered.map(|numbered| (numbered, function)));
        }
    }
    let mut found: HashMap<(u16, &str), Hotspot> = HashMap::new();
    for (statement, count) in counts {
        let place = names.place(statement.file, statement.line);
        let file = &place.file;
        let of_line = || by_line.get(&(names.path(*file)?, place.line));
        let function = by_number.get(statement).or_else(of_line).copied();
        let function = function.filter(|function| !function.is_empty());
        let hot = found.entry((*file, function.unwrap_or(""))).or_insert_with(|| Hotspot {
            function: function.map(str::to_owned),
            file: place.path.map_or_else(|| unnamed(*file), str::to_owned),
            lines: (place.line, place.line),
            statements: 0,
            exclude: names.path(*file).and_then(|path| exclude(path, function)),
        });
        hot.statements += count;
        hot.lines = (hot.lines.0.min(place.line), hot.lines.1.max(place.line));
    }
    let mut found: Vec<Hotspot> = found.into_values().collect();
    found.sort_by(|one, other| {
        other
            .statements
            .cmp(&one.statements)
            .then_with(|| (&one.file, one.lines).cmp(&(&other.file, other.lines)))
    });
    found
}

fn unnamed(file: u16) -> String {
    match file {
        Statement::NUMBERED => "unknown files".to_owned(),
        file => format!("file#{file}"),
    }
}

/// A pattern of Rust paths, or of files if a path cannot name the function. `*` is for the crate, whose name is not in the map.
fn exclude(path: &str, function: Option<&str>) -> Option<String> {
    // Characters with a meaning in a pattern or in a manifest, and those that act on a terminal.
    let is_plain = |text: &str| {
        !text.contains(['*', '?', '[', ']', '{', '}', '!', '\\', '"']) && text.chars().all(is_visible)
    };
    if !is_plain(path) {
        return None;
    }
    let Some(function) = function.filter(|function| is_plain(function)) else {
        return Some(path.to_owned());
    };
    let parts: Vec<&str> = Path::new(path)
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    let inside = match parts.iter().rposition(|part| *part == "src") {
        Some(src) => &parts[src + 1..],
        None => return Some(format!("**::{function}")),
    };
    let inside = inside.strip_prefix(&["bin"]).map_or(inside, |binary| binary.get(1..).unwrap_or_default());
    let mut modules: Vec<&str> = inside.iter().map(|part| part.strip_suffix(".rs").unwrap_or(part)).collect();
    if matches!(modules.last(), Some(&("mod" | "main" | "lib"))) {
        modules.pop();
    }
    let modules: String = modules.iter().map(|module| format!("{}::", module.replace('-', "_"))).collect();
    Some(format!("*::{modules}{function}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_the_function_in_its_module() {
        for (path, function, pattern) in [
            ("src/main.rs", "main", "*::main"),
            ("src/a/mod.rs", "T::f", "*::a::T::f"),
            ("crates/x/src/a/b.rs", "f", "*::a::b::f"),
            ("src/bin/tool.rs", "f", "*::f"),
            ("tests/it/main.rs", "f", "**::f"),
            ("src/a.rs", "<[T] as A>::f", "src/a.rs"),
        ] {
            assert_eq!(exclude(path, Some(function)).as_deref(), Some(pattern), "{path}");
        }
        assert_eq!(exclude("src/a.rs", None).as_deref(), Some("src/a.rs"));
        assert_eq!(exclude("src/[a].rs", Some("f")), None);
        assert_eq!((exclude("a\u{1b}c.rs", None), exclude("a\nb.rs", None)), (None, None));
    }
}
