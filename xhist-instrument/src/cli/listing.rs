//! Lists statements, and what is skipped and why: `--list`, and the directive `// xhist debug TRUE`.

use super::folder::FolderSources;
use super::{Fatal, console};
use crate::pipeline::{Exemption, Outcome};
use crate::{Analysis, Reason};
use std::io::{self, Write as _};
use std::path::Path;

/// `--list`: every file, on stdout.
pub fn list(found: &FolderSources, outcomes: &[Outcome]) -> Result<(), Fatal> {
    for (source, outcome) in found.sources.iter().zip(outcomes) {
        let printed = match outcome {
            Outcome::Analyzed(analyzed) => print_list(&source.path, &analyzed.analysis),
            Outcome::LeftAlone(Exemption::Excluded) => Ok(()),
            Outcome::LeftAlone(rule) => {
                writeln!(io::stdout().lock(), "{}: left alone: {rule}", console::shown(&source.path))
            }
            Outcome::Failed(_) => Ok(()),
        };
        match printed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            result => result.map_err(Fatal::Stdio)?,
        }
    }
    Ok(())
}

/// Prints every statement and every skip of one file, in the order of the text.
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
    for (index, value) in analysis.values.iter().enumerate() {
        let watches = analysis.watches_at(index);
        if value.recorded || !watches.is_empty() {
            let mut what = format!("value {} of {} {}", value.name, value.kind.name(), value.function);
            watches.iter().for_each(|watch| what += &format!(", {watch}"));
            lines.push((value.line, value.column, what));
        }
    }
    for skip in &analysis.value_skips {
        lines.push((skip.line, skip.column, format!("value {} skipped: {}", skip.name, skip.reason)));
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

/// Prints what `// xhist debug TRUE` asks for.
pub fn debug_notes(found: &FolderSources, outcomes: &[Outcome]) {
    for (source, outcome) in found.sources.iter().zip(outcomes) {
        let Outcome::Analyzed(analyzed) = outcome else { continue };
        if analyzed.analysis.debug_lines.is_empty() {
            continue;
        }
        print_debug_notes(&source.path, &analyzed.analysis);
    }
}

/// Prints the statements between `// xhist debug TRUE` and `FALSE` on stderr.
pub fn print_debug_notes(path: &Path, analysis: &Analysis) {
    let is_debugged = |line: u32| analysis.debug_lines.iter().any(|lines| lines.contains(&line));
    let mut notes: Vec<(u32, u32, String)> = Vec::new();
    for site in &analysis.sites {
        let what = match site.recorded {
            true => format!("{} {}", site.kind.name(), site.function),
            false => format!("skipped: {}", Reason::Detail),
        };
        notes.push((site.line, site.column, what));
    }
    let skips = analysis.skips.iter();
    notes.extend(skips.map(|skip| (skip.line, skip.column, format!("skipped: {}", skip.reason))));
    notes.retain(|(line, ..)| is_debugged(*line));
    notes.sort_by_key(|(line, column, _)| (*line, *column));
    let path = console::shown(path);
    for (line, column, what) in notes {
        console::say(format_args!("debug: {path}:{line}:{column} {what}"));
    }
}
