//! A program that writes a ring and remembers what it has written.

use std::boxed::Box;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::vec::Vec;

use qs_core::record::value::{MAX_WORD, RecordedValue};
use qs_core::record::words::{LEAD, Named, SHORT_END, UNIT, Word, Words, byte_of};
use qs_core::record::{EventKind, Statement};

use super::model::{Item, Reading, read};
use super::{IS_WATCHED, WATCH};
use crate::hosted::system::sys::pages;
use crate::hosted::words::{HostedHeader, MayMove, Place, WordsWriter};

/// Room for a header and the prologue.
pub(super) const HEADER: usize = 1 << 16;
/// Id of the records.
const ID: u8 = 100;

/// A header, and a ring that is mapped twice behind it.
pub(in crate::hosted::words) struct MappedRing {
    memory: *mut u8,
    size: usize,
}

impl MappedRing {
    pub(in crate::hosted::words) fn new(size: usize) -> MappedRing {
        let memory = pages::reserve_addresses(HEADER + 2 * size).expect("addresses");
        // SAFETY: the addresses are reserved and unused; the second half of the data is a second mapping of it.
        unsafe {
            assert!(pages::map_new(memory, HEADER, size).is_some());
            memory.add(HEADER).write_bytes(0xEE, size);
        }
        MappedRing { memory, size }
    }

    pub(in crate::hosted::words) fn header(&self) -> &[u8] {
        // SAFETY: the memory is mapped, and nothing writes it while a test looks at it.
        unsafe { core::slice::from_raw_parts(self.memory, HEADER) }
    }

    pub(in crate::hosted::words) fn data(&self) -> &[u8] {
        // SAFETY: the memory is mapped, and nothing writes it while a test reads it.
        unsafe { core::slice::from_raw_parts(self.memory.add(HEADER), self.size) }
    }
}

impl Drop for MappedRing {
    fn drop(&mut self) {
        // SAFETY: `new` reserved these addresses.
        unsafe { pages::release_addresses(self.memory, HEADER + 2 * self.size) };
    }
}

/// Number of a statement whose long word has two equal units.
pub(super) const ALIKE: u32 = SHORT_END + 1;

/// From here on numbers are those of values.
pub(super) const VALUE: u32 = 4_000_000_000;

/// The word of a number: of a statement or a value.
pub(super) fn word(number: u32) -> ([u8; MAX_WORD], usize) {
    if number >= VALUE {
        let bytes = [number as u8; 20];
        let len = [0, 1, 2, 4, 8, 8, 20][number as usize % 7];
        return RecordedValue::new(number - VALUE + 1, &bytes[..len]).to_word();
    }
    let (word, len) = word_of_statement(number);
    (core::array::from_fn(|at| word.get(at).copied().unwrap_or(0)), len)
}

fn word_of_statement(number: u32) -> ([u8; 4], usize) {
    if number == ALIKE {
        return ([byte_of(LEAD); 4], 4);
    }
    let number_of_word = if number < SHORT_END { number } else { 0 };
    match Word::new(Statement::from_word(number), number_of_word).expect("a word") {
        Word::Short([a, b]) => ([a, b, 0, 0], 2),
        Word::Long(bytes) => (bytes, 4),
    }
}

fn named(number: u32) -> Named {
    let (bytes, len) = word(number);
    Words::new(&bytes[..len]).next().expect("a word")
}

/// What the program has written.
#[derive(Default)]
struct Truth {
    items: Vec<Item>,
    /// The newest stamp when it was written.
    times: Vec<u64>,
    /// The reader may find the end up to this number of items earlier.
    end_from: usize,
    /// For each frame or chunk, by its position: the number of its first item.
    starts: BTreeMap<u64, usize>,
    is_timed: bool,
    /// Words have overwritten memory that was not cleared, so nothing can be checked.
    is_overrun: bool,
    /// They have done so before, so there may be no prologue.
    was_overrun: bool,
    looks: u64,
}

impl Truth {
    /// Before anything is overwritten, the first items are in the prologue.
    fn check_prologue(&self, reading: &Reading) {
        let Some((items, end)) = &reading.prologue else {
            return assert!(reading.is_whole || self.was_overrun, "no prologue");
        };
        assert!(self.items.starts_with(items), "{} items in the prologue", items.len());
        // Items that a repetition counts are in the frame behind those that it repeats.
        let start = self.starts.get(end);
        assert!(start.is_none_or(|start| items.len() <= *start), "{} items, not {start:?}", items.len());
    }

