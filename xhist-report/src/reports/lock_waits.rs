//! Threads that end at a statement that takes a lock, while they hold others: the order check, for the answer.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use super::order::is_own;
use crate::causes::order::{LockOrder, LockWait, OrderFindings, OrderProgram, ThreadOrder, circle};
use xhist_history::ReadOptions;
use xhist_history::calls::{Handler, ThreadEntry};
use xhist_history::events::Merged;
use xhist_history::events::context::Context;
use xhist_history::model::{Names, Ring, visible};
use xhist_history::notes::Notes;
use xhist_history::program::text::SourceText;

/// Threads that are named.
const MOST: usize = 4;

/// Follows the locks of threads that have not ended.
pub(super) struct LockWaits {
    text: SourceText,
    /// By the number of the map; `None` if no statement takes a lock.
    programs: HashMap<usize, Option<Arc<OrderProgram>>>,
    /// By the number of the ring: the map and the thread.
    threads: BTreeMap<usize, (usize, Ring, ThreadOrder)>,
    /// Rings that are followed.
    followed: Vec<usize>,
}

impl LockWaits {
    pub(super) fn new(options: &ReadOptions) -> LockWaits {
        LockWaits {
            text: SourceText::new(options),
            programs: HashMap::new(),
            threads: BTreeMap::new(),
            followed: Vec::new(),
        }
    }

    /// The rings of the history.
    pub(super) fn start(&mut self, rings: &[Ring]) {
        let is_open = |ring: &&Ring| !matches!(ring.status, "ended" | "exited" | "panicked");
        self.followed = rings.iter().filter(is_open).map(|ring| ring.number).collect();
    }

    /// Takes what a ring yields next.
    pub(super) fn take(&mut self, ring: &Ring, event: &Merged, context: &Context<'_, '_>) {
        if !self.followed.contains(&ring.number) {
            return;
        }
        let (index, names) = context.maps.of(ring);
        let text = &mut self.text;
        let known = self.programs.entry(index);
        let program = known.or_insert_with(|| program(text, (index, names)));
        let Some(program) = program else { return };
        let thread = self.threads.entry(ring.number);
        let (.., thread) =
            thread.or_insert_with(|| (index, ring.clone(), ThreadOrder::new(program, ring.thread())));
        if !event.gap.is_empty() {
            thread.gap();
        }
        if let Some(item) = &event.item {
            let entry = (Handler::of(item), ThreadEntry::of(&item.what));
            thread.take(0, entry, &mut LockOrder::default(), &mut OrderFindings::default());
        }
    }

    /// Writes which threads are at a lock at the end, and which locks they hold.
    pub(super) fn write(&self, context: &mut Context<'_, '_>) -> io::Result<()> {
        let mut by_map: BTreeMap<usize, (&Ring, Vec<LockWait>)> = BTreeMap::new();
        for (index, ring, thread) in self.threads.values() {
            let Some(program) = self.program(*index) else { continue };
            // A task that waits leaves its thread to others.
            let waits = thread.lock_wait().filter(|wait| !program.structure.awaits(wait.at));
            by_map.entry(*index).or_insert((ring, Vec::new())).1.extend(waits);
        }
        for (index, (ring, waits)) in &mut by_map {
            waits.sort_by(|one, other| one.thread.cmp(&other.thread));
            let Some(program) = self.program(*index) else { continue };
            let names = context.maps.of(ring).1;
            let (circle, waits) = (circle(waits), &*waits);
            let (title, shown) = match (&circle[..], waits.as_slice()) {
                ([_], _) => ("a thread takes a lock that it holds already, by its name", circle),
                ([_, ..], _) => ("threads wait for each other, by the names of their locks", circle),
                ([], [_, _, ..]) => ("threads take a lock while they hold another", waits.iter().collect()),
                ([], _) => continue,
            };
            writeln!(context.out, "{title}:")?;
            for wait in shown.iter().take(MOST) {
                writeln!(context.out, "  {}", text(wait, program, names))?;
            }
            let more = shown.len().saturating_sub(MOST);
            if more > 0 {
                writeln!(context.out, "  and {more} more")?;
            }
        }
        Ok(())
    }

    fn program(&self, index: usize) -> Option<&OrderProgram> {
        self.programs.get(&index)?.as_deref()
    }
}

/// The locks of a program; `None` if no statement takes one.
fn program(text: &mut SourceText, (index, names): (usize, &Names)) -> Option<Arc<OrderProgram>> {
    let mut ignored = io::sink();
    let quiet = &mut Notes::new(&mut ignored);
    let mut line_text = |file: u16, line: u32| {
        let own =
            is_own(names, file).then(|| text.line((index, names), file, line, quiet).map(str::to_owned));
        own.flatten()
    };
    let program = OrderProgram::new(names, &[], &BTreeMap::new(), &mut line_text);
    (program.locks() > 0).then(|| Arc::new(program))
}

/// `pay holds .accounts (src/main.rs:15) and takes .log at src/main.rs:17`.
fn text(wait: &LockWait, program: &OrderProgram, names: &Names) -> String {
    let place = |id| {
        let (file, span) = program.structure.place(id);
        format!("{}:{}", visible(names.path(file).unwrap_or_default()), span.line)
    };
    let held: Vec<String> = wait.held.iter().map(|(lock, id)| format!("{lock} ({})", place(*id))).collect();
    let LockWait { thread, wanted, at, .. } = wait;
    format!("{thread} holds {} and takes {} at {}", held.join(", "), wanted.join(", "), place(*at))
}
