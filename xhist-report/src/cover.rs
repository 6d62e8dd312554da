//! Tells which statements ever ran, for formats that are about that. It must not know how a format looks.

use std::io::{self, Write};

use crate::console::Notes;
use crate::decode::{Ran, View, ran};
use crate::exit_code::ExitCode;
use crate::map::Maps;
use crate::model::{Ring, Totals, count, coverage};
use crate::options::Options;
use crate::session::outcome;

/// Tells of all files that the maps of the rings and bitmaps name.
pub fn run(
    image: &[u8],
    views: &[View<'_>],
    options: &Options,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    let ran = ran(image, views);
    if ran.by_map.is_empty() {
        return ExitCode::NothingFound;
    }
    let mut hashes: Vec<u64> = ran.by_map.keys().copied().collect();
    hashes.sort_unstable();
    let rings: Vec<Ring> = hashes.iter().map(|hash| Ring::of_map(*hash)).collect();
    let maps = match Maps::load(&rings.iter().collect::<Vec<_>>(), options, notes) {
        Ok(maps) => maps,
        Err(code) => return code,
    };
    tell_limits(&ran, &hashes, notes);
    outcome(write(&ran, &rings, &maps, options, out, notes), notes)
}

fn tell_limits(ran: &Ran, hashes: &[u64], notes: &mut Notes<'_>) {
    if hashes.iter().any(|hash| !ran.known.contains(hash)) {
        notes.loss(format_args!(
            "no ever-executed bitmap here, so only what is still in the rings is known to have run"
        ));
    }
    if ran.lost > 0 {
        notes.loss(format_args!(
            "the ever-executed bitmap was full: {} times a statement found no place",
            ran.lost
        ));
    }
    if ran.left_out > 0 {
        let left_out = count(ran.left_out, "ever-executed bitmap");
        notes.loss(format_args!("{left_out} left out: too many, or overlapping each other"));
    }
    if ran.cut > 0 {
        notes.loss(format_args!("{} slots of the ever-executed bitmap not in the image", ran.cut));
    }
}

fn write(
    ran: &Ran,
    rings: &[Ring],
    maps: &Maps,
    options: &Options,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> io::Result<()> {
    let mut format = (options.format.make)(options.layout);
    for ring in rings {
        let (_, names) = maps.of(ring);
        let (statements, recorded) = names.count();
        if recorded < statements {
            notes.note(format_args!(
                "detail: function, so only {recorded} of {statements} statements are recorded; the others are left out"
            ));
        }
        for covered in coverage(names, &ran.by_map[&ring.map_hash]) {
            format.covered(&covered, out)?;
        }
        if names.files().next().is_none() {
            notes.incomplete();
            notes.error(format_args!(
                "without its map a build has no names for its files, so nothing is told of it"
            ));
        }
    }
    let complete = notes.finish() == ExitCode::Complete;
    format.finish(&Totals { entries: 0, complete }, out)?;
    out.flush()
}
