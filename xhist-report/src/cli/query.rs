//! The command lines of `find`, `frame` and `source`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::budget_args::BudgetArgs;
use super::error::UsageError;
use super::histories;
use super::history_args::HistoryArgs;
use super::open;
use super::report_args::TextFormat;
use crate::budget::Weight;
use crate::causes::diff::ThreadChoice;
use crate::query::{self, AskedHistory, ListedRun, NotFound, QueryLook, QueryRow, SourceLines};
use crate::reports::report;
use xhist_history::ExitCode;
use xhist_history::model::visible;
use xhist_history::notes::typed::{self, quoted, shown_path};
use xhist_history::notes::{Notes, outcome};
use xhist_history::recording::{Recording, SharedRecording};

const FIND_HELP: &str = "\
A function is named by its path or the end of it; its hits are its calls. VALUE `*` is any value.

Exit codes: 0 found; 1 something was lost; 2 wrong arguments; 3 not in this history, and a message that says what is.

Examples:
  xhist-report find src/lib.rs:42
  xhist-report find Parser::next last
  xhist-report find 'depth=3' --format json
  xhist-report find '\"no answer\"'      the statement that printed or logged it";

const FRAME_HELP: &str = "\
Exit codes: 0 found; 1 something was lost; 2 wrong arguments; 3 not in this history, and a message that says what is.

Examples:
  xhist-report frame                   the call that failed
  xhist-report frame Parser::next      its newest call; `Parser::next#3` the third, `#last` the newest
  xhist-report frame 217               the call around entry 217, as listings count them
  xhist-report frame src/lib.rs:42#1   the first call that ran this line";

const SOURCE_HELP: &str = "\
Counts are of what the rings hold: `coverage` has what ever ran.

Exit codes: 0 found; 1 something was lost; 2 wrong arguments; 3 not in this history, and a message that says what is.

Examples:
  xhist-report source src/lib.rs:30-60
  xhist-report source src/lib.rs --test parses_list
  xhist-report source src/lib.rs last --beside prev     lines that only one of them ran have a `!`";

/// How an answer is printed.
#[derive(Clone, Copy, Debug, Args)]
struct LookArgs {
    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: TextFormat,

    #[command(flatten)]
    budget: BudgetArgs,
}

/// Where a line, a function or a value is: how often, first, last, steps.
#[derive(Clone, Debug, Args)]
#[command(after_help = FIND_HELP)]
pub struct FindArgs {
    /// A line (`src/lib.rs:42`), a function (`Parser::next`), a value (`NAME=VALUE`) or a text that was printed or logged (`'"TEXT"'`)
    #[arg(value_name = "WHAT")]
    what: String,

    /// List the newest N hits
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    history: HistoryArgs,
}

/// One call as a whole: arguments, statements, callees, how it was left.
#[derive(Clone, Debug, Args)]
#[command(after_help = FRAME_HELP)]
pub struct CallFrameArgs {
    /// A function, a line or the number of an entry, with `#3` or `#last` behind it; without it the call that failed
    #[arg(value_name = "CALL")]
    call: Option<String>,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    history: HistoryArgs,
}

/// Source text with how often each line ran.
#[derive(Clone, Debug, Args)]
#[command(after_help = SOURCE_HELP)]
pub struct SourceListingArgs {
    /// A source file, or lines of it: `src/lib.rs:30-60`
    #[arg(value_name = "FILE[:A-B]")]
    file: String,

    /// Count only in this test of the run: its name, or the last part of it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["threads", "ring"])]
    test: Option<String>,

    /// Count in this history, too: a file, a run, or RUN::TEST
    #[arg(long, value_name = "SOURCE", allow_hyphen_values = true)]
    beside: Option<OsString>,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    history: HistoryArgs,
}

impl LookArgs {
    /// Prints rows; without any why not.
    fn print(
        self,
        rows: Result<Vec<QueryRow>, NotFound>,
        code: ExitCode,
        out: &mut dyn Write,
        notes: &mut Notes<'_>,
    ) -> ExitCode {
        match rows {
            Ok(rows) => {
                let look =
                    QueryLook { is_json: self.format == TextFormat::Json, budget: self.budget.budget() };
                outcome(query::print(&rows, code == ExitCode::Complete, &look, out), notes).max(code)
            }
            Err(why) => {
                notes.error(format_args!("{why}"));
                ExitCode::NothingFound
            }
        }
    }
}

