//! `source`: the text of a file, and how often each line ran.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::row::{AskedHistory, QueryRow};
use super::wanted::{NotFound, WantedPlace, is_file, is_function};
use crate::budget::Weight;
use xhist_history::model::visible;
use xhist_history::recording::{FunctionId, MoreRuns, RecordedFile, RecordedStep, Recording, SiteId, StepId};

/// Functions of one name that are named.
const NAMED: usize = 8;

/// Lines that are searched for the end of a function.
const LONGEST: u32 = 1000;

/// The lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLines {
    /// Its path, or the end of it; or a function, by its path or the end of that.
    pub path: String,
    /// The first and the last line; without them all.
    pub lines: Option<(u32, u32)>,
}

/// A run whose lines are counted.
#[derive(Clone, Copy, Debug)]
pub struct ListedRun<'r> {
    /// Its name in the heading.
    pub name: &'r str,
    /// Its history.
    pub recording: &'r Recording,
}

impl SourceLines {
    /// Reads `FILE`, `FILE:7` or `FILE:7-20`.
    pub fn parse(text: &str) -> SourceLines {
        match WantedPlace::parse(text) {
            WantedPlace::Lines(path, first, last) => SourceLines { path, lines: Some((first, last)) },
            _ => SourceLines { path: text.to_owned(), lines: None },
        }
    }
}

