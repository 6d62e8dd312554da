//! Carries out a comparison: reads both sources, checks that they are of one build, and writes the answer.

use std::io::{self, Write};

use super::compare::{Comparison, compare};
use super::error::DiffError;
use super::json::JsonWriter;
use super::named::NamedSites;
use super::nearest::{WhyNotAligned, write_nearest};
use super::program::ComparedProgram;
use super::sides::{Input, SideRings};
use super::text::TextWriter;
use super::values::value_differences;
use crate::causes::suspects::NearestTest;
use xhist_history::ExitCode;
use xhist_history::model::{Names, Ring};
use xhist_history::notes::{Notes, outcome};
use xhist_history::program::map::Maps;
use xhist_history::program::text::SourceText;

/// How the answer looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffLook {
    /// As JSON lines.
    pub json: bool,
    /// Also how often statements ran.
    pub counts: bool,
    /// Lists without a limit.
    pub all: bool,
}

/// Compares two sources.
pub fn run(
    good: &Input<'_>,
    bad: &Input<'_>,
    look: DiffLook,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    finished(try_run(good, bad, None, look, out, notes), notes)
}

/// Compares a failed test with the passed one most like it. If their histories have no point in common, what only one of them
/// ran is printed.
pub fn run_nearest(
    nearest: &NearestTest,
    (good, bad): (&Input<'_>, &Input<'_>),
    look: DiffLook,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    finished(try_run(good, bad, Some(nearest), look, out, notes), notes)
}

fn finished(done: Result<io::Result<()>, DiffError>, notes: &mut Notes<'_>) -> ExitCode {
    match done {
        Ok(written) => outcome(written, notes),
        Err(error) => {
            notes.error(format_args!("{error}"));
            notes.finish();
            error.code()
        }
    }
}

fn try_run(
    good: &Input<'_>,
    bad: &Input<'_>,
    nearest: Option<&NearestTest>,
    look: DiffLook,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> Result<io::Result<()>, DiffError> {
    let found = (good.find(notes)?, bad.find(notes)?);
    let good_rings = SideRings::read(good, &found.0, notes)?;
    let bad_rings = SideRings::read(bad, &found.1, notes)?;
    let maps = load_maps(good, good_rings.map_hash, notes)?;
    let names = names_of(&maps, good_rings.map_hash);
    if good_rings.map_hash != bad_rings.map_hash {
        return Err(other_build(names, bad, &good_rings, &bad_rings, notes));
    }
    let program = ComparedProgram::of(names);
    if program.is_empty() {
        return Err(DiffError::NoMap(good_rings.map_hash));
    }
    let compared = compare(&program, &good_rings, &bad_rings, notes);
    if let Some(nearest) = nearest.filter(|_| are_apart(&compared)) {
        return Ok(write_nearest(nearest, WhyNotAligned::Apart, look.json, out, notes));
    }
    let mut comparison = compared?;
    let whole = comparison.threads.iter().filter(|pair| pair.cut == (false, false));
    let whole = whole.map(|pair| (pair.names.clone(), pair.rings));
    comparison.values = value_differences((good, bad), (&good_rings, &bad_rings), whole, names, notes);
    let named = &mut NamedSites::new(&program, names, SourceText::new(good.options));
    let code = write(&comparison, good, bad, good_rings.map_hash, look, named, out, notes);
    named.report_changed(notes);
    Ok(code)
}

/// Whether no thread has a point in common with its counterpart.
fn are_apart(compared: &Result<Comparison, DiffError>) -> bool {
    match compared {
        Ok(comparison) => {
            !comparison.threads.is_empty() && comparison.threads.iter().all(|pair| pair.is_apart)
        }
        Err(error) => matches!(error, DiffError::OtherProgram),
    }
}

fn load_maps(input: &Input<'_>, hash: u64, notes: &mut Notes<'_>) -> Result<Maps, DiffError> {
    Maps::load(&[&Ring::of_map(hash)], input.options, notes).map_err(|_| DiffError::UnreadableMap)
}

fn names_of(maps: &Maps, hash: u64) -> &Names {
    maps.of(&Ring::of_map(hash)).1
}

/// Whether histories of two builds are of two programs, too.
fn other_build(
    names: &Names,
    bad: &Input<'_>,
    good_rings: &SideRings<'_>,
    bad_rings: &SideRings<'_>,
    notes: &mut Notes<'_>,
) -> DiffError {
    let Ok(maps) = load_maps(bad, bad_rings.map_hash, notes) else { return DiffError::UnreadableMap };
    let others = names_of(&maps, bad_rings.map_hash);
    let is_known = names.paths().next().is_some() && others.paths().next().is_some();
    let is_common = |path: &str| others.paths().any(|(_, other)| other == path);
    let is_other = names.root != others.root && !names.paths().any(|(_, path)| is_common(path));
    match is_known && is_other {
        true => DiffError::OtherProgram,
        false => DiffError::OtherBuild(good_rings.map_hash, bad_rings.map_hash),
    }
}

#[allow(clippy::too_many_arguments, reason = "all of it is what the two formats write")]
fn write(
    comparison: &Comparison,
    good: &Input<'_>,
    bad: &Input<'_>,
    map: u64,
    look: DiffLook,
    named: &mut NamedSites<'_>,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> io::Result<()> {
    if look.json {
        JsonWriter { named, out, notes }.write(comparison, &good.label, &bad.label, map)?;
    } else {
        TextWriter { named, out, notes, counts: look.counts, all: look.all }.write(comparison)?;
    }
    out.flush()
}
