//! Statements in the records of a stream: packed frames, cut words, and repetitions of either. Threads may share a link, and each has
//! its own clock and its own statements that may be repeated.

use std::collections::{BTreeMap, VecDeque};

use qs_core::frame::Frame;
use qs_core::record::chunk::CutWords;
use qs_core::record::packed::{PAGES, Packed, Step, Steps};
use qs_core::record::value::RecordedValue;
use qs_core::record::words::{self, Named, UNIT, Words};
use qs_core::record::{EventKind, Numbers, RECORD_BASE, Statement, TaskMark, XhistRecord, ids};
use qs_core::ring::Repetition;

use super::frame_kind::{FrameKind, frame_kind};
use super::repetition::Expander;
use crate::model::{Item, What};
use crate::ring::Clock;

/// Threads beyond this number are not distinguished: a damaged stream may hold any number.
const MOST_THREADS: usize = 1024;
/// Statements of a thread that may be repeated. A chunk has fewer.
const WINDOW: usize = 1 << 15;

/// The threads of a target.
#[derive(Clone, Debug)]
pub struct StreamThreads {
    threads: BTreeMap<u64, StreamThread>,
    /// The thread of the frames that come now.
    now: u64,
    /// Whether the target named a thread.
    has_threads: bool,
    /// Repetitions of up to this number of statements are written out.
    longest: u64,
}

#[derive(Clone, Debug)]
struct StreamThread {
    newest: Expander,
    /// What repetitions of these statements are counted in.
    unit: RepeatUnit,
    /// Number of statements and of units of the newest frames or words, with nothing missing between them.
    blocks: VecDeque<(usize, usize)>,
    clock: Clock,
}

/// What a repetition is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepeatUnit {
    /// Packed frames.
    Frame,
    /// Units of words.
    Word,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Its statements were given, or there is nothing to show.
    Done,
    /// It is a record, at this time.
    Record(FrameKind, Option<u64>),
}

impl StreamThreads {
    /// Writes out repetitions of up to `longest` statements.
    pub fn new(longest: u64) -> StreamThreads {
        StreamThreads { threads: BTreeMap::new(), now: 0, has_threads: false, longest }
    }

    /// The thread of the frames that come now; `None` while the target has named none.
    pub fn now(&self) -> Option<u64> {
        self.has_threads.then_some(self.now)
    }

    /// Frames of unknown threads are missing.
    pub fn lost(&mut self) {
        self.threads.values_mut().for_each(StreamThread::lost);
    }

    /// Another target, or the same one after a restart.
    pub fn restart(&mut self) {
        *self = StreamThreads::new(self.longest);
    }

    /// Takes a frame; gives its statements.
    pub fn take(&mut self, frame: &Frame<'_>, give: &mut dyn FnMut(Item)) -> Taken {
        let record = XhistRecord::parse(frame, RECORD_BASE);
        if let Some(XhistRecord::Event { kind: EventKind::Thread, value, .. }) = record {
            (self.now, self.has_threads) = (value, true);
            return Taken::Done;
        }
        if self.threads.len() >= MOST_THREADS && !self.threads.contains_key(&self.now) {
            self.threads.clear();
        }
        let thread = self.threads.entry(self.now).or_insert_with(|| StreamThread::new(self.longest));
        if frame.id == RECORD_BASE + ids::PACKED
            && let Some(packed) = Packed::parse(frame.payload)
        {
            let mut held = HeldItem(None);
            thread.packed(&packed, &mut |item| held.take(item, give));
            held.0.map(give);
            return Taken::Done;
        }
        if frame.id == RECORD_BASE + ids::PACKED
            && let Some(cut) = CutWords::parse(frame.payload)
        {
            let mut held = HeldItem(None);
            thread.cut_words(&cut, &mut |item| held.take(item, give));
            held.0.map(give);
            return Taken::Done;
        }
        if let Some(XhistRecord::Event { kind: EventKind::Repetition, value, .. }) = record {
            let words::UnitRepetition { period, times, .. } = words::UnitRepetition::from_event(value);
            thread.repeat(RepeatUnit::Word, period as usize, times, give);
            return Taken::Done;
        }
        thread.lost();
        thread.other(record, frame, give)
    }
}

