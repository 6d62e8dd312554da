//! The answer to a run as one JSON document, described by `answer.schema.json`.

use std::path::Path;

use serde::Serialize;

use crate::budget::Budget;
use crate::format::entries::{AnsweredEnds, AnsweredThread};
use xhist_history::model::visible;
use xhist_history::notes::typed::{self, shown_path};
use xhist_history::recording::SuspectRow;
use xhist_history::runs::record::RunRecord;

/// The JSON schema of the document.
pub const SCHEMA: &str = include_str!("answer.schema.json");
/// Its version. It changes when a field goes or means something else; readers skip fields that they do not know.
const VERSION: u32 = 1;
/// What names the document among cargo's messages.
const REASON: &str = "xhist-answer";
/// Rows of a thread that stay as long as something else can go.
const FEW_ROWS: usize = 8;
/// Bytes of five numbers, and of the name of the field that has them.
const NUMBERS: usize = 112;

fn bytes(part: &impl Serialize) -> usize {
    serde_json::to_vec(part).map_or(0, |text| text.len())
}

/// What failed in a run.
#[derive(Debug, Serialize)]
pub struct AnswerDocument {
    reason: &'static str,
    version: u32,
    /// The run or the file that it is about, as a command names it.
    run: String,
    command: Option<String>,
    exit: Option<i64>,
    signal: Option<String>,
    /// Whether the run failed; `null` without a record of its end.
    failed: Option<bool>,
    failures: Vec<AnsweredFailure>,
    suspects: Vec<AnsweredSuspect>,
    /// Commands that show more, the most useful first.
    next: Vec<String>,
    /// What was lost or could not be read is not in it.
    pub complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
}

/// What a budget took.
#[derive(Debug, Default, Serialize)]
struct LeftOut {
    rows: usize,
    failures: usize,
    suspects: usize,
    /// Threads, also of processes that a test started.
    threads: usize,
    /// Lines of logs.
    log: usize,
    /// The command that prints all.
    command: String,
}

/// A test, a process or a file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AnsweredFailure {
    /// `test`, `documentation test`, `process` or `file`.
    pub kind: &'static str,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// `failed`, `died of SIGSEGV (signal 11)`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub how: String,
    /// Its last listed statement.
    pub place: Option<LastStatement>,
    /// The ends of its threads, the most relevant first.
    pub threads: Vec<AnsweredThread>,
    /// Lines about all of them, as in the text: what they wait for, and panics that others caught.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Processes that a test started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<AnsweredFailure>,
    /// The command that prints its history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<String>,
}

/// Where a failure is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastStatement {
    file: String,
    line: u32,
    function: String,
}

/// A suspicious line.
#[derive(Debug, Serialize)]
pub struct AnsweredSuspect {
    /// Tests that fail in different ways have suspects of their own, from 1.
    cluster: usize,
    rank: usize,
    file: String,
    line: u32,
    function: String,
    score: f64,
    text: String,
}

impl AnswerDocument {
    /// Of what failed in a run or a file.
    pub fn of(place: &Path, record: Option<&RunRecord>, failures: Vec<AnsweredFailure>) -> AnswerDocument {
        AnswerDocument {
            reason: REASON,
            version: VERSION,
            run: shown_path(place),
            command: record.map(|record| visible(&record.command).into_owned()),
            exit: record.and_then(|record| record.exit),
            signal: record.and_then(|record| Some(visible(record.signal.as_ref()?).into_owned())),
            failed: record.map(|record| record.failed),
            next: failures.iter().filter_map(|failure| failure.history.clone()).take(1).collect(),
            failures,
            suspects: Vec::new(),
            complete: true,
            left_out: None,
        }
    }