    fn check(&mut self, reading: &Reading) {
        if self.is_overrun {
            return;
        }
        self.looks += 1;
        assert!(reading.is_certain);
        let items = reading.items();
        let end = (self.end_from..=self.items.len())
            .find(|end| end.checked_sub(items.len()).is_some_and(|from| self.items[from..*end] == items));
        self.check_prologue(reading);
        let end = end.unwrap_or_else(|| {
            let wanted = &self.items[self.items.len().saturating_sub(items.len())..];
            let same = wanted.iter().rev().zip(items.iter().rev()).take_while(|(a, b)| a == b).count();
            panic!(
                "{} items read, of {} to {} written; the last {same} are equal\n{:x?}\n{:x?}",
                items.len(),
                self.end_from,
                self.items.len(),
                &wanted[wanted.len().saturating_sub(same + 3)..],
                &items[items.len().saturating_sub(same + 3)..],
            )
        });
        let oldest = match reading.kept {
            0 => Some(0),
            kept => self.starts.range(kept + 1..).next().map(|(_, item)| *item),
        };
        let from = end - items.len();
        assert!(oldest.is_none_or(|oldest| from <= oldest), "from {from}, expected from {oldest:?}");
        if reading.kept > 0 || !self.is_timed {
            return;
        }
        let mut at = 0;
        for run in &reading.runs {
            for index in 0..run.items.len() * run.times as usize {
                // While rounds are counted, the time does not include the newest pause yet.
                let is_early = index < run.early || run.is_folded && IS_WATCHED.get();
                let time = self.times[at];
                assert!(
                    is_early || if run.is_folded { time <= run.time } else { run.time <= time },
                    "item {at}: {time}, {}",
                    run.time
                );
                at += 1;
            }
        }
    }
}

pub(in crate::hosted::words) struct Program {
    pub(in crate::hosted::words) writer: WordsWriter,
    pub(in crate::hosted::words) place: Place,
    ring: *const MappedRing,
    truth: Rc<RefCell<Truth>>,
    /// Whether there is a clock, and what it shows.
    is_timed: bool,
    now: u64,
    is_watched: bool,
    /// `truth` is kept.
    pub(in crate::hosted::words) is_logged: bool,
    pub(in crate::hosted::words) may_fold: bool,
    /// Number of items so far, also of those that an emptied file no longer has.
    logged: usize,
    records: u32,
    /// When the newest pause ended, and the number of pauses.
    paused: u64,
    pauses: usize,
}

impl Program {
    /// A program that writes the ring, which outlives it.
    pub(in crate::hosted::words) fn new(ring: &MappedRing, is_timed: bool, is_watched: bool) -> Program {
        IS_WATCHED.set(false);
        let header = ring.memory.cast::<HostedHeader>();
        // SAFETY: the memory is zero and mapped as the writer needs it, and only this thread writes it.
        let (writer, place) = unsafe {
            (*header).init(HEADER, ring.size as u32, if is_timed { 4 } else { 0 }, 0, 0);
            WordsWriter::init((header, HEADER), ring.memory.add(HEADER), ring.size, is_timed as u64, None)
        };
        let truth = Rc::new(RefCell::new(Truth { is_timed, ..Truth::default() }));
        let (seen, watched) = (truth.clone(), ring as *const MappedRing);
        let look = move || {
            // SAFETY: the ring outlives the program.
            let ring = unsafe { &*watched };
            seen.borrow_mut().check(&read(ring.header(), ring.data()));
        };
        WATCH.set(Some(Box::new(look)));
        Program {
            writer,
            place,
            ring,
            truth,
            is_timed,
            now: is_timed as u64,
            is_watched,
            is_logged: true,
            may_fold: true,
            logged: 0,
            records: 0,
            paused: 0,
            pauses: 0,
        }
    }

    /// Whether the test has written enough.
    pub(in crate::hosted::words) fn is_long(&self) -> bool {
        self.logged > if self.is_watched { 700 } else { 60_000 }
    }

    fn log(&mut self, item: Item) {
        if self.is_logged {
            // A roll-over that only clears takes no stamp.
            let time =
                if let Item::Record(..) = item { self.now } else { self.writer.open_time.max(self.paused) };
            self.logged += 1;
            let mut truth = self.truth.borrow_mut();
            truth.items.push(item);
            truth.times.push(time);
        }
    }

    pub(in crate::hosted::words) fn statement(&mut self, number: u32) {
        let (bytes, len) = word(number);
        self.log(Item::Word(named(number)));
        self.store(&bytes[..len]);
    }

