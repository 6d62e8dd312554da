//! What was typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};

use super::answer::AnswerArgs;
use super::dap::DapArgs;
use super::diff::DiffArgs;
use super::fleet::FleetArgs;
use super::suspects::SuspectsArgs;
use super::values::ValueArgs;
use super::view::ViewArgs;
use crate::format::{self, FORMATS, FormatRow};
use crate::log;
use crate::model::ReportKind;
use crate::order::Rule;
use crate::qs_args::QsArgs;
use crate::runs::RunsFormat;
use crate::selection::Pattern;
use crate::send::SendArgs;
use crate::source::{self, SOURCES};
use crate::trace_args::TraceArgs;

const AFTER_HELP: &str = "\
On a pipe, `history` prints `N file:line` and nothing else; columns asked for follow,
each behind a tab, in the order time, thread, source. Other QS records appear in their
place as QSPY prints them; marks of xhist itself (a panic, a trigger) appear on a terminal
only. With --last and filters the numbers start from 1 as well.
Losses and notes go to stderr.

SOURCES
A link, and `-` with --follow, is printed as it comes, until Ctrl-C. A lost link is opened again; the loss is reported on
stderr. At a terminal, keys are those of QSPY (h lists them).

Exit codes: 0 complete; 1 something was lost or damaged, the map is of another build, or a line
of a .fmt file is wrong; 2 wrong arguments or unreadable file; 3 no ring, or nothing in it. With
--identify: 0 every build is known, 1 the map of one is missing or damaged, 3 no ring.

Examples:
  xhist-report answer                what failed in the run that failed last
  xhist-report                       the run that failed last
  xhist-report runs                  what is kept, and the names of runs
  ssh target cat ring | xhist-report   what another program gives
  xhist-report --open                the same in the browser: one page, to look at or to attach to a report
  xhist-report dump.bin --last 20    the last 20 statements before the dump
  xhist-report core --source         with the text of each line
  xhist-report --only src/net --not Socket::poll   what these files ran, without a function
  xhist-report --thread 'worker*' --last 9   the last 9 entries of each worker
  xhist-report dump.bin --identify   which build it came from, and how old that is
  xhist-report --expect Lock::take..Lock::give   where a lock was taken again before it was given
  xhist-report --format qspy qs.bin  every record of a QS stream, as QSPY prints it
  xhist-report tcp-listen://0.0.0.0:6601   the history of a target that connects, live
  xhist-report --format traceinfo -c ring.xhist --severity 2..   trace events, printed once
  xhist-report --log logs --rotate 10M --keep 9 tcp://target:6601";

/// The text behind the options, with the forms of sources.
fn after_help() -> String {
    let row =
        |row: &source::SourceRow| format!("  {}\n      {}\n", row.form, row.help.replace('\n', "\n      "));
    let sources: String = SOURCES.iter().map(row).collect();
    AFTER_HELP.replacen("SOURCES\n", &format!("Sources:\n{sources}\n"), 1)
}

/// What has columns of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LanesOf {
    /// Threads.
    Threads,
    /// Async tasks.
    Tasks,
}

