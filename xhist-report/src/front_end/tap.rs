//! What a front-end gets of a stream: records as they are, their lines, or both. It must not know how that is sent.

use crate::qs::{Class, Event, Known, Lines, Listener, Text};

const BINARY: u8 = 1;
const TEXT: u8 = 2;
const EMPTY: u8 = 0;
const TARGET_INFO: u8 = 64;

/// A part of a stream for the front-end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tapped {
    /// A record without its frame.
    Binary(Vec<u8>),
    /// A line, and the record that it is about.
    Text(u8, Vec<u8>),
}

/// Listens for the front-end.
#[derive(Clone, Debug, Default)]
pub struct Tap {
    /// What it wants: 1 records, 2 lines, 3 both, 0 nothing.
    pub channels: u8,
    /// What came, oldest first, until it is taken.
    pub tapped: Vec<Tapped>,
    text: Text,
    /// The record that lines are about.
    id: u8,
}

/// Lines that belong to a channel of text.
struct Channel<'t> {
    id: u8,
    tapped: &'t mut Vec<Tapped>,
}

impl Lines for Channel<'_> {
    fn line(&mut self, class: Class, line: &[u8]) {
        // A front-end learns names from the records themselves.
        let is_named = matches!(self.id, EMPTY | 54 | 60..=64);
        if matches!(class, Class::Ordinary | Class::Error) && !is_named {
            self.tapped.push(Tapped::Text(self.id, line.to_vec()));
        }
    }
}

impl Listener for Tap {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        if self.channels == 0 {
            return;
        }
        let has = |channel: u8| self.channels & channel != 0;
        let (binary, lines) = (has(BINARY), has(TEXT));
        if let Event::Record(record) = event {
            self.id = record.id();
            if self.id != EMPTY && (binary || self.id == TARGET_INFO) {
                self.tapped.push(Tapped::Binary(record.raw.unframed().to_vec()));
            }
        }
        if !lines {
            return;
        }
        let mut channel = Channel { id: self.id, tapped: &mut self.tapped };
        match event {
            Event::Record(record) => self.text.record(record, known, &mut channel),
            Event::Trouble(trouble) => self.text.trouble(&trouble, known, &mut channel),
            Event::Jump(jump) => self.text.jump(&jump, &mut channel),
            _ => {}
        }
    }
}
