//! Notes and losses, and what they mean for the exit code. The caller says where they go.

pub mod typed;

use std::fmt::{Arguments, Display};
use std::io::{self, ErrorKind, Write};

use anstyle::{AnsiColor, Style};

use crate::model::{Gap, visible};

/// Losses that are reported one by one.
const MAX_LOSSES: u64 = 10;
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// How a run ended; the numbers are part of the interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything that was recorded and not yet overwritten was reported.
    #[default]
    Complete = 0,
    /// Something was lost or damaged, or a map does not belong to the dump; stderr says what and where.
    Incomplete = 1,
    /// The arguments are wrong or a file cannot be read.
    Usage = 2,
    /// No ring was found, or no valid frame in any ring.
    NothingFound = 3,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        std::process::ExitCode::from(code as u8)
    }
}

/// Reports to people, and keeps what it means for the exit code.
pub struct Notes<'w> {
    out: &'w mut dyn Write,
    losses: u64,
    exit_code: ExitCode,
}

impl<'w> Notes<'w> {
    /// Notes to `out`, with styles that the caller strips where they do not belong.
    pub fn new(out: &'w mut dyn Write) -> Notes<'w> {
        Notes { out, losses: 0, exit_code: ExitCode::Complete }
    }

    /// A remark; the exit code stays.
    pub fn note(&mut self, text: Arguments<'_>) {
        self.line(Style::new(), "note: ", text);
    }

    /// An error; the caller decides on the exit code.
    pub fn error(&mut self, text: Arguments<'_>) {
        self.line(ERROR, "error: ", text);
    }

    /// A loss or damage.
    pub fn loss(&mut self, text: Arguments<'_>) {
        self.incomplete();
        self.losses += 1;
        if self.losses <= MAX_LOSSES {
            self.line(WARNING, "lost: ", text);
        }
    }

    /// Something is missing in a ring. What it has overwritten is not a loss.
    pub fn missing(&mut self, gap: &Gap, text: Arguments<'_>) {
        match gap.is_loss() {
            true => self.loss(text),
            false => self.note(text),
        }
    }

    /// Lines that other notes wrote while there was no place for them.
    pub fn passed_on(&mut self, lines: &[u8]) {
        let _ = self.out.write_all(lines);
    }

    /// The report is not complete.
    pub fn incomplete(&mut self) {
        self.exit_code = ExitCode::Incomplete;
    }

    /// There was no good frame.
    pub fn no_frame(&mut self) -> ExitCode {
        self.error(format_args!("no valid QS frame was found"));
        self.finish();
        ExitCode::NothingFound
    }

    /// Reports how many records do not fit, and where the first of them is, counted in `what`.
    pub fn misfits(&mut self, Misfits { number, first }: Misfits, what: &str) {
        if number > 0 {
            self.loss(format_args!(
                "records that are not as long as their layout: {number}; the first is {what} {first}; do -T, -O and the others give \
                 the target's sizes, and -v its version?"
            ));
        }
    }

    /// Reports the number of further losses, and returns what all of it means.
    pub fn finish(&mut self) -> ExitCode {
        if self.losses > MAX_LOSSES {
            let more = self.losses - MAX_LOSSES;
            self.losses = 0;
            self.line(WARNING, "lost: ", format_args!("and {more} more places with losses"));
        }
        self.exit_code
    }

    /// The name of a file in the text may hold any character.
    fn line(&mut self, style: Style, kind: &str, text: impl Display) {
        let text = text.to_string();
        let text = visible(&text);
        // There is nowhere to report that stderr cannot be written.
        let _ = writeln!(self.out, "{}{style}{kind}{style:#}{text}", typed::prefix());
    }
}

/// Records that are not as long as their layout.
#[derive(Clone, Copy, Debug, Default)]
pub struct Misfits {
    number: u64,
    first: u64,
}

impl Misfits {
    /// Adds the one at this place.
    pub fn add(&mut self, place: u64) {
        if self.number == 0 {
            self.first = place;
        }
        self.number += 1;
    }
}

/// The exit code of a report that was written so far.
pub fn outcome(written: io::Result<()>, notes: &mut Notes<'_>) -> ExitCode {
    match written {
        Ok(()) => notes.finish(),
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::Complete,
        Err(error) => {
            notes.error(format_args!("cannot write the report: {error}"));
            ExitCode::Incomplete
        }
    }
}
