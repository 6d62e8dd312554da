//! The end of a thread's history: what ran up to its last panic or fatal signal, what formatted the message, and what ran after.

use std::collections::{HashMap, VecDeque};

use qs_core::record::value::RecordedValue;
use qs_core::record::{Statement, TaskMark};

use super::activations::Activations;
use super::code::{Code, ListedStatement};
use super::view::{self, Row, RowKind, Wanted};
use crate::calls::Reentry;
use crate::model::{Item, Names, What};

/// Entries that are kept: the newest of a thread.
const MOST: usize = 1 << 20;

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

#[derive(Clone, Copy, Debug)]
enum TailItem {
    /// In this number of signal handlers, or in this interrupt.
    Statement(Statement, (u8, u16)),
    /// Statements ran again: how many, and how often.
    Again(u64, u64),
    Mark(ThreadEnd),
    /// A future made a step.
    Task(TaskMark),
    /// Statements are missing.
    Gap,
}

/// The newest entries of a thread, as they are collected.
#[derive(Debug, Default)]
pub struct Tail {
    items: VecDeque<TailItem>,
    /// Statements that are not kept.
    dropped: u64,
    /// Items so far.
    count: u64,
    /// Values behind items, each with the number of the item.
    values: VecDeque<(u64, Vec<RecordedValue>)>,
}

/// What is shown of a thread.
#[derive(Debug)]
pub struct Shown {
    /// Lines.
    pub rows: Vec<Row>,
    /// How the history ended.
    pub end: ThreadEnd,
    /// Statements that formatted the message of a panic.
    pub formatted: u64,
    /// Statements that ran after the mark.
    pub after: u64,
    /// Values behind statements, by the time of the statement.
    pub values: HashMap<u64, Vec<RecordedValue>>,
    /// Functions that a handler entered again.
    pub reentries: Vec<Reentry>,
}

impl Tail {
    /// Takes the next item of the thread, with the values behind it.
    pub fn push(&mut self, Item { what, values, handlers, interrupt, .. }: &Item) {
        self.add_item(what, (*handlers, *interrupt));
        if values.is_empty() {
            return;
        }
        match self.values.back_mut() {
            Some((of, known)) if *of == self.count => known.extend_from_slice(values),
            _ => self.values.push_back((self.count, values.clone())),
        }
        if self.values.len() > MOST_VALUED {
            self.values.pop_front();
        }
    }

    fn add_item(&mut self, what: &What, level: (u8, u16)) {
        let item = match what {
            What::Statement { file, line } => {
                TailItem::Statement(Statement { file: *file, line: *line }, level)
            }
            What::Again(again) => TailItem::Again(again.statements as u64, again.times),
            What::Panic(_) => TailItem::Mark(ThreadEnd::Panic),
            What::Signal(signal, _) => TailItem::Mark(ThreadEnd::Signal(*signal)),
            What::Task(mark) => TailItem::Task(*mark),
            What::Values | What::Trace(_) | What::Record(_) => return,
        };
        self.add(item);
    }

    /// Statements are missing before the next item.
    pub fn gap(&mut self) {
        self.add(TailItem::Gap);
    }

    fn add(&mut self, item: TailItem) {
        if self.items.len() == MOST
            && let Some(oldest) = self.items.pop_front()
        {
            self.dropped = self.dropped.saturating_add(oldest.statements());
        }
        self.count += 1;
        self.items.push_back(item);
    }

    /// Whether the thread recorded any statement.
    pub fn is_empty(&self) -> bool {
        !self.items.iter().any(|item| matches!(item, TailItem::Statement(..)))
    }

    /// The lines of this thread. `is_failed`: a panic or a signal ended it, so what follows the last mark is not its work.
    /// `text_of`: the source text of a statement.
    pub fn shown(
        &self,
        (code, names): (&Code, &Names),
        is_failed: bool,
        wanted: Wanted<'_>,
        text_of: &mut dyn FnMut(&Code, ListedStatement) -> Option<String>,
    ) -> Shown {
        let mark = |item: &TailItem| matches!(item, TailItem::Mark(_));
        let end = if is_failed { self.items.iter().rposition(mark) } else { None };
        let (end, cut) = match end.map(|at| (at, self.items[at])) {
            Some((at, TailItem::Mark(end))) => (end, at),
            _ => (ThreadEnd::Here, self.items.len()),
        };
        let after = self.items.range(cut..).map(TailItem::statements).fold(0, u64::saturating_add);
        let mut activations = Activations::new(code);
        let first = self.count - self.items.len() as u64;
        let mut values = HashMap::new();
        let mut valued = self.values.iter().skip_while(|(of, _)| *of <= first).peekable();
        for (number, item) in (first + 1..).zip(self.items.range(..cut)) {
            match item {
                TailItem::Statement(recorded, (handlers, interrupt)) => {
                    activations.interrupted(*handlers, *interrupt);
                    activations.recorded(names, *recorded);
                }
                TailItem::Again(statements, times) => activations.repeat(*statements, *times),
                // A panic that was caught.
                TailItem::Mark(ThreadEnd::Panic) => activations.panic(),
                TailItem::Mark(_) => {}
                TailItem::Task(mark) => activations.task(*mark),
                TailItem::Gap => activations.gap(),
            }
            if let Some((_, behind)) = valued.next_if(|(of, _)| *of == number) {
                values.entry(activations.now()).or_insert_with(Vec::new).extend_from_slice(behind);
            }
        }
        let formatted = match end {
            ThreadEnd::Panic => activations.leave_out_formatting(&mut |statement| {
                // What the statement itself makes text of may be what is wrong.
                let text = text_of(code, statement);
                text.is_some_and(|text| {
                    ["format", "to_string", "write"].iter().any(|word| has_word(&text, word))
                })
            }),
            _ => 0,
        };
        let reentries = activations.reentries();
        Shown { rows: view::rows(&activations, code, wanted), end, formatted, after, values, reentries }
    }
}

impl Shown {
    /// The statements shown, and when they ran.
    pub fn statements(&self) -> impl Iterator<Item = (&[u64], ListedStatement)> {
        self.rows.iter().filter_map(|row| match row.kind {
            RowKind::Statement(statement) => Some((&row.runs[..], statement)),
            _ => None,
        })
    }
}

impl TailItem {
    fn statements(&self) -> u64 {
        match self {
            TailItem::Statement(..) => 1,
            TailItem::Again(statements, times) => statements.saturating_mul(*times),
            TailItem::Mark(_) | TailItem::Task(_) | TailItem::Gap => 0,
        }
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

    #[test]
    fn a_word_is_not_a_part_of_another() {
        assert!(
            has_word("a.next().map(f)", "next") && has_word("f", "f") && has_word("next_one(next)", "next")
        );
        assert!(!has_word("next_one(x)", "next") && !has_word("", "f") && !has_word("if x", "f"));
    }
}
