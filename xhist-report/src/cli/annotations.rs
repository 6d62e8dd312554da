//! `xhist-report answer --format github`: reads the failures of a run for annotations.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::UsageError;
use super::open::LastOpened;
use super::values::ValueArgs;
use crate::causes::suspects;
use crate::format;
use crate::format::ReportKind;
use crate::options::Options;
use crate::reports::github::{AnnotatedFailure, GitHubPlaces, RANKS, RunFailures};
use crate::reports::report;
use xhist_history::ExitCode;
use xhist_history::model::visible;
use xhist_history::notes::typed;
use xhist_history::notes::typed::shown_path;
use xhist_history::notes::{Notes, outcome};
use xhist_history::recording::SharedRecording;
use xhist_history::runs;
use xhist_history::runs::record::{CrashRecord, RunRecord, UNDESCRIBED};
use xhist_history::source;
use xhist_history::{MapPlaces, ReadOptions};

/// Failures whose histories are read.
const MOST: usize = 50;

/// Prints annotations of the run in this directory.
///
/// # Errors
/// The directory has no description of a run, or a history cannot be read.
pub(super) fn run(
    directory: &Path,
    values: &ValueArgs,
    notes: &mut Notes<'_>,
) -> Result<ExitCode, UsageError> {
    let described = RunRecord::read(directory).ok().or_else(|| by_rings(directory, notes));
    let Some(record) = described else {
        let name = visible(&directory.display().to_string()).into_owned();
        return Err(UsageError::Source {
            name,
            why: "has no run.json, which `cargo xhist` writes at the end of a run, and no ring file",
        });
    };
    let mut reader =
        FailureReader { values, code: ExitCode::Complete, opened: LastOpened::default(), root: None };
    let mut failures = Vec::new();
    let causes = match record.failed_tests().next() {
        Some(_) => suspects::failing_rings(directory),
        None => HashMap::new(),
    };
    for (index, test) in record.failed_tests().enumerate() {
        let how = visible(test.how.as_deref().unwrap_or("failed")).into_owned();
        let failure =
            AnnotatedFailure { name: visible(&test.name).into_owned(), how, ..AnnotatedFailure::default() };
        let file = test.file.as_deref().filter(|_| index < MOST);
        let cause = causes.get(&test.name).filter(|(path, _)| Some(path) == test.file.as_ref());
        let ring = test.ring.map(|ring| cause.map_or(ring, |(_, cause)| *cause));
        failures.push(reader.read(failure, file, ring)?);
    }
    for (index, crash) in record.crashes.iter().enumerate() {
        let name = format!("{}{}", visible(&crash.program), crash.process());
        let failure =
            AnnotatedFailure { name, how: visible(&crash.how).into_owned(), ..AnnotatedFailure::default() };
        let file = Some(crash.file.as_path()).filter(|_| index < MOST);
        failures.push(reader.read(failure, file, None)?);
    }
    let has_failed_tests = record.failed_tests().next().is_some();
    let suspects = match has_failed_tests {
        true => suspects::rows(directory, RANKS, &MapPlaces::default(), &[]),
        false => Vec::new(),
    };
    let more = typed::command(format!("answer {}", shown_path(directory)));
    let found = RunFailures { failures, suspects, more };
    let root = reader.root.unwrap_or_default();
    let written = found.write(&root, &GitHubPlaces::of_environment(), &mut io::stdout().lock());
    Ok(outcome(written, notes).max(reader.code))
}

/// The programs of a run that is not over, or whose `cargo xhist` was killed, as far as their rings show that they failed.
fn by_rings(place: &Path, notes: &mut Notes<'_>) -> Option<RunRecord> {
    let mut files = match place.is_dir() {
        true => source::ring_files(place),
        false => vec![(SystemTime::UNIX_EPOCH, place.to_owned())],
    };
    if files.is_empty() {
        return None;
    }
    notes.note(format_args!("{UNDESCRIBED}"));
    files.sort_by(|one, other| other.cmp(one));
    let failed = files.into_iter().map(|(_, file)| file).filter(|file| runs::ended_badly(file));
    let crash = |file: PathBuf| {
        let (program, pid) = runs::program_of(&file);
        CrashRecord { program, pid, how: "panicked, crashed or was killed".to_owned(), file }
    };
    Some(RunRecord { failed: true, crashes: failed.map(crash).collect(), ..RunRecord::default() })
}

/// Reads the histories of failures.
struct FailureReader<'a> {
    values: &'a ValueArgs,
    code: ExitCode,
    opened: LastOpened,
    /// The directory that paths of the map start from.
    root: Option<PathBuf>,
}

impl FailureReader<'_> {
    fn read(
        &mut self,
        failure: AnnotatedFailure,
        file: Option<&Path>,
        ring: Option<usize>,
    ) -> Result<AnnotatedFailure, UsageError> {
        let Some(file) = file else { return Ok(failure) };
        let opened = self.opened.open(file)?;
        let recording = SharedRecording::default();
        let options = Options {
            format: format::by_name("html").unwrap_or(&format::FORMATS[0]),
            report: Some(ReportKind::Recording),
            recording: Some(recording.clone()),
            ..Options::from(ReadOptions {
                rings: ring.into_iter().collect(),
                ..self.values.of_source(&*opened, None)
            })
        };
        // The listing of the same run reports losses.
        let code = report(&opened.image, &options, &mut io::sink(), &mut Notes::new(&mut io::sink()));
        self.code = self.code.max(code);
        let recording = recording.lock();
        let root = recording
            .files
            .iter()
            .find_map(|file| Some(PathBuf::from(file.built.to_str()?.strip_suffix(&file.path)?)));
        self.root = self.root.take().or(root);
        let ring = ring.map_or_else(String::new, |ring| format!("--ring {ring} "));
        let history = typed::command(format!("history {ring}{}", shown_path(file)));
        Ok(AnnotatedFailure { history, ..failure.at_end_of(&recording) })
    }
}
