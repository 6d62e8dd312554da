//! Any format within a budget: what another format writes for each entry is kept as long as it fits.

use std::io::{self, Write};

use super::Format;
use crate::budget::{Budget, KeptEntries, Weight};
use crate::format::entries::{CallPart, CallRow, Entry, FileCoverage, Finding, Hotspot, Subject, Totals};
use xhist_history::model::{Build, Gap, Opening, Ring, TaskSummary};

/// Open calls of a thread that are listed whatever else is left out, the innermost ones.
const INNERMOST: u64 = 12;

/// Writes at the end what is kept.
pub struct Budgeted {
    inner: Box<dyn Format>,
    /// `None` after the end.
    entries: Option<KeptEntries>,
    /// What the other format wrote for one entry.
    text: Vec<u8>,
    /// The depth of the innermost open call around the next row.
    open: Option<usize>,
}

impl Budgeted {
    /// What this format writes, within a budget.
    pub fn new(inner: Box<dyn Format>, budget: Budget, is_json: bool) -> Budgeted {
        let entries = Some(KeptEntries::new(budget, is_json));
        Budgeted { inner, entries, text: Vec::new(), open: None }
    }

    /// Keeps what `write` writes as one entry.
    fn one(
        &mut self,
        weigh: impl FnOnce(u64) -> Weight,
        write: impl FnOnce(&mut dyn Format, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.text.clear();
        write(&mut *self.inner, &mut self.text)?;
        if let Some(entries) = &mut self.entries {
            entries.push(weigh(entries.count()), &self.text);
        }
        Ok(())
    }

    /// Keeps each line that `write` writes as an entry; the first weighs as `first` says.
    fn lines(
        &mut self,
        first: Option<Weight>,
        weigh: impl Fn(u64) -> Weight,
        write: impl FnOnce(&mut dyn Format, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.text.clear();
        write(&mut *self.inner, &mut self.text)?;
        let Some(entries) = &mut self.entries else { return Ok(()) };
        let (mut line, mut from, mut to) = (0, 0, 0);
        for text in self.text.split_inclusive(|byte| *byte == b'\n') {
            to += text.len();
            // An empty line belongs to the next one.
            if text != b"\n" || to == self.text.len() {
                let weight = first.filter(|_| line == 0).unwrap_or_else(|| weigh(line));
                entries.push(weight, &self.text[from..to]);
                (line, from) = (line + 1, to);
            }
        }
        Ok(())
    }

    /// The weight of a row of a call tree: first the way to the end, then calls near it.
    fn weigh_row(&mut self, row: &CallRow<'_>) -> impl FnOnce(u64) -> Weight + use<> {
        let (level, is_open) = match row {
            CallRow::Thread { .. } => {
                self.open = None;
                (None, true)
            }
            CallRow::Call(call) => {
                let is_open = call.exit == "open" || call.exit == "unwound" || call.part == CallPart::Begin;
                let around = self.open.filter(|open| *open < call.depth);
                let around = around.or_else(|| self.open.and(call.depth.checked_sub(1)));
                self.open = if is_open { Some(call.depth) } else { around };
                (Some(call.depth - around.map_or(0, |open| (open + 1).min(call.depth))), is_open)
            }
            CallRow::Note { what, .. } if matches!(*what, "panic" | "signal") => (Some(0), true),
            CallRow::Note { depth, .. } | CallRow::Repetition { depth, .. } => {
                let around = self.open.map_or(0, |open| open + 1);
                (Some(depth.saturating_sub(around)), false)
            }
            CallRow::Open { .. } => (None, true),
        };
        move |place| match (level, is_open) {
            (None, _) => Weight::FRAME,
            (Some(_), true) => Weight::on_the_way(place),
            (Some(level), false) => Weight::level(level, place),
        }
    }
}

impl Format for Budgeted {
    fn start(&mut self, opening: &Opening<'_>, _: &mut dyn Write) -> io::Result<()> {
        // A line for each of a thousand rings must not use up the room.
        self.lines(Some(Weight::FRAME), Weight::earlier, |format, out| format.start(opening, out))
    }

    fn marks_order(&self) -> bool {
        self.inner.marks_order()
    }

    fn ring(&mut self, ring: &Ring, _: &mut dyn Write) -> io::Result<()> {
        self.one(Weight::newer, |format, out| format.ring(ring, out))
    }

    fn entry(&mut self, entry: &Entry<'_>, _: &mut dyn Write) -> io::Result<()> {
        let is_end = matches!(entry.subject, Subject::Panic(_) | Subject::Signal(..));
        let weigh = |place| if is_end { Weight::on_the_way(place) } else { Weight::newer(place) };
        self.one(weigh, |format, out| format.entry(entry, out))
    }

    fn build(&mut self, build: &Build, rings: &[&Ring], _: &mut dyn Write) -> io::Result<()> {
        self.lines(Some(Weight::FRAME), Weight::earlier, |format, out| format.build(build, rings, out))
    }

    fn covered(&mut self, file: &FileCoverage, _: &mut dyn Write) -> io::Result<()> {
        self.one(Weight::earlier, |format, out| format.covered(file, out))
    }

    fn hotspots(&mut self, functions: &[Hotspot], _: &mut dyn Write) -> io::Result<()> {
        self.lines(None, Weight::earlier, |format, out| format.hotspots(functions, out))
    }

    fn tasks(&mut self, tasks: &TaskSummary, _: &mut dyn Write) -> io::Result<()> {
        self.lines(None, Weight::earlier, |format, out| format.tasks(tasks, out))
    }

    fn cancelled(&mut self, task: (u32, &str), _: &mut dyn Write) -> io::Result<()> {
        self.one(Weight::newer, |format, out| format.cancelled(task, out))
    }

    fn finding(&mut self, finding: &Finding, _: &mut dyn Write) -> io::Result<()> {
        self.one(Weight::earlier, |format, out| format.finding(finding, out))
    }

    fn call(&mut self, row: &CallRow<'_>, _: &mut dyn Write) -> io::Result<()> {
        if let CallRow::Open { .. } = row {
            let weigh = |line| match line <= INNERMOST {
                true => Weight::on_the_way((1 << 40) - line),
                false => Weight::earlier(line),
            };
            return self.lines(Some(Weight::FRAME), weigh, |format, out| format.call(row, out));
        }
        let weigh = self.weigh_row(row);
        self.one(weigh, |format, out| format.call(row, out))
    }

    fn gap(&mut self, ring: &Ring, gap: &Gap, _: &mut dyn Write) -> io::Result<()> {
        self.one(Weight::newer, |format, out| format.gap(ring, gap, out))
    }

    fn finish(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        self.one(|_| Weight::FRAME, |format, out| format.finish(totals, out))?;
        match self.entries.take() {
            Some(entries) => entries.write(out),
            None => Ok(()),
        }
    }
}
