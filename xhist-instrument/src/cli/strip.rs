//! `--strip`: everything inserted goes, in place.

use super::outcome::Failure;
use super::outcome::Rule;
use super::{Args, ExitCode, Fatal, console, find, instrument, lock, shell};
use rayon::prelude::*;
use std::path::Path;

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let map = instrument::map_path(args, &instrument::project_root(args));
    let mut wanted = lock::Wanted::default();
    args.paths.iter().for_each(|path| wanted.tree(path, true));
    wanted.map(&map);
    let _locks = wanted.take();
    let mut found = find::find(args, find::Purpose::Strip)?;
    found.sources.retain(|source| source.rule != Some(Rule::HardLink));
    instrument::finish_killed_runs(&mut found, &map);
    let bar = console::progress(found.sources.len(), "stripping");
    let results: Vec<Result<bool, String>> = found
        .sources
        .par_iter()
        .map(|source| {
            bar.inc(1);
            strip_file(&source.real).map_err(|failure| failure.describe(&source.path))
        })
        .collect();
    bar.finish_and_clear();
    let failures = results.iter().filter_map(|result| result.as_ref().err()).chain(&found.errors);
    let failed = failures.inspect(|failure| console::say(failure)).count();
    let changed = results.iter().filter(|result| matches!(result, Ok(true))).count();
    eprintln!(
        "{} stripped, {} had nothing inserted",
        console::files(changed),
        results.len() - failed.min(results.len()) - changed
    );
    note_maps(&map);
    Ok(if failed == 0 { ExitCode::Done } else { ExitCode::SomeFailed })
}

/// True when there was something to take out.
fn strip_file(path: &Path) -> Result<bool, Failure> {
    let text = std::fs::read(path).map_err(|error| Failure::Io("read", error))?;
    let stripped = crate::strip(&text);
    if stripped == text {
        return Ok(false);
    }
    crate::atomic::replace(path, &text, &stripped)?;
    Ok(true)
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
