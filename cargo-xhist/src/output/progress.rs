//! Shows the steps before cargo runs: all of them on a terminal, only long ones elsewhere, one line each. The long ones
//! are printed even for `-q`: many seconds of silence look like a program that hangs.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// See the module.
pub(crate) struct Progress {
    spinner: ProgressBar,
    is_quiet: bool,
}

impl Progress {
    /// `is_quiet`: the user does not want such lines.
    pub(crate) fn new(is_quiet: bool) -> Progress {
        let spinner = if is_quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            spinner.set_style(style);
        }
        spinner.enable_steady_tick(Duration::from_millis(100));
        Progress { spinner, is_quiet }
    }

    /// Shows a short step.
    pub(crate) fn step(&self, message: String) {
        self.spinner.set_message(message);
    }

    /// Prints a line that stays.
    pub(crate) fn say(&self, message: &str) {
        if !self.is_quiet {
            self.spinner.suspend(|| eprintln!("xhist: {message}"));
        }
    }

    /// Shows a step that takes seconds or more, which happens on a first run.
    pub(crate) fn long_step(&self, message: &str) {
        self.spinner.suspend(|| eprintln!("xhist: {message} ..."));
        self.spinner.reset_elapsed();
        self.spinner.set_message(message.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.spinner.finish_and_clear();
    }
}