    /// Does what the thread's code does.
    #[inline]
    pub(in crate::hosted::words) fn store(&mut self, bytes: &[u8]) {
        // SAFETY: the mirror holds what a test writes between two checks.
        unsafe {
            self.place.cursor.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.place.cursor = self.place.cursor.add(bytes.len());
        }
    }

    pub(in crate::hosted::words) fn check(&mut self) {
        if self.place.cursor >= self.place.limit {
            self.roll_over(false);
        }
    }

    pub(in crate::hosted::words) fn looped(&mut self, number: u32) {
        self.check();
        let (bytes, len) = word(number);
        self.store(&bytes[..len]);
    }

    /// Checks the ring at each store of `act`. Items that `act` logs may already be in the ring.
    fn act(&mut self, act: impl FnOnce(&mut Program) -> Place) {
        let (position, before) = (self.writer.position(self.place.cursor), self.writer.head);
        let is_watched = self.is_watched && self.is_logged;
        let start = {
            let mut truth = self.truth.borrow_mut();
            let written = truth.items.len();
            truth.is_overrun = position >= self.writer.cleared;
            truth.was_overrun |= truth.is_overrun;
            truth.end_from = written;
            truth.starts.insert(before, written)
        };
        IS_WATCHED.set(is_watched);
        self.place = act(self);
        IS_WATCHED.set(false);
        let open = self.writer.position(self.place.cursor);
        let open = count(self.writer.memory.bytes(self.writer.words, (open - self.writer.words) as usize));
        let mut truth = self.truth.borrow_mut();
        if let Some(start) = start.filter(|_| before != self.writer.head) {
            truth.starts.insert(before, start);
        }
        let written = truth.items.len();
        if self.is_logged {
            truth.starts.insert(self.writer.head, written - open);
        }
    }

    fn date_words(&mut self) -> *mut u8 {
        match self.may_fold {
            true => self.writer.date_words(self.place.cursor, &|_| true),
            false => self.place.cursor,
        }
    }

    /// A check that has to take a stamp, this number of ticks later, where each statement has a chunk of its own.
    pub(in crate::hosted::words) fn check_alone(&mut self, ticks: u64) {
        // A low half of 0 is written as 1.
        let stamp = match self.tick(ticks) as u32 {
            0 => self.tick(1),
            _ => self.now,
        };
        self.act(|this| this.writer.roll_over(this.place.cursor, stamp, None, true));
    }

    fn roll_over(&mut self, is_stamp: bool) {
        let stamp = self.tick(1);
        let may_fold = core::mem::replace(&mut self.may_fold, true);
        self.act(|this| {
            let planned = core::cell::Cell::new(0);
            let plan = |position| {
                planned.set(position);
                true
            };
            let may_move: Option<MayMove<'_>> = may_fold.then_some(&plan);
            let place = this.writer.roll_over(this.place.cursor, stamp, may_move, is_stamp);
            let end = this.writer.position(place.cursor);
            // Words that were moved behind a pause are in a closed chunk then.
            let planned = planned.get();
            assert!(
                [0, end].contains(&planned) || this.pauses > 0 && planned < end,
                "words go on there: {end}"
            );
            place
        });
    }

    /// The next stamp.
    fn tick(&mut self, ticks: u64) -> u64 {
        self.now += if self.is_timed { ticks } else { 0 };
        self.now
    }

    pub(in crate::hosted::words) fn stamp(&mut self, ticks: u64) {
        self.tick(ticks);
        self.roll_over(true);
    }

    pub(in crate::hosted::words) fn close(&mut self) {
        let stamp = self.tick(1);
        self.act(|this| {
            let at = this.date_words();
            this.writer.close(at, || stamp)
        });
    }

    pub(in crate::hosted::words) fn record(&mut self, len: u8) {
        self.records += 1;
        let mut bytes = [0; 256];
        bytes[1] = ID;
        let end = 6 + 4 + usize::from(len);
        bytes[6..10].copy_from_slice(&self.records.to_le_bytes());
        bytes[10..end].fill(len.wrapping_mul(0x7D));
        let stamp = self.tick(1);
        self.act(|this| {
            let at = this.date_words();
            this.log(Item::Record(ID, bytes[6..end].to_vec()));
            // As the recorder does.
            let cursor = match bytes.first_chunk::<64>() {
                Some(bytes) if end <= 62 && this.writer.is_ready_at(at) => {
                    this.writer.try_append_record::<64, true>(bytes, end, stamp)
                }
                _ => None,
            };
            match cursor {
                Some(cursor) => Place { cursor, ..this.place },
                None => this.writer.append_record::<256, true>(at, &bytes, end, stamp),
            }
        });
    }

