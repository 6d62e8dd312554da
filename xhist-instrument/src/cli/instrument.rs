//! In place, `--out-dir`, `--check` and `--list`: analyse all, enter all into the map, then write each.

use super::find::{Found, Source, find};
use super::outcome::{Analyzed, Failure, Outcome, Rule, guarded};
use super::{Args, ExitCode, Fatal, build_scripts, console};
use crate::map::MapFile;
use crate::trigger::{self, Request};
use crate::{Analysis, IncludeKind, Macros, MainHash, Options, When};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let mut found = find(args, args.out_dir.is_some())?;
    build_scripts::spare(&mut found);
    let mut outcomes = analyze_all(args, &found);
    apply_includes(&found, &mut outcomes);
    set_triggers(&found, &mut outcomes)?;
    debug_notes(&found, &outcomes);
    if args.list {
        list(&found, &outcomes)?;
    } else {
        write_all(args, &found, &mut outcomes)?;
    }
    Ok(report(args, &found, &outcomes))
}

fn options(args: &Args, found: &Found, source: &Source, main_hash: MainHash) -> Options {
    let edition2015 = match (args.edition, &source.package) {
        (Some(edition), _) => edition == super::args::EditionArg::E2015,
        (None, Some(package)) => package.edition2015,
        (None, None) => false,
    };
    let wished = source.wishes().find_map(|wishes| wishes.config.when);
    let when = args.when.map(When::from).or(wished).unwrap_or_default();
    Options { edition2015, when, main_hash, triggers: !found.triggers.is_empty() }
}

/// The text to work on.
fn read(args: &Args, source: &Source) -> Result<Vec<u8>, Failure> {
    let text = std::fs::read(&source.real).map_err(|error| Failure::Io("read", error))?;
    Ok(if args.reflow { crate::reflow(&text)? } else { text })
}

/// The file whose lines are recorded.
fn recorded_file(args: &Args, source: &Source) -> PathBuf {
    let written = args.out_dir.as_ref().filter(|_| args.reflow);
    written.map_or_else(|| source.real.clone(), |dir| absolute(dir).join(&source.below))
}

/// To notice that a file changed between the two passes.
fn fingerprint(text: &[u8]) -> u64 {
    let mut hash = DefaultHasher::new();
    hash.write(text);
    hash.finish()
}

fn analyze_all(args: &Args, found: &Found) -> Vec<Outcome> {
    let bar = console::progress(found.sources.len(), "reading");
    let macros = all_macros(found);
    let analyze = |source: &Source| {
        bar.inc(1);
        if let Some(rule) = source.rule {
            return Outcome::LeftAlone(rule);
        }
        if !source.is_rust {
            return Outcome::LeftAlone(Rule::Data);
        }
        guarded(|| analyze_one(args, found, source, &macros)).unwrap_or_else(Outcome::Failed)
    };
    let outcomes = found.sources.par_iter().map(analyze).collect();
    bar.finish_and_clear();
    outcomes
}

/// Macros of one file are called in others. What cannot be read is told later.
fn all_macros(found: &Found) -> Macros {
    let sources = found.sources.par_iter().filter(|source| source.is_rust && source.rule.is_none());
    let of_one = |source: &Source| {
        let mut macros = Macros::default();
        source.package.iter().for_each(|package| macros.add_crate(&package.name));
        if let Ok(text) = std::fs::read(&source.real) {
            macros.add_file(&source.real, &text);
        }
        macros
    };
    sources.map(of_one).reduce(Macros::default, Macros::merged)
}

fn analyze_one(args: &Args, found: &Found, source: &Source, macros: &Macros) -> Result<Outcome, Failure> {
    let text = read(args, source)?;
    let mut analysis = crate::analyze_among(&text, &options(args, found, source, MainHash::None), macros)?;
    if analysis.is_off {
        return Ok(Outcome::LeftAlone(Rule::Off));
    }
    found.selection.apply(&source.module, source.thin, &mut analysis);
    for wishes in source.wishes() {
        wishes.selection.apply(&source.module, wishes.thins_file(&source.real), &mut analysis);
    }
    Ok(Outcome::Analyzed(Box::new(Analyzed::new(analysis, fingerprint(&text)))))
}

/// Sources read as strings must stay as they are; sources of one expression cannot be parsed and need not be.
fn apply_includes(found: &Found, outcomes: &mut [Outcome]) {
    let mut data = HashSet::new();
    let mut code = HashSet::new();
    for (source, outcome) in found.sources.iter().zip(outcomes.iter()) {
        let Outcome::Analyzed(analyzed) = outcome else { continue };
        let dir = source.real.parent().unwrap_or(Path::new(""));
        for include in &analyzed.rest.includes {
            let Ok(path) = dir.join(&include.path).canonicalize() else { continue };
            let set = if include.kind == IncludeKind::Code { &mut code } else { &mut data };
            set.insert(path);
        }
    }
    for (source, outcome) in found.sources.iter().zip(outcomes) {
        match outcome {
            Outcome::Analyzed(_) | Outcome::Failed(Failure::Refused(_)) if data.contains(&source.real) => {
                *outcome = Outcome::LeftAlone(Rule::Data);
            }
            Outcome::Failed(Failure::Refused(refusal))
                if code.contains(&source.real) && refusal.reason.starts_with("does not parse") =>
            {
                *outcome = Outcome::LeftAlone(Rule::Expression);
            }
            _ => {}
        }
    }
}

