//! In place, `--out-dir`, `--check` and `--list`: analyse all, enter all into the map, then write each.
//! What an earlier run inserted is taken out first, so a run on instrumented sources brings them up to date.

use super::find::{Found, Purpose, Source, find};
use super::outcome::{Analyzed, Failure, Outcome, Rule, guarded};
use super::output::Output;
use super::{Args, ExitCode, Fatal, advice, build_scripts, console, lock};
use crate::map::MapFile;
use crate::trigger::{self, Request};
use crate::{Analysis, Detail, IncludeKind, Macros, MainHash, Numbers, Options, Reason, When};
use rayon::prelude::*;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let output = Output::of(args)?;
    let root = project_root(args);
    let map_path = map_path(args, &root);
    let writes = !args.check && !args.list;
    let _locks = lock(args, output.as_ref(), writes.then_some(&map_path)).take();
    let mut found = find(args, if output.is_some() { Purpose::Copy } else { Purpose::Instrument })?;
    if let Some(output) = &output {
        output.check(&found)?;
    } else if writes {
        finish_killed_runs(&mut found, &map_path);
    }
    build_scripts::spare(&mut found);
    let mut outcomes = analyze_all(args, &found);
    apply_includes(&found, &mut outcomes);
    set_triggers(&found, &mut outcomes)?;
    debug_notes(&found, &outcomes);
    if args.list {
        list(&found, &outcomes)?;
        return Ok(report(&found, &outcomes));
    }
    let job = Job { args, found: &found, output: output.as_ref(), map_path: &map_path };
    let cleaned = job.write_all(&root, &mut outcomes)?;
    let code = report(&found, &outcomes);
    if writes {
        notes(&found, &outcomes, cleaned, &map_path);
    }
    Ok(code)
}

/// Alone on what is written, together with others on what is only read.
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

/// Temporary files and unfinished work that a killed run left.
pub fn finish_killed_runs(found: &mut Found, map: &Path) {
    found.dirs.extend(map.parent().map(Path::to_path_buf));
    found.dirs.insert(crate::kept_maps::directory(map));
    let problems = found.dirs.iter().flat_map(|dir| crate::atomic::remove_stale(dir));
    found.errors.extend(problems);
}

fn options(args: &Args, found: &Found, source: &Source, main_hash: MainHash) -> Options {
    let edition2015 = match (args.edition, &source.package) {
        (Some(edition), _) => edition == super::args::EditionArg::E2015,
        (None, Some(package)) => package.edition2015,
        (None, None) => false,
    };
    let wished = source.wishes().find_map(|wishes| wishes.config.when);
    let when = args.when.map(When::from).or(wished).unwrap_or_default();
    let wished = source.wishes().find_map(|wishes| wishes.config.detail);
    let detail = args.detail.map(Detail::from).or(wished).unwrap_or_default();
    Options { edition2015, detail, when, main_hash, triggers: !found.triggers.is_empty() }
}

/// A source as it is, and the text to work on: without what an earlier run inserted.
struct Texts {
    raw: Vec<u8>,
    original: Vec<u8>,
}

fn read(args: &Args, source: &Source) -> Result<Texts, Failure> {
    let raw = std::fs::read(&source.real).map_err(|error| Failure::Io("read", error))?;
    let original = without_calls(&raw)?;
    let original = if args.reflow { crate::reflow(&original)? } else { original };
    Ok(Texts { raw, original })
}