    pub(in crate::hosted::words) fn event(&mut self) {
        self.records += 1;
        let value = u64::from(self.records);
        let stamp = self.tick(1);
        self.act(|this| {
            let payload = [&[1, 4, 0x0E][..], &value.to_le_bytes()].concat();
            this.log(Item::Record(123, payload));
            let at = this.date_words();
            this.writer.append_event(at, EventKind::Started, value, stamp)
        });
    }

    /// Empties the ring file. The words of these statements are behind the zeros, where they would be without that.
    pub(in crate::hosted::words) fn emptied(&mut self, numbers: &[u32]) {
        // SAFETY: the ring outlives the program, and only this thread writes it.
        unsafe {
            let ring = &*self.ring;
            ring.memory.write_bytes(0, HEADER + ring.size);
            let header = ring.memory.cast::<HostedHeader>();
            (*header).init(HEADER, ring.size as u32, if self.is_timed { 4 } else { 0 }, 0, 0);
        }
        *self.truth.borrow_mut() = Truth { is_timed: self.is_timed, ..Truth::default() };
        // An empty round of a loop counts, too.
        self.logged += 1;
        let begin = self.place.cursor.addr();
        numbers.iter().for_each(|number| self.statement(*number));
        let kept = self.place.cursor.addr() - begin;
        let at = self.writer.position(self.place.cursor);
        let stamp = self.tick(1);
        let (place, has_kept) = self.writer.begin_again(self.place.cursor, kept, stamp);
        let stay = numbers.is_empty() || self.writer.position(place.cursor) == at;
        assert!(has_kept && stay, "the words stay where they are");
        self.place = place;
        self.truth.borrow_mut().starts.insert(self.writer.head, 0);
    }

    /// The thread waits, and the ticker notes it.
    pub(in crate::hosted::words) fn pause(&mut self, ticks: u64) {
        if !self.is_timed {
            return;
        }
        let since = self.tick(1);
        self.paused = self.tick(ticks);
        self.writer.note_pause(self.pauses, self.place.cursor, since, self.paused);
        self.pauses += 1;
    }

    /// The newest items with the lower bounds of their times, oldest first.
    pub(in crate::hosted::words) fn newest(&self, count: usize) -> Vec<(u64, u64)> {
        // SAFETY: the ring outlives the program.
        let ring = unsafe { &*self.ring };
        let reading = read(ring.header(), ring.data());
        let runs = reading
            .runs
            .iter()
            .flat_map(|run| run.items.iter().map(|item| (item.number().unwrap_or(0), run.time)));
        let all: Vec<_> = runs.collect();
        all[all.len() - count..].to_vec()
    }

    /// All statements in the ring with the lower bounds of their times, oldest first.
    pub(in crate::hosted::words) fn statements(&self) -> Vec<(u64, u64)> {
        // SAFETY: the ring outlives the program.
        let ring = unsafe { &*self.ring };
        let reading = read(ring.header(), ring.data());
        let all = reading.runs.iter().flat_map(|run| run.items.iter().map(|item| (item.number(), run.time)));
        all.filter_map(|(number, time)| Some((number?, time))).collect()
    }

    /// The number of items that were written, that of the items in the prologue, and the position behind it.
    pub(in crate::hosted::words) fn prologue(&self) -> (usize, Option<(usize, u64)>) {
        // SAFETY: the ring outlives the program.
        let ring = unsafe { &*self.ring };
        let prologue = read(ring.header(), ring.data()).prologue;
        (self.truth.borrow().items.len(), prologue.map(|(items, end)| (items.len(), end)))
    }

    pub(in crate::hosted::words) fn now(&self) -> u64 {
        self.now
    }

    /// Checks the ring once more.
    pub(in crate::hosted::words) fn finish(&mut self) {
        let position = self.writer.position(self.place.cursor);
        let mut truth = self.truth.borrow_mut();
        truth.is_overrun = position >= self.writer.cleared;
        truth.was_overrun |= truth.is_overrun;
        truth.end_from = truth.items.len();
        // SAFETY: the ring outlives the program.
        let ring = unsafe { &*self.ring };
        truth.check(&read(ring.header(), ring.data()));
    }
}

fn count(bytes: &[u8]) -> usize {
    debug_assert!(bytes.len().is_multiple_of(UNIT));
    Words::new(bytes).count()
}
