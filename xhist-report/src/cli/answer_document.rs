//! The answer to a run as one JSON document, described by `answer.schema.json`.

use std::path::Path;

use serde::Serialize;

use crate::entries::AnsweredThread;
use xhist_history::model::visible;
use xhist_history::recording::SuspectRow;
use xhist_history::runs::record::RunRecord;
use xhist_history::typed::{self, shown_path};

/// The JSON schema of the document.
pub const SCHEMA: &str = include_str!("answer.schema.json");
/// Its version. It changes when a field goes or means something else; readers skip fields that they do not know.
const VERSION: u32 = 1;
/// What names the document among cargo's messages.
const REASON: &str = "xhist-answer";

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
}

/// A test, a process or a file.
#[derive(Debug, Default, Serialize)]
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
    /// Processes that a test started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<AnsweredFailure>,
    /// The command that prints its history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<String>,
}

/// Where a failure is.
#[derive(Debug, PartialEq, Eq, Serialize)]
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
        }
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
    /// With these ends of threads; the first of them says where it failed.
    #[must_use]
    pub fn at_end_of(self, threads: Vec<AnsweredThread>) -> AnsweredFailure {
        let rows = threads.first().map(|thread| &thread.rows[..]).unwrap_or_default();
        let last = rows.iter().rev().find_map(|row| Some((row, row.line?)));
        let place = last.map(|(row, line)| LastStatement {
            file: row.file.clone(),
            line,
            function: row.function.clone(),
        });
        AnsweredFailure { place, threads, ..self }
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
    use crate::entries::AnsweredRow;

    #[test]
    fn the_place_is_the_last_listed_statement_of_the_first_thread() {
        let row = |kind, line| AnsweredRow { kind, line, file: "a.rs".into(), ..AnsweredRow::default() };
        let rows = vec![row("statement", Some(3)), row("statement", Some(7)), row("folded", None)];
        let threads = vec![AnsweredThread { rows, ..AnsweredThread::default() }, AnsweredThread::default()];
        let place = AnsweredFailure::default().at_end_of(threads).place;
        assert_eq!(place, Some(LastStatement { file: "a.rs".into(), line: 7, function: String::new() }));
        assert_eq!(AnsweredFailure::default().at_end_of(Vec::new()).place, None);
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
