//! Progress on stderr, if that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::options::Added;

/// Shows how far `add` is.
pub struct AddProgress(ProgressBar);

impl AddProgress {
    /// Shown only if it is wanted.
    pub fn new(is_wanted: bool) -> AddProgress {
        let bar = ProgressBar::no_length();
        if !is_wanted {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{spinner} {pos} dumps, {per_sec}, {elapsed}{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        AddProgress(bar)
    }

    /// Shows what was added so far.
    pub fn show(&self, added: &Added) {
        self.0.set_position(added.histories + added.damaged + added.known + added.unreadable);
        if added.damaged + added.unreadable > 0 {
            self.0.set_message(format!(", {} damaged, {} unreadable", added.damaged, added.unreadable));
        }
    }

    /// Writes other lines to stderr.
    pub fn suspend(&self, write: impl FnOnce()) {
        self.0.suspend(write);
    }

    /// Ends it.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
