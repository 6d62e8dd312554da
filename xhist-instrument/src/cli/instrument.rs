//! In place, `--out-dir`, `--check` and `--list`: runs the pipeline on files. The map is written before the sources, so no
//! source names a map that does not exist. Calls of an earlier run are removed first, so a run on instrumented sources brings
//! them up to date.

use super::folder::{FolderSources, Purpose, find};
use super::output::Output;
use super::paths::{map_path, project_root};
use super::sources::CommandLineSources;
use super::summary::{self, Summary};
use super::writer::SourceWriter;
use super::{Args, ExitCode, Fatal, advice, build_scripts, console, listing, lock};
use crate::MainHash;
use crate::map::MapFile;
use crate::pipeline::{self, Outcome};
use crate::select::trigger::{self, Request};
use std::path::{Path, PathBuf};

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let output = Output::of(args)?;
    let map_path = map_path(args, &project_root(args));
    let writes = !args.check && !args.list;
    let _locks = lock(args, output.as_ref(), writes.then_some(&map_path)).take();
    let found = collect(args, output.as_ref(), &map_path)?;
    let set = CommandLineSources { args, found: &found };
    let mut outcomes = analyse(&set);
    let note = |note: &str| console::say(format_args!("note: {note}"));
    pipeline::place_triggers(&set, &mut outcomes, &found.triggers, note)?;
    summary::report_unused(found.selection.values());
    listing::debug_notes(&found, &outcomes);
    if args.list {
        listing::list(&found, &outcomes)?;
        return Ok(report(&found, &outcomes));
    }
    let (output, kept) = (output.as_ref(), crate::map::kept_maps::directory(&map_path));
    let writer = SourceWriter { args, found: &found, output, map_path: &map_path, kept };
    let cleaned = write(&set, &writer, &mut outcomes)?;
    let code = report(&found, &outcomes);
    if writes {
        notes(&found, &outcomes, cleaned, &map_path);
    }
    Ok(code)
}

fn collect(args: &Args, output: Option<&Output>, map_path: &Path) -> Result<FolderSources, Fatal> {
    let mut found = find(args, if output.is_some() { Purpose::Copy } else { Purpose::Instrument })?;
    if let Some(output) = output {
        output.check(&found)?;
    } else if !args.check && !args.list {
        finish_killed_runs(&mut found, map_path);
    }
    build_scripts::spare(&mut found);
    Ok(found)
}

fn analyse(set: &CommandLineSources<'_>) -> Vec<Outcome> {
    let bar = console::progress(set.found.sources.len(), "reading");
    let mut outcomes = pipeline::analyse(set, &set.macros(), || bar.inc(1));
    bar.finish_and_clear();
    set.apply_includes(&mut outcomes);
    outcomes
}

/// Writes the map, then the sources. Returns the number of files that are no longer instrumented.
fn write(
    set: &CommandLineSources<'_>,
    writer: &SourceWriter<'_>,
    outcomes: &mut [Outcome],
) -> Result<usize, Fatal> {
    let SourceWriter { args, output, map_path, .. } = *writer;
    let mut map = MapFile::load(map_path, &project_root(args))?;
    let entered = pipeline::number(set, outcomes, &mut map);
    let hash = map.hash();
    if !args.check {
        output.map_or(Ok(()), Output::make)?;
        let any = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Analyzed(_)));
        // An existing map names files that may have been cleaned.
        if any || map_path.is_file() {
            let written = map.write(hash, map_path);
            written.map_err(|error| Fatal::WriteMap(map_path.to_path_buf(), error))?;
        }
    }
    drop(map);
    let bar = console::progress(outcomes.len(), if args.check { "proving" } else { "writing" });
    let main_hash = MainHash::Literal(hash);
    let cleaned = pipeline::write(set, outcomes, &entered, main_hash, writer, || bar.inc(1));
    bar.finish_and_clear();
    Ok(cleaned)
}

/// The directories to lock: exclusively what is written, shared what is only read.
fn lock(args: &Args, output: Option<&Output>, map: Option<&PathBuf>) -> lock::Wanted {
    let mut wanted = lock::Wanted::default();
    let in_place = map.is_some() && output.is_none();
    args.paths.iter().for_each(|path| wanted.tree(path, in_place));
    if let Some(output) = output {
        wanted.tree(&output.dir, true);
    }
    if let Some(map) = map {
        wanted.map(map);
    }
    wanted
}

/// Removes temporary files of killed runs, and finishes their work.
pub fn finish_killed_runs(found: &mut FolderSources, map: &Path) {
    found.dirs.extend(map.parent().map(Path::to_path_buf));
    found.dirs.insert(crate::map::kept_maps::directory(map));
    let problems = found
        .dirs
        .iter()
        .flat_map(|dir| crate::files::atomic::remove_stale(dir))
        .map(|error| error.to_string());
    found.errors.extend(problems);
}

/// Prints errors and the summary.
fn report(found: &FolderSources, outcomes: &[Outcome]) -> ExitCode {
    let mut summary = Summary::default();
    let mut failed = false;
    for (source, outcome) in found.sources.iter().zip(outcomes) {
        if let Outcome::Failed(failure) = outcome {
            console::say(failure.describe(&console::shown(&source.path)));
            failed = true;
        }
        if source.is_rust {
            summary.add(outcome);
        }
    }
    for error in &found.errors {
        console::say(error);
        failed = true;
    }
    summary.print();
    if failed { ExitCode::SomeFailed } else { ExitCode::Done }
}

/// Prints what else was done, and what to do next.
fn notes(found: &FolderSources, outcomes: &[Outcome], cleaned: usize, map: &Path) {
    if cleaned > 0 {
        console::say(format_args!("  no longer instrumented, calls removed: {}", console::files(cleaned)));
    }
    let pairs = found.sources.iter().zip(outcomes);
    let mut analyzed = pairs.filter(|(_, outcome)| matches!(outcome, Outcome::Analyzed(_))).peekable();
    if analyzed.peek().is_some() && map.is_file() {
        console::say(format_args!("map: {}", console::described_map(map)));
    }
    advice::print(analyzed.map(|(source, _)| source));
    if found.triggers.iter().any(Request::starts) {
        eprintln!("{}", trigger::NOTE_WAIT);
    }
}
