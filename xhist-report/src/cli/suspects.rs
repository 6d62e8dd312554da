//! The command line of `suspects`.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::budget_args::BudgetArgs;
use super::error::UsageError;
use super::pager::Pager;
use super::report_args::NameArgs;
use crate::budget::Weight;
use crate::causes::suspects::{self, SuspectFormat, SuspectOptions};
use xhist_history::ExitCode;
use xhist_history::notes::{Notes, outcome};
use xhist_history::runs::record::run_directory;
use xhist_history::runs::{self, HistoryPlace};

const AFTER_HELP: &str = "\
A run is a directory below target/xhist/runs, as `cargo xhist test` leaves it. `cargo xhist test` records for
each test which statements it ran.

Exit codes: 0 complete; 1 something was lost, or there is nothing to rank; 2 wrong arguments.

Examples:
  xhist-report suspects                          of the run that failed last
  xhist-report suspects --format sarif > suspects.sarif
  xhist-report suspects prev";

/// Rank the statements of a failed run by how likely each is the mistake.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct SuspectsArgs {
    /// A run (`last`, `prev`, `-2`, a name or a directory), or a ring file in one; without it the run that
    /// failed last
    #[arg(value_name = "RUN", allow_negative_numbers = true)]
    run: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: FormatName,

    /// Print at most N suspects
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Print a few lines, the first suspect last, and nothing if there is nothing to rank, as `cargo xhist test` does
    #[arg(long, conflicts_with = "format")]
    brief: bool,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    names: NameArgs,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum FormatName {
    /// `RANK. file:line (score) function`, with the source text; lines that always run together have one rank
    #[default]
    Text,
    /// One JSON document with all evidence
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// Prints the suspects.
pub(super) fn run(args: &SuspectsArgs, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    if args.budget.is_given() && matches!(args.format, FormatName::Sarif) {
        let why = "does not go with SARIF, whose readers need all results; --limit N prints fewer suspects";
        return Err(UsageError::Conflict { option: "--budget", why });
    }
    let here = std::env::current_dir().map_err(UsageError::WorkDir)?;
    let run = match &args.run {
        Some(run) => runs::find(&here, run)?.map_or_else(|| run.clone(), HistoryPlace::into_path),
        None => {
            let chosen = runs::choose(&here, false)?;
            chosen.notes.iter().take(1).for_each(|note| notes.note(format_args!("{note}")));
            chosen.path
        }
    };
    if !run.exists() {
        return Err(UsageError::NoRun(run));
    }
    let options = SuspectOptions {
        directory: run_directory(&run),
        format: match args.format {
            FormatName::Text => SuspectFormat::Text,
            FormatName::Json => SuspectFormat::Json,
            FormatName::Sarif => SuspectFormat::Sarif,
        },
        limit: args.limit as usize,
        offers_values: false,
        test: None,
        brief: args.brief,
        map: args.names.map.clone(),
        source_roots: args.names.source_roots.clone(),
        program: args.names.values.program.clone(),
        redact: args.names.values.redact.clone(),
        budget: args.budget.budget(),
    };
    let is_paged = io::stdout().is_terminal() && options.format == SuspectFormat::Text && !options.brief;
    let mut pager = Pager::new(is_paged);
    // JSON is one document, which knows the budget itself.
    let lines = if options.format == SuspectFormat::Json { BudgetArgs::default() } else { args.budget };
    let print = |out: &mut dyn Write| suspects::print(&options, out, notes);
    let (code, written) = lines.lines(false, Weight::earlier, &mut pager, print);
    let code = outcome(written, notes).max(code);
    Ok(if pager.finish().is_ok() { code } else { code.max(ExitCode::Incomplete) })
}
