//! `builds`: the builds that the rings came from.

use std::collections::BTreeMap;
use std::io;

use crate::format::entries::Totals;
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::events::Step;
use xhist_history::events::context::Context;
use xhist_history::model::{Opening, Origin, Ring};
use xhist_history::program::map;
use xhist_history::program::text::compare;
use xhist_history::reading::report::{Report, Summary};

/// Shows each build: its map, its age, its sources here, and the rings that carry its hash.
pub struct Builds<'o> {
    options: &'o Options,
    rings: Vec<Ring>,
}

impl<'o> Builds<'o> {
    /// In the format of these options.
    pub fn new(options: &'o Options) -> Builds<'o> {
        Builds { options, rings: Vec::new() }
    }
}

impl Report for Builds<'_> {
    fn start(&mut self, opening: &Opening<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        self.rings = opening.rings.to_vec();
        Ok(())
    }

    fn step(&mut self, _: Step<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        let mut by_hash: BTreeMap<u64, Vec<&Ring>> = BTreeMap::new();
        for ring in &self.rings {
            by_hash.entry(ring.map_hash).or_default().push(ring);
        }
        let hashes: Vec<u64> = by_hash.keys().copied().collect();
        let mut builds = match map::builds(&hashes, context.options, context.notes) {
            Ok(builds) => builds,
            Err(code) => return Ok(Summary { code, entries: 0 }),
        };
        for (build, names) in &mut builds {
            match &mut build.origin {
                Origin::Known(known) => known.sources = compare(names, known.map.written),
                Origin::Unknown { .. } => context.notes.incomplete(),
            }
        }
        let mut format = self.options.make_format();
        format.start(&Opening { rings: &self.rings, entries: 0 }, context.out)?;
        for (build, _) in &builds {
            let mut rings = by_hash.get(&build.hash).cloned().unwrap_or_default();
            // The threads of a process together.
            rings.sort_by_key(|ring| (ring.pid, ring.number));
            format.build(build, &rings, context.out)?;
        }
        let complete = context.notes.finish() == ExitCode::Complete;
        format.finish(&Totals { entries: 0, complete }, context.out)?;
        context.out.flush()?;
        Ok(Summary { code: context.notes.finish(), entries: 0 })
    }
}
