//! The answer: for each thread that matters its last statements up to a panic or a signal, folded to a few lines; and the
//! async tasks that have not ended, first if the program hung.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use qs_core::record::value::RecordedValue;

use super::answer_draft::{Draft, DrawnListing, FEWEST_LINES};
use super::answer_rows::{
    Sources, answered_panic, answered_rows, caught_by_others, caught_text, more_suspects, reentry_texts,
    unwound_text, write_after, write_before, write_end, write_reentries, write_rows,
};
use super::answer_sources::RingSources;
use super::answer_threads::{PANICKED, ShownThread, is_main, newest_time, ran_earlier, rank, rank_of};
use super::lock_waits::LockWaits;
use super::log_lines::LogLines;
use crate::format::entries::AnsweredThread;
use crate::options::{ListingRoom, Options};
use xhist_history::answer::{
    Code, ListedStatement, PanicRows, PlaceOfPanic, Replay, Row, RowKind, Tail, ThreadEnd, Wanted, add_holes,
};
use xhist_history::calls::SincePanic;
use xhist_history::events::Step;
use xhist_history::events::context::Context;
use xhist_history::model::{
    BEFORE_RESET, CodePlace, Gap, Names, Opening, Ring, SuspectLine, TaskSummary, What,
};
use xhist_history::program::text::SourceText;
use xhist_history::program::values::{ValueReader, frames};
use xhist_history::reading::report::{Report, Summary};
use xhist_history::tasks::TaskTracker;

/// Threads named that are not shown.
const NAMED: usize = 10;

/// Threads that panicked and are read, if there are more than can be shown.
const MOST_FAILED: usize = 64;
/// Threads that are read in any case: one that is not shown may have caught a panic.
const MOST_READ: usize = 16;

/// Shows the end of threads.
pub struct AnswerReport<'o> {
    options: &'o Options,
    text: SourceText,
    values: ValueReader,
    /// Rings that may be shown.
    candidates: Vec<usize>,
    /// All rings.
    rings: Vec<Ring>,
    /// The newest entries of each candidate, by the number of its ring.
    tails: HashMap<usize, Tail>,
    gap: Gap,
    tasks: TaskTracker,
    locks: LockWaits,
    log: LogLines,
    /// Whether all items of a ring are printed texts, by its number.
    only_prints: HashMap<usize, bool>,
    /// Items so far.
    items: u64,
}

/// The same, ready to be drawn.
struct ReadyThread<'c> {
    thread: ShownThread,
    code: &'c Code,
    /// What ran up to its end.
    before: Replay<'c>,
    /// What ran behind it, where that is shown.
    behind: Option<Replay<'c>>,
    /// The lines of its panic's frames.
    frames: Vec<CodePlace>,
}

/// What all drafts of a listing have.
struct ListedThreads<'c> {
    threads: Vec<ReadyThread<'c>>,
    others: Vec<Ring>,
    /// What panics others caught.
    caught: Vec<String>,
    /// What the threads wait for: tasks and locks.
    waits: Vec<u8>,
}

/// A line of the sources: the hash of the map, the file, and its number.
type ListedLine = (u64, u16, u32);

