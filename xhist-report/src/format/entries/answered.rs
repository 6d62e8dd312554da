//! An answer as data: what the lines of its text show, for programs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// The end of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnsweredThread {
    /// Its name.
    pub thread: String,
    /// The number of its ring in the file, from 1.
    pub ring: usize,
    /// `panic`, `signal`, or `here`: the newest statement is the last one.
    pub end: &'static str,
    /// The signal that arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<u64>,
    /// Where it panicked, if that is not the last of its rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panic: Option<AnsweredPanic>,
    /// Statements that ran behind its end: destructors, hooks, handlers.
    pub after: u64,
    /// The panics that it caught, and the one that it unwound from when it panicked again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Functions that a handler or a callback entered again, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reentries: Vec<String>,
    /// The last lines of its log, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<AnsweredLogLine>,
    /// Its last statements, the newest last.
    pub rows: Vec<AnsweredRow>,
}

/// The line that a panic's message names, above other rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnsweredPanic {
    /// The file, as listings name it.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
    /// What the calls below that line had done: `returned` or `unknown`.
    pub below: &'static str,
}

/// A line of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnsweredRow {
    /// `statement`, `folded` (statements that are counted and not listed), or `not_recorded`.
    pub kind: &'static str,
    /// The file, as listings name it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line of a statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its function.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// How many listed calls it is in.
    pub depth: usize,
    /// Its source text, or what is folded, or what the code is that was not recorded.
    pub text: String,
    /// How often it ran in this place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// The interrupt that begins with it: `interrupt 30 UART0`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub interrupt: String,
    /// Statements that ran in its calls and are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<u64>,
    /// The values that it bound.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values: String,
    /// Its rank among the suspects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspect: Option<usize>,
}

/// A line of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnsweredLogLine {
    /// The file of the statement before it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
    /// Target and text.
    pub text: String,
}

/// What an answer has of one source.
#[derive(Clone, Debug, Default)]
pub struct AnsweredEnds {
    /// The threads, the most relevant first.
    pub threads: Vec<AnsweredThread>,
    /// Lines about all of them: what they wait for, and what those without a listing caught.
    pub notes: Vec<String>,
}

/// The same, as it is written.
#[derive(Clone, Debug, Default)]
pub struct SharedAnswer(Arc<Mutex<AnsweredEnds>>);

impl SharedAnswer {
    /// A thread begins; its lines follow.
    pub fn begin(&self, thread: AnsweredThread) {
        self.lock().threads.push(thread);
    }

    /// Where the thread that began last panicked.
    pub fn panicked(&self, panic: Option<AnsweredPanic>) {
        if let Some(thread) = self.lock().threads.last_mut() {
            thread.panic = panic;
        }
    }

    /// Lines of the thread that began last.
    pub fn add(&self, reentries: Vec<String>, rows: Vec<AnsweredRow>) {
        if let Some(thread) = self.lock().threads.last_mut() {
            thread.reentries.extend(reentries);
            thread.rows.extend(rows);
        }
    }

    /// Lines about all threads, which may have styles.
    pub fn note(&self, lines: &[u8]) {
        let plain = anstream::adapter::strip_bytes(lines).into_vec();
        self.lock().notes.extend(String::from_utf8_lossy(&plain).lines().map(String::from));
    }

    /// All so far.
    pub fn take(&self) -> AnsweredEnds {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, AnsweredEnds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
