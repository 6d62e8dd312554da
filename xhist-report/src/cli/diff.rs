//! The command line of `diff`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};

use super::budget_args::BudgetArgs;
use super::error::UsageError;
use super::histories::{self, NamedHistory};
use super::report_args::NameArgs;
use super::scan_progress;
use super::values::ValueArgs;
use crate::budget::Weight;
use crate::causes::diff::{self, DiffLook, Input, Side, ThreadChoice};
use crate::causes::suspects::{NearestError, NearestTest, nearest_passed};
use xhist_history::ExitCode;
use xhist_history::notes::{Notes, outcome};
use xhist_history::runs::HistoryPlace;
use xhist_history::{MapPlaces, ReadOptions};

fn after_help() -> String {
    format!(
        "\
Histories:
{}

The histories are aligned by calls and loops, so a loop that ran more often is no difference; an
iteration that goes another way is one. Threads are paired by name.

Exit codes: 0 compared, whether they differ or not; 1 they cannot be compared (another build or
program, no map), or one of them lost something, such as its beginning; 2 wrong arguments or
unreadable file; 3 no ring, or nothing in it.

Examples:
  xhist-report diff good.xhist bad.xhist
  xhist-report diff 1795405255906-18059 1795405263032-18823
  xhist-report diff RUN::parses_empty RUN::parses_list   two tests of one run
  xhist-report diff RUN::parses_list   a failed test, with the passed test most like it
  xhist-report diff ring.xhist#1 ring.xhist#2            two threads of one program",
        histories::FORMS
    )
}

/// Compare two histories of one program: where control flow parts first, and what only one of them ran.
#[derive(Clone, Debug, Args)]
#[command(after_help = after_help())]
pub struct DiffArgs {
    /// The history to compare with. Alone: a failed test RUN::NAME, which is compared with the passed test most like it
    #[arg(value_name = "GOOD", allow_negative_numbers = true)]
    good: OsString,

    /// The history in question
    #[arg(value_name = "BAD", allow_negative_numbers = true)]
    bad: Option<OsString>,

    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: DiffFormat,

    /// Also print how often statements ran, where that differs
    #[arg(long)]
    counts: bool,

    /// Print long lists whole
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    names: NameArgs,
}

/// How an answer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
}

impl DiffArgs {
    /// A failed test of a run, beside the passed test most like it.
    pub(super) fn of_test(run: &Path, test: &str, options: &ReadOptions, values: &ValueArgs) -> DiffArgs {
        let mut good = run.as_os_str().to_owned();
        good.push("::");
        good.push(test);
        DiffArgs {
            good,
            bad: None,
            format: DiffFormat::Text,
            counts: false,
            all: false,
            budget: BudgetArgs::default(),
            names: NameArgs {
                map: options.maps.given.clone(),
                source_roots: options.source_roots.clone(),
                values: values.clone(),
            },
        }
    }

    /// Two histories, for a program.
    pub(super) fn as_json(good: &OsStr, bad: &OsStr) -> DiffArgs {
        DiffArgs {
            good: good.to_owned(),
            bad: Some(bad.to_owned()),
            format: DiffFormat::Json,
            counts: false,
            all: false,
            budget: BudgetArgs::default(),
            names: NameArgs { map: None, source_roots: Vec::new(), values: ValueArgs::default() },
        }
    }

    /// Carries out the command.
    ///
    /// # Errors
    /// What cannot be opened.
    pub(super) fn run(&self, out: &mut dyn Write, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
        // The first parting comes first.
        let print = |out: &mut dyn Write| self.print(out, notes);
        let is_json = self.format == DiffFormat::Json;
        let (code, written) = self.budget.lines(is_json, Weight::earlier, out, print);
        Ok(outcome(written, notes).max(code?))
    }

