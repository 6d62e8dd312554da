//! The end of a thread's history: what ran up to the panic or the signal that ended it, what formatted the message, and what
//! ran after.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::Path;

use qs_core::record::value::RecordedValue;

use super::activations::Activations;
use super::code::{Code, ListedStatement};
use super::view::{self, Row, Wanted};
use crate::calls::{CallStack, Handler, OpenPanic, Reentry, SincePanic, ThreadEntry};
use crate::model::{Gap, Item, Names, PanicPlace, What, comes_from};

/// Entries that are kept: the newest of a thread.
const MOST: usize = 1 << 20;

/// Panics whose places are kept: the newest.
const MOST_PANICS: usize = 1 << 10;

/// Statements that are searched for the one that a panic came from.
const MOST_SEARCHED: usize = 1 << 10;

/// Statements whose values are kept: the newest.
const MOST_VALUED: usize = 1 << 16;

/// How a history ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadEnd {
    /// The newest statement is the last one.
    Here,
    /// The thread panicked.
    Panic,
    /// A fatal signal arrived.
    Signal(u64),
}

/// Where the panics are of functions that may not unwind.
const CANNOT_UNWIND: &str = "core/src/panicking.rs";

/// Why a thread that unwound panicked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondPanic {
    /// A destructor panicked.
    Destructor,
    /// The first panic came to a function that may not unwind, as one with `extern "C"`.
    MayNotUnwind,
}

/// The newest entries of a thread, as they are collected.
#[derive(Debug, Default)]
pub struct Tail {
    items: VecDeque<(Handler, ThreadEntry)>,
    /// Statements that are not kept.
    dropped: u64,
    /// Items so far.
    count: u64,
    /// When the marks came: the number of the item, and its place in the order of the items of all threads.
    marks: Vec<(u64, u64)>,
    /// Where the newest panics came from, each with the number of its item.
    panics: VecDeque<(u64, PanicPlace)>,
    /// Values behind items, each with the number of the item.
    values: VecDeque<(u64, Vec<RecordedValue>)>,
}

/// Where the history of a thread ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How it ended.
    pub end: ThreadEnd,
    /// What ran after a panic.
    pub since: SincePanic,
    /// When the panic or the signal came, in the order of the items of all threads.
    pub order: u64,
    /// The mark among the items, or the end of all items.
    cut: usize,
    /// Panics that were caught: how many, and the item of the newest one.
    caught: (usize, usize),
    /// The item of the panic that the thread unwound from when it panicked again, and why it did.
    first: Option<(usize, SecondPanic)>,
}

impl Ending {
    /// A panic in a thread that unwinds ends the process.
    pub fn has_aborted(&self) -> bool {
        self.first.is_some()
    }

    /// The thread is that of a failed test: what ran behind its panic was a destructor or a hook, though nothing names it.
    pub fn in_failed_test(&mut self) {
        if self.since == SincePanic::Unclear {
            self.since = SincePanic::Unwinding;
        }
    }
}

/// A part of a history that ran again: its lines can be drawn several times.
pub struct Replay<'c> {
    code: &'c Code,
    activations: Activations<'c>,
    /// Statements that formatted the message of a panic.
    pub formatted: u64,
    /// Values behind statements, by the time of the statement.
    pub values: HashMap<u64, Vec<RecordedValue>>,
    /// Functions that a handler entered again.
    pub reentries: Vec<Reentry>,
}

impl Replay<'_> {
    /// Its lines.
    pub fn rows(&self, wanted: Wanted<'_>) -> Vec<Row> {
        view::rows(&self.activations, self.code, wanted)
    }
}

impl Tail {
    /// Takes the next item of the thread, with the values behind it. `order`: its place among the items of all threads.
    pub fn push(&mut self, item: &Item, order: u64) {
        let entry = ThreadEntry::of(&item.what);
        if entry != ThreadEntry::Other {
            self.add((Handler::of(item), entry));
        }
        if mark(entry).is_some() {
            self.marks.push((self.count, order));
        }
        if let What::Panic(_, place) = &item.what {
            if self.panics.len() == MOST_PANICS {
                self.panics.pop_front();
            }
            self.panics.push_back((self.count, (**place).clone()));
        }
        if item.values.is_empty() {
            return;
        }
        match self.values.back_mut() {
            Some((of, known)) if *of == self.count => known.extend_from_slice(&item.values),
            _ => self.values.push_back((self.count, item.values.clone())),
        }
        if self.values.len() > MOST_VALUED {
            self.values.pop_front();
        }
    }

    /// Takes what is missing before the next item.
    pub fn gap(&mut self, gap: &Gap) {
        if let Some(entry) = ThreadEntry::of_gap(gap) {
            self.add((Handler::default(), entry));
        }
    }

