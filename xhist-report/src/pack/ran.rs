//! The statements that a source has any trace of.

use std::collections::{BTreeMap, HashSet};
use std::io;

use qs_core::record::Statement;

use xhist_history::ReadOptions;
use xhist_history::calls::Structures;
use xhist_history::events::Step;
use xhist_history::events::context::Context;
use xhist_history::model::{Item, Opening, What};
use xhist_history::notes::{ExitCode, Notes};
use xhist_history::program::map::Maps;
use xhist_history::reading::report::{Report, Summary};
use xhist_history::reading::{Reading, Reads, Reports, SourceContent, Streams, read};

/// Statements, by the hash of their map.
#[derive(Debug, Default)]
pub struct RanStatements(BTreeMap<u64, HashSet<Statement>>);

impl RanStatements {
    /// Those in the rings and the bitmaps of an image. What is lost matters to reports, and not here.
    pub fn read(image: &[u8], options: &ReadOptions) -> BTreeMap<u64, HashSet<Statement>> {
        let mut ran = RanStatements::default();
        let (maps, structures, nowhere) = (&mut Maps::default(), &mut Structures::default(), &mut io::sink());
        let (out, notes) = (&mut io::sink(), &mut Notes::new(nowhere));
        read(image, &mut ran, &mut Context { options, maps, structures, out, notes });
        ran.0
    }
}

impl Reports for RanStatements {
    fn choose(&mut self, _: SourceContent) -> Reading {
        Reading { reads: Reads::Executed, streams: Streams::No, numbered: true }
    }

    fn make(&mut self) -> Result<Box<dyn Report + '_>, String> {
        Ok(Box::new(Collector(self)))
    }
}

/// Takes the statements out of the steps.
struct Collector<'r>(&'r mut RanStatements);

impl Report for Collector<'_> {
    fn start(&mut self, opening: &Opening<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        opening.rings.iter().for_each(|ring| _ = self.0.0.entry(ring.map_hash).or_default());
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        match step {
            Step::Executed(bitmaps) => {
                for (hash, statements) in bitmaps.by_map {
                    self.0.0.entry(hash).or_default().extend(statements);
                }
            }
            Step::Event(ring, event) => {
                if let Some(Item { what: What::Statement { file, line }, .. }) = event.item {
                    self.0.0.entry(ring.map_hash).or_default().insert(Statement { file, line });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut Context<'_, '_>) -> io::Result<Summary> {
        Ok(Summary { code: ExitCode::Complete, entries: 0 })
    }
}
