//! `hot`: the functions that fill the rings, and what would leave them out of a build.

use std::collections::{BTreeMap, HashMap};
use std::io;

use qs_core::record::Statement;

use crate::entries::{Totals, hotspots};
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::context::Context;
use xhist_history::events::Step;
use xhist_history::model::{Gap, Item, Opening, Ring, What};
use xhist_history::report::{Report, Summary};

/// Counts statements.
pub struct Hotspots<'o> {
    options: &'o Options,
    rings: Vec<Ring>,
    /// By the hash of the map.
    counts: BTreeMap<u64, HashMap<Statement, u64>>,
    /// By the number of the ring.
    gaps: BTreeMap<usize, (String, Gap)>,
}

impl<'o> Hotspots<'o> {
    /// In the format of these options.
    pub fn new(options: &'o Options) -> Hotspots<'o> {
        Hotspots { options, rings: Vec::new(), counts: BTreeMap::new(), gaps: BTreeMap::new() }
    }
}

impl Report for Hotspots<'_> {
    fn start(&mut self, opening: &Opening<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        self.rings = opening.rings.to_vec();
        self.counts = opening.rings.iter().map(|ring| (ring.map_hash, HashMap::new())).collect();
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        let Step::Event(ring, event) = step else { return Ok(()) };
        if !event.gap.is_empty() {
            let (_, gap) = self.gaps.entry(ring.number).or_insert_with(|| (ring.to_string(), Gap::default()));
            gap.add(event.gap.clone());
        }
        // The statements of a repetition were recorded once, so they take room once.
        if let Some(Item { what: What::Statement { file, line }, .. }) = event.item {
            let counts = self.counts.entry(ring.map_hash).or_default();
            *counts.entry(Statement { file, line }).or_default() += 1;
        }
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        self.gaps.values().for_each(|(ring, gap)| context.notes.missing(gap, format_args!("{ring}: {gap}")));
        let mut format = self.options.make_format();
        let complete = context.notes.finish() == ExitCode::Complete;
        format.start(&Opening { rings: &self.rings, entries: 0 }, context.out)?;
        for (hash, counts) in &self.counts {
            let (_, names) = context.maps.of(&Ring::of_map(*hash));
            format.hotspots(&hotspots(names, counts), context.out)?;
        }
        format.finish(&Totals { entries: 0, complete }, context.out)?;
        context.out.flush()?;
        Ok(Summary { code: context.notes.finish(), entries: 0 })
    }
}