/// Print the history of executed statements from a memory dump, a core file or a ring file.
#[derive(Clone, Debug, Parser)]
#[command(version, after_help = after_help(), args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    /// Raw image of memory, ELF core, ring file or QS stream; a run of `xhist-report runs`, by name or directory; `-` is standard
    /// input; a live link (see below). Several are reported
    /// one after another, each line with its source. Without any: what comes on standard input, else the run that failed last
    /// under target/xhist (CARGO_TARGET_DIR and cargo's configuration say where), else the newest run
    #[arg(value_name = "SOURCE", allow_negative_numbers = true)]
    pub(super) sources: Vec<OsString>,

    #[command(subcommand)]
    pub(super) command: Option<Command>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = FORMATS[0].name, value_parser = format_names())]
    pub(super) format: String,

    /// Map of the instrumented build; without it the right one is looked for beside the dump,
    /// in the directories above and under target/xhist
    #[arg(long, value_name = "FILE")]
    pub(super) map: Option<PathBuf>,

    /// Print which build each ring came from, and no entries
    #[arg(long, conflicts_with_all = ["last", "source_text", "time"])]
    pub(super) identify: bool,

    /// Print what fills the rings, by function, and the lines for a manifest that would leave it out
    #[arg(long, conflicts_with_all = ["identify", "last", "source_text", "time", "lanes", "follow", "clear"])]
    pub(super) hot: bool,

    /// Print every entry of the history; on a terminal it is otherwise folded to the end of each thread
    #[arg(long)]
    pub(super) all: bool,

    /// Print text that is longer than the screen without a pager
    #[arg(long)]
    pub(super) no_pager: bool,

    /// Print the async tasks that have not ended: where each is parked, for how long, who awaits it, and its last statements; and where tasks were cancelled
    #[arg(long)]
    pub(super) tasks: bool,

    /// Print where the order of statements is broken, with the history that proves it: sections between `// xhist exclusive TRUE` and
    /// `FALSE` that were entered again before they were left, `// xhist expect A..B`, and locks that were taken in two orders.
    /// The exit code is 1 if any is
    #[arg(long, conflicts_with_all = ["identify", "hot", "last", "source_text", "time", "lanes", "follow", "clear"])]
    pub(super) order: bool,

    /// With --order, which it implies: each statement A is followed by B before the next A. A and B are patterns as for --only: a line,
    /// or the entry of a function
    #[arg(long, value_name = "A..B", value_parser = Rule::expect)]
    pub(super) expect: Vec<Rule>,

    /// The same: these functions or lines are not entered again before they are left
    #[arg(long, value_name = "PATTERN", value_parser = Rule::exclusive)]
    pub(super) exclusive: Vec<Rule>,

    /// The same: rules of a file, one a line, as `expect A..B` or `exclusive PATTERN`
    #[arg(long, value_name = "FILE")]
    pub(super) rules: Vec<PathBuf>,

    /// Print only the last N entries
    #[arg(long, value_name = "N")]
    pub(super) last: Option<u64>,

    /// Print the source text beside each statement, of files below the project of the map
    #[arg(long = "source")]
    pub(super) source_text: bool,

    /// The same, also of files below DIR; files are looked for there, too
    #[arg(long = "source-root", value_name = "DIR", conflicts_with_all = ["identify", "hot", "lanes"])]
    pub(super) source_roots: Vec<PathBuf>,

    /// Print the time of each entry: seconds where the clock rate is known, else ticks
    #[arg(long)]
    pub(super) time: bool,

    /// Print only the entries of this thread, by its name as the column shows it, a glob over names, the number of its ring or its id;
    /// may be given several times. Without a value: print a column with the thread of each entry. A file of that name, or a link, is
    /// the source: write --thread=NAME for a thread then
    #[arg(long = "thread", value_name = "NAME|N", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) threads: Vec<String>,

    /// Print only statements that match; may be given several times. A pattern with `/` or `.rs` is about files (beginning or end of
    /// the path, `*`, `?`, `**`, then :LINE or :FIRST-LAST), one with `::` about functions and all inside them, a word about a crate,
    /// else about a module, type or function
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(super) only: Vec<Pattern>,

    /// Print no statements that match, whatever --only says; may be given several times
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(super) not: Vec<Pattern>,

    /// Print the last N entries of each thread, not of all; implied where --thread has a value
    #[arg(long, requires = "last")]
    pub(super) each: bool,

    /// Give each thread a column of its own, or with --lanes=tasks each async task; `~` marks entries that may have run
    /// elsewhere among another thread's
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "threads",
        conflicts_with_all = ["source_text", "identify"])]
    pub(super) lanes: Option<LanesOf>,

    /// Go on with what a running program records, until it ends or Ctrl-C; with --last N from N entries back
    #[arg(short, long, conflicts_with_all = ["identify", "ring"])]
    pub(super) follow: bool,

    /// Mark what was read in the ring file, shown or not, so that it is not printed again: the only option that writes to it.
    /// What was read from a link is gone from it anyway
    #[arg(short, long, conflicts_with_all = ["identify", "follow"])]
    pub(super) clear: bool,

    /// Report only on this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    pub(super) ring: Option<usize>,

    /// Let front-ends such as QUTest and QView attach at this UDP port (7701); 0: none. On for a link with --format qspy
    #[arg(short = 'u', long = "front-end", value_name = "PORT", num_args = 0..=1)]
    pub(super) front_end: Option<Option<u16>>,

    /// Show the target to front-ends as one of QP 8: QUTest and QView from 8.0 on attach to no other
    #[arg(long)]
    pub(super) qp8: bool,

    /// Do not read keys in a live session at a terminal
    #[arg(short = 'k', long)]
    pub(super) no_keys: bool,

    /// Print the commands that dump the rings of this program: a ring file, gdb and cores; of firmware gdb, probe-rs or OpenOCD
    #[arg(long, value_name = "ELF", conflicts_with = "sources")]
    pub how_to_dump: Option<PathBuf>,

    /// Print the script that gives gdb the command `xhist`: xhist-report --gdb-script > xhist.py; gdb -p PID -batch -x xhist.py
    /// -ex xhist
    #[arg(long, conflicts_with_all = ["sources", "how_to_dump"])]
    pub gdb_script: bool,

    /// Write the report to FILE instead of printing it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["log", "follow"])]
    pub(super) output: Option<PathBuf>,

    /// Show the history in the browser: implies --format html, and a file beside the source if --output names none
    #[arg(long, conflicts_with_all = ["log", "follow"])]
    pub(super) open: bool,

    /// Append the report to files DIR/NAME-000001.log and so on instead of printing it; NAME is that of the source
    #[arg(long, value_name = "DIR")]
    pub(super) log: Option<PathBuf>,

    /// Begin the next file at the end of the line that fills one: 64k, 10M, 1G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = log::size, requires = "log")]
    pub(super) rotate: u64,

    /// Delete the oldest files beyond N; without it all are kept
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "log")]
    pub(super) keep: Option<u32>,

    #[command(flatten)]
    pub(super) values: ValueArgs,

    #[command(flatten)]
    pub(super) trace: TraceArgs,

    #[command(flatten)]
    pub(super) qs: QsArgs,
}