impl<'o> AnswerReport<'o> {
    /// With the sources that these options allow.
    pub fn new(options: &'o Options) -> AnswerReport<'o> {
        AnswerReport {
            options,
            text: SourceText::new(&options.read),
            values: ValueReader::default(),
            candidates: Vec::new(),
            rings: Vec::new(),
            tails: HashMap::new(),
            gap: Gap::default(),
            tasks: TaskTracker::new(&options.read),
            locks: LockWaits::new(&options.read),
            log: LogLines::default(),
            only_prints: HashMap::new(),
            items: 0,
        }
    }

    /// Threads that have room.
    fn most_threads(&self) -> usize {
        (2 * self.options.lines / FEWEST_LINES).max(1)
    }

    /// The threads that are shown, the most relevant first; the others; and which panics they caught. `codes`: by the number of
    /// the map.
    fn choose(
        &mut self,
        codes: &HashMap<usize, Code>,
        context: &Context<'_, '_>,
    ) -> (Vec<ShownThread>, Vec<Ring>, Vec<String>) {
        let mut threads = Vec::new();
        for ring in &self.rings {
            let Some(tail) = self.tails.remove(&ring.number).filter(|tail| !tail.is_empty()) else {
                continue;
            };
            let (map, names) = context.maps.of(ring);
            let may_fail =
                matches!(ring.status, "panicked" | "killed") || self.options.failed_test == Some(ring.number);
            let mut ending = tail.ending((&codes[&map], names), may_fail);
            if self.options.failed_test == Some(ring.number) {
                ending.in_failed_test();
            }
            let caught = tail.caught((&codes[&map], names), &ending);
            threads.push(ShownThread { ring: ring.clone(), tail, ending, caught });
        }
        let newest = newest_time(&self.rings);
        // The first panic is the cause of those that follow from it, such as that of a thread that joins.
        threads.sort_by_key(|thread| {
            let (rank, order) = (rank(thread), thread.ending.order);
            let is_later = !thread.ring.is_before_reset();
            let ran_earlier = ran_earlier(&thread.ring, rank, newest);
            (rank, is_later, ran_earlier, if thread.has_failed() { order } else { 0 }, thread.ring.number)
        });
        let mut left = 0..self.most_threads();
        let mut is_left_out = |thread: &mut ShownThread| left.next().is_none() && !is_main(&thread.ring);
        let mut left_out: Vec<ShownThread> = threads.extract_if(.., &mut is_left_out).collect();
        let failed = threads.iter().filter(|thread| thread.has_failed()).count();
        let has_exited = self.rings.iter().any(|ring| ring.status == "exited");
        let caught = threads.iter().any(|thread| thread.ring.status == "panicked" && !thread.has_failed());
        let is_dead = self.rings.iter().any(|ring| matches!(ring.status, "killed" | "running or killed"))
            || caught && !has_exited;
        // A thread that panicked explains why the others did not finish.
        if failed > 0 && !is_dead && context.options.rings.is_empty() {
            left_out.extend(threads.drain(failed..));
        }
        // A thread that only printed, such as a watchdog that is not recorded, has no statements to show.
        let is_other = |ring: &&Ring| {
            !threads.iter().any(|thread| thread.ring.number == ring.number)
                && self.only_prints.get(&ring.number) != Some(&true)
        };
        let others = self.rings.iter().filter(is_other).cloned().collect();
        let caught = left_out.iter().filter_map(|ShownThread { ring, caught, .. }| {
            let (map, _) = context.maps.of(ring);
            Some(format!("in thread {}, {}", ring.thread(), caught_text((*caught)?, &codes[&map])))
        });
        let caught = caught.collect();
        (threads, others, caught)
    }

    /// Reads again what ran in a thread.
    fn ready<'c>(
        &mut self,
        thread: ShownThread,
        codes: &'c HashMap<usize, Code>,
        context: &Context<'_, '_>,
    ) -> ReadyThread<'c> {
        let ShownThread { ring, tail, ending, .. } = &thread;
        let (map, names) = context.maps.of(ring);
        let code = &codes[&map];
        let mut sources = RingSources::new(&mut self.text, (map, names));
        let mut whole = |code: &Code, statement| sources.whole(code, statement);
        let before = tail.before((code, names), ending, &mut whole);
        let is_shown = ending.since == SincePanic::Unclear && tail.after(ending) > 0;
        let behind = is_shown.then(|| tail.behind((code, names), ending));
        let panic = tail.panic(ending);
        let frames = panic.map_or_else(Vec::new, |panic| frames(ring, panic, context.options));
        ReadyThread { thread, code, before, behind, frames }
    }

    /// The listing, in the room that there is.
    fn listing(&mut self, listed: &ListedThreads<'_>, context: &mut Context<'_, '_>) -> io::Result<Vec<u8>> {
        let most_values = usize::MAX;
        let lines = self.options.lines;
        let all = Draft { lines, has_suspects: true, named_bytes: usize::MAX, most_values };
        let Some(ListingRoom { bytes, is_shared }) = self.options.room else {
            return Ok(self.draw(listed, all, context)?.text);
        };
        if !is_shared {
            return Ok(self.within((bytes, bytes), listed, all, context)?.0.text);
        }
        let plain = Draft { has_suspects: false, ..all };
        let most = self.draw(listed, plain, context)?.listed().min(bytes);
        let mut found = self.within((most, bytes), listed, all, context)?;
        if found.0.listed() > most {
            found = self.within((most, bytes), listed, plain, context)?;
        }
        let (drawn, fitting) = found;
        if drawn.len() <= bytes {
            return Ok(drawn.text);
        }
        let named_bytes = bytes.saturating_sub(drawn.listed());
        Ok(self.draw(listed, Draft { named_bytes, ..fitting }, context)?.text)
    }

    /// The listing with shorter values and then with fewer lines, until it has at most the first number of bytes, and with the
    /// suspects that are only named at most the second one; and its draft.
    fn within(
        &mut self,
        (most, bytes): (usize, usize),
        listed: &ListedThreads<'_>,
        mut draft: Draft,
        context: &mut Context<'_, '_>,
    ) -> io::Result<(DrawnListing, Draft)> {
        loop {
            let drawn = self.draw(listed, draft, context)?;
            let fits = drawn.listed() <= most && drawn.len() <= bytes;
            let Some(shorter) = draft.shorter().filter(|_| !fits) else {
                return Ok((drawn, draft));
            };
            draft = shorter;
        }
    }

    /// A draft of the listing.
    fn draw(
        &mut self,
        ListedThreads { threads, others, caught, waits }: &ListedThreads<'_>,
        draft: Draft,
        context: &mut Context<'_, '_>,
    ) -> io::Result<DrawnListing> {
        // What is kept as data is that of the last draft.
        self.options.answered.iter().for_each(|answered| drop(answered.take()));
        let mut drawn = Vec::new();
        let Context { options, maps, structures, notes, .. } = context;
        let context = &mut Context { options, maps, structures, out: &mut drawn, notes };
        let has_failed = threads.iter().any(|ready| ready.thread.has_failed());
        if !has_failed {
            context.out.write_all(waits)?;
        }
        // Two threads have all lines each; more share those of two.
        let each = (2 * draft.lines / threads.len().max(1)).max(FEWEST_LINES);
        let draft = Draft { lines: each.min(draft.lines), ..draft };
        let mut listed = HashSet::new();
        for ready in threads {
            self.write_end(ready, draft, &mut listed, context)?;
        }
        let named = match self.options.is_test {
            true => String::new(),
            false => self.more_suspects(threads, (&listed, draft.named_bytes)),
        };
        let caught = caught_by_others(caught);
        write!(context.out, "{named}{caught}")?;
        if let Some(answered) = &self.options.answered {
            answered.note(&[waits, named.as_bytes(), caught.as_bytes()].concat());
        }
        self.write_others(others, context)?;
        if has_failed {
            context.out.write_all(waits)?;
        }
        Ok(DrawnListing { text: drawn, named: named.len() })
    }

    /// Whether a thread ended while others of the process went on: it is not where the process hung.
    fn ended_before(&self, ring: &Ring) -> bool {
        let is_open = |ring: &Ring| !matches!(ring.status, "ended" | "exited" | "panicked");
        ring.status == "ended" && self.rings.iter().any(is_open)
    }

    /// Writes the end of a thread.
    fn write_end(
        &mut self,
        ready: &ReadyThread<'_>,
        draft: Draft,
        listed: &mut HashSet<ListedLine>,
        context: &mut Context<'_, '_>,
    ) -> io::Result<()> {
        let ReadyThread { thread: ShownThread { ring, tail, ending, caught }, code, before, behind, .. } =
            ready;
        let (name, after) = (ring.thread(), tail.after(ending));
        let until = match ending.end {
            ThreadEnd::Here if self.ended_before(ring) => ", which has ended",
            ThreadEnd::Here => "",
            ThreadEnd::Panic => " before its panic",
            ThreadEnd::Signal(_) => " before the signal",
        };
        // Firmware has no threads.
        let of = match (ring.is_of_thread(), ring.status) {
            (true, _) => format!(" of thread {name}"),
            (false, _) if ring.core.is_some() => format!(" of {name}"),
            (false, BEFORE_RESET) => " before the reset".to_owned(),
            (false, _) => String::new(),
        };
        writeln!(context.out, "last statements{of}{until} (newest last):")?;
        let log = self.log.of(ring, context);
        let (_, names) = context.maps.of(ring);
        let caught = caught.map(|caught| caught_text(caught, code));
        let unwound = tail.unwound_from((code, names), ending).map(|first| unwound_text(first, code));
        write_before(caught.as_deref(), unwound.as_deref(), context.out)?;
        if let Some(answered) = &self.options.answered {
            let log = log.clone();
            let (end, signal) = match ending.end {
                ThreadEnd::Here => ("here", None),
                ThreadEnd::Panic => ("panic", None),
                ThreadEnd::Signal(signal) => ("signal", Some(signal)),
            };
            let ring = ring.number;
            answered.begin(AnsweredThread {
                thread: name,
                ring,
                end,
                signal,
                after,
                notes: caught.into_iter().chain(unwound).collect(),
                log,
                ..AnsweredThread::default()
            });
        }
        let (lines, place) = self.write_rows(ready, before, draft, context)?;
        listed.extend(lines);
        if let Some(answered) = &self.options.answered {
            answered.panicked(answered_panic(&place, code));
        }
        let texts = (before.formatted, tail.after(ending));
        write_end((ending, &place), code, texts, context.out)?;
        if let Some(behind) = behind {
            write_after(after, context.out)?;
            listed.extend(self.write_rows(ready, behind, draft, context)?.0);
        }
        self.log.write(ring, &log, context.out)
    }

    /// Writes the lines of a part of a thread. Returns those of the sources that they have, and where it panicked.
    fn write_rows(
        &mut self,
        ReadyThread { thread: ShownThread { ring, tail, ending, .. }, code, before, frames, .. }: &ReadyThread<
            '_,
        >,
        part: &Replay<'_>,
        draft: Draft,
        context: &mut Context<'_, '_>,
    ) -> io::Result<(Vec<ListedLine>, PlaceOfPanic)> {
        let (map, names) = context.maps.of(ring);
        let mut sources = RingSources::new(&mut self.text, (map, names));
        let hash = ring.map_hash;
        let is_its = |suspect: &&SuspectLine| draft.has_suspects && suspect.map_hash == hash;
        let suspects: Vec<SuspectLine> = self.options.suspects.iter().filter(is_its).copied().collect();
        let test = self.options.is_test.then(|| ring.thread_name.as_deref().unwrap_or_default());
        let mut wanted = Wanted { lines: draft.lines, suspects: &suspects, test };
        let panic = tail.panic(ending).filter(|_| std::ptr::eq(part, before));
        let mut draw = |wanted: Wanted<'_>| {
            let mut rows = part.rows(wanted);
            let PanicRows { added, place } = panic.map_or_else(PanicRows::default, |panic| {
                let mut text_of = |file, line| sources.line(file, line).map(str::to_owned);
                add_holes(&mut rows, (code, names), (panic, frames), &mut text_of)
            });
            let added = added + add_lines(&mut rows, code, &mut sources);
            (rows, added, place)
        };
        let (mut rows, added, mut place) = draw(wanted);
        if added > 0 && rows.len() > wanted.lines {
            // Those frames take the place of what is less certain.
            wanted.lines = wanted.lines.saturating_sub(added);
            (rows, _, place) = draw(wanted);
        }
        let mut listed = Vec::new();
        for is_first in [true, false] {
            let places: BTreeMap<u64, (u16, u32)> = rows
                .iter()
                .filter_map(|row| match row.kind {
                    RowKind::Statement(statement) => Some((row, code.place(statement))),
                    _ => None,
                })
                .flat_map(|(row, (file, span))| {
                    let runs = if is_first { &row.firsts } else { &row.runs };
                    runs.iter().map(move |run| (*run, (file, span.line)))
                })
                .collect();
            for (run, values) in at_their_statements(&part.values, &places, names) {
                let to = (context.options, &mut *context.notes);
                let values = self.values.show(ring, (map, names), places.get(&run).copied(), &values, to);
                let known = if is_first { &mut sources.first_values } else { &mut sources.values };
                known.insert(run, values);
            }
            listed.extend(places.into_values().map(|(file, line)| (hash, file, line)));
        }
        for (statement, run) in rows.iter().filter_map(|row| row.entry) {
            let Some(values) = part.values.get(&run) else { continue };
            let (file, span) = code.place(statement);
            let to = (context.options, &mut *context.notes);
            let mut values = self.values.show(ring, (map, names), Some((file, span.line)), values, to);
            values.retain(|value| value.is_parameter && value.is_here);
            if !values.is_empty() {
                sources.arguments.insert(run, values);
            }
        }
        let names = (*code, &ring.interrupts);
        write_reentries(&part.reentries, code, context.out)?;
        sources.most_values = draft.most_values;
        write_rows(&rows, names, &mut sources, self.options.layout.links, context.out)?;
        sources.most_values = usize::MAX;
        if let Some(answered) = &self.options.answered {
            answered.add(reentry_texts(&part.reentries, code), answered_rows(&rows, names, &mut sources));
        }
        Ok((listed, place))
    }

    /// The line that names suspects without a line in the listing, as many as this number of bytes has room for.
    fn more_suspects(
        &self,
        threads: &[ReadyThread<'_>],
        (listed, bytes): (&HashSet<ListedLine>, usize),
    ) -> String {
        let place = |SuspectLine { map_hash, file, line, .. }: &SuspectLine| {
            let of_map = threads.iter().find(|ready| ready.thread.ring.map_hash == *map_hash)?;
            let is_listed = listed.contains(&(*map_hash, *file, *line));
            (!is_listed).then(|| (of_map.code.path_of(*file), *line))
        };
        let places: Vec<(&str, u32)> = self.options.suspects.iter().filter_map(place).collect();
        more_suspects(&places, bytes)
    }

    /// The first tasks that have not ended, and threads at locks.
    fn waits(&mut self, context: &mut Context<'_, '_>) -> io::Result<Vec<u8>> {
        let mut waits = Vec::new();
        let Context { options, maps, structures, notes, .. } = context;
        let context = &mut Context { options, maps, structures, out: &mut waits, notes };
        let tracker = std::mem::replace(&mut self.tasks, TaskTracker::new(context.options));
        let tasks = TaskSummary { is_brief: true, ..tracker.summary(context.maps) };
        // With several chosen threads, a task may have gone on in one that is not read.
        if context.options.rings.len() < 2 {
            self.options.make_format().tasks(&tasks, context.out)?;
        }
        self.locks.write(context)?;
        Ok(waits)
    }

    fn write_others(&self, others: &[Ring], context: &mut Context<'_, '_>) -> io::Result<()> {
        let (ended, others): (Vec<&Ring>, Vec<&Ring>) =
            others.iter().partition(|ring| ring.status == "ended");
        let names: Vec<String> = others.iter().take(NAMED).map(|ring| ring.thread()).collect();
        let more = match others.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match others.len() {
            0 => {}
            1 => writeln!(context.out, "1 more thread, not printed: {}", names[0])?,
            count => writeln!(context.out, "{count} more threads, not printed: {}{more}", names.join(", "))?,
        }
        match ended.len() {
            0 => Ok(()),
            1 => writeln!(context.out, "not printed either: 1 thread that ended before"),
            count => writeln!(context.out, "not printed either: {count} threads that ended before"),
        }
    }
}