    /// Leaves out what matters least until it fits: the oldest rows of each thread, the last failures, the last suspects.
    pub fn fit(&mut self, budget: &Budget) {
        // With the end of the line.
        let mut size = bytes(self) + 1;
        if size <= budget.bytes {
            return;
        }
        let mut left_out = LeftOut { command: budget.command.clone(), ..LeftOut::default() };
        // The numbers grow, so they have room for all of their digits.
        let room = budget.bytes.saturating_sub(bytes(&left_out) + NUMBERS);
        for fewest in [FEW_ROWS, 1] {
            for thread in self.failures.iter_mut().flat_map(AnsweredFailure::all_threads) {
                let excess = thread.rows.len().saturating_sub(fewest);
                let mut taken = 0;
                while taken < excess && size > room {
                    size -= bytes(&thread.rows[taken]) + 1;
                    taken += 1;
                }
                thread.rows.drain(..taken);
                left_out.rows += taken;
            }
            while self.failures.len() > 1 && size > room {
                size -= self.failures.pop().map_or(0, |failure| bytes(&failure) + 1);
                left_out.failures += 1;
            }
            while self.suspects.len() > 1 && size > room {
                size -= self.suspects.pop().map_or(0, |suspect| bytes(&suspect) + 1);
                left_out.suspects += 1;
            }
        }
        while size > room
            && let Some(taken) = self.take_least(&mut left_out)
        {
            size = size.saturating_sub(taken);
        }
        self.left_out = Some(left_out);
    }

    /// Takes the least of what is beside the newest row of each thread, at last that too; how many bytes that was.
    fn take_least(&mut self, left_out: &mut LeftOut) -> Option<usize> {
        let threads = self.failures.iter_mut().flat_map(AnsweredFailure::all_threads);
        if let Some(thread) = threads.filter(|thread| !thread.log.is_empty()).last() {
            left_out.log += 1;
            // The last line takes the name of its field along.
            let before = bytes(thread);
            thread.log.remove(0);
            return Some(before - bytes(thread));
        }
        if let Some(failure) = self.failures.iter_mut().rfind(|failure| !failure.started.is_empty()) {
            let mut started = failure.started.pop()?;
            left_out.threads += started.all_threads().count();
            return Some(bytes(&started) + 1);
        }
        if let Some(failure) = self.failures.iter_mut().rfind(|failure| failure.threads.len() > 1) {
            left_out.threads += 1;
            return Some(bytes(&failure.threads.pop()?) + 1);
        }
        if let Some(suspect) = self.suspects.pop() {
            left_out.suspects += 1;
            return Some(bytes(&suspect) + 1);
        }
        if let Some(next) = self.next.pop() {
            return Some(bytes(&next) + 1);
        }
        if let Some(failure) = self.failures.iter_mut().rfind(|failure| !failure.notes.is_empty()) {
            let before = bytes(failure);
            failure.notes.clear();
            return Some(before - bytes(failure));
        }
        if let Some(failure) = self.failures.pop() {
            left_out.failures += 1;
            return Some(bytes(&failure) + 1);
        }
        self.command.take().map(|command| bytes(&command))
    }

    /// The suspects of a run with a failed test, and the command that compares it with a passed one.
    pub fn add_suspects(&mut self, (clusters, diff): (Vec<Vec<SuspectRow>>, Option<String>)) {
        let of_cluster = |(cluster, rows): (usize, Vec<SuspectRow>)| {
            rows.into_iter().map(move |row| AnsweredSuspect::new(cluster, row))
        };
        self.suspects = (1..).zip(clusters).flat_map(of_cluster).collect();
        if !self.suspects.is_empty() {
            self.next.push(typed::command(format!("suspects {}", self.run)));
        }
        self.next.extend(diff);
    }
}

impl AnsweredFailure {
    /// The ends of its threads, and of those of processes that it started.
    fn all_threads(&mut self) -> Box<dyn Iterator<Item = &mut AnsweredThread> + '_> {
        let started = self.started.iter_mut().flat_map(AnsweredFailure::all_threads);
        Box::new(self.threads.iter_mut().chain(started))
    }

    /// With these ends of threads; the first of them says where it failed.
    #[must_use]
    pub fn at_end_of(self, AnsweredEnds { threads, notes }: AnsweredEnds) -> AnsweredFailure {
        let rows = threads.first().map(|thread| &thread.rows[..]).unwrap_or_default();
        let last = rows.iter().rev().find_map(|row| Some((row, row.line?)));
        let place = last.map(|(row, line)| LastStatement {
            file: row.file.clone(),
            line,
            function: row.function.clone(),
        });
        AnsweredFailure { place, threads, notes, ..self }
    }
}

