//! Words of the debug console: motions that the protocol or the client has no button for, and recorded values.

use serde::Deserialize;
use serde_json::{Value, json};

use super::index::HitPlace;
use super::inspect::type_text;
use super::message::{DapError, Reply, arguments, body, short};
use super::points::functions_named;
use super::session::DapSession;
use super::stops::{StopReason, step_text};
use super::travel::Asked;
use crate::budget::Budget;
use crate::query::{self, AskedHistory, QueryLook};
use xhist_history::notes::typed::{self, quoted};
use xhist_history::origin::origin_of;
use xhist_history::recording::{Cursor, Direction, Motion, Recording, SiteId};

/// Bytes that the console shows of a call; the last line has the command that prints all.
const LONGEST_ANSWER: usize = 8 << 10;
/// Hits of `find` that are listed, the newest.
const MOST_HITS: usize = 20;

/// What a word does. The text behind it is its argument; the answer is for the console.
type WordRun = fn(&mut DapSession, &Recording, &str) -> Result<String, DapError>;

/// A word.
struct WordRow {
    /// What is typed.
    word: &'static str,
    /// What may follow.
    argument: &'static str,
    /// What it does, for `help`.
    help: &'static str,
    run: WordRun,
}

const fn word(word: &'static str, argument: &'static str, help: &'static str, run: WordRun) -> WordRow {
    WordRow { word, argument, help, run }
}

