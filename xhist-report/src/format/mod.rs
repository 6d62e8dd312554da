//! How a report looks. Formats stream: opening, entries and gaps, totals. They see the model only:
//! no bytes, no files, no terminal.
//!
//! A new format is a file here and a row of [`FORMATS`].

mod build;
mod history;
mod hot;
mod json;
mod lanes;
mod lcov;
mod qspy;
mod terminal;
mod traceinfo;

use std::io::{self, Write};

use crate::model::{Build, Covered, Entry, Gap, Hot, Opening, Ring, Totals};
use crate::options::Layout;

/// Receives a report, oldest first.
pub trait Format {
    /// Before the first entry. When nobody knows how many there will be, they are told as none.
    fn start(&mut self, opening: &Opening<'_>, out: &mut dyn Write) -> io::Result<()> {
        let _ = (opening, out);
        Ok(())
    }

    /// Whether it marks entries whose order is not certain.
    fn marks_order(&self) -> bool {
        false
    }

    /// A ring that came later, or was given to another thread.
    fn ring(&mut self, ring: &Ring, out: &mut dyn Write) -> io::Result<()> {
        let _ = (ring, out);
        Ok(())
    }

    /// One entry.
    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// A build that rings of this report came from, and those rings.
    fn build(&mut self, build: &Build, rings: &[&Ring], out: &mut dyn Write) -> io::Result<()>;

    /// What ran of a file, for formats that are about that.
    fn covered(&mut self, file: &Covered, out: &mut dyn Write) -> io::Result<()> {
        let _ = (file, out);
        Ok(())
    }

    /// What fills the rings of a build.
    fn hot(&mut self, functions: &[Hot], out: &mut dyn Write) -> io::Result<()> {
        hot::write(functions, out)
    }

    /// Something is missing here.
    fn gap(&mut self, ring: &Ring, gap: &Gap, out: &mut dyn Write) -> io::Result<()> {
        let _ = (ring, gap, out);
        Ok(())
    }

    /// Behind the last entry.
    fn finish(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        let _ = (totals, out);
        Ok(())
    }
}

/// A format that users can ask for.
#[derive(Debug)]
pub struct FormatRow {
    /// Its name after `--format`.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// What it is told.
    pub about: About,
    /// For programs, it writes out statements that ran again, up to so many at a time; more are one line.
    pub writes_out: u64,
    /// It tells fields of records, and not only their lines.
    pub fields: bool,
    /// Of all entries it is told trace events only.
    pub only_traces: bool,
    /// Marks of our own (a panic, a trigger) are entries of it.
    pub shows_marks: fn(Layout) -> bool,
    /// Its first line says how the others are read.
    pub has_opening: bool,
    /// Makes a writer of it.
    pub make: fn(Layout) -> Box<dyn Format>,
}

/// What a format is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// What ran, one after another.
    Entries,
    /// What ever ran, file by file.
    Coverage,
    /// Every record of a QS stream, and every error in it.
    Stream,
}

/// Every format; the first is the default.
pub static FORMATS: &[FormatRow] = &[
    FormatRow {
        name: "history",
        help: "one line an entry, oldest first: number, file:line",
        about: About::Entries,
        writes_out: 10_000,
        fields: false,
        only_traces: false,
        // On a pipe it is the paper's listing and QS records, and nothing else.
        shows_marks: |layout| layout.lanes || layout.terminal,
        has_opening: false,
        make: |layout| match (layout.lanes, layout.terminal) {
            (true, _) => Box::new(lanes::Lanes::new(layout)),
            (_, true) => Box::new(terminal::Terminal::new(layout)),
            (_, false) => Box::new(history::History::new(layout)),
        },
    },
    FormatRow {
        name: "json",
        help: "JSON lines; the first names the schema version",
        about: About::Entries,
        writes_out: 0,
        fields: true,
        only_traces: false,
        shows_marks: |_| true,
        has_opening: true,
        make: |layout| Box::new(json::Json::new(layout)),
    },
    FormatRow {
        name: "traceinfo",
        help: "trace events only, with the time and the severity in words",
        about: About::Entries,
        writes_out: 0,
        fields: false,
        only_traces: true,
        shows_marks: |_| true,
        has_opening: false,
        make: |layout| Box::new(traceinfo::TraceInfo::new(layout)),
    },
    FormatRow {
        name: "qspy",
        help: "every QS record of a stream or a ring as QSPY prints it",
        about: About::Stream,
        writes_out: 0,
        fields: false,
        only_traces: false,
        shows_marks: |_| true,
        has_opening: false,
        make: |_| Box::new(qspy::Qspy),
    },
    FormatRow {
        name: "lcov",
        help: "LCOV tracefile; 1 means that a statement ever ran",
        about: About::Coverage,
        writes_out: 0,
        fields: false,
        only_traces: false,
        shows_marks: |_| true,
        has_opening: false,
        make: |_| Box::new(lcov::Lcov),
    },
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static FormatRow> {
    FORMATS.iter().find(|row| row.name == name)
}

/// Columns for the numbers of this report.
fn number_width(opening: &Opening<'_>) -> usize {
    match opening.entries {
        0 => 6,
        entries => entries.to_string().len(),
    }
}

/// Appends `HW1 uart(0x800123) parity_error(0x05): port 3, status 0x0014`.
fn push_trace(line: &mut Vec<u8>, told: &crate::model::ToldTrace) {
    line.extend_from_slice(told.class.as_bytes());
    line.push(b' ');
    line.extend_from_slice(told.subject.as_bytes());
}

/// Appends `src/main.rs:12`, or `file#3:12` where no map names the file, or `statement 7` of which no map is known at all.
fn push_place(line: &mut Vec<u8>, place: &crate::model::Place<'_>) {
    let mut digits = itoa::Buffer::new();
    match (place.path, place.number()) {
        (Some(path), _) => line.extend_from_slice(path.as_bytes()),
        (None, Some(number)) => {
            line.extend_from_slice(b"statement ");
            line.extend_from_slice(digits.format(number).as_bytes());
            return;
        }
        (None, None) => {
            line.extend_from_slice(b"file#");
            line.extend_from_slice(digits.format(place.file).as_bytes());
        }
    }
    line.push(b':');
    line.extend_from_slice(digits.format(place.line).as_bytes());
}
