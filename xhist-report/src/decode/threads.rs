//! Statements on a link, which threads may share: each has its own frames that may come again, and its own clock. It must not know
//! how frames are received.

use std::collections::{BTreeMap, VecDeque};

use qs_core::frame::Frame;
use qs_core::record::chunk::CutWords;
use qs_core::record::packed::{PAGES, Packed, Repeat, Step, Steps};
use qs_core::record::words::{self, UNIT, Words};
use qs_core::record::{EventKind, Numbers, RECORD_BASE, Statement, XhistRecord, ids};
use qs_core::ring::Again;

use super::clock::Clock;
use super::frame::{Kind, kind};
use crate::model::{Item, What};

/// More threads than this are not kept apart: numbers of a damaged stream could be any.
const MOST: usize = 1024;
/// Words that may come again. A chunk has fewer.
const WINDOW: usize = 1 << 15;

/// The threads of a target.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    threads: BTreeMap<u64, Thread>,
    /// Whose frames come now.
    now: u64,
    /// Whether that was ever told.
    several: bool,
    /// Repetitions of up to so many statements are written out.
    longest: u64,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// The newest frames, nothing missing between them, for those that come again.
    frames: VecDeque<Vec<(Statement, u16)>>,
    /// The newest words, nothing missing between them, each with its units.
    words: VecDeque<(Statement, usize)>,
    clock: Clock,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed {
    /// Statements, which were given, or nothing to be told.
    Done,
    /// A record, at this time.
    Record(Kind, Option<u64>),
}

impl Threads {
    /// Writes out repetitions of up to `longest` statements.
    pub fn new(longest: u64) -> Threads {
        Threads { longest, ..Threads::default() }
    }

    /// The thread whose frames come now; `None` while the target told of no other.
    pub fn now(&self) -> Option<u64> {
        self.several.then_some(self.now)
    }

    /// Frames are missing, and nobody knows whose.
    pub fn lost(&mut self) {
        self.threads.values_mut().for_each(Thread::lost);
    }

    /// Another target, or the same one anew.
    pub fn restart(&mut self) {
        *self = Threads::new(self.longest);
    }

    /// Takes a frame; gives its statements.
    pub fn take(&mut self, frame: &Frame<'_>, give: &mut dyn FnMut(Item)) -> Framed {
        let record = XhistRecord::parse(frame, RECORD_BASE);
        if let Some(XhistRecord::Event { kind: EventKind::Thread, value, .. }) = record {
            (self.now, self.several) = (value, true);
            return Framed::Done;
        }
        if self.threads.len() >= MOST && !self.threads.contains_key(&self.now) {
            self.threads.clear();
        }
        let thread = self.threads.entry(self.now).or_default();
        if frame.id == RECORD_BASE + ids::PACKED
            && let Some(packed) = Packed::parse(frame.payload)
        {
            thread.words.clear();
            thread.packed(&packed, self.longest, give);
            return Framed::Done;
        }
        if frame.id == RECORD_BASE + ids::PACKED
            && let Some(cut) = CutWords::parse(frame.payload)
        {
            thread.frames.clear();
            thread.cut_words(&cut, give);
            return Framed::Done;
        }
        if let Some(XhistRecord::Event { kind: EventKind::Again, value, .. }) = record {
            thread.words_again(words::Again::from_event(value), self.longest, give);
            return Framed::Done;
        }
        thread.lost();
        match (record, kind(frame, RECORD_BASE, true)) {
            (Some(XhistRecord::Statement { statement, time }), _) => {
                let time = time.filter(|time| *time != 0).map(|time| thread.clock.stamp(time));
                give(item(statement, 0, time));
                Framed::Done
            }
            (_, Kind::Silent | Kind::Handler(_)) => Framed::Done,
            (_, Kind::Time(full) | Kind::Until(full)) => {
                thread.clock.set(full);
                Framed::Done
            }
            (_, kind @ (Kind::Panic(stamp) | Kind::Signal(_, stamp))) => {
                Framed::Record(kind, stamp.map(|stamp| thread.clock.stamp(stamp)))
            }
            (_, kind @ Kind::Trace(stamp)) => {
                Framed::Record(kind, stamp.map(|stamp| thread.clock.stamp(stamp)))
            }
            (_, kind @ (Kind::Mark(..) | Kind::Record)) => Framed::Record(kind, None),
        }
    }
}

impl Thread {
    /// What comes again is no longer known.
    fn lost(&mut self) {
        self.frames.clear();
        self.words.clear();
    }

    fn cut_words(&mut self, cut: &CutWords<'_>, give: &mut dyn FnMut(Item)) {
        let (mut words, mut at) = (Words::new(cut.words), 0);
        let mut stamp = (cut.time != 0).then_some(cut.time);
        while let Some(named) = words.next() {
            let statement = Numbers::default().statement(named);
            if self.words.len() == WINDOW {
                self.words.pop_front();
            }
            self.words.push_back((statement, (words.at() - at) / UNIT));
            at = words.at();
            give(item(statement, 0, stamp.take().map(|stamp| self.clock.stamp(stamp))));
        }
    }

    /// The newest words came again. Nothing is given when they came before this host did.
    fn words_again(&mut self, again: words::Again, longest: u64, give: &mut dyn FnMut(Item)) {
        let (mut units, mut first) = (0, self.words.len());
        while units < again.period as usize && first > 0 {
            first -= 1;
            units += self.words[first].1;
        }
        if units == again.period as usize {
            let round: Vec<_> = self.words.range(first..).map(|(statement, _)| (*statement, 0)).collect();
            came_again(&round, again.times, longest, give);
        }
    }