/// Reads a whole history, and says in which file it is. If it has no entry, the exit code says why.
pub(super) fn read(
    history: &HistoryArgs,
    notes: &mut Notes<'_>,
) -> Result<(SharedRecording, Option<PathBuf>, ExitCode), UsageError> {
    if history.follow {
        return Err(UsageError::Conflict {
            option: "--follow",
            why: "goes with `history` and `view`: an answer needs an end",
        });
    }
    let shared = SharedRecording::default();
    let (opened, options) = history.open_alone(&shared, notes)?;
    let code = report(&opened.image, &options, &mut std::io::sink(), notes);
    Ok((shared, opened.path, code))
}

/// Other processes of a run that are looked at.
const MOST_FILES: usize = 64;

/// The heading of what is in one process of a run.
fn process_row(file: &str) -> QueryRow {
    let json = serde_json::json!({ "kind": "process", "file": file });
    QueryRow { weight: Weight::FRAME, text: format!("-- {file} --"), json }
}

impl FindArgs {
    /// Carries out the command.
    ///
    /// # Errors
    /// What cannot be opened.
    pub(super) fn run(&self, out: &mut dyn Write, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
        let valued = self.history.with_values().filter(|_| query::is_of_values(&self.what));
        let find = |recording: &Recording, asked: &AskedHistory| {
            query::find(recording, &self.what, self.limit, asked)
        };
        let found =
            answer_of_values(valued, notes, |recording, history| find(recording, &history.asked()).ok());
        if let Some((rows, code)) = found? {
            return Ok(self.look.print(Ok(rows), code, out, notes));
        }
        let (shared, opened, mut code) = read(&self.history, notes)?;
        let first = query::find(&shared.lock(), &self.what, self.limit, &self.history.asked());
        let others = match (self.history.ring, &opened) {
            (None, Some(path)) => open::other_files(self.history.source.as_ref(), path)?,
            _ => Vec::new(),
        };
        if others.is_empty() && shared.lock().is_empty() {
            return Ok(code.max(ExitCode::NothingFound));
        }
        let mut found = Vec::new();
        for path in others.iter().take(MOST_FILES) {
            let named = shown_path(path);
            let history = HistoryArgs { source: Some(path.into()), ..self.history.clone() };
            let asked = AskedHistory { source: Some(named.clone()), ..history.asked() };
            let (shared, _, its_code) = read(&history, notes)?;
            // A process that recorded nothing is no failure of the others.
            code = code.max(if its_code == ExitCode::NothingFound { ExitCode::Complete } else { its_code });
            if let Ok(rows) = query::find(&shared.lock(), &self.what, self.limit, &asked) {
                found.push(process_row(&named));
                found.extend(rows);
            }
        }
        if others.len() > MOST_FILES {
            let more = others.len() - MOST_FILES;
            notes.note(format_args!("{more} more processes of this run are not looked at: name their files"));
        }
        let rows = match first {
            _ if found.is_empty() => first,
            Err(_) => Ok(found),
            Ok(rows) => {
                let own = opened.as_deref().map(|path| process_row(&shown_path(path)));
                Ok(own.into_iter().chain(rows).chain(found).collect())
            }
        };
        Ok(self.look.print(rows, code, out, notes))
    }
}

impl CallFrameArgs {
    /// Carries out the command.
    ///
    /// # Errors
    /// What cannot be opened.
    pub(super) fn run(&self, out: &mut dyn Write, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
        let call = self.call.as_deref().filter(|call| !call.is_empty());
        let is_entry = call.is_some_and(query::is_entry);
        let valued = self.history.with_values().filter(|_| !is_entry);
        let frame = |recording: &Recording, asked: &AskedHistory| query::frame(recording, call, asked);
        let found =
            answer_of_values(valued, notes, |recording, history| frame(recording, &history.asked()).ok());
        if let Some((rows, code)) = found? {
            return Ok(self.look.print(Ok(rows), code, out, notes));
        }
        answer(&self.history, self.look, out, notes, |recording| {
            frame(recording, &self.history.asked()).map_err(|why| self.hint(why))
        })
    }
}

