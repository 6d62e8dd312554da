//! What a report takes, and what of it was given.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

use super::budget_args::BudgetArgs;
use super::trace_args::TraceArgs;
use super::values::ValueArgs;
use crate::causes::order::Rule;
use crate::format::ReportKind;
use crate::format::{self, FORMATS, FormatRow};
use crate::live::link;
use crate::qspy::QsArgs;
use xhist_history::options::selection::Pattern;

/// What has columns of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LanesOf {
    /// Threads.
    Threads,
    /// Async tasks.
    Tasks,
}

/// What a report takes. Each command of [`super::reports`] sets what it has.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// Files, runs and links.
    pub(super) sources: Vec<OsString>,
    /// A row of [`FORMATS`].
    pub(super) format: &'static str,
    /// Another report than that of the format.
    pub(super) report: Option<ReportKind>,
    pub(super) map: Option<PathBuf>,
    pub(super) all: bool,
    pub(super) no_pager: bool,
    pub(super) expect: Vec<Rule>,
    pub(super) exclusive: Vec<Rule>,
    pub(super) rules: Vec<PathBuf>,
    pub(super) last: Option<u64>,
    pub(super) source_text: bool,
    pub(super) source_roots: Vec<PathBuf>,
    pub(super) time: bool,
    /// An empty name: a column with the thread of each entry.
    pub(super) threads: Vec<String>,
    pub(super) only: Vec<Pattern>,
    pub(super) not: Vec<Pattern>,
    pub(super) each: bool,
    pub(super) lanes: Option<LanesOf>,
    pub(super) follow: bool,
    pub(super) clear: bool,
    pub(super) dates: bool,
    pub(super) ring: Option<usize>,
    pub(super) front_end: Option<Option<u16>>,
    pub(super) qp8: bool,
    pub(super) no_keys: bool,
    pub(super) output: Option<PathBuf>,
    pub(super) open: bool,
    pub(super) budget: BudgetArgs,
    pub(super) values: ValueArgs,
    pub(super) trace: TraceArgs,
    pub(super) qs: QsArgs,
}

impl Args {
    /// The sources named.
    pub fn sources(&self) -> &[OsString] {
        &self.sources
    }

    /// Whether a source is printed as it comes: a link, or standard input with `--follow`.
    pub fn is_live(&self) -> bool {
        let is_live = |text: &OsString| link::is_link(text) || text == "-" && self.follow;
        self.sources.iter().any(is_live)
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
        format::by_name(self.format).unwrap_or(&FORMATS[0])
    }

    /// Another report than that of the format.
    pub(super) fn report(&self) -> Option<ReportKind> {
        self.report
    }
}