/// The lines that are meant: those of a function, if no file but a function has the name.
fn lines_of_function(wanted: &SourceLines, runs: &[ListedRun<'_>]) -> Result<SourceLines, NotFound> {
    let has_file = |run: &ListedRun<'_>| run.recording.files.iter().any(|file| is_file(file, &wanted.path));
    if wanted.lines.is_some() || runs.iter().any(has_file) {
        return Ok(wanted.clone());
    }
    // The last line of each.
    let mut found: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    for recording in runs.iter().map(|run| run.recording) {
        for (index, function) in (0..).zip(&recording.functions) {
            let Some(file) = recording.files.get(function.file as usize) else { continue };
            if !is_function(&function.name, &wanted.path) {
                continue;
            }
            let sites = recording.sites.iter().filter(|site| site.function == FunctionId(index));
            let ran = sites.map(|site| site.end_line).max().unwrap_or(function.line);
            let last = end_of(file, function.line, ran);
            let known = found.entry((&file.path, function.line)).or_insert(last);
            *known = last.max(*known);
        }
    }
    let places: Vec<String> =
        found.iter().map(|((path, first), last)| format!("{path}:{first}-{last}")).collect();
    match &places[..] {
        [] => Ok(wanted.clone()),
        [only] => Ok(SourceLines::parse(only)),
        _ => {
            let more = match places.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (count, name) = (places.len(), visible(&wanted.path));
            let named = places[..count.min(NAMED)].join(", ");
            Err(NotFound(format!("{count} functions are named {name}: {named}{more}")))
        }
    }
}

/// The line of the bracket that ends a function, by its indentation; without one the last line that ran.
fn end_of(file: &RecordedFile, first: u32, ran: u32) -> u32 {
    let indentation = |line: u32| file.line(line).map(|text| text.len() - text.trim_start().len());
    let is_end = |line: &u32| {
        indentation(*line) == indentation(first)
            && file.line(*line).is_some_and(|text| text.trim_start().starts_with('}'))
    };
    (ran..ran.saturating_add(LONGEST))
        .take_while(|line| file.line(*line).is_some())
        .find(is_end)
        .unwrap_or(ran)
}

/// How often the lines of a file ran.
fn runs_of_lines(run: &ListedRun<'_>, path: &str) -> BTreeMap<u32, u64> {
    let recording = run.recording;
    let more = MoreRuns::of(recording);
    // The statement of a line that counts, of each function that has the line.
    let mut line_of: Vec<Option<u32>> = vec![None; recording.sites.len()];
    for (index, site) in recording.sites.iter().enumerate() {
        let is_here = recording.files.get(site.file as usize).is_some_and(|file| is_file(file, path));
        if is_here && recording.line_sites(site.file, site.line).contains(&SiteId(index as u32)) {
            line_of[index] = Some(site.line);
        }
    }
    let mut runs = BTreeMap::new();
    for (index, step) in recording.steps().enumerate() {
        let RecordedStep::Statement(SiteId(site)) = step else { continue };
        let Some(line) = line_of.get(site as usize).copied().flatten() else { continue };
        let count: &mut u64 = runs.entry(line).or_default();
        *count = count.saturating_add(more.runs(StepId(index as u32)));
    }
    runs
}

/// The lines of a file with how often each ran in each run.
///
/// # Errors
/// No run has the file, or its text is not here.
pub fn listing(wanted: &SourceLines, runs: &[ListedRun<'_>]) -> Result<Vec<QueryRow>, NotFound> {
    let wanted = &lines_of_function(wanted, runs)?;
    let file =
        runs.iter().find_map(|run| run.recording.files.iter().find(|file| is_file(file, &wanted.path)));
    let Some(file) = file else {
        let (first, last) = wanted.lines.unwrap_or((1, 1));
        let is_name = wanted.path.contains("::") || !wanted.path.contains(['.', '/']);
        let why = match is_name && wanted.lines.is_none() {
            true => WantedPlace::Function(wanted.path.clone()),
            false => WantedPlace::Lines(wanted.path.clone(), first, last),
        };
        return Err(runs
            .first()
            .map_or(NotFound(String::new()), |run| why.not_found(run.recording, &AskedHistory::default())));
    };
    let Some(text) = file.text.as_deref() else {
        let root = "--source-root DIR says where the sources are";
        return Err(NotFound(format!("the text of {} is not here: {root}", file.path)));
    };
    let counts: Vec<BTreeMap<u32, u64>> = runs.iter().map(|run| runs_of_lines(run, &wanted.path)).collect();
    let (first, last) = wanted.lines.unwrap_or((1, u32::MAX));
    let mut rows = vec![heading(file, runs)];
    let chosen = (1..).zip(text.lines()).filter(|(line, _)| (first..=last).contains(line));
    for (line, source) in chosen {
        rows.push(row(file, line, source, &counts));
    }
    if rows.len() == 1 {
        let lines = text.lines().count();
        return Err(NotFound(format!("{} has {lines} lines, and none from {first} on", file.path)));
    }
    Ok(rows)
}

fn heading(file: &RecordedFile, runs: &[ListedRun<'_>]) -> QueryRow {
    let names: Vec<&str> = runs.iter().map(|run| run.name).collect();
    let made = if file.is_from_map { ", its text as the map has it" } else { "" };
    let names_text = names.join(" | ");
    QueryRow {
        weight: Weight::FRAME,
        // Rings of passed tests are used again: a line without a count may have run.
        text: format!(
            "{}{made}: how often the history of {names_text} has each line; `-`: not in it",
            file.path
        ),
        json: json!({ "kind": "source", "file": file.path, "from_map": file.is_from_map, "runs": names }),
    }
}

fn row(file: &RecordedFile, line: u32, source: &str, counts: &[BTreeMap<u32, u64>]) -> QueryRow {
    let ran: Vec<u64> = counts.iter().map(|runs| runs.get(&line).copied().unwrap_or_default()).collect();
    let is_statement = ran.iter().any(|runs| *runs > 0) || file.lines.binary_search(&line).is_ok();
    let column = |runs: &u64| match (runs, is_statement) {
        (0, false) => format!("{:>9}", ""),
        (0, true) => format!("{:>9}", "-"),
        (runs, _) => format!("{runs:>9}"),
    };
    let columns: Vec<String> = ran.iter().map(column).collect();
    let differs = ran.windows(2).any(|pair| (pair[0] == 0) != (pair[1] == 0));
    let mark = if differs { '!' } else { ' ' };
    let runs: Value = if is_statement { json!(ran) } else { json!([]) };
    QueryRow {
        // Lines with statements say more than those around them, those that only one run has say most.
        weight: match (differs, is_statement) {
            (true, _) => Weight::on_the_way(0),
            (_, true) => Weight::level(0, 0),
            _ => Weight::earlier(u64::from(line)),
        },
        text: format!("{}{mark} {line:>5}  {source}", columns.join("")).trim_end().to_owned(),
        json: json!({ "kind": "line", "line": line, "runs": runs, "source": source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::recording::RecordingSample;

    #[test]
    fn a_function_may_be_named_in_place_of_its_file() {
        let sample = RecordingSample::calls();
        let run = ListedRun { name: "run", recording: &sample.recording };
        let lines = |name: &str| {
            let rows = listing(&SourceLines::parse(name), &[run]).unwrap();
            rows[1..].iter().filter_map(|row| row.json["line"].as_u64()).collect::<Vec<_>>()
        };
        assert_eq!(lines("leaf"), [10, 11]);
        for name in ["a::none", "none"] {
            let why = listing(&SourceLines::parse(name), &[run]).unwrap_err().to_string();
            assert!(why.contains("functions that are: "), "{why}");
        }
        let why = listing(&SourceLines::parse("none.rs"), &[run]).unwrap_err().to_string();
        assert!(why.contains("files that are: "), "{why}");
        let mut twice = RecordingSample::calls();
        twice.recording.functions[0].name = "a::leaf".to_owned();
        let run = ListedRun { name: "run", recording: &twice.recording };
        let why = listing(&SourceLines::parse("leaf"), &[run]).unwrap_err().to_string();
        assert!(why.starts_with("2 functions are named leaf: src/main.rs:1-"), "{why}");
    }

    #[test]
    fn a_function_ends_with_its_bracket() {
        let text = "fn f() {\n    a();\n    if b() {\n    }\n}\n";
        let file = RecordedFile { text: Some(text.into()), ..RecordedFile::default() };
        assert_eq!((end_of(&file, 1, 2), end_of(&file, 1, 9), end_of(&file, 3, 3)), (5, 9, 4));
    }

    #[test]
    fn lines_are_counted_in_each_run() {
        let (one, other) = (RecordingSample::calls(), RecordingSample::default());
        let run = |recording| ListedRun { name: "run", recording };
        let path = one.recording.files[0].path.clone();
        let rows = listing(
            &SourceLines { path: path.clone(), lines: None },
            &[run(&one.recording), run(&other.recording)],
        )
        .unwrap();
        let heading = format!("{path}: how often the history of run | run has each line; `-`: not in it");
        assert_eq!(rows[0].text, heading);
        let line =
            |line: u32| rows.iter().find(|row| row.json["line"] == line).map(|row| row.json["runs"].clone());
        assert_eq!((line(10), line(1), line(4)), (Some(json!([2, 0])), Some(json!([1, 0])), Some(json!([]))));
        assert_eq!(
            SourceLines::parse("a.rs:3-9"),
            SourceLines { path: "a.rs".to_owned(), lines: Some((3, 9)) }
        );
        assert!(
            listing(&SourceLines { path: "none.rs".to_owned(), lines: None }, &[run(&one.recording)])
                .is_err()
        );
    }
}
