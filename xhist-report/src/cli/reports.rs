//! The commands that print a report: the options of each, and what they mean.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::args::{Args, LanesOf};
use super::budget_args::BudgetArgs;
use super::qspy_links::QspyLinkArgs;
use super::report_args::{InputArgs, LinkArgs, NameArgs, PickArgs, StatementArgs, TextFormat};
use super::trace_args::TraceArgs;
use crate::causes::order::Rule;
use crate::format::ReportKind;
use crate::qspy::QsArgs;

/// Print the history of executed statements, oldest first.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct HistoryCommand {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    budget: BudgetArgs,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: TextFormat,

    /// Every entry; a terminal otherwise shows the end of each thread, folded
    #[arg(long)]
    all: bool,

    /// The last N entries
    #[arg(long, value_name = "N")]
    last: Option<u64>,

    /// The last N entries of each thread; implied by --thread NAME
    #[arg(long, requires = "last", hide_short_help = true)]
    each: bool,

    /// With the source text of each statement
    #[arg(long = "source", conflicts_with = "lanes")]
    source_text: bool,

    /// With the time of each entry: seconds, or ticks of a clock without a rate
    #[arg(long)]
    time: bool,

    /// Only this thread: name, glob, number or id; no value: with a column
    ///
    /// May be given several times. A file of that name, or a link, is the source: write --thread=NAME for a thread then.
    #[arg(long = "thread", value_name = "NAME|N", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    threads: Vec<String>,

    /// With a column for each thread, or with --lanes=tasks each async task
    ///
    /// `~` marks entries that may have run elsewhere among another thread's.
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "threads",
        hide_possible_values = true)]
    lanes: Option<LanesOf>,

    /// Only this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    #[command(flatten)]
    statements: StatementArgs,

    /// Go on with what a running program records, until it ends
    #[arg(short, long, conflicts_with = "ring")]
    follow: bool,

    /// Mark what was read in the ring file, so that it is not printed again
    ///
    /// The only option that writes to it. What was read from a link is gone from it anyway.
    #[arg(short, long, conflicts_with = "follow", hide_short_help = true)]
    clear: bool,

    #[command(flatten)]
    names: NameArgs,

    /// Read names of QS objects from this dictionary file
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    dictionaries: Option<String>,

    #[command(flatten)]
    links: LinkArgs,

    #[command(flatten)]
    trace: TraceArgs,

    /// Print the commands that dump the rings of this program
    ///
    /// A ring file, gdb and cores; of firmware gdb, probe-rs or OpenOCD.
    #[arg(
        long,
        value_name = "ELF",
        conflicts_with = "sources",
        help_heading = "Instead of a report",
        hide_short_help = true
    )]
    pub(super) how_to_dump: Option<PathBuf>,

    /// Print a script that gives gdb the command `xhist`
    ///
    /// xhist-report --gdb-script > xhist.py; gdb -p PID -batch -x xhist.py -ex xhist
    #[arg(long, conflicts_with_all = ["sources", "how_to_dump"], help_heading = "Instead of a report", hide_short_help = true)]
    pub(super) gdb_script: bool,
}

/// A report on the threads of a source: calls, tasks, hotspots.
#[derive(Clone, Debug, ClapArgs)]
pub struct ThreadsReport {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    budget: BudgetArgs,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: TextFormat,

    #[command(flatten)]
    pick: PickArgs,

    #[command(flatten)]
    names: NameArgs,
}

/// Rules of order, and what they are checked on.
#[derive(Clone, Debug, ClapArgs)]
pub struct OrderCommand {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    budget: BudgetArgs,

    /// Each statement A is followed by B before the next A
    ///
    /// A and B are patterns as for --only: a line, or the entry of a function.
    #[arg(long, value_name = "A..B", value_parser = Rule::expect)]
    expect: Vec<Rule>,