    fn print(&self, out: &mut dyn Write, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
        let Some(bad) = &self.bad else { return self.run_nearest(out, notes) };
        if self.good == "-" && bad == "-" {
            let why = "is standard input, which can be only one of the two";
            return Err(UsageError::Source { name: "-".to_owned(), why });
        }
        self.run_two((&self.good, bad), None, out, notes)
    }

    /// Compares two histories, or those of a failed test and the passed one most like it.
    fn run_two(
        &self,
        (good, bad): (&OsString, &OsString),
        nearest: Option<&NearestTest>,
        out: &mut dyn Write,
        notes: &mut Notes<'_>,
    ) -> Result<ExitCode, UsageError> {
        let opened = (self.open(good, Side::Good, notes)?, self.open(bad, Side::Bad, notes)?);
        let options = (self.options(&opened.0, Side::Good), self.options(&opened.1, Side::Bad));
        let good = input(Side::Good, good, &opened.0, &options.0);
        let bad = input(Side::Bad, bad, &opened.1, &options.1);
        Ok(match nearest {
            Some(nearest) => diff::run_nearest(nearest, (&good, &bad), self.look(), out, notes),
            None => diff::run(&good, &bad, self.look(), out, notes),
        })
    }

    /// Compares a failed test with the passed test most like it.
    fn run_nearest(&self, out: &mut dyn Write, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
        let (Some(HistoryPlace::Run(directory)), ThreadChoice::Named(test)) = histories::find(&self.good)?
        else {
            let why = "is not a failed test of a run, RUN::NAME, so a second history is needed";
            return Err(UsageError::Source { name: self.good.display().to_string(), why });
        };
        let work_dir = Some(Path::new(".").to_owned());
        let maps = MapPlaces {
            given: self.names.map.clone(),
            dump_dir: Some(directory.clone()),
            work_dir,
            ..MapPlaces::default()
        };
        let options = ReadOptions { maps, ..ReadOptions::default() };
        let name = |test: &str| {
            let mut name = directory.clone().into_os_string();
            name.push("::");
            name.push(test);
            name
        };
        let has_history = |test: &str| histories::open(&name(test)).is_ok();
        let nearest = match nearest_passed(&directory, &options, &test, &has_history, notes) {
            Ok(nearest) => nearest,
            Err(error @ NearestError::NoTest(..)) => return Err(UsageError::Nearest(error)),
            Err(error) => {
                notes.error(format_args!("{error}"));
                return Ok(ExitCode::Incomplete);
            }
        };
        notes.note(format_args!("GOOD is {}, the passed test most like {}", nearest.passed, nearest.failed));
        let good = name(&nearest.passed);
        match has_history(&nearest.passed) {
            true => self.run_two((&good, &name(&nearest.failed)), Some(&nearest), out, notes),
            false => Ok(diff::print_nearest(&nearest, self.look().json, out, notes)),
        }
    }

    fn look(&self) -> DiffLook {
        DiffLook { json: self.format == DiffFormat::Json, counts: self.counts, all: self.all }
    }

    fn open(&self, text: &OsString, side: Side, notes: &mut Notes<'_>) -> Result<NamedHistory, UsageError> {
        let history = histories::open(text)?;
        history.note.iter().for_each(|note| notes.note(format_args!("{}: {note}", side.name())));
        history.opened.losses.iter().for_each(|loss| notes.loss(format_args!("{}: {loss}", side.name())));
        Ok(history)
    }

    fn options(&self, history: &NamedHistory, side: Side) -> ReadOptions {
        let NamedHistory { opened, .. } = history;
        ReadOptions {
            progress: scan_progress::wanted(),
            origin: Some(side.name().to_owned()),
            source_roots: self.names.source_roots.clone(),
            ..self.names.values.of_source(opened, self.names.map.as_deref())
        }
    }
}

fn input<'i>(side: Side, text: &OsString, history: &'i NamedHistory, options: &'i ReadOptions) -> Input<'i> {
    let label = xhist_history::model::visible(&text.to_string_lossy()).into_owned();
    Input { side, label, image: &history.opened.image, options, threads: history.threads.clone() }
}
