//! A failed test and the passed test most like it, where only what they ran is known, and not in which order.

use std::io::{self, Write};

use serde::Serialize;

use crate::causes::suspects::{NearestTest, RanLine};
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

/// Why only what the tests ran is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNotAligned {
    /// The history of the passed test is gone.
    Gone,
    /// What is left of the two histories has no point in common.
    Apart,
}

/// Prints what only one of the two ran, because the history of the passed test is gone.
pub fn print_nearest(
    nearest: &NearestTest,
    json: bool,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    outcome(write_nearest(nearest, WhyNotAligned::Gone, json, out, notes), notes)
}

/// Writes what only one of the two ran. That its order is not known is a loss.
pub fn write_nearest(
    nearest: &NearestTest,
    why: WhyNotAligned,
    json: bool,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> io::Result<()> {
    let passed = &nearest.passed;
    match why {
        WhyNotAligned::Gone => notes.loss(format_args!(
            "the history of {passed} (GOOD) is gone, because its ring was used again: what it ran is known, and not in which order"
        )),
        WhyNotAligned::Apart => notes.loss(format_args!(
            "the histories of both have no point in common: what only one of them ran follows, by their spectra"
        )),
    }
    if json { write_json(nearest, out) } else { write_text(nearest, out) }.and_then(|()| out.flush())
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
