//! `history` for programs: `N file:line` and nothing else, as in the Xhist paper.
//! A loop's further rounds are one line without a number: `... lines 40-47 x 1,234,567 in src/main.rs`.
//! Values follow behind two spaces: `N file:line  len = 12`.
//! Columns that were asked for follow, each behind a tab: time, thread, source. In place of a time, `~` marks an entry whose
//! order among threads is not certain.

use std::io::{self, Write};

use super::{Format, push_place, push_trace};
use crate::format::Layout;
use crate::format::entries::{Entry, Subject};
use xhist_history::model::values_line;

/// Writes the listing.
pub struct History {
    layout: Layout,
    line: Vec<u8>,
}

impl History {
    /// With the columns that were asked for.
    pub fn new(layout: Layout) -> History {
        History { layout, line: Vec::new() }
    }

    fn column(&mut self, text: &str) {
        self.line.push(b'\t');
        self.line.extend_from_slice(text.as_bytes());
    }
}

impl Format for History {
    fn marks_order(&self) -> bool {
        self.layout.time
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.line.clear();
        if let Some(number) = entry.own_number() {
            self.line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            self.line.push(b' ');
        }
        let mut source = None;
        match entry.subject {
            Subject::Statement(place, text) => {
                push_place(&mut self.line, &place);
                source = text;
            }
            Subject::Values => {}
            Subject::Again(again) => self.line.extend_from_slice(again.text.as_bytes()),
            Subject::Output(trace, _) | Subject::Trace(_, trace) => push_trace(&mut self.line, trace),
            Subject::Panic(record) | Subject::Signal(_, record) | Subject::Record(record) => {
                self.line.extend_from_slice(record.text.as_bytes());
            }
        }
        if !entry.values.is_empty() {
            self.line.extend_from_slice(b"  ");
            self.line.extend_from_slice(values_line(entry.values).as_bytes());
        }
        if self.layout.time {
            let time = entry.time.map(|time| entry.ring.time_text(time));
            let unknown = if entry.uncertain { "~" } else { "-" };
            self.column(time.as_deref().unwrap_or(unknown));
        }
        if self.layout.thread {
            self.column(&entry.thread());
        }
        if self.layout.source {
            self.column(source.unwrap_or(""));
        }
        if let Some(origin) = &entry.ring.origin {
            self.column(origin);
        }
        self.line.push(b'\n');
        out.write_all(&self.line)
    }
}
