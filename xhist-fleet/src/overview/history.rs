//! The history of one dump as a page: that of `xhist-report page` where the dump is, else its newest statements.

use std::path::{Path, PathBuf};

use xhist_history::notes::Notes;
use xhist_history::recording::SharedRecording;
use xhist_history::{EntryChoice, ExitCode, MapPlaces, ReadOptions, page, read_recording, source};

use super::collect::GroupFacts;
use super::page::{HEAD, escape};
use crate::engine::Engine;
use crate::error::FleetError;
use crate::table::Rows;

/// Statements that the page lists.
const STATEMENTS: usize = 2000;

/// The page of a group's example.
pub fn page(engine: &Engine, group: &GroupFacts, maps: &[PathBuf]) -> Result<String, FleetError> {
    match whole(&group.source, maps) {
        Some(page) => Ok(page),
        None => listed(engine, group),
    }
}

/// The page of the dump itself; `None` if it is gone or has no history.
fn whole(source: &str, maps: &[PathBuf]) -> Option<String> {
    let path = Path::new(source);
    if !path.is_file() {
        return None;
    }
    let opened = source::open(path.as_os_str()).ok()?;
    let options = ReadOptions {
        maps: MapPlaces { dirs: maps.to_vec(), dump_dir: opened.dir.clone(), ..MapPlaces::default() },
        data: opened.data.clone(),
        written: opened.written,
        origin: Some(source.to_owned()),
        entries: EntryChoice::RECORDING,
        ..ReadOptions::default()
    };
    let (recording, mut nowhere) = (SharedRecording::default(), std::io::sink());
    let code = read_recording(&opened.image, &options, &recording, &mut Notes::new(&mut nowhere));
    if !matches!(code, ExitCode::Complete | ExitCode::Incomplete) {
        return None;
    }
    let mut page = Vec::new();
    page::write(&recording.lock(), &mut page).ok()?;
    String::from_utf8(page).ok()
}

/// The newest statements in the data set.
fn listed(engine: &Engine, group: &GroupFacts) -> Result<String, FleetError> {
    let rows = Rows::of(
        engine,
        &format!(
            "SELECT position, thread, file, line, function, repetition FROM statements WHERE ring = '{}' \
             ORDER BY position DESC LIMIT {STATEMENTS}",
            group.example
        ),
    )?;
    let mut page = format!("{HEAD}<title>{0}</title><h1>{0}</h1>", escape(&group.title));
    page.push_str(&format!(
        "<p>The newest statements of {}, the newest last.</p><table><tr><th>#<th>thread<th>statement<th>function<th>times",
        escape(&group.source)
    ));
    for row in (0..rows.len()).rev() {
        page.push_str(&format!(
            "<tr><td class=n>{}<td>{}<td>{}:{}<td>{}<td class=n>{}",
            rows.int(row, 0),
            escape(&rows.text(row, 1)),
            escape(&rows.text(row, 2)),
            rows.int(row, 3),
            escape(&rows.text(row, 4)),
            rows.int(row, 5)
        ));
    }
    page.push_str("</table>");
    Ok(page)
}
