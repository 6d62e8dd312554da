//! `coverage`: the statements that were ever executed.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;

use qs_core::record::Statement;

use crate::format::entries::{FileCoverage, Totals};
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::events::Step;
use xhist_history::events::context::Context;
use xhist_history::model::{Item, MapStatement, Names, Opening, Ring, What, count, visible};
use xhist_history::program::map::Maps;
use xhist_history::reading::report::{Report, Summary};
use xhist_history::ring::Executed;

/// Collects executed statements.
pub struct Coverage<'o> {
    options: &'o Options,
    executed: Executed,
}

impl<'o> Coverage<'o> {
    /// In the format of these options.
    pub fn new(options: &'o Options) -> Coverage<'o> {
        Coverage { options, executed: Executed::default() }
    }

    fn report_limits(&self, context: &mut Context<'_, '_>) {
        let Executed { by_map, known, lost, cut, left_out } = &self.executed;
        if by_map.keys().any(|hash| !known.contains(hash)) {
            context.notes.loss(format_args!(
                "no ever-executed bitmap here, so only what is still in the rings is known to have run"
            ));
        }
        if *lost > 0 {
            context.notes.loss(format_args!(
                "the ever-executed bitmap was full: {lost} times a statement found no place"
            ));
        }
        if *left_out > 0 {
            let left_out = count(*left_out, "ever-executed bitmap");
            context.notes.loss(format_args!("{left_out} left out: too many, or overlapping each other"));
        }
        if *cut > 0 {
            context.notes.loss(format_args!("{cut} slots of the ever-executed bitmap not in the image"));
        }
    }
}

impl Report for Coverage<'_> {
    fn start(&mut self, opening: &Opening<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        for ring in opening.rings {
            self.executed.by_map.entry(ring.map_hash).or_default();
        }
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        let (ring, event) = match step {
            Step::Executed(bitmaps) => {
                let of_rings = std::mem::replace(&mut self.executed, bitmaps).by_map;
                of_rings.into_keys().for_each(|hash| _ = self.executed.by_map.entry(hash).or_default());
                return Ok(());
            }
            Step::Event(ring, event) => (ring, event),
            _ => return Ok(()),
        };
        if let Some(Item { what: What::Statement { file, line }, .. }) = event.item
            && let Some(statements) = self.executed.by_map.get_mut(&ring.map_hash)
        {
            statements.insert(Statement { file, line });
        }
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        let mut hashes: Vec<u64> = self.executed.by_map.keys().copied().collect();
        hashes.sort_unstable();
        let rings: Vec<Ring> = hashes.iter().map(|hash| Ring::of_map(*hash)).collect();
        match Maps::load(&rings.iter().collect::<Vec<_>>(), context.options, context.notes) {
            Ok(maps) => *context.maps = maps,
            Err(code) => return Ok(Summary { code, entries: 0 }),
        }
        let maps: Vec<&Names> = rings.iter().map(|ring| context.maps.of(ring).1).collect();
        if let Err(error) = context.options.selection.check(&maps) {
            context.notes.error(format_args!("{error}"));
            return Ok(Summary { code: error.exit_code(), entries: 0 });
        }
        self.report_limits(context);
        let mut format = self.options.make_format();
        for ring in rings {
            let (_, names) = context.maps.of(&ring);
            let (statements, recorded) = names.count();
            if recorded < statements {
                context.notes.note(format_args!(
                    "detail: function, so only {recorded} of {statements} statements are recorded; the others are left out"
                ));
            }
            let takes = context.options.selection.takes_function(names);
            for covered in coverage(names, &self.executed.by_map[&ring.map_hash], &takes) {
                format.covered(&covered, context.out)?;
            }
            if names.files().next().is_none() {
                context.notes.incomplete();
                context.notes.error(format_args!(
                    "without its map a build has no names for its files, so nothing is reported of it"
                ));
            }
        }
        let complete = context.notes.finish() == ExitCode::Complete;
        format.finish(&Totals { entries: 0, complete }, context.out)?;
        context.out.flush()?;
        Ok(Summary { code: context.notes.finish(), entries: 0 })
    }
}

/// The coverage of all files of a map; of the statements of each file in a line of a function, those that `takes` chooses.
fn coverage(
    names: &Names,
    ran: &HashSet<Statement>,
    takes: &dyn Fn(u16, &str, u32) -> bool,
) -> Vec<FileCoverage> {
    let mut files: BTreeMap<&str, FileCoverage> = BTreeMap::new();
    // Lines of statements that ran, if only their lines are known.
    let mut lines: HashSet<(&str, u32)> = HashSet::new();
    // Lines with a recorded statement in the map.
    let mut described: HashSet<(&str, u32)> = HashSet::new();
    for file in names.files() {
        if let Some(path) = names.path(file) {
            let recorded = names.described(file).filter(|statement| statement.recorded);
            described.extend(recorded.map(|statement| (path, statement.line)));
        }
    }
    for statement in ran {
        let place = names.place(statement.file, statement.line);
        if let Some(path) = names.path(place.file) {
            if !described.contains(&(path, place.line)) && takes(place.file, "", place.line) {
                files.entry(path).or_default().lines.insert(place.line, true);
            }
            if statement.number().is_none() {
                lines.insert((path, place.line));
            }
        }
    }
    for file in names.files() {
        let Some(path) = names.path(file) else { continue };
        if takes(file, "", 0) {
            files.entry(path).or_default();
        }
        for MapStatement { line, function, numbered, recorded, .. } in names.described(file) {
            // It is not known whether a statement ran that is not recorded.
            if !recorded || !takes(file, function, line) {
                continue;
            }
            let ran =
                numbered.is_some_and(|numbered| ran.contains(&numbered)) || lines.contains(&(path, line));
            let covered = files.entry(path).or_default();
            *covered.lines.entry(line).or_insert(false) |= ran;
            if !function.is_empty() {
                let (first, any) = covered.functions.entry(function.to_owned()).or_insert((line, false));
                (*first, *any) = ((*first).min(line), *any || ran);
            }
        }
    }
    let named = files.into_iter().map(|(path, covered)| {
        let path = Path::new(&names.root).join(path);
        FileCoverage { path: visible(&path.to_string_lossy()).into_owned(), ..covered }
    });
    named.collect()
}
