//! `--strip`: everything inserted goes, in place.

use super::named::Named;
use super::outcome::Failure;
use super::{Args, ExitCode, Fatal, console, find, instrument};
use rayon::prelude::*;
use std::path::Path;

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let map = instrument::map_path(args, &instrument::project_root(args));
    let named = Named::load(&map);
    let found = find::find(args, false)?;
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
    let mut failed = failures.inspect(|failure| eprintln!("{failure}")).count();
    let mut counts = [0; 3];
    for outcome in results.iter().flatten() {
        counts[usize::from(outcome.is_stripped) + 2 * usize::from(outcome.is_foreign)] += 1;
        outcome.notes.iter().for_each(|note| eprintln!("{note}"));
    }
    let [clean, stripped, foreign] = counts;
    eprintln!("{} stripped, {} had nothing inserted", console::files(stripped), clean + foreign);
    if foreign > 0 && stripped == 0 && !named.is_for_any(&found.sources) {
        eprintln!("{} names none of these files; name the right map with --map, or remove it", map.display());
        failed += 1;
    }
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
    crate::atomic::replace(path, &stripped.text).map_err(|error| Failure::Io("write", error))?;
    let notes = stripped.comments.iter();
    let notes = notes
        .map(|(line, column)| format!("note: {shown}:{line}:{column}: a comment with calls in it stays"));
    Ok(Outcome { is_stripped: true, notes: notes.collect(), ..Outcome::default() })
}
