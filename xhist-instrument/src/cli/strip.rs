//! `--strip`: everything inserted goes, in place.

use super::named::Named;
use super::outcome::Failure;
use super::outcome::Rule;
use super::{Args, ExitCode, Fatal, console, find, instrument, lock};
use crate::shell;
use rayon::prelude::*;
use std::path::Path;

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let map = instrument::map_path(args, &instrument::project_root(args));
    let mut wanted = lock::Wanted::default();
    args.paths.iter().for_each(|path| wanted.tree(path, true));
    wanted.map(&map);
    let _locks = wanted.take();
    let named = Named::load(&map);
    let mut found = find::find(args, find::Purpose::Strip)?;
    found.sources.retain(|source| source.rule != Some(Rule::HardLink));
    instrument::finish_killed_runs(&mut found, &map);
    let bar = console::progress(found.sources.len(), "stripping");
    let results: Vec<Result<Outcome, String>> = found
        .sources
        .par_iter()
        .map(|source| {
            bar.inc(1);
            let failed = |failure: Failure| failure.describe(&source.path);
            strip_file(&source.real, &source.path, &named).map_err(failed)
        })
        .collect();
    bar.finish_and_clear();
    let failures = results.iter().filter_map(|result| result.as_ref().err()).chain(&found.errors);
    let mut failed = failures.inspect(|failure| console::say(failure)).count();
    let mut counts = [0; 3];
    for outcome in results.iter().flatten() {
        counts[usize::from(outcome.is_stripped) + 2 * usize::from(outcome.is_foreign)] += 1;
        outcome.notes.iter().for_each(console::say);
    }
    let [clean, stripped, foreign] = counts;
    eprintln!("{} stripped, {} had nothing inserted", console::files(stripped), clean + foreign);
    if foreign > 0 && stripped == 0 && !named.is_for_any(&found.sources) {
        console::say(format_args!(
            "{} names none of these files; name the right map with --map, or remove it",
            console::shown(&map)
        ));
        failed += 1;
    }
    note_maps(&map);
    Ok(if failed == 0 { ExitCode::Done } else { ExitCode::SomeFailed })
}

/// What became of a file.
#[derive(Default)]
struct Outcome {
    is_stripped: bool,
    /// What looks like calls of ours is the user's own.
    is_foreign: bool,
    notes: Vec<String>,
}

fn strip_file(path: &Path, shown: &Path, named: &Named) -> Result<Outcome, Failure> {
    let text = std::fs::read(path).map_err(|error| Failure::Io("read", error))?;
    let shown = shown.display();
    let foreign = |(line, column): (u32, u32)| Outcome {
        is_foreign: true,
        notes: vec![format!(
            "note: {shown}:{line}:{column}: looks like a call of ours, but the map does not name this file; left alone \
             (to take it out all the same: xhist-instrument --strip - < {shown})"
        )],
        ..Outcome::default()
    };
    let stripped = match crate::try_strip(&text) {
        Err(left) if !named.may_name(path) => return Ok(foreign((left.line, left.column))),
        stripped => stripped?,
    };
    let Some(first) = stripped.first else { return Ok(Outcome::default()) };
    if !named.names(path, &stripped.calls) {
        return Ok(foreign(first));
    }
    crate::atomic::replace(path, &text, &stripped.text)?;
    let notes = stripped.comments.iter();
    let notes = notes
        .map(|(line, column)| format!("note: {shown}:{line}:{column}: a comment with calls in it stays"));
    Ok(Outcome { is_stripped: true, notes: notes.collect(), ..Outcome::default() })
}

/// Dumps outlive the calls.
fn note_maps(map: &Path) {
    let maps = [map.to_path_buf(), crate::kept_maps::directory(map)];
    let there: Vec<String> =
        maps.iter().filter(|path| path.exists()).map(|path| console::shown_from_here(path)).collect();
    if there.is_empty() {
        return;
    }
    let words = there.iter().map(|path| format!(" {}", shell::quoted(path))).collect::<String>();
    console::say(format_args!(
        "{} stay{}: dumps made so far need the names in it; when no such dump is left: rm -r{words}",
        there.join(" and "),
        if there.len() == 1 { "s" } else { "" },
    ));
}
