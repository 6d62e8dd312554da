//! A failed test and the passed test most like it, where only what they ran is known, and not in which order.

use std::io::{self, Write};

use serde::Serialize;

use super::DiffLook;
use crate::suspects::{NearestTest, RanLine};
use xhist_history::ExitCode;
use xhist_history::model::count;
use xhist_history::notes::{Notes, outcome};

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum NearestLine<'a> {
    Diff { schema: u32, tool: &'static str, good: &'a str, bad: &'a str },
    Only { side: &'static str, function: &'a str, file: &'a str, lines: Vec<(u32, u32)>, statements: usize },
    End { same: bool, complete: bool },
}

/// Prints what only one of the two ran. The history of the passed test is gone, which is a loss.
pub fn print_nearest(
    nearest: &NearestTest,
    look: DiffLook,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    notes.loss(format_args!(
        "the history of {} (GOOD) is gone, because its ring was used again: what it ran is known, and not in which order",
        nearest.passed
    ));
    let written = if look.json { write_json(nearest, out) } else { write_text(nearest, out) };
    outcome(written.and_then(|()| out.flush()), notes)
}

fn write_text(nearest: &NearestTest, out: &mut dyn Write) -> io::Result<()> {
    for (side, lines) in [("BAD", &nearest.only_failed), ("GOOD", &nearest.only_passed)] {
        if lines.is_empty() {
            writeln!(out, "only {side} ran: nothing")?;
            continue;
        }
        writeln!(out, "only {side} ran: {}", count(lines.len(), "line"))?;
        for group in by_function(lines) {
            let first = group[0];
            let numbers: Vec<String> = group.iter().map(|line| line.line.to_string()).collect();
            let place = format!("{}:{}", first.file, numbers.join(", "));
            writeln!(out, "  {place:<30} {}", first.function)?;
        }
    }
    Ok(())
}

fn write_json(nearest: &NearestTest, out: &mut dyn Write) -> io::Result<()> {
    let mut line = |line: &NearestLine<'_>| {
        serde_json::to_writer(&mut *out, line)?;
        out.write_all(b"\n")
    };
    let tool = concat!("xhist-report ", env!("CARGO_PKG_VERSION"));
    let schema = crate::format::SCHEMA;
    line(&NearestLine::Diff { schema, tool, good: &nearest.passed, bad: &nearest.failed })?;
    for (side, lines) in [("bad", &nearest.only_failed), ("good", &nearest.only_passed)] {
        for group in by_function(lines) {
            let RanLine { file, function, .. } = group[0];
            let lines = group.iter().map(|line| (line.line, line.line)).collect();
            line(&NearestLine::Only { side, function, file, lines, statements: group.len() })?;
        }
    }
    let same = nearest.only_failed.is_empty() && nearest.only_passed.is_empty();
    line(&NearestLine::End { same, complete: false })
}

/// The lines of each function, in the order of their first ones.
fn by_function(lines: &[RanLine]) -> Vec<Vec<&RanLine>> {
    let mut groups: Vec<Vec<&RanLine>> = Vec::new();
    for line in lines {
        let is_its =
            |group: &&mut Vec<&RanLine>| (&group[0].file, &group[0].function) == (&line.file, &line.function);
        match groups.iter_mut().find(is_its) {
            Some(group) => group.push(line),
            None => groups.push(vec![line]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|line| line.line);
    }
    groups
}