/// Every word.
const WORDS: &[WordRow] = &[
    word("back", "", "to the line before, over calls", |session, recording, _| {
        session.word_step(recording, Motion::Over, Direction::Back)
    }),
    word("rin", "", "to the statement before, also in another call", |session, recording, _| {
        session.word_step(recording, Motion::Into, Direction::Back)
    }),
    word("rout", "", "back to the statement that entered this call", |session, recording, _| {
        session.word_step(recording, Motion::Out, Direction::Back)
    }),
    word("rc", "", "back to the breakpoint before, or to the start", |session, recording, _| {
        session.go(recording, Direction::Back);
        Ok(session.here(recording))
    }),
    word("over", "", "to the next line, over calls", |session, recording, _| {
        session.word_step(recording, Motion::Over, Direction::Forward)
    }),
    word("into", "", "to the next statement, also in another call", |session, recording, _| {
        session.word_step(recording, Motion::Into, Direction::Forward)
    }),
    word("out", "", "behind this call", |session, recording, _| {
        session.word_step(recording, Motion::Out, Direction::Forward)
    }),
    word("continue", "", "to the next breakpoint, or to the end", |session, recording, _| {
        session.go(recording, Direction::Forward);
        Ok(session.here(recording))
    }),
    word("goto", "N", "to the step with this number", DapSession::word_goto),
    word("prev", "[FILE:LINE]", "to the previous time that this line ran", |session, recording, argument| {
        session.word_again(recording, argument, Direction::Back)
    }),
    word("next", "[FILE:LINE]", "to the next time that this line ran", |session, recording, argument| {
        session.word_again(recording, argument, Direction::Forward)
    }),
    word("last", "FN", "back to the last time that a function was entered", DapSession::word_last),
    word(
        "origin",
        "NAME",
        "the statements that gave a variable its value, from here back",
        DapSession::word_origin,
    ),
    word(
        "frame",
        "[CALL]",
        "the whole call: this one, or one such as `parse#last`, `src/main.rs:12` or a step",
        DapSession::word_frame,
    ),
    word(
        "find",
        "WHAT",
        "each step of a line, a function, a value `x=1`, or a text that was printed, behind a `\"`",
        DapSession::word_find,
    ),
    word("where", "", "the step and the calls on the stack", |session, recording, _| {
        Ok(session.stack_text(recording))
    }),
    word("help", "", "these words", |_, _, _| Ok(help())),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateArgs {
    expression: String,
    frame_id: Option<i64>,
    context: Option<String>,
}

#[derive(Deserialize)]
struct CompletionsArgs {
    text: String,
    column: i64,
}

/// The text of rows, within the bounds. `command` prints all of them.
fn answer_text(rows: &[query::QueryRow], command: &str) -> String {
    let budget = Budget { bytes: LONGEST_ANSWER, command: typed::command(command) };
    let look = QueryLook { is_json: false, budget: Some(budget) };
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = query::print(rows, true, &look, &mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

fn help() -> String {
    let lines =
        WORDS.iter().map(|row| format!("{:20}{}\n", format!("{} {}", row.word, row.argument), row.help));
    format!("{}a name               its recorded value", lines.collect::<String>())
}

impl DapSession {
    /// The value of a recorded name; in the console also a word.
    pub(super) fn evaluate(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: EvaluateArgs = arguments(args)?;
        let text = args.expression.trim();
        let is_console = matches!(args.context.as_deref(), Some("repl") | None);
        let (first, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let row = WORDS.iter().find(|row| row.word == first).filter(|_| is_console);
        // A recorded name may be that of a word.
        if let Some(row) = row {
            let sent = self.sent();
            let result = (row.run)(self, recording, argument.trim())?;
            self.announce_move(sent);
            return body(&json!({"result": result, "variablesReference": 0}));
        }
        if let Some(variable) = self.value_of(recording, args.frame_id, text)? {
            return body(&json!({
                "result": recording.strings.get(variable.value.text),
                "type": type_text(recording, &variable),
                "variablesReference": 0,
                "presentationHint": {"attributes": ["readOnly"]},
            }));
        }
        let more = if is_console { "; `help` lists what can be typed" } else { "" };
        Err(DapError(format!(
            "no value of `{}` was recorded in this call up to this step{more}",
            short(text)
        )))
    }

    /// Words and names that begin like this.
    pub(super) fn completions(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: CompletionsArgs = arguments(args)?;
        let column = self.look.own_column(args.column) as usize;
        let typed: String = args.text.chars().take(column.saturating_sub(1)).collect();
        let word = typed.trim_start();
        let start = typed.chars().count() - word.chars().count();
        let start = self.look.column(u32::try_from(start).unwrap_or_default().saturating_add(1));
        let names = recording.variables(recording.call_at(self.at), self.at);
        let names = names.iter().map(|variable| recording.strings.get(variable.value.name));
        let all = WORDS.iter().map(|row| row.word).chain(names).filter(|name| name.starts_with(word));
        let length = word.chars().count();
        let targets = all.take(100).map(|name| json!({"label": name, "start": start, "length": length}));
        body(&json!({"targets": targets.collect::<Vec<_>>()}))
    }

    /// Where a word came to.
    fn here(&self, recording: &Recording) -> String {
        step_text(recording, self.at)
    }

    fn word_step(
        &mut self,
        recording: &Recording,
        motion: Motion,
        direction: Direction,
    ) -> Result<String, DapError> {
        let lane = recording.lane_of(self.at);
        self.travel(recording, lane, Asked { motion, direction, by_line: false });
        Ok(self.here(recording))
    }

    fn word_goto(&mut self, recording: &Recording, argument: &str) -> Result<String, DapError> {
        let digits: String = argument.chars().filter(|char| !matches!(char, ',' | '_' | '#')).collect();
        let step = digits.parse().ok().and_then(|number| recording.by_number(number));
        let step = step.ok_or_else(|| DapError::new("`goto` needs a step number, such as `goto 12`"))?;
        self.jump(recording, step, StopReason::Goto);
        Ok(self.here(recording))
    }

    /// The statements of a line that ran, as for a breakpoint.
    pub(super) fn line_place(&self, recording: &Recording, file: u32, line: u32) -> Option<HitPlace> {
        let sites =
            || recording.sites.iter().enumerate().filter(|(_, site)| (site.file, site.line) == (file, line));
        let first = sites().map(|(_, site)| site.col).min()?;
        let first = sites().filter(|(_, site)| site.col == first).map(|(number, _)| SiteId(number as u32));
        Some(HitPlace::Sites(first.collect()))
    }

    fn word_again(
        &mut self,
        recording: &Recording,
        argument: &str,
        direction: Direction,
    ) -> Result<String, DapError> {
        let found = if argument.is_empty() {
            let mut cursor = Cursor::new(recording, self.at);
            cursor.same_line(direction).then(|| cursor.step())
        } else {
            let here = recording.site_at(self.at).and_then(|site| recording.site(site)).map(|site| site.file);
            let (file, line) = argument.rsplit_once(':').unwrap_or(("", argument));
            let line =
                line.parse().map_err(|_| DapError::new("write FILE:LINE, such as `src/main.rs:12`"))?;
            let file = if file.is_empty() { here } else { self.look.file_named(recording, file) };
            let file = file.ok_or_else(|| DapError::new("no statement of this file ran in this history"))?;
            let place = self.line_place(recording, file, line);
            let place =
                place.ok_or_else(|| DapError(format!("no statement that begins in line {line} ran")))?;
            self.points.index.next(&place, self.at, direction)
        };
        let when = if direction == Direction::Back { "before" } else { "after" };
        let step = found.ok_or_else(|| DapError(format!("the line did not run {when} this step")))?;
        self.jump(recording, step, StopReason::Goto);
        Ok(self.here(recording))
    }

    fn word_origin(&mut self, recording: &Recording, argument: &str) -> Result<String, DapError> {
        let origin = origin_of(recording, argument, self.at).map_err(DapError)?;
        let mut lines: Vec<String> = Vec::new();
        for hop in &origin.hops {
            let value = hop.value.as_ref().map_or(String::new(), |value| format!(" = {value}"));
            lines.push(format!(
                "{}: {} {}{value}",
                step_text(recording, hop.step),
                hop.kind.name(),
                hop.name
            ));
        }
        lines.push(origin.end_text(recording));
        Ok(lines.join("\n"))
    }

    fn word_frame(&mut self, recording: &Recording, argument: &str) -> Result<String, DapError> {
        let here = recording.number(self.at).to_string();
        let call = if argument.is_empty() { &here } else { argument };
        let rows = query::frame(recording, Some(call), &AskedHistory::default())
            .map_err(|why| DapError(why.to_string()))?;
        Ok(answer_text(&rows, &format!("frame {}", quoted(call))))
    }

    fn word_find(&mut self, recording: &Recording, argument: &str) -> Result<String, DapError> {
        let rows = query::find(recording, argument, MOST_HITS, &AskedHistory::default());
        let rows = rows.map_err(|why| DapError(why.to_string()))?;
        Ok(answer_text(&rows, &format!("find {}", quoted(argument))))
    }

    fn word_last(&mut self, recording: &Recording, argument: &str) -> Result<String, DapError> {
        let functions = functions_named(recording, argument);
        if functions.is_empty() {
            return Err(DapError(format!("no function `{}` ran in this history", short(argument))));
        }
        let found = self.points.index.next(&HitPlace::Entries(functions), self.at, Direction::Back);
        let step = found.ok_or_else(|| DapError::new("the function was not entered before this step"))?;
        self.jump(recording, step, StopReason::Goto);
        Ok(self.here(recording))
    }
}