    fn add(&mut self, item: (Handler, ThreadEntry)) {
        if self.items.len() == MOST
            && let Some((_, oldest)) = self.items.pop_front()
        {
            self.dropped = self.dropped.saturating_add(oldest.statements());
        }
        self.count += 1;
        self.items.push_back(item);
    }

    /// Whether the thread recorded any statement.
    pub fn is_empty(&self) -> bool {
        !self.items.iter().any(|(_, entry)| matches!(entry, ThreadEntry::Statement(_)))
    }

    /// Where the history ends. `may_fail`: the thread panicked, got a fatal signal or was that of a failed test; a panic may
    /// have been caught.
    pub fn ending(&self, (code, names): (&Code, &Names), may_fail: bool) -> Ending {
        let here = Ending {
            end: ThreadEnd::Here,
            since: SincePanic::Unwinding,
            order: u64::MAX,
            cut: self.items.len(),
            caught: (0, 0),
            first: None,
        };
        let Some(last) = self.items.iter().rposition(|(_, entry)| mark(*entry).is_some()) else {
            return here;
        };
        let ended = |cut: usize, since| {
            let Some(end) = mark(self.items[cut].1) else { return here };
            Ending { end, since, order: self.order_of(cut), cut, ..here }
        };
        if may_fail && matches!(self.items[last].1, ThreadEntry::Signal(_)) {
            return ended(last, SincePanic::Unwinding);
        }
        let mut stack = code.stack();
        let mut panics: Vec<usize> = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            code.follow(names, &mut stack, *item);
            panics.extend((item.1 == ThreadEntry::Panic).then_some(index));
        }
        let end = stack.ending_panic().filter(|_| may_fail);
        let last = end.map_or(panics.len(), |end| end.number);
        let first = self.second_panic(&stack, &panics).filter(|_| may_fail);
        // Code that is not recorded caught what the thread unwound from when it panicked again at once, and lived on.
        let lived_on = first.is_none() && end.is_some_and(OpenPanic::is_abort);
        let is_open =
            |number: usize| !lived_on && stack.open_panics().iter().any(|open| open.number == number);
        let caught = (0..last).filter(|number| end.is_none() || !is_open(*number));
        let caught: Vec<usize> = caught.map(|number| panics[number]).collect();
        let ending = end.map_or(here, |end| ended(panics[end.number], end.since));
        Ending { first, caught: (caught.len(), caught.last().copied().unwrap_or_default()), ..ending }
    }

    /// Why a thread panicked again that unwound, and the item of its first panic. `panics`: the items of all.
    fn second_panic(&self, stack: &CallStack, panics: &[usize]) -> Option<(usize, SecondPanic)> {
        let [first, .., last] = stack.open_panics() else { return None };
        let place = self.panic_at(panics[last.number]).and_then(|panic| panic.at.as_ref());
        // A destructor's own panic names a place of its own, and one more comes when it leaves the destructor.
        let is_of_core = place.map(|place| Path::new(&place.path).ends_with(CANNOT_UNWIND));
        let why = match is_of_core {
            Some(true) if stack.left_destructor() => SecondPanic::Destructor,
            Some(true) => SecondPanic::MayNotUnwind,
            None if last.is_abort() => SecondPanic::Destructor,
            _ => return None,
        };
        Some((panics[first.number], why))
    }

    /// Where the panic came from that ended the thread; also one that aborted the program, as the signal says.
    pub fn panic(&self, ending: &Ending) -> Option<&PanicPlace> {
        if ending.end == ThreadEnd::Here {
            return None;
        }
        let is_signal = |entry: &ThreadEntry| matches!(entry, ThreadEntry::Signal(_));
        let index = self.items.range(..=ending.cut).rposition(|(_, entry)| !is_signal(entry))?;
        self.panic_at(index)
    }

    /// Where the panic came from whose mark is this item.
    fn panic_at(&self, index: usize) -> Option<&PanicPlace> {
        let number = self.number_of(index);
        self.panics.iter().rev().find(|(of, _)| *of == number).map(|(_, place)| place)
    }

    /// The number of an item among all of the thread.
    fn number_of(&self, index: usize) -> u64 {
        self.count - self.items.len() as u64 + index as u64 + 1
    }

    /// When an item came that is a mark.
    fn order_of(&self, index: usize) -> u64 {
        let number = self.number_of(index);
        let known = self.marks.iter().rev().find(|(of, _)| *of == number);
        known.map_or(u64::MAX, |(_, order)| *order)
    }

    /// The statement that the newest panic that was caught came from, and the number of all that were.
    pub fn caught(
        &self,
        (code, names): (&Code, &Names),
        ending: &Ending,
    ) -> Option<(usize, ListedStatement)> {
        let (count, at) = ending.caught;
        Some((count, self.panicked_at((code, names), at)?))
    }

    /// The statement of the panic that the thread unwound from when it panicked again, and why it did.
    pub fn unwound_from(
        &self,
        code: (&Code, &Names),
        ending: &Ending,
    ) -> Option<(ListedStatement, SecondPanic)> {
        let (first, why) = ending.first?;
        Some((self.panicked_at(code, first)?, why))
    }

    /// The statement that the panic with this mark came from.
    fn panicked_at(&self, (code, names): (&Code, &Names), at: usize) -> Option<ListedStatement> {
        let mut before = self.items.range(..at).rev().filter_map(|(_, entry)| match entry {
            ThreadEntry::Statement(statement) => Some(code.find(names, *statement, None)),
            _ => None,
        });
        let newest = before.next()?;
        let place = self.panic_at(at).and_then(|panic| panic.at.as_ref());
        let is_it = |statement: &ListedStatement| {
            place.is_some_and(|place| comes_from(place, code.place(*statement), names))
        };
        // Making the message may have run code of the program, such as its allocator.
        let mut searched = std::iter::once(newest).chain(before).take(MOST_SEARCHED);
        Some(searched.find(is_it).unwrap_or(newest))
    }

    /// How many statements ran after the end.
    pub fn after(&self, ending: &Ending) -> u64 {
        let after = self.items.range(ending.cut..).map(|(_, entry)| entry.statements());
        after.fold(0, u64::saturating_add)
    }

    /// What ran up to the end. `text_of`: the source text of a statement.
    pub fn before<'c>(
        &self,
        (code, names): (&'c Code, &Names),
        ending: &Ending,
        text_of: &mut dyn FnMut(&Code, ListedStatement) -> Option<String>,
    ) -> Replay<'c> {
        let mut replay = self.replay(0..ending.cut, (code, names));
        let place = self.panic(ending).and_then(|panic| panic.at.as_ref());
        let has_panicked =
            |statement| place.is_some_and(|place| comes_from(place, code.place(statement), names));
        replay.formatted = match ending.end {
            // What panicked itself is not what made the text of a message.
            ThreadEnd::Panic if replay.activations.formats_at(&has_panicked) => 0,
            ThreadEnd::Panic => replay.activations.leave_out_formatting(&mut |statement| {
                // What the statement itself makes text of may be what is wrong.
                let text = text_of(code, statement);
                text.is_some_and(|text| {
                    ["format", "to_string", "write"].iter().any(|word| has_word(&text, word))
                })
            }),
            _ => 0,
        };
        replay.reentries = replay.activations.reentries();
        replay
    }

    /// What ran behind the end.
    pub fn behind<'c>(&self, code: (&'c Code, &Names), ending: &Ending) -> Replay<'c> {
        self.replay(ending.cut..self.items.len(), code)
    }

    /// What ran in a part of the history, and the values behind its statements.
    fn replay<'c>(&self, range: Range<usize>, (code, names): (&'c Code, &Names)) -> Replay<'c> {
        let mut activations = Activations::new(code);
        let first = self.count - self.items.len() as u64 + range.start as u64;
        let mut values = HashMap::new();
        let mut valued = self.values.iter().skip_while(|(of, _)| *of <= first).peekable();
        for (number, item) in (first + 1..).zip(self.items.range(range)) {
            activations.take(names, *item);
            if let Some((_, behind)) = valued.next_if(|(of, _)| *of == number) {
                values.entry(activations.now()).or_insert_with(Vec::new).extend_from_slice(behind);
            }
        }
        Replay { code, activations, formatted: 0, values, reentries: Vec::new() }
    }
}

