//! The command line of `origin`, and the origins in the answer of `cargo xhist why`.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::Args;

use super::budget_args::BudgetArgs;
use super::error::UsageError;
use super::history_args::HistoryArgs;
use super::query::{answer_of_values, read};
use super::report_args::{NameArgs, TextFormat};
use super::values::ValueArgs;
use crate::format::{self, FORMATS, ReportKind};
use crate::options::Options;
use crate::query::origin::{OriginLine, OriginLook, WITH_VALUES, json_lines, print, print_brief, text_lines};
use crate::reports::report;
use xhist_history::notes::typed::{self, quoted, shown_path};
use xhist_history::notes::{Notes, outcome};
use xhist_history::origin::{OriginEnd, ValueOrigin, assertion_sides, origin_of};
use xhist_history::recording::{Recording, SharedRecording, StepId};
use xhist_history::runs::record::RunRecord;
use xhist_history::source;
use xhist_history::{ExitCode, ReadOptions};

const AFTER_HELP: &str = "\
Each line is a statement that passed the value on, the newest first: its number, as
`history` counts entries, place, function and text, and what had the value. `~` in front
of the number: that is known from the text of the statement, and no value is recorded
that shows it.

Exit codes: 0 printed, also where it is not known how far back the value goes; 1 something
was lost or damaged; 2 wrong arguments, or no such variable; 3 no ring, or nothing in it.

Examples:
  xhist-report origin total            a variable where the run that failed last failed
  xhist-report origin self.count@17    a field, behind the statement of entry 17
  xhist-report origin left             a side of the assertion that failed
  xhist-report origin total@17 ring.xhist --ring 2";

/// Where a value comes from: back over assignments, arguments and returned values to where it was made.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct OriginArgs {
    /// A variable or a field of one, behind the statement of entry N; without @N, where the history failed or ends
    #[arg(value_name = "NAME[@N]")]
    name: String,

    /// A ring file, core or image of memory, or a run as `runs` lists them; without it the run that failed last
    #[arg(value_name = "SOURCE", allow_negative_numbers = true)]
    source: Option<OsString>,

    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: TextFormat,

    /// Only this ring of the source, counted from 1; entries are counted in it
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    names: NameArgs,
}

/// Carries out the command.
///
/// # Errors
/// What cannot be opened, or is not a variable.
pub(super) fn run(args: &OriginArgs, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    let (name, number) = asked(&args.name).map_err(UsageError::Origin)?;
    let history = HistoryArgs {
        source: args.source.clone(),
        ring: args.ring,
        names: args.names.clone(),
        ..HistoryArgs::default()
    };
    let valued = history.with_values().filter(|_| number.is_none());
    // Variables of another test are in the run of all tests.
    let found = answer_of_values(valued, notes, |recording, history| {
        let step = recording.opening_step()?;
        let origin = origin_of(recording, name, step).ok().or_else(|| side(recording, name, step))?;
        Some(lines(args, history, recording, &origin))
    });
    if let Some((lines, code)) = found? {
        return Ok(args.print(&lines, code, notes));
    }
    let (shared, _, code) = read(&history, notes)?;
    let recording = shared.lock();
    let Some(opening) = recording.opening_step() else { return Ok(code) };
    let step = match number {
        Some(number) => {
            recording.by_number(number).filter(|step| recording.number(*step) == number).ok_or_else(|| {
                UsageError::Origin(no_entry(number, recording.last().map(|last| recording.number(last))))
            })?
        }
        None => opening,
    };
    let origin = origin_of(&recording, name, step);
    let origin = origin.or_else(|error| side(&recording, name, step).ok_or(UsageError::Origin(error)))?;
    Ok(args.print(&lines(args, &history, &recording, &origin), code, notes))
}