impl StreamThread {
    fn new(longest: u64) -> StreamThread {
        StreamThread {
            newest: Expander::new(longest, WINDOW),
            unit: RepeatUnit::Frame,
            blocks: VecDeque::new(),
            clock: Clock::default(),
        }
    }

    /// The statements that a repetition counts are no longer known.
    fn lost(&mut self) {
        self.blocks.clear();
        self.newest.clear();
    }

    /// A frame that is neither packed statements nor a repetition.
    fn other(&mut self, record: Option<XhistRecord>, frame: &Frame<'_>, give: &mut dyn FnMut(Item)) -> Taken {
        if let Some(XhistRecord::Statement { statement, time }) = record {
            let time = time.filter(|time| *time != 0).map(|time| self.clock.stamp(time));
            give(item(statement, 0, time));
            return Taken::Done;
        }
        match frame_kind(frame, RECORD_BASE, true) {
            FrameKind::Silent | FrameKind::Handler(_) => Taken::Done,
            FrameKind::Time(full) | FrameKind::Until(full) => {
                self.clock.set(full);
                Taken::Done
            }
            kind => Taken::Record(kind, kind.stamp().map(|stamp| self.clock.stamp(stamp))),
        }
    }

    fn packed(&mut self, packed: &Packed<'_>, give: &mut dyn FnMut(Item)) {
        self.count_in(RepeatUnit::Frame);
        if let Some(repeat) = packed.repetition() {
            let frames = usize::try_from(repeat.frames).unwrap_or(usize::MAX);
            self.repeat(RepeatUnit::Frame, frames, repeat.times, give);
        }
        let (mut steps, mut at) = (Steps::new(packed.page), 0);
        let (mut now, mut stamp) = (packed.time, (packed.time != 0).then_some(packed.time));
        let (mut statements, mut has_steps) = (0, false);
        while let Some(step) = steps.next(packed.data, &mut at) {
            has_steps |= matches!(step, Step::Statement(_) | Step::Value(_));
            match step {
                Step::Statement(statement) => match TaskMark::of(statement) {
                    Some(mark) => self.task(mark, steps.interrupt(), stamp.take(), give),
                    None => {
                        statements += 1;
                        self.statement(statement, steps.interrupt(), stamp.take(), give);
                    }
                },
                Step::Time(ticks) => {
                    now = now.wrapping_add(ticks as u32);
                    stamp = Some(now);
                }
                // It comes before the statements of the frame.
                Step::Repetition(_) => {}
                Step::Value(value) => give(values(value)),
            }
        }
        if has_steps {
            self.block(statements, 1, PAGES);
        }
    }

    fn cut_words(&mut self, cut: &CutWords<'_>, give: &mut dyn FnMut(Item)) {
        self.count_in(RepeatUnit::Word);
        let (mut words, mut at) = (Words::new(cut.words), 0);
        let mut stamp = (cut.time != 0).then_some(cut.time);
        while let Some(named) = words.next() {
            let statement = Numbers::default().statement(named).ok();
            let mark = statement.and_then(TaskMark::of);
            match (mark, statement) {
                (Some(mark), _) => self.task(mark, 0, stamp.take(), give),
                (None, Some(statement)) => self.statement(statement, 0, stamp.take(), give),
                (None, None) => {
                    if let Named::Value(value) = named {
                        give(values(value));
                    }
                }
            }
            let is_statement = statement.is_some() && mark.is_none();
            self.block(usize::from(is_statement), (words.at() - at) / UNIT, WINDOW);
            at = words.at();
        }
    }

    /// Repetitions of earlier statements counted in another unit are not possible.
    fn count_in(&mut self, unit: RepeatUnit) {
        if self.unit != unit {
            self.lost();
            self.unit = unit;
        }
    }