    /// These functions or lines are not entered again before they are left
    #[arg(long, value_name = "PATTERN", value_parser = Rule::exclusive)]
    exclusive: Vec<Rule>,

    /// Rules of a file, one a line: `expect A..B` or `exclusive PATTERN`
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: TextFormat,

    /// Only this thread: its name, a glob, the number of its ring or its id
    #[arg(long = "thread", value_name = "NAME|N", conflicts_with = "ring")]
    threads: Vec<String>,

    /// Only this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    #[command(flatten)]
    names: NameArgs,
}

/// Where builds are looked for.
#[derive(Clone, Debug, ClapArgs)]
pub struct BuildsCommand {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    budget: BudgetArgs,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: TextFormat,

    /// Only this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    /// Map of the build, where the right one is not found
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
}

/// Print the statements that were ever executed, as an lcov tracefile.
#[derive(Clone, Debug, ClapArgs)]
pub struct CoverageCommand {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    statements: StatementArgs,

    /// Map of the build, where the right one is not found
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// Write it to FILE
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Print every record of a QS stream or ring, as QSPY prints it, with QSPY's letters.
#[derive(Clone, Debug, ClapArgs)]
pub struct QspyCommand {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    budget: BudgetArgs,

    /// Only this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    /// Show standard input (`-`) as it comes; a link needs no option
    #[arg(short, long)]
    follow: bool,

    #[command(flatten)]
    qs: QsArgs,

    #[command(flatten)]
    links: LinkArgs,

    #[command(flatten)]
    _letters: QspyLinkArgs,
}

/// Print trace events, as traceinfo of QNX does.
#[derive(Clone, Debug, ClapArgs)]
pub struct TraceinfoCommand {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    trace: TraceArgs,

    /// The last N events
    #[arg(long, value_name = "N")]
    last: Option<u64>,

    /// The last N events of each thread; implied by --thread
    #[arg(long, requires = "last")]
    each: bool,

    /// With dates (UTC) instead of the program's clock, where they are known
    #[arg(long)]
    dates: bool,

    /// Only this thread: name, glob, number or id; no value: with a column
    #[arg(long = "thread", value_name = "NAME|N", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    threads: Vec<String>,

    /// Only this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    /// Go on with what a running program records, until it ends
    #[arg(short, long, conflicts_with = "ring")]
    follow: bool,

    /// Mark what was read in the ring file, so that it is not printed again
    #[arg(short, long, conflicts_with = "follow")]
    clear: bool,

    /// Map of the build, where the right one is not found
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    #[command(flatten)]
    links: LinkArgs,
}

/// What a document for another program holds.
#[derive(Clone, Debug, ClapArgs)]
pub struct DocumentArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Write it to FILE
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The last N entries
    #[arg(long, value_name = "N")]
    last: Option<u64>,

    /// The last N entries of each thread; implied by --thread
    #[arg(long, requires = "last")]
    each: bool,

    #[command(flatten)]
    pick: PickArgs,

    #[command(flatten)]
    names: NameArgs,
}

/// Make one HTML page to step through the history in a browser, for a bug report.
#[derive(Clone, Debug, ClapArgs)]
pub struct PageCommand {
    /// Show it in the browser; without --output as a file beside the source
    #[arg(long)]
    open: bool,

    #[command(flatten)]
    document: DocumentArgs,
}

/// Write the history for another program.
#[derive(Clone, Debug, ClapArgs)]
pub struct ExportCommand {
    #[command(subcommand)]
    to: ExportTo,
}

/// The programs.
#[derive(Clone, Debug, Subcommand)]
enum ExportTo {
    /// A trace for ui.perfetto.dev: threads, tasks, calls, events, counters
    Perfetto(DocumentArgs),
    /// A line for each call with its stack and its statements, for flame graphs
    Folded(DocumentArgs),
    /// A folder for the CodeTracer viewer; --output names it
    Codetracer(DocumentArgs),
}

