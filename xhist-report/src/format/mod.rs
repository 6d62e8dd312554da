//! How a report looks. Formats stream: opening, entries and gaps, totals.
//!
//! A new format is a file here and a row of [`FORMATS`] in `table.rs`.

mod budgeted;
mod build;
mod calls;
mod codetracer;
pub(crate) mod entries;
mod finding;
mod folded;
mod history;
mod hotspots;
mod html;
mod json;
mod lanes;
mod lcov;
mod link;
mod perfetto;
mod qspy;
mod table;
mod task_columns;
mod tasks;
mod terminal;
mod traceinfo;

use std::io::{self, Write};

use anstyle::Style;

pub use budgeted::Budgeted;
use entries::{CallRow, Entry, FileCoverage, Finding, Hotspot, Totals};
pub use json::{SCHEMA, TOOL};
pub use link::Links;
pub use table::{Document, FORMATS, FormatRow, ReportKind, by_name};
use xhist_history::model::{Build, Gap, Opening, Ring, TaskSummary};
use xhist_history::recording::Recording;

/// What is shown beside each entry, and for whom.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// For a person at a terminal: colour, headings, aligned columns. Otherwise for a program.
    pub terminal: bool,
    /// Show the time of each entry.
    pub time: bool,
    /// Show times as dates where they are known.
    pub dates: bool,
    /// Show the thread of each entry.
    pub thread: bool,
    /// Show the source line of each statement.
    pub source: bool,
    /// A column for each thread.
    pub lanes: bool,
    /// Places are links to their files.
    pub links: Links,
    /// Then a column for each async task instead.
    pub tasks: bool,
}

/// Makes a file of this name in the folder of a report.
pub type NewFile<'f> = &'f mut dyn FnMut(&str) -> io::Result<Box<dyn Write>>;

/// Receives a report, oldest first.
pub trait Format {
    /// Before the first entry. If the number of entries is not known, it is 0.
    fn start(&mut self, opening: &Opening<'_>, out: &mut dyn Write) -> io::Result<()> {
        let _ = (opening, out);
        Ok(())
    }

    /// Whether it marks entries of uncertain order.
    fn marks_order(&self) -> bool {
        false
    }

    /// A ring that came later, or that belongs to another thread now.
    fn ring(&mut self, ring: &Ring, out: &mut dyn Write) -> io::Result<()> {
        let _ = (ring, out);
        Ok(())
    }

    /// One entry.
    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        let _ = (entry, out);
        Ok(())
    }

    /// A build that rings of this report came from, and those rings.
    fn build(&mut self, build: &Build, rings: &[&Ring], out: &mut dyn Write) -> io::Result<()> {
        build::write(build, rings, Style::new(), out)
    }

    /// What was executed of a file.
    fn covered(&mut self, file: &FileCoverage, out: &mut dyn Write) -> io::Result<()> {
        let _ = (file, out);
        Ok(())
    }

    /// What fills the rings of a build.
    fn hotspots(&mut self, functions: &[Hotspot], out: &mut dyn Write) -> io::Result<()> {
        hotspots::write(functions, out)
    }

    /// The async tasks that have not ended, and those that were cancelled.
    fn tasks(&mut self, tasks: &TaskSummary, out: &mut dyn Write) -> io::Result<()> {
        tasks::write(tasks, Style::new(), Style::new(), out)
    }

    /// An async task that was cancelled, and its function.
    fn cancelled(&mut self, task: (u32, &str), out: &mut dyn Write) -> io::Result<()> {
        let _ = (task, out);
        Ok(())
    }

    /// A broken rule of order.
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        finding::write(finding, out)
    }

    /// A row of a call tree.
    fn call(&mut self, row: &CallRow<'_>, out: &mut dyn Write) -> io::Result<()> {
        let _ = (row, out);
        Ok(())
    }

    /// The whole history at once.
    fn recording(&mut self, recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
        let _ = (recording, out);
        Ok(())
    }

    /// The same, as files of a folder.
    fn folder(&mut self, recording: &Recording, new_file: NewFile<'_>) -> io::Result<()> {
        let _ = (recording, new_file);
        Ok(())
    }

    /// Something is missing here.
    fn gap(&mut self, ring: &Ring, gap: &Gap, out: &mut dyn Write) -> io::Result<()> {
        let _ = (ring, gap, out);
        Ok(())
    }

    /// After the last entry.
    fn finish(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        let _ = (totals, out);
        Ok(())
    }
}

/// Columns for the numbers of this report.
fn number_width(opening: &Opening<'_>) -> usize {
    match opening.entries {
        0 => 6,
        entries => entries.to_string().len(),
    }
}

/// Appends `HW1 uart(0x800123) parity_error(0x05): port 3, status 0x0014`.
fn push_trace(line: &mut Vec<u8>, trace: &xhist_history::model::DescribedTrace) {
    line.extend_from_slice(trace.class.as_bytes());
    line.push(b' ');
    line.extend_from_slice(trace.subject.as_bytes());
}

/// Appends `src/main.rs:12`, or `file#3:12` if no map names the file, or `statement 7` if there is no map at all.
fn push_place(line: &mut Vec<u8>, place: &xhist_history::model::Place<'_>) {
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