    fn statement(
        &mut self,
        statement: Statement,
        interrupt: u16,
        stamp: Option<u32>,
        give: &mut dyn FnMut(Item),
    ) {
        self.newest.push(statement, interrupt);
        give(item(statement, interrupt, stamp.map(|stamp| self.clock.stamp(stamp))));
    }

    fn task(&mut self, mark: TaskMark, interrupt: u16, stamp: Option<u32>, give: &mut dyn FnMut(Item)) {
        let time = stamp.map(|stamp| self.clock.stamp(stamp));
        give(Item { interrupt, ..Item::new(What::Task(mark), time) });
    }

    fn block(&mut self, statements: usize, units: usize, most: usize) {
        if self.blocks.len() == most {
            self.blocks.pop_front();
        }
        self.blocks.push_back((statements, units));
    }

    /// The newest units were repeated. Nothing is given when they were sent before this host connected.
    fn repeat(&mut self, unit: RepeatUnit, units: usize, times: u64, give: &mut dyn FnMut(Item)) {
        let Some(statements) = self.statements_of(units).filter(|_| self.unit == unit) else { return };
        if self.newest.expand(statements, times) {
            while let Some((statement, interrupt)) = self.newest.next() {
                give(item(statement, interrupt, None));
            }
        } else if let Some(again) = self.newest.newest(statements).and_then(|all| Repetition::new(all, times))
        {
            give(Item::new(What::Again(again), None));
        }
    }

    /// The number of statements in just this number of the newest units.
    fn statements_of(&self, units: usize) -> Option<usize> {
        let (mut found, mut statements) = (0, 0);
        let mut blocks = self.blocks.iter().rev();
        while found < units {
            let (more, more_units) = blocks.next()?;
            found += more_units;
            statements += more;
        }
        (found == units).then_some(statements)
    }
}

fn item(Statement { file, line }: Statement, interrupt: u16, time: Option<u64>) -> Item {
    Item { interrupt, ..Item::new(What::Statement { file, line }, time) }
}

fn values(value: RecordedValue) -> Item {
    Item { values: vec![value], ..Item::new(What::Values, None) }
}

/// Gives values with the entry before them, if that is of the same frame.
struct HeldItem(Option<Item>);

