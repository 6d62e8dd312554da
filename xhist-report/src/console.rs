//! Everything that goes to stderr: notes, losses, progress. It must not know what is reported.

use std::fmt::{Arguments, Display};
use std::io::Write;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};

use crate::exit_code::ExitCode;
use crate::model::visible;

/// So many losses are told one by one.
const MAX_LOSSES: u64 = 10;
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// Tells people what is worth knowing, and keeps what it means for the exit code.
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

    /// Something worth knowing that changes nothing.
    pub fn note(&mut self, text: Arguments<'_>) {
        self.line(Style::new(), "note: ", text);
    }

    /// Something that is wrong.
    pub fn error(&mut self, text: Arguments<'_>) {
        self.line(ERROR, "error: ", text);
    }

    /// Something was lost or damaged.
    pub fn loss(&mut self, text: Arguments<'_>) {
        self.incomplete();
        self.losses += 1;
        if self.losses <= MAX_LOSSES {
            self.line(WARNING, "lost: ", text);
        }
    }

    /// The report is not complete.
    pub fn incomplete(&mut self) {
        self.exit_code = ExitCode::Incomplete;
    }

    /// No good frame came.
    pub fn no_frame(&mut self) -> ExitCode {
        self.error(format_args!("no valid QS frame was found"));
        self.finish();
        ExitCode::NothingFound
    }

    /// Says how many records do not fit, and where the first of them is, counted in `what`.
    pub fn misfits(&mut self, Misfits { number, first }: Misfits, what: &str) {
        if number > 0 {
            self.loss(format_args!(
                "records that are not as long as their layout: {number}; the first is {what} {first}; do -T, -O and the others give \
                 the target's sizes, and -v its version?"
            ));
        }
    }

    /// Says how many losses were not told, and what all of it means.
    pub fn finish(&mut self) -> ExitCode {
        if self.losses > MAX_LOSSES {
            let more = self.losses - MAX_LOSSES;
            self.losses = 0;
            self.line(WARNING, "lost: ", format_args!("and {more} more places with losses"));
        }
        self.exit_code
    }

    /// A name of a file in it may hold anything.
    fn line(&mut self, style: Style, kind: &str, text: impl Display) {
        let text = text.to_string();
        let text = visible(&text);
        // There is nowhere to tell that stderr cannot be written.
        let _ = writeln!(self.out, "xhist-report: {style}{kind}{style:#}{text}");
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

/// A progress bar on stderr, which appears only when the work takes long and stderr is a terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    len: u64,
    wanted: bool,
}

impl Progress {
    /// Progress over `len` bytes.
    pub fn new(len: usize, wanted: bool) -> Progress {
        Progress { bar: None, started: Instant::now(), len: len as u64, wanted }
    }

    /// So many bytes are done.
    pub fn at(&mut self, done: usize) {
        if self.wanted && self.started.elapsed() > Duration::from_secs(1) {
            self.bar.get_or_insert_with(|| scan_bar(self.len)).set_position(done as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn scan_bar(len: u64) -> ProgressBar {
    let bar = ProgressBar::new(len);
    if let Ok(style) = ProgressStyle::with_template("looking for rings {wide_bar} {bytes}/{total_bytes}") {
        bar.set_style(style);
    }
    bar
}
