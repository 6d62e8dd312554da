//! `--strip`: removes everything inserted, in place.

use super::named::Named;
use super::{Args, ExitCode, Fatal, console, folder, instrument, lock, paths};
use crate::pipeline::{Exemption, Failure};
use crate::shell;
use rayon::prelude::*;
use std::path::Path;

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let map = paths::map_path(args, &paths::project_root(args));
    let mut wanted = lock::Wanted::default();
    args.paths.iter().for_each(|path| wanted.tree(path, true));
    wanted.map(&map);
    let _locks = wanted.take();
    let named = Named::load(&map);
    let mut found = folder::find(args, folder::Purpose::Strip)?;
    found.sources.retain(|source| source.rule != Some(Exemption::HardLink));
    instrument::finish_killed_runs(&mut found, &map);
    let bar = console::progress(found.sources.len(), "stripping");
    let results: Vec<Result<StripOutcome, Failure>> = found
        .sources
        .par_iter()
        .map(|source| {
            bar.inc(1);
            strip_file(&source.real, &source.path, &named)
        })
        .collect();
    bar.finish_and_clear();
    let failures =
        found.sources.iter().zip(&results).filter_map(|(source, result)| {
            Some(result.as_ref().err()?.describe(&console::shown(&source.path)))
        });
    let failures = failures.chain(found.errors.iter().cloned());
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

/// The outcome of a file.
#[derive(Default)]
struct StripOutcome {
    is_stripped: bool,
    /// The calls in it look like inserted ones, but are the user's own.
    is_foreign: bool,
    notes: Vec<String>,
}

fn strip_file(path: &Path, shown: &Path, named: &Named) -> Result<StripOutcome, Failure> {
    let text = std::fs::read(path).map_err(|error| Failure::Io("read", error))?;
    let shown = shown.display();
    let foreign = |(line, column): (u32, u32)| StripOutcome {
        is_foreign: true,
        notes: vec![format!(
            "note: {shown}:{line}:{column}: looks like a call of ours, but the map does not name this file; left alone \
             (to remove it anyway: xhist-instrument --strip - < {shown})"
        )],
        ..StripOutcome::default()
    };
    let stripped = match crate::try_strip(&text) {
        Err(left) if !named.may_name(path) => return Ok(foreign((left.line, left.column))),
        stripped => stripped?,
    };
    let Some(first) = stripped.first else { return Ok(StripOutcome::default()) };
    if !named.names(path, &stripped.calls) {
        return Ok(foreign(first));
    }
    crate::files::atomic::replace(path, &text, &stripped.text)?;
    let notes = stripped.comments.iter();
    let notes = notes
        .map(|(line, column)| format!("note: {shown}:{line}:{column}: a comment with calls in it stays"));
    Ok(StripOutcome { is_stripped: true, notes: notes.collect(), ..StripOutcome::default() })
}

/// Says that the maps stay: dumps still need them.
fn note_maps(map: &Path) {
    let maps = [map.to_path_buf(), crate::map::kept_maps::directory(map)];
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
