//! Says which builds the rings came from. It must not read what is recorded in them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::map;
use crate::model::{Build, Opening, Origin, Ring, Totals};
use crate::options::Options;
use crate::session::outcome;
use crate::source_text::compare;

/// Tells of each build: its map, its age, its sources here, and the rings that carry its hash.
pub fn run(rings: &[Ring], options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let mut by_hash: BTreeMap<u64, Vec<&Ring>> = BTreeMap::new();
    for ring in rings {
        by_hash.entry(ring.map_hash).or_default().push(ring);
    }
    let hashes: Vec<u64> = by_hash.keys().copied().collect();
    let mut builds = match map::builds(&hashes, &options.maps, notes) {
        Ok(builds) => builds,
        Err(code) => return code,
    };
    for (build, names) in &mut builds {
        match &mut build.origin {
            Origin::Known(known) => known.sources = compare(names, known.map.written),
            Origin::Unknown { .. } => notes.incomplete(),
        }
    }
    let written = write(&builds, &by_hash, rings, options, out, notes);
    outcome(written, notes)
}

fn write<N>(
    builds: &[(Build, N)],
    by_hash: &BTreeMap<u64, Vec<&Ring>>,
    rings: &[Ring],
    options: &Options,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> io::Result<()> {
    let mut format = (options.format.make)(options.layout);
    format.start(&Opening { rings, entries: 0 }, out)?;
    for (build, _) in builds {
        let mut rings = by_hash.get(&build.hash).cloned().unwrap_or_default();
        // The threads of a process together.
        rings.sort_by_key(|ring| (ring.pid, ring.number));
        format.build(build, &rings, out)?;
    }
    let complete = notes.finish() == ExitCode::Complete;
    format.finish(&Totals { entries: 0, complete }, out)?;
    out.flush()
}
