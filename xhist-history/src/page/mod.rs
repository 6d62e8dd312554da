//! A recording as one page to step through in a browser, with everything that it needs.

mod columns;
mod origins;
mod tables;

use std::io::{self, Write};

use crate::recording::Recording;
use columns::BlockWriter;

const PAGE: &str = include_str!("web/page.html");
const STYLE: &str = include_str!("web/style.css");
/// The script of the page: each file knows those before it.
const SCRIPT: &[&str] = &[
    include_str!("web/blocks.js"),
    include_str!("web/recording.js"),
    include_str!("web/cursor.js"),
    include_str!("web/dom.js"),
    include_str!("web/list.js"),
    include_str!("web/rust.js"),
    include_str!("web/source.js"),
    include_str!("web/history.js"),
    include_str!("web/calls.js"),
    include_str!("web/side.js"),
    include_str!("web/whole.js"),
    include_str!("web/lanes.js"),
    include_str!("web/search.js"),
    include_str!("web/app.js"),
];

/// Writes the page of a recording.
///
/// # Errors
/// Those of the output.
pub fn write(recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
    let (before, rest) = PAGE.split_once("STYLE").unwrap_or((PAGE, ""));
    let (body, rest) = rest.split_once("DATA").unwrap_or((rest, ""));
    let (between, after) = rest.split_once("SCRIPT").unwrap_or((rest, ""));
    write!(out, "{before}{STYLE}{body}")?;
    tables::write(recording, &mut BlockWriter::new(out))?;
    write!(out, "{between}")?;
    SCRIPT.iter().try_for_each(|part| out.write_all(part.as_bytes()))?;
    write!(out, "{after}")
}