/// A command that prints a report.
pub trait ReportCommand {
    /// What the report takes.
    fn args(&self) -> Args;
}

impl DocumentArgs {
    fn args(&self, format: &'static str) -> Args {
        let DocumentArgs { input, output, last, each, pick, names } = self;
        let args = names.add_to(pick.add_to(input.args(format, None)));
        Args { output: output.clone(), last: *last, each: *each, ..args }
    }
}

impl ReportCommand for HistoryCommand {
    fn args(&self) -> Args {
        let args = self.input.args(self.format.name("history", "json"), None);
        let args = self.links.add_to(self.names.add_to(self.statements.add_to(args)));
        Args {
            all: self.all,
            last: self.last,
            each: self.each,
            source_text: self.source_text,
            time: self.time,
            threads: self.threads.clone(),
            lanes: self.lanes,
            ring: self.ring,
            follow: self.follow,
            clear: self.clear,
            trace: self.trace.clone(),
            qs: QsArgs::with_names(self.dictionaries.clone()),
            budget: self.budget,
            ..args
        }
    }
}

impl ThreadsReport {
    /// The calls that statements imply.
    pub fn calls(&self) -> Args {
        self.args(self.format.name("calls", "calls-json"), None)
    }

    /// The async tasks.
    pub fn tasks(&self) -> Args {
        self.args(self.format.name("history", "json"), Some(ReportKind::Tasks))
    }

    /// The functions that fill the rings.
    pub fn hot(&self) -> Args {
        self.args(self.format.name("history", "json"), Some(ReportKind::Hotspots))
    }

    fn args(&self, format: &'static str, report: Option<ReportKind>) -> Args {
        let args = self.names.add_to(self.pick.add_to(self.input.args(format, report)));
        Args { budget: self.budget, ..args }
    }
}

impl ReportCommand for OrderCommand {
    fn args(&self) -> Args {
        let args = self.input.args(self.format.name("history", "json"), Some(ReportKind::Order));
        Args {
            expect: self.expect.clone(),
            exclusive: self.exclusive.clone(),
            rules: self.rules.clone(),
            threads: self.threads.clone(),
            ring: self.ring,
            budget: self.budget,
            ..self.names.add_to(args)
        }
    }
}

impl ReportCommand for BuildsCommand {
    fn args(&self) -> Args {
        let args = self.input.args(self.format.name("history", "json"), Some(ReportKind::Builds));
        Args { map: self.map.clone(), ring: self.ring, budget: self.budget, ..args }
    }
}

impl ReportCommand for CoverageCommand {
    fn args(&self) -> Args {
        let args = self.statements.add_to(self.input.args("lcov", None));
        Args { map: self.map.clone(), output: self.output.clone(), ..args }
    }
}

impl ReportCommand for QspyCommand {
    fn args(&self) -> Args {
        let args = self.links.add_to(self.input.args("qspy", None));
        Args { ring: self.ring, follow: self.follow, qs: self.qs.clone(), budget: self.budget, ..args }
    }
}

impl ReportCommand for TraceinfoCommand {
    fn args(&self) -> Args {
        Args {
            trace: self.trace.clone(),
            last: self.last,
            each: self.each,
            threads: self.threads.clone(),
            ring: self.ring,
            follow: self.follow,
            dates: self.dates,
            clear: self.clear,
            map: self.map.clone(),
            budget: self.budget,
            ..self.links.add_to(self.input.args("traceinfo", None))
        }
    }
}

impl ReportCommand for PageCommand {
    fn args(&self) -> Args {
        Args { open: self.open, ..self.document.args("html") }
    }
}

impl ReportCommand for ExportCommand {
    fn args(&self) -> Args {
        match &self.to {
            ExportTo::Perfetto(document) => document.args("perfetto"),
            ExportTo::Folded(document) => document.args("folded"),
            ExportTo::Codetracer(document) => document.args("codetracer"),
        }
    }
}