impl OriginArgs {
    /// Prints lines. `code`: that of reading the history.
    fn print(&self, lines: &[OriginLine], code: ExitCode, notes: &mut Notes<'_>) -> ExitCode {
        let mut out = anstream::stdout().lock();
        let is_json = self.format == TextFormat::Json;
        outcome(print(lines, is_json, self.budget.budget(), &mut out), notes).max(code)
    }
}

/// Where a value comes from, in lines.
fn lines(
    args: &OriginArgs,
    history: &HistoryArgs,
    recording: &Recording,
    origin: &ValueOrigin,
) -> Vec<OriginLine> {
    let mut of = String::new();
    if let Some(ring) = args.ring {
        of.push_str(&format!(" --ring {ring}"));
    }
    if let Some(source) = &history.source {
        of.push_str(&format!(" {}", quoted(source)));
    }
    match args.format {
        TextFormat::Json => json_lines(recording, origin),
        TextFormat::Text => text_lines(recording, origin, &look(&of)),
    }
}

/// The origin of `left`, `right` or `condition` of a failed assertion, as `why` names them.
fn side(recording: &Recording, name: &str, step: StepId) -> Option<ValueOrigin> {
    let mut sides = assertion_sides(recording, step).into_iter();
    sides.find(|(side, _)| *side == name).map(|(_, origin)| origin)
}

/// The name and the number of `NAME@N`.
fn asked(text: &str) -> Result<(&str, Option<u64>), String> {
    let Some((name, number)) = text.rsplit_once('@') else { return Ok((text, None)) };
    match number.parse() {
        Ok(number) if number > 0 => Ok((name, Some(number))),
        _ => Err(format!(
            "`{number}` in `{text}` is not the number of an entry; {} prints them",
            typed::command("history")
        )),
    }
}

fn no_entry(number: u64, last: Option<u64>) -> String {
    let last = last.unwrap_or_default();
    format!(
        "there is no entry {number}: the history ends with {last}; {} prints them",
        typed::command("history")
    )
}

fn look(of: &str) -> OriginLook<'_> {
    OriginLook {
        command: Box::new(move |asked| typed::command(format!("origin {}{of}", quoted(asked)))),
        with_values: WITH_VALUES,
    }
}

/// The origins of the two sides of the assertion that failed in the first failed test of a run, with styles.
pub(super) fn of_failed_test(run: &Path, values: &ValueArgs) -> Vec<u8> {
    let mut out = Vec::new();
    let Ok(record) = RunRecord::read(run) else { return out };
    let place = record.failed_tests().next().and_then(|test| Some((test.file.clone()?, test.ring?)));
    let Some((file, ring)) = place else { return out };
    let Ok(opened) = source::open(file.as_os_str()) else { return out };
    let shared = SharedRecording::default();
    let read = ReadOptions { rings: vec![ring], ..values.of_source(&opened, None) };
    let options = Options {
        format: format::by_name("html").unwrap_or(&FORMATS[0]),
        report: Some(ReportKind::Recording),
        recording: Some(shared.clone()),
        ..Options::from(read)
    };
    // The answer has reported what is lost.
    let mut nowhere = io::sink();
    report(&opened.image, &options, &mut io::sink(), &mut Notes::new(&mut nowhere));
    let recording = shared.lock();
    let Some(step) = recording.opening_step() else { return out };
    let of = format!(" --ring {ring} {}", shown_path(&file));
    for (side, origin) in assertion_sides(&recording, step) {
        // Nothing is behind a value that the assertion itself has.
        let is_there = matches!(&origin.end, OriginEnd::Made(_, of) if of.is_empty());
        if !origin.hops.is_empty() || !is_there {
            let _ = print_brief(&recording, (side, &origin), &look(&of), &mut out);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_entry_is_behind_the_name() {
        assert_eq!(asked("self.a"), Ok(("self.a", None)));
        assert_eq!(asked("a@17"), Ok(("a", Some(17))));
        assert!(asked("a@x").is_err() && asked("a@0").is_err() && asked("a@").is_err());
    }
}
