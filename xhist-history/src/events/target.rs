//! The threads of a target whose stream is decoded: to the report each of them is a ring.

use std::collections::BTreeMap;
use std::io;

use super::merge::Merged;
use super::source::{Step, TakeStep};
use super::stream_decoder::StreamSink;
use crate::events::context::Context;
use crate::model::{Gap, Item, Ring, What};
use qs_host::front_end::Tap;
use qs_host::{Listener, StreamEvent, TargetSymbols};

/// Threads beyond this number are not distinguished: a damaged stream may hold any number.
const MOST_RINGS: usize = 1024;

/// A target and its threads.
pub struct StreamTarget {
    /// The target before it names a thread.
    pub ring: Ring,
    threads: BTreeMap<u64, Ring>,
}

impl StreamTarget {
    /// Without threads.
    pub fn new(ring: Ring) -> StreamTarget {
        StreamTarget { ring, threads: BTreeMap::new() }
    }

    /// From now on its entries are shown with this origin.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn set_origin(
        &mut self,
        origin: &str,
        take: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> io::Result<()> {
        std::iter::once(&mut self.ring).chain(self.threads.values_mut()).try_for_each(|ring| {
            ring.origin = Some(origin.to_owned());
            take(Step::Ring(ring), context)
        })
    }

    /// The ring of a thread; whether it is new.
    fn of(&mut self, thread: Option<u64>, rings: &mut usize) -> (&Ring, bool) {
        let Some(thread) = thread else { return (&self.ring, false) };
        if self.threads.len() >= MOST_RINGS && !self.threads.contains_key(&thread) {
            return (&self.ring, false);
        }
        let mut is_new = false;
        let ring = self.threads.entry(thread).or_insert_with(|| {
            is_new = true;
            *rings += 1;
            let thread_name = Some(format!("thread-{thread}"));
            Ring { number: *rings, thread_name, ..self.ring.clone() }
        });
        (ring, is_new)
    }
}

/// Gives the items of a target as steps.
pub struct TargetSink<'t, 'c, 'n> {
    /// The target.
    pub target: &'t mut StreamTarget,
    /// Rings that were given so far.
    pub rings: &'t mut usize,
    /// Takes the steps.
    pub take: TakeStep<'t>,
    /// For the steps.
    pub context: &'t mut Context<'c, 'n>,
    /// A front-end that listens, too.
    pub tap: Option<&'t mut Tap>,
    /// The first error of the output.
    pub result: io::Result<()>,
}

impl TargetSink<'_, '_, '_> {
    /// Gives an item, or only what is missing.
    pub fn give(&mut self, thread: Option<u64>, gap: Gap, item: Option<Item>) {
        if self.result.is_ok() {
            self.result = self.try_give(thread, gap, item);
        }
    }

    fn try_give(&mut self, thread: Option<u64>, gap: Gap, item: Option<Item>) -> io::Result<()> {
        let (ring, is_new) = self.target.of(thread, self.rings);
        if is_new {
            (self.take)(Step::Ring(ring), self.context)?;
        }
        if let Some(Item { what: What::Statement { .. }, .. }) = item {
            self.context.need_map(ring);
        }
        let merged = Merged { stream: 0, gap, item, uncertain: false };
        (self.take)(Step::Event(ring, &merged), self.context)
    }
}

impl StreamSink for TargetSink<'_, '_, '_> {
    fn item(&mut self, thread: Option<u64>, gap: Gap, item: Item) {
        self.give(thread, gap, Some(item));
    }

    fn file(&mut self, file: u16, path: &str) {
        self.context.name_file(&self.target.ring, file, path);
    }

    fn event(&mut self, event: &StreamEvent<'_>, known: &mut TargetSymbols) {
        if let StreamEvent::OddSizes = event {
            self.context.notes.loss(format_args!(
                "{}: a target-info record declares sizes that no target has; those sizes were ignored",
                self.target.ring
            ));
        }
        if let StreamEvent::OtherBuild(builds) = event {
            self.context.notes.note(format_args!("{}: {builds}", self.target.ring));
        }
        if let Some(tap) = &mut self.tap {
            tap.event(*event, known);
        }
    }
}