/// How a thread ends with this entry, if it does.
fn mark(entry: ThreadEntry) -> Option<ThreadEnd> {
    match entry {
        ThreadEntry::Panic => Some(ThreadEnd::Panic),
        ThreadEntry::Signal(signal) => Some(ThreadEnd::Signal(signal)),
        _ => None,
    }
}

/// Whether a text has this word.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CodePlace, Record};

    #[test]
    fn a_word_is_not_a_part_of_another() {
        assert!(
            has_word("a.next().map(f)", "next") && has_word("f", "f") && has_word("next_one(next)", "next")
        );
        assert!(!has_word("next_one(x)", "next") && !has_word("", "f") && !has_word("if x", "f"));
    }

    const MAP: &str = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"9:2"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"f"}
{"stmt":1,"line":3,"col":5,"end":"3:9","kind":"expr","fn":"f"}
"#;

    #[test]
    fn panics_and_values_are_those_of_their_items() {
        let names = Names::parse(MAP.as_bytes());
        let code = Code::of(&names);
        let mut tail = Tail::default();
        let item = |what| Item { what, time: None, interrupt: 0, handlers: 0, values: Vec::new() };
        for (line, value) in [(2, 7), (3, 8)] {
            let values = vec![RecordedValue::new(1, &[value])];
            tail.push(&Item { values, ..item(What::Statement { file: 1, line }) }, 0);
        }
        let place = PanicPlace { program: 5, ..PanicPlace::default() };
        tail.push(&item(What::Panic(Record::default(), Box::new(place.clone()))), 1);
        let ending = tail.ending((&code, &names), true);
        assert_eq!((ending.end, ending.order, tail.panic(&ending)), (ThreadEnd::Panic, 1, Some(&place)));
        let before = tail.before((&code, &names), &ending, &mut |_, _| None);
        let mut values: Vec<(u64, &[u8])> =
            before.values.iter().map(|(time, values)| (*time, values[0].bytes())).collect();
        values.sort_unstable();
        assert_eq!(values, [(1, &[7][..]), (2, &[8])]);
        let rows = before.rows(Wanted { lines: 9, suspects: &[], test: None });
        let functions = rows.iter().filter_map(|row| match row.kind {
            view::RowKind::Statement(statement) => Some(code.name_of(statement)),
            _ => None,
        });
        assert_eq!(functions.collect::<Vec<_>>(), ["f", "f"]);
    }

    #[test]
    fn a_panic_came_from_the_line_that_its_message_names_and_not_from_what_made_the_message() {
        let names = Names::parse(MAP.as_bytes());
        let code = Code::of(&names);
        let item = |what| Item { what, time: None, interrupt: 0, handlers: 0, values: Vec::new() };
        let line_of = |path: &str| {
            let mut tail = Tail::default();
            [2, 3, 3].iter().for_each(|line| tail.push(&item(What::Statement { file: 1, line: *line }), 0));
            let at = Some(CodePlace { path: path.to_owned(), line: 2 });
            let place = PanicPlace { at, ..PanicPlace::default() };
            tail.push(&item(What::Panic(Record::default(), Box::new(place))), 0);
            tail.panicked_at((&code, &names), 3).map(|statement| code.place(statement).1.line)
        };
        assert_eq!((line_of("a.rs"), line_of("b.rs")), (Some(2), Some(3)));
    }

    #[test]
    fn a_second_panic_is_that_of_a_destructor_or_of_a_function_that_may_not_unwind() {
        let map = format!(
            "{MAP}{}\n{}\n",
            r#"{"fn":1,"path":"D::drop","at":"10:1","end":"12:2","trait":"Drop"}"#,
            r#"{"stmt":1,"line":11,"col":5,"end":"11:9","kind":"expr","fn":"D::drop"}"#
        );
        let names = Names::parse(map.as_bytes());
        let code = Code::of(&names);
        let item = |what| Item { what, time: None, interrupt: 0, handlers: 0, values: Vec::new() };
        // What ran behind the first panic: a statement of the destructor, and panics with the files that they name.
        let why = |behind: &[Result<u16, Option<&str>>]| {
            let mut tail = Tail::default();
            for what in [Ok(2), Ok(3), Err(Some("a.rs"))].iter().chain(behind) {
                let what = match what {
                    Ok(line) => What::Statement { file: 1, line: *line },
                    Err(path) => {
                        let at = path.map(|path| CodePlace { path: path.to_owned(), line: 3 });
                        What::Panic(Record::default(), Box::new(PanicPlace { at, ..PanicPlace::default() }))
                    }
                };
                tail.push(&item(what), 0);
            }
            tail.ending((&code, &names), true).first
        };
        let core = Err(Some(CANNOT_UNWIND));
        assert_eq!(why(&[]), None);
        assert_eq!(why(&[core]), Some((2, SecondPanic::MayNotUnwind)));
        assert_eq!(why(&[Ok(11), Err(Some("a.rs")), core]), Some((2, SecondPanic::Destructor)));
        assert_eq!(why(&[Ok(11), Err(Some("a.rs"))]), None, "the destructor caught it");
        assert_eq!(why(&[Err(None)]), Some((2, SecondPanic::Destructor)), "the recorder knows no place");
    }

    #[test]
    fn what_runs_behind_the_panic_of_a_failed_test_is_part_of_unwinding() {
        let of = |since| {
            let mut ending =
                Ending { end: ThreadEnd::Panic, since, order: 0, cut: 0, caught: (0, 0), first: None };
            ending.in_failed_test();
            ending.since
        };
        assert_eq!(of(SincePanic::Unclear), SincePanic::Unwinding);
        assert_eq!(of(SincePanic::PassedOn), SincePanic::PassedOn);
    }
}
