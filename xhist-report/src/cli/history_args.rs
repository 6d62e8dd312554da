//! The history that a view shows: which source, which part of it, and where its sources and maps are.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::error::UsageError;
use super::evidence;
use super::open;
use super::report_args::NameArgs;
use super::scan_progress;
use crate::format;
use crate::format::ReportKind;
use crate::options::Options;
use crate::query::AskedHistory;
use xhist_history::ReadOptions;
use xhist_history::notes::Notes;
use xhist_history::notes::typed;
use xhist_history::options::selection::{Pattern, Selection, ThreadPattern};
use xhist_history::recording::SharedRecording;
use xhist_history::runs;
use xhist_history::runs::record::RunRecord;
use xhist_history::source::Opened;

/// What a view shows.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct HistoryArgs {
    /// A ring file, core or image of memory, or a run as `runs` lists them; without it the run that failed last
    #[arg(value_name = "SOURCE")]
    pub(super) source: Option<OsString>,

    /// Only this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    pub(super) ring: Option<usize>,

    /// Only this thread, by its name, the number of its ring or its id; may be given several times
    #[arg(long = "thread", value_name = "NAME|N")]
    pub(super) threads: Vec<String>,

    /// Only statements that match, as for a report
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(super) only: Vec<Pattern>,

    /// No statements that match
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(super) not: Vec<Pattern>,

    /// Only the last N entries
    #[arg(long, value_name = "N")]
    pub(super) last: Option<u64>,

    /// Go on with what a running program records
    #[arg(short, long, conflicts_with = "ring")]
    pub(super) follow: bool,

    #[command(flatten)]
    pub(super) names: NameArgs,
}

impl HistoryArgs {
    /// What was asked for, for the next command: it has the same entries with the same numbers.
    pub(super) fn asked(&self) -> AskedHistory {
        let path = |path: &PathBuf| path.display().to_string();
        let NameArgs { map, source_roots, values } = &self.names;
        let mut options = Vec::new();
        options.extend(self.threads.iter().map(|thread| ("thread", thread.clone())));
        options.extend(self.ring.map(|ring| ("ring", ring.to_string())));
        options.extend(self.only.iter().map(|pattern| ("only", pattern.text().to_owned())));
        options.extend(self.not.iter().map(|pattern| ("not", pattern.text().to_owned())));
        options.extend(self.last.map(|last| ("last", last.to_string())));
        options.extend(map.iter().map(|map| ("map", path(map))));
        options.extend(source_roots.iter().map(|root| ("source-root", path(root))));
        options.extend(values.program.iter().map(|program| ("program", path(program))));
        options.extend(values.redact.iter().map(|pattern| ("redact", pattern.text().to_owned())));
        let source = self.source.as_deref().map(|source| source.to_string_lossy().into_owned());
        AskedHistory { source, options }
    }

    /// The same of the run with values that `why` left, if there is one and no source is named. What is asked must mean the same
    /// there: that run has other entries and rings, and one test.
    pub(super) fn with_values(&self) -> Option<HistoryArgs> {
        let is_whole = self.ring.is_none() && self.threads.is_empty() && self.last.is_none();
        if !is_whole || self.source.is_some() || self.follow {
            return None;
        }
        let source = runs::valued(&std::env::current_dir().ok()?)?;
        Some(HistoryArgs { source: Some(source.into()), ..self.clone() })
    }

    /// Names the run that [`HistoryArgs::with_values`] chose.
    pub(super) fn note_values(notes: &mut Notes<'_>) {
        let (why, runs) = (typed::command("why"), typed::command("runs"));
        notes.note(format_args!(
            "`{why}` left this run, with the values of one test; `{runs}` lists the others"
        ));
    }

    /// Opens the source, with what other commands find out about its run. The options say that its history becomes `recording`.
    ///
    /// # Errors
    /// What is wrong and what to do.
    pub(super) fn open(
        &self,
        recording: &SharedRecording,
        notes: &mut Notes<'_>,
    ) -> Result<(Opened, Options), UsageError> {
        let (opened, mut options) = self.open_alone(recording, notes)?;
        options.evidence = evidence::find(&opened, &options.read, &self.names.values, notes);
        Ok((opened, options))
    }

    /// The same without them.
    ///
    /// # Errors
    /// What is wrong and what to do.
    pub(super) fn open_alone(
        &self,
        recording: &SharedRecording,
        notes: &mut Notes<'_>,
    ) -> Result<(Opened, Options), UsageError> {
        let (opened, choice) = open::open_history(self.source.as_ref(), self.follow)?;
        choice.iter().for_each(|note| notes.note(format_args!("{note}")));
        opened.losses.iter().for_each(|loss| notes.loss(format_args!("{loss}")));
        recording.lock().failed_tests = failed_tests(&opened);
        let read = ReadOptions {
            last: self.last,
            selection: Selection {
                only: self.only.clone(),
                not: self.not.clone(),
                threads: self.threads.iter().map(|name| ThreadPattern::new(name)).collect(),
            },
            rings: self.ring.into_iter().collect(),
            follow: opened.path.clone().filter(|_| self.follow),
            progress: scan_progress::wanted(),
            source_roots: self.names.source_roots.clone(),
            ..self.names.values.of_source(&opened, self.names.map.as_deref())
        };
        let options = Options {
            format: format::by_name("html").unwrap_or(&format::FORMATS[0]),
            report: Some(ReportKind::Recording),
            recording: Some(recording.clone()),
            ..Options::from(read)
        };
        Ok((opened, options))
    }
}

/// The rings of failed tests in a ring file, as its run names them.
fn failed_tests(opened: &Opened) -> Vec<usize> {
    let Some(path) = &opened.path else { return Vec::new() };
    let Ok(record) = RunRecord::of(path) else { return Vec::new() };
    let is_here = |file: &PathBuf| file.file_name() == path.file_name();
    let here = record.failed_tests().filter(|test| test.file.as_ref().is_some_and(is_here));
    here.filter_map(|test| test.ring).collect()
}
