//! `runs`: the runs that are kept, as a table or as JSON lines.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use xhist_history::model::time_text;
use xhist_history::notes::Notes;
use xhist_history::runs::{ListedRun, NoRingFile, RunList, list, names};

use crate::format::{SCHEMA, TOOL};

/// How the list looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RunsFormat {
    /// A line for each run
    Table,
    /// JSON lines
    Json,
}

/// Prints the runs of the project at `dir`.
///
/// # Errors
/// The project has no `target/xhist`, or the output cannot be written.
pub fn print(
    dir: &Path,
    format: RunsFormat,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> Result<io::Result<()>, NoRingFile> {
    let RunList { home, runs } = list(dir)?;
    if runs.is_empty() {
        notes.note(format_args!("no run is kept in {}", home.display()));
    }
    Ok(match format {
        RunsFormat::Table => table(&runs, out),
        RunsFormat::Json => json(&runs, out),
    })
}

/// Columns for how runs ended. Behind a longer text, the command has a line of its own.
const HOW_WIDTH: usize = 40;

/// `12 KiB`, `3.4 MiB`.
fn size_text(bytes: u64) -> String {
    let tenths = |shift: u32| format!("{}.{}", bytes >> shift, ((bytes & ((1 << shift) - 1)) * 10) >> shift);
    match bytes.checked_ilog2().unwrap_or(0) {
        0..10 => format!("{bytes} B"),
        10..20 => format!("{} KiB", bytes >> 10),
        20..30 => format!("{} MiB", tenths(20)),
        _ => format!("{} GiB", tenths(30)),
    }
}

fn table(runs: &[(ListedRun, SystemTime)], out: &mut dyn Write) -> io::Result<()> {
    const HEAD: [&str; 6] = ["RUN", "WHEN", "SIZE", "RINGS", "HOW IT ENDED", "COMMAND"];
    let row = |(run, when): &(ListedRun, SystemTime)| {
        let started =
            run.started_ms.and_then(|ms| SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms)));
        let command = run.command.clone().filter(|command| !command.is_empty());
        [
            run.run.clone(),
            time_text(started.unwrap_or(*when)).unwrap_or_else(|| "-".to_owned()),
            size_text(run.bytes),
            run.rings.map_or_else(|| "?".to_owned(), |rings| rings.to_string()),
            run.how.clone(),
            command.unwrap_or_else(|| names(&run.programs)),
        ]
    };
    if runs.is_empty() {
        return Ok(());
    }
    let rows: Vec<[String; 6]> =
        std::iter::once(HEAD.map(str::to_owned)).chain(runs.iter().map(row)).collect();
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default())
        .collect();
    for row in rows {
        let [run, when, size, rings, how, command] = row;
        let (run_width, when_width, size_width) = (widths[0], widths[1], widths[2]);
        let (rings_width, how_width) = (widths[3], widths[4].min(HOW_WIDTH));
        let start =
            format!("{run:run_width$}  {when:when_width$}  {size:>size_width$}  {rings:>rings_width$}  ");
        if how.chars().count() > how_width && !command.is_empty() {
            writeln!(out, "{start}{how}\n{:1$}{command}", "", start.chars().count() + how_width + 2)?;
        } else {
            writeln!(out, "{}", format!("{start}{how:how_width$}  {command}").trim_end())?;
        }
    }
    out.flush()
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ListLine<'l> {
    Run(&'l ListedRun),
    End { entries: usize, complete: bool },
}

fn json(runs: &[(ListedRun, SystemTime)], out: &mut dyn Write) -> io::Result<()> {
    let entries = runs.len();
    writeln!(out, r#"{{"schema":{SCHEMA},"kind":"report","tool":"{TOOL}","entries":{entries}}}"#)?;
    let lines = runs.iter().map(|(run, _)| ListLine::Run(run));
    for line in lines.chain([ListLine::End { entries, complete: true }]) {
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (4096, "4 KiB"),
            (1 << 20, "1.0 MiB"),
            (0x28_0000, "2.5 MiB"),
            (3 << 30, "3.0 GiB"),
        ] {
            assert_eq!(size_text(bytes), text);
        }
    }
}