    fn packed(&mut self, packed: &Packed<'_>, longest: u64, give: &mut dyn FnMut(Item)) {
        if let Some(repeat) = packed.repeat() {
            self.again(repeat, longest, give);
        }
        let (mut steps, mut at) = (Steps::new(packed.page), 0);
        let (mut now, mut stamp) = (packed.time, (packed.time != 0).then_some(packed.time));
        let mut statements = Vec::new();
        while let Some(step) = steps.next(packed.data, &mut at) {
            match step {
                Step::Statement(statement) => {
                    let interrupt = steps.interrupt();
                    statements.push((statement, interrupt));
                    let time = stamp.take().map(|stamp| self.clock.stamp(stamp));
                    give(item(statement, interrupt, time));
                }
                Step::Time(ticks) => {
                    now = now.wrapping_add(ticks as u32);
                    stamp = Some(now);
                }
                // It came before the frame's statements.
                Step::Repeat(_) => {}
            }
        }
        if !statements.is_empty() {
            if self.frames.len() == PAGES {
                self.frames.pop_front();
            }
            self.frames.push_back(statements);
        }
    }

    /// The newest frames came again. Nothing is told when they came before this host did.
    fn again(&self, repeat: Repeat, longest: u64, give: &mut dyn FnMut(Item)) {
        let Some(first) =
            usize::try_from(repeat.frames).ok().and_then(|frames| self.frames.len().checked_sub(frames))
        else {
            return;
        };
        let statements: Vec<_> = self.frames.range(first..).flatten().copied().collect();
        came_again(&statements, repeat.times, longest, give);
    }
}

/// Gives statements that ran several times more, written out where they are at most `longest` in all.
fn came_again(statements: &[(Statement, u16)], times: u64, longest: u64, give: &mut dyn FnMut(Item)) {
    let all = statements.iter().map(|(statement, _)| *statement);
    let Some(again) = Again::new(all, times) else { return };
    if times.saturating_mul(statements.len() as u64) > longest {
        return give(Item { what: What::Again(again), time: None, interrupt: 0 });
    }
    for _ in 0..times {
        statements.iter().for_each(|(statement, interrupt)| give(item(*statement, *interrupt, None)));
    }
}

fn item(Statement { file, line }: Statement, interrupt: u16, time: Option<u64>) -> Item {
    Item { what: What::Statement { file, line }, time, interrupt }
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

    fn told(threads: &mut Threads, id: u8, payload: &[u8]) -> Vec<String> {
        let mut told = Vec::new();
        let framed = threads.take(&frame(RECORD_BASE + id, payload), &mut |item| {
            told.push(match item.what {
                What::Statement { line, .. } => line.to_string(),
                What::Again(again) => format!("{}x{}", again.statements, again.times),
                _ => String::new(),
            });
        });
        assert_eq!(framed, Framed::Done);
        told
    }

    #[test]
    fn what_came_again_is_that_of_its_thread() {
        let mut threads = Threads::new(4);
        assert_eq!(told(&mut threads, ids::PACKED, &packed(None, &[1, 2])), ["1", "2"]);
        assert_eq!(threads.now(), None);
        told(&mut threads, ids::EVENT, &thread(1));
        assert_eq!(told(&mut threads, ids::PACKED, &packed(None, &[7])), ["7"]);
        told(&mut threads, ids::EVENT, &thread(0));
        assert_eq!(told(&mut threads, ids::PACKED, &packed(Some((1, 2)), &[3])), ["1", "2", "1", "2", "3"]);
        told(&mut threads, ids::EVENT, &thread(1));
        assert_eq!(threads.now(), Some(1));
        assert_eq!(told(&mut threads, ids::PACKED, &packed(Some((1, 9)), &[8])), ["1x9", "8"]);
        // After a loss nobody knows what came again.
        threads.lost();
        assert_eq!(told(&mut threads, ids::PACKED, &packed(Some((1, 9)), &[8])), ["8"]);
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
    fn words_come_again_by_their_units() {
        let mut threads = Threads::new(4);
        // 100 and 200 have no number, so they are long words.
        assert_eq!(told(&mut threads, ids::PACKED, &cut(7, &[1, 100, 2])), ["1", "100", "2"]);
        let again = |period, times| {
            EventKind::Again.payload(0, words::Again { period, times, is_counted: false }.to_event())
        };
        assert_eq!(told(&mut threads, ids::EVENT, &again(3, 2)), ["100", "2", "100", "2"]);
        assert_eq!(told(&mut threads, ids::EVENT, &again(4, 1_000)), ["3x1000"]);
        // Neither more words than there were, nor a half of one.
        for (period, times) in [(5, 1), (2, 1), (0, 9), (3, 0)] {
            assert!(told(&mut threads, ids::EVENT, &again(period, times)).is_empty(), "{period}");
        }
        // Its words, and what came again behind them, are of the records before.
        assert_eq!(told(&mut threads, ids::PACKED, &cut(0, &[100])), ["100"]);
        assert_eq!(told(&mut threads, ids::EVENT, &again(2, 1)), ["100"]);
        threads.lost();
        assert!(told(&mut threads, ids::EVENT, &again(2, 1)).is_empty());
    }

    #[test]
    fn any_payload_is_fine() {
        let mut threads = Threads::new(10);
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