/// Each trigger to its statement. A wrong one ends the run before anything is written.
fn set_triggers(found: &Found, outcomes: &mut [Outcome]) -> Result<(), Fatal> {
    let files: Vec<&Path> = found.sources.iter().map(|source| source.real.as_path()).collect();
    let look = |index: usize| match &outcomes[index] {
        Outcome::Analyzed(analyzed) => Ok(analyzed.analysis()),
        Outcome::LeftAlone(rule) => Err(format!("the file is left alone: {rule}")),
        Outcome::Failed(failure) => Err(failure.describe(&found.sources[index].path)),
    };
    let placed = trigger::place(&found.triggers, &files, look, |note| eprintln!("note: {note}"));
    for (file, trigger) in placed.map_err(Fatal::Usage)? {
        if let Outcome::Analyzed(analyzed) = &mut outcomes[file] {
            analyzed.rest.add_trigger(trigger);
        }
    }
    Ok(())
}

/// Enters all into the map, then writes (or only proves) each.
fn write_all(args: &Args, found: &Found, outcomes: &mut [Outcome]) -> Result<(), Fatal> {
    let failed = |error: &dyn std::fmt::Display| Fatal::Failed(error.to_string());
    let root = project_root(args);
    let map_path = map_path(args, &root);
    let mut map = MapFile::load(&map_path, &root).map_err(|error| failed(&error))?;
    let mut ids = Vec::new();
    for (source, outcome) in found.sources.iter().zip(outcomes.iter_mut()) {
        ids.push(enter(&mut map, &recorded_file(args, source), outcome));
    }
    let any = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Analyzed(_)));
    let hash = map.hash();
    if any && !args.check {
        if let Some(dir) = &args.out_dir {
            std::fs::create_dir_all(dir).map_err(|error| failed(&format!("{}: {error}", dir.display())))?;
        }
        let write = map.write(hash, &map_path);
        write.map_err(|error| failed(&format!("{}: {error}; no source was changed", map_path.display())))?;
    }
    drop(map);
    let bar = console::progress(found.sources.len(), if args.check { "proving" } else { "writing" });
    found.sources.par_iter().zip(outcomes).zip(ids).for_each(|((source, outcome), ids)| {
        bar.inc(1);
        let options = options(args, found, source, MainHash::Literal(hash));
        if let Err(failure) = guarded(|| write_one(args, source, outcome, &ids, &options)) {
            *outcome = Outcome::Failed(failure);
        }
    });
    bar.finish_and_clear();
    Ok(())
}

/// The ids of a source; none when it is not instrumented.
fn enter(map: &mut MapFile, file: &Path, outcome: &mut Outcome) -> Vec<u16> {
    let Outcome::Analyzed(analyzed) = outcome else { return Vec::new() };
    let path = map.relative(file);
    match map.ids(&path, analyzed.rest.lines) {
        Ok(ids) => {
            map.set_sites(&path, analyzed.sites.clone());
            ids
        }
        Err(error) => {
            *outcome = Outcome::Failed(Failure::Map(error.to_string()));
            Vec::new()
        }
    }
}

fn write_one(
    args: &Args,
    source: &Source,
    outcome: &Outcome,
    ids: &[u16],
    options: &Options,
) -> Result<(), Failure> {
    let target = args.out_dir.as_ref().map(|dir| dir.join(&source.below));
    let Outcome::Analyzed(analyzed) = outcome else {
        return target.map_or(Ok(()), |target| copy(&source.real, &target));
    };
    let text = read(args, source)?;
    if fingerprint(&text) != analyzed.fingerprint {
        return Err(Failure::Changed);
    }
    let result = crate::instrument(&text, &analyzed.analysis(), ids, options).inspect_err(|_| {
        // The tree below the output directory is complete even then.
        let _ = target.as_ref().map(|target| copy(&source.real, target));
    })?;
    match target {
        _ if args.check => Ok(()),
        Some(target) => {
            copy(&source.real, &target)?;
            crate::atomic::replace(&target, &result).map_err(|error| Failure::Io("write", error))
        }
        // Not rewritten when there is nothing to insert.
        None if result == text => Ok(()),
        None => crate::atomic::replace(&source.real, &result).map_err(|error| Failure::Io("write", error)),
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let dir = to.parent().unwrap_or(Path::new("."));
    let copied = std::fs::create_dir_all(dir).and_then(|()| std::fs::copy(from, to));
    copied.map(drop).map_err(|error| Failure::Io("copy", error))
}

/// The nearest directory above the first path that has a Cargo.toml, else the current directory.
pub fn project_root(args: &Args) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    let first = args.paths.first().map(|path| absolute(path)).unwrap_or_else(|| current.clone());
    let mut dirs = first.ancestors();
    dirs.find(|dir| dir.join("Cargo.toml").is_file()).map_or(current, Path::to_path_buf)
}