/// What to do instead of a report.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Send a command to a target, and print its answer
    Send(SendArgs),
    /// Compare two histories of one program: where control flow parts first, and what only one of them ran
    Diff(DiffArgs),

    /// Rank the statements of a failed run by how likely each is the mistake
    Suspects(SuspectsArgs),
    /// Print what failed in a run: each failed test and crash with its last statements, folded to a few lines
    Answer(AnswerArgs),

    /// Step through a history in the terminal: source, history, calls and threads
    View(ViewArgs),
    /// Debug adapter on standard input and output: an editor steps through a history
    Dap(DapArgs),

    /// Thousands of dumps as one data set: the same failure together, since which build (needs xhist-fleet)
    Fleet(FleetArgs),

    /// List the runs that `cargo xhist` keeps under target/xhist, the newest last; `xhist-report RUN` reads one of them
    Runs(RunsArgs),
}

/// How the runs are listed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct RunsArgs {
    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = RunsFormat::Table)]
    pub(super) format: RunsFormat,
}

fn format_names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(FORMATS.iter().map(|row| PossibleValue::new(row.name).help(row.help)))
}

impl Args {
    /// What to do instead of a report.
    pub fn command(&self) -> Option<&Command> {
        self.command.as_ref()
    }

    /// The sources named.
    pub fn sources(&self) -> &[OsString] {
        &self.sources
    }

    /// Whether a source is printed as it comes: a link, or standard input with `--follow`.
    pub fn is_live(&self) -> bool {
        let is_live = |text: &OsString| source::is_link(text) || text == "-" && self.follow;
        self.sources.iter().any(is_live)
    }

    /// Whether the order of statements is checked.
    pub(super) fn checks_order(&self) -> bool {
        self.order || !(self.expect.is_empty() && self.exclusive.is_empty() && self.rules.is_empty())
    }

    /// Whether entries have a column with their thread.
    pub(super) fn thread_column(&self) -> bool {
        self.threads.iter().any(String::is_empty)
    }

    /// The threads that are asked for.
    pub(super) fn asked_threads(&self) -> impl Iterator<Item = &str> {
        self.threads.iter().map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The format.
    pub(super) fn format(&self) -> &'static FormatRow {
        let name = if self.open && self.format == FORMATS[0].name { "html" } else { &self.format };
        format::by_name(name).unwrap_or(&FORMATS[0])
    }

    /// Another report than that of the format.
    pub(super) fn report(&self) -> Option<ReportKind> {
        match (self.identify, self.hot, self.tasks) {
            (true, ..) => Some(ReportKind::Builds),
            (_, true, _) => Some(ReportKind::Hotspots),
            (.., true) => Some(ReportKind::Tasks),
            _ if self.checks_order() => Some(ReportKind::Order),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        <Args as CommandFactory>::command().debug_assert();
    }

    #[test]
    fn help_names_every_format_and_source() {
        let help = <Args as CommandFactory>::command().render_long_help().to_string();
        for row in FORMATS {
            assert!(help.contains(row.name) && help.contains(row.help), "{}", row.name);
        }
        // Terminals wrap long lines.
        let words: Vec<&str> = help.split_whitespace().collect();
        for row in SOURCES {
            let text: Vec<&str> = row.form.split_whitespace().chain(row.help.split_whitespace()).collect();
            assert!(words.join(" ").contains(&text.join(" ")), "{text:?}");
        }
    }
}
