//! What the arguments mean for a source.

use std::io::IsTerminal;
use std::path::Path;

use super::args::{Args, LanesOf};
use super::error::UsageError;
use super::scan_progress;
use crate::causes::order::Rule;
use crate::format::ReportKind;
use crate::format::{FORMATS, Layout, Links};
use crate::options::Options;
use crate::qspy::QsOptions;
use xhist_history::ReadOptions;
use xhist_history::options::selection::{Selection, ThreadPattern};
use xhist_history::options::trace::{self, TraceOptions};
use xhist_history::source::Opened;

/// Lines of a thread in a folded history.
const FOLDED_LINES: usize = 80;

impl Args {
    /// What the arguments mean for this source.
    ///
    /// # Errors
    /// What does not go together.
    pub fn options(&self, opened: Option<&Opened>) -> Result<Options, UsageError> {
        let format = self.format();
        let trace = self.trace_options(opened)?;
        self.check_options()?;
        let layout = self.layout();
        let qs = self.qs_options(&layout, opened)?;
        let path = opened.and_then(|opened| opened.path.clone());
        let read = ReadOptions {
            last: self.last,
            each: self.each || self.asked_threads().next().is_some(),
            selection: Selection {
                only: self.only.clone(),
                not: self.not.clone(),
                threads: self.asked_threads().map(ThreadPattern::new).collect(),
            },
            rings: self.ring.into_iter().collect(),
            follow: path.clone().filter(|_| self.follow),
            clear: path.filter(|_| self.clear),
            progress: scan_progress::wanted(),
            trace,
            source_roots: self.source_roots.clone(),
            ..self.values.of_source(opened, self.map.as_deref())
        };
        Ok(Options {
            format,
            layout,
            report: if self.is_folded() { Some(ReportKind::Answer) } else { self.report() },
            lines: self.lines(),
            keeps_records: true,
            folder: self.output_folder(),
            rules: self.rules()?,
            qs,
            budget: self.budget.budget().map(|budget| budget.shared_by(self.sources.len())),
            ..Options::from(read)
        })
    }

    /// Whether the report is printed on a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        std::io::stdout().is_terminal() && self.output.is_none() && !self.open
    }

    /// Whether the history is folded to the end of each thread: on a terminal, unless an option is about its entries.
    fn is_folded(&self) -> bool {
        let columns = self.time || self.source_text || !self.threads.is_empty();
        let about_entries =
            self.all || self.last.is_some() || columns || !self.only.is_empty() || !self.not.is_empty();
        let others = self.budget.is_given()
            || self.lanes.is_some()
            || self.follow
            || self.clear
            || self.trace.given().is_some();
        let is_history = self.format().name == FORMATS[0].name && self.report().is_none();
        self.is_terminal() && is_history && !about_entries && !others && !self.is_live()
    }

    fn lines(&self) -> usize {
        if self.is_folded() { FOLDED_LINES } else { Options::default().lines }
    }

    fn links(&self) -> Links {
        match self.is_terminal() {
            true => Links::of_terminal(&|name| std::env::var(name).ok()),
            false => Links::default(),
        }
    }

    /// The rules of order.
    fn rules(&self) -> Result<Vec<Rule>, UsageError> {
        let mut rules = [&self.expect[..], &self.exclusive[..]].concat();
        for path in &self.rules {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| UsageError::ReadRules(path.clone(), error))?;
            let wrong = |(line, error)| UsageError::Rule(path.clone(), line, error);
            rules.extend(Rule::parse_all(&text).map_err(wrong)?);
        }
        Ok(rules)
    }

    fn layout(&self) -> Layout {
        Layout {
            terminal: self.is_terminal(),
            time: self.time,
            dates: self.dates,
            thread: self.thread_column(),
            source: self.source_text || !self.source_roots.is_empty(),
            lanes: self.lanes.is_some(),
            tasks: self.lanes == Some(LanesOf::Tasks),
            links: self.links(),
        }
    }

    /// Loads the formats of trace events, if the report shows those.
    fn trace_options(&self, opened: Option<&Opened>) -> Result<TraceOptions, UsageError> {
        if self.shows_traces() {
            let dump_dir = opened.and_then(|opened| opened.dir.as_deref());
            return Ok(trace::load(&self.trace.places(dump_dir), &self.trace.wanted())?);
        }
        match self.trace.given() {
            Some(option) => {
                let why = "is about trace events, which this report does not show as such";
                Err(UsageError::Conflict { option, why })
            }
            None => Ok(TraceOptions::default()),
        }
    }

    /// How QS records are read and printed. No side file may be a file that is read.
    fn qs_options(&self, layout: &Layout, opened: Option<&Opened>) -> Result<QsOptions, UsageError> {
        let colours = layout.terminal && anstream::stdout().current_choice() != anstream::ColorChoice::Never;
        let mut qs = self.qs.options(layout.terminal, colours)?;
        if self.format().report != ReportKind::Qspy {
            qs.read_names()?;
        }
        let found = opened.and_then(|opened| opened.path.as_deref());
        let mut read = self.sources.iter().map(Path::new).chain(found).chain(qs.dictionary());
        match read.find(|source| qs.side_files().any(|path| is_same(path, source))) {
            Some(source) => Err(UsageError::Overwritten(source.to_owned())),
            None => Ok(qs),
        }
    }
}

/// Whether both are the same file, and one whose bytes would be lost.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| std::fs::canonicalize(path).ok();
    one.is_file() && found(one) == found(other)
}
