//! Options that several reports have.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::args::Args;
use super::values::ValueArgs;
use crate::format::ReportKind;
use xhist_history::options::selection::Pattern;

/// What is read.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct InputArgs {
    /// Ring file, core, image of memory, QS stream, run (`last`, `prev`), link, or `-`
    ///
    /// A run is named by `last`, `prev`, `-2`, its name or its directory; `-` is standard input. Several are reported one after another, each line with its source. Without any: what comes on standard input, else the
    /// run that failed last under target/xhist (CARGO_TARGET_DIR and cargo's configuration say where), else the newest run.
    #[arg(value_name = "SOURCE", allow_negative_numbers = true)]
    sources: Vec<OsString>,

    /// Print long text without a pager
    #[arg(long, hide_short_help = true)]
    no_pager: bool,
}

/// What gives numbers their names.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct NameArgs {
    /// Map of the build, where the right one is not found
    ///
    /// Without it the right one is looked for beside the dump, in the directories above and under target/xhist.
    #[arg(long, value_name = "FILE")]
    pub(super) map: Option<PathBuf>,

    /// Look for source files below DIR, too; may be given several times
    #[arg(long = "source-root", value_name = "DIR", hide_short_help = true)]
    pub(super) source_roots: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) values: ValueArgs,
}

/// Which part of it is reported.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct PickArgs {
    /// Only this thread: its name, a glob, the number of its ring or its id
    #[arg(long = "thread", value_name = "NAME|N", conflicts_with = "ring")]
    threads: Vec<String>,

    /// Only this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    #[command(flatten)]
    statements: StatementArgs,
}

/// Which statements are reported.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct StatementArgs {
    /// Only statements that match: a file, lines, a function, a crate
    ///
    /// May be given several times. A pattern with `/` or `.rs` is about files (beginning or end of the path, `*`, `?`, `**`,
    /// then :LINE or :FIRST-LAST), one with `::` about functions and all inside them, a word about a crate, else about a module,
    /// type or function.
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    only: Vec<Pattern>,

    /// No statements that match, whatever --only says
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    not: Vec<Pattern>,
}

/// Live links.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Live links")]
pub struct LinkArgs {
    /// Let QUTest, QView and the like attach at this UDP port (7701); 0: none
    ///
    /// On for a link with `qspy`.
    #[arg(short = 'u', long = "front-end", value_name = "PORT", num_args = 0..=1, hide_short_help = true)]
    front_end: Option<Option<u16>>,

    /// Show the target to front-ends as one of QP 8
    ///
    /// QUTest and QView from 8.0 on attach to no other.
    #[arg(long, hide_short_help = true)]
    qp8: bool,

    /// Read no keys in a live session at a terminal
    #[arg(short = 'k', long, hide_short_help = true)]
    no_keys: bool,
}

/// Text for people, or JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// Lines for people
    #[default]
    #[value(alias = "history")]
    Text,
    /// JSON lines; the first names the schema version
    Json,
}

impl TextFormat {
    /// The row of the format, by the name of that of text.
    pub fn name(self, text: &'static str, json: &'static str) -> &'static str {
        match self {
            TextFormat::Text => text,
            TextFormat::Json => json,
        }
    }
}

impl InputArgs {
    /// A report on it.
    pub fn args(&self, format: &'static str, report: Option<ReportKind>) -> Args {
        Args { sources: self.sources.clone(), no_pager: self.no_pager, format, report, ..Args::default() }
    }
}

impl NameArgs {
    /// The same, with these.
    pub fn add_to(&self, args: Args) -> Args {
        let NameArgs { map, source_roots, values } = self.clone();
        Args { map, source_roots, values, ..args }
    }
}

impl StatementArgs {
    /// The same, with these.
    pub fn add_to(&self, args: Args) -> Args {
        let StatementArgs { only, not } = self.clone();
        Args { only, not, ..args }
    }
}

impl PickArgs {
    /// The same, with these.
    pub fn add_to(&self, args: Args) -> Args {
        self.statements.add_to(Args { threads: self.threads.clone(), ring: self.ring, ..args })
    }
}

impl LinkArgs {
    /// The same, with these.
    pub fn add_to(&self, args: Args) -> Args {
        let LinkArgs { front_end, qp8, no_keys } = *self;
        Args { front_end, qp8, no_keys, ..args }
    }
}
