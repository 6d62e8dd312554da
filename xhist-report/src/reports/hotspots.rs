//! `hot`: the functions that fill the rings, and what would leave them out of a build.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Component, Path};

use qs_core::record::Statement;

use crate::format::entries::{Hotspot, Totals};
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::events::Step;
use xhist_history::events::context::Context;
use xhist_history::model::{Gap, Item, MapStatement, Names, Opening, Ring, What, is_visible};
use xhist_history::reading::report::{Report, Summary};

/// Counts statements.
pub struct Hotspots<'o> {
    options: &'o Options,
    rings: Vec<Ring>,
    /// By the hash of the map.
    counts: BTreeMap<u64, HashMap<Statement, u64>>,
    /// By the number of the ring.
    gaps: BTreeMap<usize, (String, Gap)>,
}

impl<'o> Hotspots<'o> {
    /// In the format of these options.
    pub fn new(options: &'o Options) -> Hotspots<'o> {
        Hotspots { options, rings: Vec::new(), counts: BTreeMap::new(), gaps: BTreeMap::new() }
    }
}

impl Report for Hotspots<'_> {
    fn start(&mut self, opening: &Opening<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        self.rings = opening.rings.to_vec();
        self.counts = opening.rings.iter().map(|ring| (ring.map_hash, HashMap::new())).collect();
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        let Step::Event(ring, event) = step else { return Ok(()) };
        if !event.gap.is_empty() {
            let (_, gap) = self.gaps.entry(ring.number).or_insert_with(|| (ring.to_string(), Gap::default()));
            gap.add(event.gap.clone());
        }
        // The statements of a repetition were recorded once, so they take room once.
        if let Some(Item { what: What::Statement { file, line }, .. }) = event.item {
            let counts = self.counts.entry(ring.map_hash).or_default();
            *counts.entry(Statement { file, line }).or_default() += 1;
        }
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        self.gaps.values().for_each(|(ring, gap)| context.notes.missing(gap, format_args!("{ring}: {gap}")));
        let mut format = self.options.make_format();
        let complete = context.notes.finish() == ExitCode::Complete;
        format.start(&Opening { rings: &self.rings, entries: 0 }, context.out)?;
        for (hash, counts) in &self.counts {
            let (_, names) = context.maps.of(&Ring::of_map(*hash));
            format.hotspots(&hotspots(names, counts), context.out)?;
        }
        format.finish(&Totals { entries: 0, complete }, context.out)?;
        context.out.flush()?;
        Ok(Summary { code: context.notes.finish(), entries: 0 })
    }
}

/// The functions of a build, the hottest first.
fn hotspots(names: &Names, counts: &HashMap<Statement, u64>) -> Vec<Hotspot> {
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