impl CallFrameArgs {
    /// Of a history in the place of a call, says how it is named.
    fn hint(&self, why: NotFound) -> NotFound {
        match self.call.as_deref().filter(|_| self.history.source.is_none()) {
            Some(call) if histories::open(OsStr::new(call)).is_ok() => {
                let command = typed::command(format!("frame '' {}", quoted(call)));
                NotFound(format!("{why}; a history comes behind the call: `{command}`"))
            }
            _ => why,
        }
    }
}

/// The answer of the run with values, and the code of reading it; `None` if there is no such run, or no answer in it.
pub(super) fn answer_of_values<T>(
    valued: Option<HistoryArgs>,
    notes: &mut Notes<'_>,
    ask: impl Fn(&Recording, &HistoryArgs) -> Option<T>,
) -> Result<Option<(T, ExitCode)>, UsageError> {
    let Some(history) = valued else { return Ok(None) };
    let (shared, _, code) = read(&history, notes)?;
    let found = ask(&shared.lock(), &history);
    if found.is_some() {
        HistoryArgs::note_values(notes);
    }
    Ok(found.map(|found| (found, code)))
}

/// Prints the answer of a whole history.
fn answer(
    history: &HistoryArgs,
    look: LookArgs,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
    rows: impl FnOnce(&Recording) -> Result<Vec<QueryRow>, NotFound>,
) -> Result<ExitCode, UsageError> {
    let (shared, _, code) = read(history, notes)?;
    let recording = shared.lock();
    match recording.is_empty() {
        true => Ok(code.max(ExitCode::NothingFound)),
        false => Ok(look.print(rows(&recording), code, out, notes)),
    }
}

impl SourceListingArgs {
    /// Carries out the command.
    ///
    /// # Errors
    /// What cannot be opened.
    pub(super) fn run(&self, out: &mut dyn Write, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
        let own = match &self.test {
            None => match &self.history.source {
                // Of a run one thread, as `diff` takes it.
                Some(source) if source.to_string_lossy().contains(['#', ':']) => self.named(source)?,
                _ => self.history.clone(),
            },
            Some(test) => {
                let mut name = self.history.source.clone().unwrap_or_else(|| "last".into());
                name.push("::");
                name.push(test);
                self.named(&name)?
            }
        };
        let mut named = vec![(self.name(), own)];
        if let Some(beside) = &self.beside {
            named.push((visible(&beside.to_string_lossy()).into_owned(), self.named(beside)?));
        }
        let mut code = ExitCode::Complete;
        let mut read_all = Vec::new();
        for (name, history) in &named {
            let (shared, _, its_code) = read(history, notes)?;
            code = code.max(its_code);
            read_all.push((name, shared));
        }
        let locked: Vec<_> = read_all.iter().map(|(name, shared)| (name.as_str(), shared.lock())).collect();
        let runs: Vec<ListedRun<'_>> =
            locked.iter().map(|(name, recording)| ListedRun { name, recording }).collect();
        Ok(self.look.print(query::listing(&SourceLines::parse(&self.file), &runs), code, out, notes))
    }

    /// What the first column is called.
    fn name(&self) -> String {
        let source = self.history.source.as_deref().unwrap_or(OsStr::new("this run"));
        let source = visible(&source.to_string_lossy()).into_owned();
        match &self.test {
            Some(test) => format!("test {}", visible(test)),
            None => source,
        }
    }

    /// The history with this name, read as this command line says.
    fn named(&self, name: &OsStr) -> Result<HistoryArgs, UsageError> {
        let found = histories::open(name)?;
        let path = found.opened.path.map(OsString::from);
        let mut history =
            HistoryArgs { source: path.or_else(|| Some(name.to_owned())), ..self.history.clone() };
        (history.ring, history.threads) = match found.threads {
            ThreadChoice::All => (None, Vec::new()),
            ThreadChoice::Ring(number) => (Some(number), Vec::new()),
            ThreadChoice::Named(name) => (None, vec![name]),
        };
        Ok(history)
    }
}
