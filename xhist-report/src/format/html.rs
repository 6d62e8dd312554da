//! `page`: one page to step through the history.

use std::io::{self, Write};

use super::Format;
use xhist_history::page;
use xhist_history::recording::Recording;

/// The page.
pub struct Html;

impl Format for Html {
    fn recording(&mut self, recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
        page::write(recording, out)
    }
}