/// A text without what an earlier run inserted.
fn without_calls(text: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok(crate::try_strip(text)?.text)
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

/// Macros of one file are called in others. What cannot be read is reported later.
fn all_macros(found: &Found) -> Macros {
    let sources = found.sources.par_iter().filter(|source| source.is_rust && source.rule.is_none());
    let of_one = |source: &Source| {
        let mut macros = Macros::default();
        source.package.iter().for_each(|package| macros.add_crate(&package.name));
        if let Ok(text) = std::fs::read(&source.real) {
            macros.add_file(&source.real, &crate::strip(&text));
        }
        macros
    };
    sources.map(of_one).reduce(Macros::default, Macros::merged)
}

fn analyze_one(args: &Args, found: &Found, source: &Source, macros: &Macros) -> Result<Outcome, Failure> {
    let Texts { raw, original } = read(args, source)?;
    let options = options(args, found, source, MainHash::None);
    let mut analysis = crate::analyze_among(&original, &options, macros)?;
    if analysis.is_off {
        return Ok(Outcome::LeftAlone(Rule::Off));
    }
    found.selection.apply(&source.module, source.thin, &mut analysis);
    for wishes in source.wishes() {
        wishes.selection.apply(&source.module, wishes.thins_file(&source.real), &mut analysis);
    }
    Ok(Outcome::Analyzed(Box::new(Analyzed::new(analysis, fingerprint(&raw)))))
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
    let placed =
        trigger::place(&found.triggers, &files, look, |note| console::say(format_args!("note: {note}")));
    for (file, trigger) in placed.map_err(Fatal::Usage)? {
        if let Outcome::Analyzed(analyzed) = &mut outcomes[file] {
            analyzed.sites.record(trigger.site);
            analyzed.rest.add_trigger(trigger);
        }
    }
    Ok(())
}

/// What all files have in common when they are written.
struct Job<'a> {
    args: &'a Args,
    found: &'a Found,
    output: Option<&'a Output>,
    map_path: &'a Path,
}

/// What is done with one file.
struct Task {
    /// Those of a source that is instrumented.
    numbers: Numbers,
    /// It is not, and what an earlier run inserted goes.
    is_cleaned: bool,
}

impl Job<'_> {
    /// Enters all into the map, then writes (or only proves) each. Gives how many were cleaned.
    fn write_all(&self, root: &Path, outcomes: &mut [Outcome]) -> Result<usize, Fatal> {
        let Self { args, found, output, map_path } = *self;
        let failed = |error: &dyn std::fmt::Display| Fatal::Failed(error.to_string());
        let mut map = MapFile::load(map_path, root).map_err(|error| failed(&error))?;
        let enter = |(source, outcome): (&Source, &mut Outcome)| {
            enter(&mut map, &recorded_file(args, source), outcome)
        };
        let tasks: Vec<Task> = found.sources.iter().zip(outcomes.iter_mut()).map(enter).collect();
        let any = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Analyzed(_)));
        let hash = map.hash();
        if !args.check {
            output.map_or(Ok(()), Output::make)?;
            // A map that was there names files that may have been cleaned.
            if any || map_path.is_file() {
                let shown = console::shown(map_path);
                let write = map.write(hash, map_path);
                write.map_err(|error| failed(&format!("{shown}: {error}; no source was changed")))?;
            }
        }
        drop(map);
        let bar = console::progress(found.sources.len(), if args.check { "proving" } else { "writing" });
        let write = |((source, outcome), task): ((&Source, &mut Outcome), Task)| {
            bar.inc(1);
            let options = options(args, found, source, MainHash::Literal(hash));
            let cleaned = guarded(|| self.write_one(source, outcome, &task, &options));
            cleaned.unwrap_or_else(|failure| {
                *outcome = Outcome::Failed(failure);
                false
            })
        };
        let cleaned =
            found.sources.par_iter().zip(outcomes).zip(tasks).map(write).filter(|cleaned| *cleaned).count();
        bar.finish_and_clear();
        Ok(cleaned)
    }

    /// Whether calls were taken out of a file that is not instrumented any longer.
    fn write_one(
        &self,
        source: &Source,
        outcome: &Outcome,
        task: &Task,
        options: &Options,
    ) -> Result<bool, Failure> {
        let Outcome::Analyzed(analyzed) = outcome else {
            return self.leave(source, task.is_cleaned);
        };
        let Texts { raw, original } = read(self.args, source)?;
        if fingerprint(&raw) != analyzed.fingerprint {
            return Err(Failure::Changed);
        }
        let result =
            crate::instrument(&original, &analyzed.analysis(), &task.numbers, options).inspect_err(|_| {
                // The tree below the output directory is complete even then.
                let _ = self.leave(source, false);
            })?;
        if !self.args.check {
            self.put(source, &raw, &result)?;
        }
        Ok(false)
    }

    /// A file that is not instrumented, without the calls of an earlier run if it `is_cleaned`.
    fn leave(&self, source: &Source, is_cleaned: bool) -> Result<bool, Failure> {
        if is_cleaned && !self.args.check {
            let raw = std::fs::read(&source.real).map_err(|error| Failure::Io("read", error))?;
            let stripped = without_calls(&raw)?;
            if stripped != raw {
                self.put(source, &raw, &stripped)?;
                return Ok(true);
            }
        }
        match self.output {
            // A map in the input is not the map of the output.
            Some(output) if output.dir.join(&source.below) != self.map_path => {
                output.copy(&source.real, &source.below).map_err(|error| Failure::Io("copy", error))?;
            }
            _ => {}
        }
        Ok(false)
    }

    /// Writes the new text of a source.
    fn put(&self, source: &Source, raw: &[u8], text: &[u8]) -> Result<(), Failure> {
        match self.output {
            Some(output) => {
                let written = output.write(&source.real, &source.below, text);
                written.map_err(|error| Failure::Io("write", error))
            }
            // Not rewritten when it says so already.
            None if text == raw => Ok(()),
            None => Ok(crate::atomic::replace(&source.real, raw, text)?),
        }
    }
}

