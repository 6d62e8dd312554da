//! A progress bar on stderr while a large source is searched for rings.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use xhist_history::StartProgress;

/// Shows progress, if stderr is a terminal.
pub(super) fn wanted() -> Option<StartProgress> {
    std::io::stderr().is_terminal().then_some(start)
}

/// A bar over this number of bytes to count those that are done. It appears only when the work takes long.
fn start(len: usize) -> Box<dyn FnMut(usize)> {
    let mut progress = ScanProgress { bar: None, started: Instant::now(), len: len as u64 };
    Box::new(move |done| progress.at(done))
}

struct ScanProgress {
    bar: Option<ProgressBar>,
    started: Instant,
    len: u64,
}

impl ScanProgress {
    /// This number of bytes is done.
    fn at(&mut self, done: usize) {
        if self.started.elapsed() > Duration::from_secs(1) {
            self.bar.get_or_insert_with(|| scan_bar(self.len)).set_position(done as u64);
        }
    }
}

impl Drop for ScanProgress {
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