pub fn map_path(args: &Args, root: &Path) -> PathBuf {
    let default = || args.out_dir.as_deref().unwrap_or(root).join("xhist.map");
    args.map.clone().unwrap_or_else(default)
}

/// The path from the root of the file system, links resolved when it exists.
pub fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}

fn list(found: &Found, outcomes: &[Outcome]) -> Result<(), Fatal> {
    for (source, outcome) in found.sources.iter().zip(outcomes) {
        let printed = match outcome {
            Outcome::Analyzed(analyzed) => print_list(&source.path, &analyzed.analysis()),
            Outcome::LeftAlone(rule) => {
                writeln!(io::stdout().lock(), "{}: left alone: {rule}", source.path.display())
            }
            Outcome::Failed(_) => Ok(()),
        };
        match printed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            result => result.map_err(|error| Fatal::Failed(error.to_string()))?,
        }
    }
    Ok(())
}

/// Every statement and every skip of one file, in the order of the text.
pub fn print_list(path: &Path, analysis: &Analysis) -> io::Result<()> {
    let mut lines: Vec<(u32, u32, String)> = Vec::new();
    for (index, site) in analysis.sites.iter().enumerate() {
        let mut what = format!("{} {}", site.kind.name(), site.function);
        analysis.triggers_at(index).iter().for_each(|trigger| what += &format!(", {trigger}"));
        lines.push((site.line, site.column, what));
    }
    for skip in &analysis.skips {
        let many =
            if skip.statements == 1 { String::new() } else { format!(" ({} statements)", skip.statements) };
        lines.push((skip.line, skip.column, format!("skipped: {}{many}", skip.reason)));
    }
    lines.sort_by_key(|(line, column, _)| (*line, *column));
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (line, column, what) in lines {
        writeln!(out, "{}:{line}:{column} {}", path.display(), what.trim_end())?;
    }
    out.flush()
}

/// What `// xhist debug TRUE` asks for.
fn debug_notes(found: &Found, outcomes: &[Outcome]) {
    for (source, outcome) in found.sources.iter().zip(outcomes) {
        let Outcome::Analyzed(analyzed) = outcome else { continue };
        if analyzed.rest.debug_lines.is_empty() {
            continue;
        }
        print_debug_notes(&source.path, &analyzed.analysis());
    }
}

/// The statements between `// xhist debug TRUE` and `FALSE`, on stderr.
pub fn print_debug_notes(path: &Path, analysis: &Analysis) {
    let is_debugged = |line: u32| analysis.debug_lines.iter().any(|lines| lines.contains(&line));
    let path = path.display();
    for site in analysis.sites.iter().filter(|site| is_debugged(site.line)) {
        eprintln!("debug: {path}:{}:{} {} {}", site.line, site.column, site.kind.name(), site.function);
    }
    for skip in analysis.skips.iter().filter(|skip| is_debugged(skip.line)) {
        eprintln!("debug: {path}:{}:{} skipped: {}", skip.line, skip.column, skip.reason);
    }
}

/// Errors, summary, and what to do next.
fn report(args: &Args, found: &Found, outcomes: &[Outcome]) -> ExitCode {
    let mut summary = console::Summary::default();
    let mut failed = false;
    for (source, outcome) in found.sources.iter().zip(outcomes) {
        if let Outcome::Failed(failure) = outcome {
            eprintln!("{}", failure.describe(&source.path));
            failed = true;
        }
        if source.is_rust {
            summary.add(outcome);
        }
    }
    for error in &found.errors {
        eprintln!("{error}");
        failed = true;
    }
    summary.print();
    if !args.check && !args.list {
        note_missing_dependency(found, outcomes);
        if found.triggers.iter().any(Request::starts) {
            eprintln!("{}", trigger::NOTE_WAIT);
        }
    }
    if failed { ExitCode::SomeFailed } else { ExitCode::Done }
}

/// The inserted calls need the recorder as a dependency.
fn note_missing_dependency(found: &Found, outcomes: &[Outcome]) {
    let analyzed =
        found.sources.iter().zip(outcomes).filter(|(_, outcome)| matches!(outcome, Outcome::Analyzed(_)));
    let packages = analyzed.filter_map(|(source, _)| source.package.as_deref());
    let lacking: BTreeSet<&Path> =
        packages.filter(|package| !package.names_recorder).map(|package| package.dir.as_path()).collect();
    for dir in lacking {
        let manifest = dir.join("Cargo.toml");
        eprintln!(
            "note: {} does not name xhist-rt; the calls need it: cargo add xhist-rt --features trace",
            manifest.display()
        );
    }
}
