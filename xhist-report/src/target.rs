//! The entries of a target whose stream is decoded: each of its threads is as a ring to the report. It must not know whether the target
//! is alive.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::console::Notes;
use crate::decode::{Items, Merged};
use crate::format::Format;
use crate::front_end::Tap;
use crate::model::{Gap, Item, Ring, What};
use crate::qs::{Event, Known, Listener};
use crate::telling::Telling;

/// More threads than this are not told apart: numbers of a damaged stream could be any.
const MOST: usize = 1024;

/// A target and its threads.
pub struct Target {
    /// The target before it tells of threads.
    pub ring: Ring,
    threads: BTreeMap<u64, Ring>,
}

impl Target {
    /// Without threads.
    pub fn new(ring: Ring) -> Target {
        Target { ring, threads: BTreeMap::new() }
    }

    /// From here on it is told that entries come from there.
    pub fn set_origin(
        &mut self,
        origin: &str,
        format: &mut dyn Format,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        std::iter::once(&mut self.ring).chain(self.threads.values_mut()).try_for_each(|ring| {
            ring.origin = Some(origin.to_owned());
            format.ring(ring, out)
        })
    }

    /// The ring of a thread; whether it is new.
    fn of(&mut self, thread: Option<u64>, rings: &mut usize) -> (&Ring, bool) {
        let Some(thread) = thread else { return (&self.ring, false) };
        if self.threads.len() >= MOST && !self.threads.contains_key(&thread) {
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

/// Tells what a target sends.
pub struct Teller<'t, 'o, 'n> {
    /// Names and numbers entries.
    pub telling: &'t mut Telling<'o>,
    /// Writes them.
    pub format: &'t mut dyn Format,
    /// Whose they are.
    pub target: &'t mut Target,
    /// Rings that were told of so far.
    pub rings: &'t mut usize,
    /// Where entries go.
    pub out: &'t mut dyn Write,
    /// Where losses go.
    pub notes: &'t mut Notes<'n>,
    /// Who else listens.
    pub also: Option<&'t mut Tap>,
    /// What became of the output.
    pub result: io::Result<()>,
}

impl Teller<'_, '_, '_> {
    /// Tells an item, or only what is missing.
    pub fn tell(&mut self, thread: Option<u64>, gap: Gap, item: Option<Item>) {
        if self.result.is_err() {
            return;
        }
        let (ring, is_new) = self.target.of(thread, self.rings);
        if is_new {
            self.result = self.format.ring(ring, self.out);
        }
        if let Some(Item { what: What::Statement { .. }, .. }) = item {
            self.telling.need_map(ring, self.notes);
        }
        let merged = Merged { stream: 0, gap, item, uncertain: false };
        if self.result.is_ok() {
            self.result = self.telling.tell(ring, &merged, self.format, self.out, self.notes);
        }
    }
}

impl Items for Teller<'_, '_, '_> {
    fn item(&mut self, thread: Option<u64>, gap: Gap, item: Item) {
        self.tell(thread, gap, Some(item));
    }

    fn file(&mut self, file: u16, path: &str) {
        self.telling.name_file(&self.target.ring, file, path, self.notes);
    }

    fn event(&mut self, event: &Event<'_>, known: &mut Known) {
        if let Event::OddSizes = event {
            self.notes.loss(format_args!(
                "{}: a target-info record tells sizes that no target has; those sizes were not believed",
                self.target.ring
            ));
        }
        if let Some(also) = &mut self.also {
            also.event(*event, known);
        }
    }
}