impl HeldItem {
    fn take(&mut self, mut item: Item, give: &mut dyn FnMut(Item)) {
        match &mut self.0 {
            Some(held) if matches!(item.what, What::Values) && !matches!(held.what, What::Task(_)) => {
                held.values.append(&mut item.values);
            }
            held => {
                if let Some(before) = held.replace(item) {
                    give(before);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qs_core::record::packed::{Page, code, digits, payload_head, step};
    use qs_core::record::words::Word;

    fn frame(id: u8, payload: &[u8]) -> Frame<'_> {
        Frame { offset: 0, seq: 1, id, payload, missing: 0 }
    }

    fn packed(repeat: Option<(u64, u64)>, lines: &[u16]) -> Vec<u8> {
        let mut data = Vec::new();
        lines.iter().for_each(|line| data.push(code(Statement { file: 3, line: *line })));
        if let Some((frames, times)) = repeat {
            data.push(step::REPEAT);
            digits(frames, |byte| data.push(byte));
            digits(times, |byte| data.push(byte));
        }
        let (head, len) = payload_head(0, Page { file: 3, base: 0 }, data.len() as u8);
        [&head[..len], &data].concat()
    }

    fn thread(number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        EventKind::Thread.emit(1, RECORD_BASE, 0, number, |byte| bytes.push(byte));
        bytes[2..bytes.len() - 2].to_vec()
    }

    fn shown(threads: &mut StreamThreads, id: u8, payload: &[u8]) -> Vec<String> {
        let mut shown = Vec::new();
        let taken = threads.take(&frame(RECORD_BASE + id, payload), &mut |item| {
            shown.push(match item.what {
                What::Statement { line, .. } => line.to_string(),
                What::Again(again) => format!("{}x{}", again.statements, again.times),
                _ => String::new(),
            });
        });
        assert_eq!(taken, Taken::Done);
        shown
    }

    #[test]
    fn a_repetition_is_of_the_statements_of_its_thread() {
        let mut threads = StreamThreads::new(4);
        assert_eq!(shown(&mut threads, ids::PACKED, &packed(None, &[1, 2])), ["1", "2"]);
        assert_eq!(threads.now(), None);
        shown(&mut threads, ids::EVENT, &thread(1));
        assert_eq!(shown(&mut threads, ids::PACKED, &packed(None, &[7])), ["7"]);
        shown(&mut threads, ids::EVENT, &thread(0));
        assert_eq!(shown(&mut threads, ids::PACKED, &packed(Some((1, 2)), &[3])), ["1", "2", "1", "2", "3"]);
        shown(&mut threads, ids::EVENT, &thread(1));
        assert_eq!(threads.now(), Some(1));
        assert_eq!(shown(&mut threads, ids::PACKED, &packed(Some((1, 9)), &[8])), ["1x9", "8"]);
        // After a loss the repeated statements are not known.
        threads.lost();
        assert_eq!(shown(&mut threads, ids::PACKED, &packed(Some((1, 9)), &[8])), ["8"]);
    }

    fn cut(time: u32, numbers: &[u32]) -> Vec<u8> {
        let mut words = Vec::new();
        for number in numbers {
            match Word::new(Statement { file: 1, line: *number as u16 }, number % 100).expect("a word") {
                Word::Short(bytes) => words.extend(bytes),
                Word::Long(bytes) => words.extend(bytes),
            }
        }
        [&CutWords::head(time, words.len())[..], &words].concat()
    }

    #[test]
    fn words_are_repeated_by_their_units() {
        let mut threads = StreamThreads::new(4);
        // 100 and 200 have no number, so they are long words.
        assert_eq!(shown(&mut threads, ids::PACKED, &cut(7, &[1, 100, 2])), ["1", "100", "2"]);
        let again = |period, times| {
            EventKind::Repetition
                .payload(0, words::UnitRepetition { period, times, is_counted: false }.to_event())
        };
        assert_eq!(shown(&mut threads, ids::EVENT, &again(3, 2)), ["100", "2", "100", "2"]);
        assert_eq!(shown(&mut threads, ids::EVENT, &again(4, 1_000)), ["3x1000"]);
        // Neither more words than there were, nor half a word.
        for (period, times) in [(5, 1), (2, 1), (0, 9), (3, 0)] {
            assert!(shown(&mut threads, ids::EVENT, &again(period, times)).is_empty(), "{period}");
        }
        // A repetition covers the words of earlier records, too.
        assert_eq!(shown(&mut threads, ids::PACKED, &cut(0, &[100])), ["100"]);
        assert_eq!(shown(&mut threads, ids::EVENT, &again(2, 1)), ["100"]);
        threads.lost();
        assert!(shown(&mut threads, ids::EVENT, &again(2, 1)).is_empty());
    }

    #[test]
    fn any_payload_is_fine() {
        let mut threads = StreamThreads::new(10);
        for seed in 0..4000u32 {
            let bytes: Vec<u8> = (0..seed % 40).map(|n| (n.wrapping_mul(seed) >> 3) as u8 | 0x80).collect();
            let payload = [&packed(Some((u64::from(seed), u64::MAX)), &[1, 2])[..], &bytes].concat();
            for id in 0..4 {
                let _ = threads.take(&frame(RECORD_BASE + id, &payload), &mut |_| {});
                let _ = threads.take(&frame(RECORD_BASE + id, &bytes), &mut |_| {});
                let cut = [&CutWords::head(seed, bytes.len())[..], &bytes].concat();
                let _ = threads.take(&frame(RECORD_BASE + id, &cut), &mut |_| {});
            }
        }
    }
}