/// Enters a source into the map.
fn enter(map: &mut MapFile, file: &Path, outcome: &mut Outcome) -> Task {
    let path = map.relative(file);
    let mut task = Task { numbers: Numbers::default(), is_cleaned: false };
    match outcome {
        Outcome::Analyzed(analyzed) => match map.numbers(&path, analyzed.rest.lines, analyzed.sites.len()) {
            Ok(numbers) => {
                map.set_sites(&path, analyzed.sites.clone());
                task.numbers = numbers;
            }
            Err(error) => *outcome = Outcome::Failed(Failure::Map(error.to_string())),
        },
        Outcome::LeftAlone(rule) if rule.is_cleaned(map.has_statements(&path)) => {
            map.clear_sites(&path);
            task.is_cleaned = true;
        }
        _ => {}
    }
    task
}

/// The nearest directory above the first path that has a Cargo.toml, else the current directory.
pub fn project_root(args: &Args) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    let first = args.paths.first().map(|path| absolute(path)).unwrap_or_else(|| current.clone());
    let mut dirs = first.ancestors();
    dirs.find(|dir| dir.join("Cargo.toml").is_file()).map_or(current, Path::to_path_buf)
}

/// The map that these arguments mean.
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
            Outcome::LeftAlone(Rule::Excluded) => Ok(()),
            Outcome::LeftAlone(rule) => {
                writeln!(io::stdout().lock(), "{}: left alone: {rule}", console::shown(&source.path))
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
        if !site.recorded {
            lines.push((site.line, site.column, format!("skipped: {}", Reason::Detail)));
            continue;
        }
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
        writeln!(out, "{}:{line}:{column} {}", console::shown(path), what.trim_end())?;
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
    let path = console::shown(path);
    for site in analysis.sites.iter().filter(|site| is_debugged(site.line)) {
        if !site.recorded {
            let reason = Reason::Detail;
            console::say(format_args!("debug: {path}:{}:{} skipped: {reason}", site.line, site.column));
            continue;
        }
        let (kind, function) = (site.kind.name(), &site.function);
        console::say(format_args!("debug: {path}:{}:{} {kind} {function}", site.line, site.column));
    }
    for skip in analysis.skips.iter().filter(|skip| is_debugged(skip.line)) {
        let reason = skip.reason;
        console::say(format_args!("debug: {path}:{}:{} skipped: {reason}", skip.line, skip.column));
    }
}

/// Errors and the summary.
fn report(found: &Found, outcomes: &[Outcome]) -> ExitCode {
    let mut summary = console::Summary::default();
    let mut failed = false;
    for (source, outcome) in found.sources.iter().zip(outcomes) {
        if let Outcome::Failed(failure) = outcome {
            console::say(failure.describe(&source.path));
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

/// What was done besides, and what to do next.
fn notes(found: &Found, outcomes: &[Outcome], cleaned: usize, map: &Path) {
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