impl AnsweredSuspect {
    fn new(cluster: usize, row: SuspectRow) -> AnsweredSuspect {
        let SuspectRow { rank, score, path: file, line, function, text } = row;
        AnsweredSuspect { cluster, rank, file, line, function, score, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::entries::{AnsweredLogLine, AnsweredRow};

    #[test]
    fn the_place_is_the_last_listed_statement_of_the_first_thread() {
        let row = |kind, line| AnsweredRow { kind, line, file: "a.rs".into(), ..AnsweredRow::default() };
        let rows = vec![row("statement", Some(3)), row("statement", Some(7)), row("folded", None)];
        let threads = vec![AnsweredThread { rows, ..AnsweredThread::default() }, AnsweredThread::default()];
        let ends = AnsweredEnds { threads, ..AnsweredEnds::default() };
        let place = AnsweredFailure::default().at_end_of(ends).place;
        assert_eq!(place, Some(LastStatement { file: "a.rs".into(), line: 7, function: String::new() }));
        assert_eq!(AnsweredFailure::default().at_end_of(AnsweredEnds::default()).place, None);
    }

    #[test]
    fn a_document_fits_its_budget_and_says_what_is_left_out() {
        let row = |line| AnsweredRow {
            kind: "statement",
            line: Some(line),
            text: "let total = price * pieces;".into(),
            ..AnsweredRow::default()
        };
        let thread = || AnsweredThread { rows: (1..40).map(row).collect(), ..AnsweredThread::default() };
        let failure = |_| {
            AnsweredFailure::default()
                .at_end_of(AnsweredEnds { threads: vec![thread(), thread()], ..AnsweredEnds::default() })
        };
        let whole = || AnswerDocument::of(Path::new("run"), None, (0..30).map(failure).collect());
        for size in [1024, 3000, 20_000, 1_000_000] {
            let mut document = whole();
            document.fit(&Budget { bytes: size, command: "cargo xhist answer".into() });
            assert!(bytes(&document) < size, "{} of {size}", bytes(&document));
            let Some(left_out) = &document.left_out else {
                assert_eq!(size, 1_000_000);
                continue;
            };
            assert_eq!(document.failures.len() + left_out.failures, 30);
            let kept = &document.failures[0].threads[0].rows;
            assert_eq!(kept.last().and_then(|row| row.line), Some(39), "the newest stays");
        }
    }

    #[test]
    fn threads_logs_and_long_texts_do_not_exceed_a_budget() {
        let log = |text: &str| {
            let line = || AnsweredLogLine { text: text.to_owned(), ..AnsweredLogLine::default() };
            (0..8).map(|_| line()).collect()
        };
        let row =
            |text: String| AnsweredRow { kind: "statement", line: Some(1), text, ..AnsweredRow::default() };
        let thread = |length: usize| AnsweredThread {
            rows: vec![row("x".repeat(length)), row("y".repeat(length))],
            log: log(&"z".repeat(length)),
            ..AnsweredThread::default()
        };
        for (threads, length) in [(100, 40), (3, 400), (1, 9000)] {
            let failure = || AnsweredFailure { name: "test".into(), ..AnsweredFailure::default() };
            let ends = || AnsweredEnds {
                threads: (0..threads).map(|_| thread(length)).collect(),
                notes: vec!["n".repeat(length)],
            };
            let started = vec![failure().at_end_of(ends()), failure().at_end_of(ends())];
            let failure = AnsweredFailure { started, ..failure().at_end_of(ends()) };
            for size in [1024, 8192] {
                let failures =
                    vec![AnsweredFailure { history: Some("h".repeat(200)), ..AnsweredFailure::default() }];
                let failures = [vec![failure.clone()], failures].concat();
                let mut document = AnswerDocument::of(Path::new("run"), None, failures);
                document.fit(&Budget { bytes: size, command: "cargo xhist answer".into() });
                assert!(bytes(&document) < size, "{threads} {length}: {} of {size}", bytes(&document));
                let kept = document.failures.first().map_or(0, |failure| failure.threads.len());
                assert!(kept > 0 || length > size / 2, "{threads} {length}: of {size} nothing is left");
                let left_out = document.left_out.expect("something is left out");
                assert!(left_out.log > 0 && (left_out.threads > 0 || left_out.failures > 0), "{left_out:?}");
            }
        }
    }

    #[test]
    fn the_schema_is_of_this_version() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
        let properties = &schema["properties"];
        assert_eq!(
            (&properties["version"]["const"], &properties["reason"]["const"]),
            (&VERSION.into(), &REASON.into())
        );
    }
}
