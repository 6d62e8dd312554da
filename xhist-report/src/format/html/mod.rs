//! `page`: one page to step through the history, with everything that it needs.

mod columns;
mod tables;

use std::io::{self, Write};

use super::Format;
use columns::BlockWriter;
use xhist_history::recording::Recording;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// The script of the page: each file knows those before it.
const SCRIPT: &[&str] = &[
    include_str!("page/blocks.js"),
    include_str!("page/recording.js"),
    include_str!("page/cursor.js"),
    include_str!("page/dom.js"),
    include_str!("page/list.js"),
    include_str!("page/rust.js"),
    include_str!("page/source.js"),
    include_str!("page/history.js"),
    include_str!("page/calls.js"),
    include_str!("page/side.js"),
    include_str!("page/lanes.js"),
    include_str!("page/search.js"),
    include_str!("page/app.js"),
];

/// The page.
pub struct Html;

impl Format for Html {
    fn recording(&mut self, recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
        let (before, rest) = PAGE.split_once("STYLE").unwrap_or((PAGE, ""));
        let (body, rest) = rest.split_once("DATA").unwrap_or((rest, ""));
        let (between, after) = rest.split_once("SCRIPT").unwrap_or((rest, ""));
        write!(out, "{before}{STYLE}{body}")?;
        tables::write(recording, &mut BlockWriter::new(out))?;
        write!(out, "{between}")?;
        SCRIPT.iter().try_for_each(|part| out.write_all(part.as_bytes()))?;
        write!(out, "{after}")
    }
}