impl Report for AnswerReport<'_> {
    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        if context.options.is_whole() {
            self.tasks.count(opening.rings);
        }
        self.locks.start(opening.rings);
        let mut rings: Vec<&Ring> = opening.rings.iter().collect();
        let newest = newest_time(opening.rings);
        rings.sort_by_key(|ring| (rank_of(ring), ran_earlier(ring, rank_of(ring), newest)));
        let most = self.most_threads();
        // Of many threads that panicked, only their histories show which one ended the process.
        let failed = rings.iter().take(MOST_FAILED).take_while(|ring| rank_of(ring) <= PANICKED).count();
        let most = most.max(failed).max(MOST_READ);
        // A panic may turn out to be caught: then the main thread says more.
        let main = rings.iter().skip(most).find(|ring| is_main(ring)).map(|ring| ring.number);
        self.candidates = rings.iter().take(most).map(|ring| ring.number).chain(main).collect();
        self.rings = rings.into_iter().cloned().collect();
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        let Step::Event(ring, event) = step else { return Ok(()) };
        if event.gap.is_loss() {
            context.notes.loss(format_args!("{ring}: {}", event.gap));
            self.gap.add(event.gap.clone());
        }
        self.locks.take(ring, event, context);
        self.tasks.gap(ring, &event.gap);
        if let (None, Some(tail)) = (&event.item, self.tails.get_mut(&ring.number)) {
            tail.gap(&event.gap);
        }
        if let Some(item) = &event.item {
            self.items += 1;
            self.tasks.take(ring, item, context.maps);
            self.log.take(ring, item, context.maps.of(ring).1);
            *self.only_prints.entry(ring.number).or_insert(true) &= matches!(item.what, What::Output(..));
            if self.candidates.contains(&ring.number) {
                let tail = self.tails.entry(ring.number).or_default();
                tail.gap(&event.gap);
                tail.push(item, self.items);
            }
        }
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        let is_empty = self.tails.is_empty();
        let mut codes: HashMap<usize, Code> = HashMap::new();
        for ring in self.rings.iter().filter(|ring| self.tails.contains_key(&ring.number)) {
            let (map, names) = context.maps.of(ring);
            codes.entry(map).or_insert_with(|| Code::of(names));
        }
        let (threads, others, caught) = self.choose(&codes, context);
        let threads = threads.into_iter().map(|thread| self.ready(thread, &codes, context)).collect();
        let waits = self.waits(context)?;
        let listing = self.listing(&ListedThreads { threads, others, caught, waits }, context)?;
        context.out.write_all(&listing)?;
        if self.options.keeps_records && !is_empty {
            writeln!(context.out, "folded to the end of each thread; --all prints every entry")?;
        }
        context.out.flush()?;
        self.text.report_changed(context.notes);
        let code = context.notes.finish();
        Ok(Summary { code, entries: 0 })
    }
}

