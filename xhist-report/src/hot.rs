//! Tells what fills the rings, and what would leave it out. It must not know how a format looks.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::console::Notes;
use crate::decode::{View, counts};
use crate::exit_code::ExitCode;
use crate::map::Maps;
use crate::model::{Opening, Ring, Totals, hot};
use crate::options::Options;
use crate::session::outcome;

/// Tells of each build whose rings are here.
pub fn run(
    rings: &[Ring],
    views: &[View<'_>],
    options: &Options,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    let maps = match Maps::load(&rings.iter().collect::<Vec<_>>(), options, notes) {
        Ok(maps) => maps,
        Err(code) => return code,
    };
    let mut by_map: HashMap<u64, HashMap<_, u64>> = HashMap::new();
    for (ring, view) in rings.iter().zip(views) {
        let gap = counts(view, by_map.entry(view.header.map_hash).or_default());
        if !gap.is_empty() {
            notes.loss(format_args!("{ring}: {gap}"));
        }
    }
    let mut hashes: Vec<u64> = by_map.keys().copied().collect();
    hashes.sort_unstable();
    let mut format = (options.format.make)(options.layout);
    let complete = notes.finish() == ExitCode::Complete;
    let told = || -> io::Result<()> {
        format.start(&Opening { rings, entries: 0 }, out)?;
        for hash in hashes {
            let (_, names) = maps.of(&Ring::of_map(hash));
            format.hot(&hot(names, &by_map[&hash]), out)?;
        }
        format.finish(&Totals { entries: 0, complete }, out)?;
        out.flush()
    };
    outcome(told(), notes)
}