/// Values by the statement that binds them, where it is shown: other statements may have run before the value was there.
/// `places` has the file and line of what is shown, by its time.
fn at_their_statements(
    values: &HashMap<u64, Vec<RecordedValue>>,
    places: &BTreeMap<u64, (u16, u32)>,
    names: &Names,
) -> BTreeMap<u64, Vec<RecordedValue>> {
    let mut moved: BTreeMap<u64, Vec<RecordedValue>> = BTreeMap::new();
    for run in places.keys() {
        for value in values.get(run).into_iter().flatten() {
            let bound = names.value(value.number);
            let binds =
                |(file, line): (u16, u32)| bound.is_some_and(|bound| names.is_bound_at(&bound, file, line));
            let mut before = places.range(..=run).rev();
            let home = before.find(|(_, place)| binds(**place)).map_or(*run, |(home, _)| *home);
            moved.entry(home).or_default().push(*value);
        }
    }
    moved
}

/// Puts the line that a frame names behind an open statement that has it further down, and returns the number of those lines.
fn add_lines(rows: &mut Vec<Row>, code: &Code, sources: &mut RingSources<'_, '_>) -> usize {
    let before = rows.len();
    for at in (0..before).rev() {
        let (RowKind::Statement(statement), Some(line)) = (&rows[at].kind, rows[at].frame) else { continue };
        let (file, _) = code.place(*statement);
        if sources.text(code, *statement, true).is_some_and(|(_, last)| last < line) {
            let kind = RowKind::Statement(ListedStatement::Unknown { file, line });
            rows.insert(at + 1, Row::new(rows[at].depth, 1, kind));
        }
    }
    rows.len() - before
}
