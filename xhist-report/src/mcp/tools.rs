//! The tools, each a command of the same name: what it takes, and its words.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::child::{Ended, Run};
use super::{ANSWER, cargo_args, places};
use xhist_history::model::is_visible;

/// Bytes of an answer that notes may take.
const NOTES: usize = 1 << 10;
/// Bytes of what a passed run printed last.
const TAIL: usize = 2 << 10;

/// A tool.
struct Tool {
    name: &'static str,
    description: &'static str,
    /// Its parameters: name, type and meaning. Those that must be there come first.
    parameters: &'static [(&'static str, &'static str, &'static str)],
    required: usize,
    /// Answers a call.
    call: fn(&Given<'_>, Run<'_>) -> Result<Ended, String>,
}

const SOURCE: (&str, &str, &str) = (
    "source",
    "string",
    "A run (`last`, `prev`, `-2`) or a ring file of the project; without it the run that failed last",
);
const THREAD: (&str, &str, &str) = ("thread", "string", "Only this thread, or test, by its name");

const TOOLS: &[Tool] = &[
    Tool {
        name: "xhist_run",
        description: "Run `cargo test` with these arguments, recorded. Answers with what failed: message, place, the last \
                      statements before it, and the most suspicious lines.",
        parameters: &[(
            "args",
            "array",
            "Arguments of `cargo test`, such as [\"--lib\", \"parses_list\"]; --values PATTERN records values",
        )],
        required: 0,
        call: run_tests,
    },
    Tool {
        name: "xhist_frame",
        description: "One call as a whole: its arguments, who called it, the statements that it ran in order with values, the \
                      calls that it made, and how it was left.",
        parameters: &[
            (
                "call",
                "string",
                "A function, `src/lib.rs:42`, or the number of an entry, with `#3` or `#last` behind it; without it the call that failed",
            ),
            SOURCE,
            THREAD,
        ],
        required: 0,
        call: frame,
    },
    Tool {
        name: "xhist_find",
        description: "Where a line, a function, a value or a printed text is in the history, in all processes of the run: how \
                      often, first, last, and the entries.",
        parameters: &[
            (
                "what",
                "string",
                "`src/lib.rs:42`, `Parser::next`, `NAME=VALUE` (`*` is any value), or a text that was printed or logged, behind a `\"`",
            ),
            SOURCE,
            THREAD,
            ("limit", "integer", "Hits that are listed, the newest (20)"),
        ],
        required: 1,
        call: find,
    },
    Tool {
        name: "xhist_source",
        description: "Source text with how often each line ran in a run, in one test, or in two of them side by side.",
        parameters: &[
            ("file", "string", "`src/lib.rs`, or lines of it: `src/lib.rs:30-60`"),
            ("test", "string", "Count only in this test"),
            ("beside", "string", "A second run, or RUN::TEST, to compare with"),
            SOURCE,
        ],
        required: 1,
        call: source,
    },
    Tool {
        name: "xhist_compare",
        description: "Where the control flow of a failed test parts from that of a passed one, with values.",
        parameters: &[
            ("failed", "string", "The failed test as RUN::TEST, such as `last::tests::parses_list`"),
            ("passed", "string", "The passed one as RUN::TEST; without it the passed test most like it"),
        ],
        required: 1,
        call: compare,
    },
];

/// The arguments of a call.
struct Given<'g> {
    all: &'g Map<String, Value>,
    project: PathBuf,
}

/// What the tools are, for a client.
pub(super) fn list() -> Value {
    let tool = |tool: &Tool| {
        let parameter = |(name, kind, text): &(&str, &str, &str)| {
            let mut schema = json!({ "type": kind, "description": text });
            if *kind == "array" {
                schema["items"] = json!({ "type": "string" });
            }
            ((*name).to_owned(), schema)
        };
        let required: Vec<&str> = tool.parameters[..tool.required].iter().map(|(name, ..)| *name).collect();
        json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": {
                "type": "object",
                "properties": tool.parameters.iter().map(parameter).collect::<Map<String, Value>>(),
                "required": required,
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": tool.name != "xhist_run", "openWorldHint": false },
        })
    };
    TOOLS.iter().map(tool).collect()
}

/// Calls a tool: its text, and whether it is an error that the caller can mend.
///
/// # Errors
/// There is no such tool.
pub(super) fn call(params: &Value, run: Run<'_>) -> Result<(String, bool), String> {
    let names = || TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| format!("no such tool; there are {}", names()))?;
    let empty = Map::new();
    let given = match params.get("arguments") {
        None | Some(Value::Null) => &empty,
        Some(Value::Object(given)) => given,
        Some(_) => return Ok((format!("`arguments` is an object; {}", usage(tool)), true)),
    };
    let is_known = |name: &&String| !tool.parameters.iter().any(|(known, ..)| known == name);
    if given.keys().any(|name| is_known(&name)) {
        return Ok((format!("an argument is not known; {}", usage(tool)), true));
    }
    let Some(project) = std::env::current_dir().and_then(std::fs::canonicalize).ok() else {
        return Ok(("no working directory: start the server in the project".to_owned(), true));
    };
    Ok(match (tool.call)(&Given { all: given, project }, run) {
        Ok(mut ended) => {
            let is_error = ended.code >= 2 && ended.out.is_empty();
            if is_error {
                ended.notes.push_str(&format!("{}\n", usage(tool)));
            }
            (text(&ended), is_error)
        }
        Err(why) => (bounded(&format!("{why}; {}", usage(tool)), ANSWER), true),
    })
}

/// How a tool is called.
fn usage(tool: &Tool) -> String {
    let parameter = |(index, (name, kind, text)): (usize, &(&str, &str, &str))| {
        let optional = if index < tool.required { "" } else { ", optional" };
        format!("{name} ({kind}{optional}): {text}")
    };
    let parameters: Vec<String> = tool.parameters.iter().enumerate().map(parameter).collect();
    format!("{} takes {}", tool.name, parameters.join("; "))
}

/// The text of an answer, within its bounds. What a program printed stays text: nothing in it acts on a terminal.
fn text(ended: &Ended) -> String {
    let notes = bounded(&ended.notes, NOTES);
    let out = bounded(&ended.out, ANSWER - notes.len() - 1);
    if notes.is_empty() {
        out
    } else {
        format!("{out}{}{notes}", if out.is_empty() || out.ends_with('\n') { "" } else { "\n" })
    }
}

/// The beginning of a text, whole lines, without characters that act on a terminal.
fn bounded(text: &str, bytes: usize) -> String {
    const MORE: &str = "... more\n";
    let shown = |c: char| if c == '\n' || c == '\t' || is_visible(c) { c } else { '\u{fffd}' };
    let plain: String = text.chars().take(bytes + 1).map(shown).collect();
    if plain.len() <= bytes {
        return plain;
    }
    let mut end = bytes.saturating_sub(MORE.len());
    while !plain.is_char_boundary(end) {
        end -= 1;
    }
    let end = plain[..end].rfind('\n').map_or(end, |line| line + 1);
    format!("{}{MORE}", &plain[..end])
}

impl Given<'_> {
    /// A text, checked.
    fn text(
        &self,
        name: &str,
        check: impl Fn(&str, &Path) -> Result<String, String>,
    ) -> Result<Option<String>, String> {
        match self.all.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => {
                check(text, &self.project).map(Some).map_err(|why| format!("`{name}`: {why}"))
            }
            Some(_) => Err(format!("`{name}` is a text")),
        }
    }

    fn needed(
        &self,
        name: &str,
        check: impl Fn(&str, &Path) -> Result<String, String>,
    ) -> Result<String, String> {
        self.text(name, check)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// The words of a command with those that all of them have.
    fn words(&self, command: &str, words: Vec<String>) -> Result<Vec<String>, String> {
        let mut all = vec![command.to_owned(), format!("--budget={}", ANSWER - NOTES - 1)];
        all.extend(
            self.text("thread", |text, _| places::plain(text))?.map(|thread| format!("--thread={thread}")),
        );
        all.extend(words);
        all.extend(self.text("source", places::history)?);
        Ok(all)
    }
}

fn plain(text: &str, _: &Path) -> Result<String, String> {
    places::plain(text)
}

fn frame(given: &Given<'_>, run: Run<'_>) -> Result<Ended, String> {
    // Without a call the word is empty: a source may follow.
    let call = given.text("call", plain)?.unwrap_or_default();
    Ok(run(&given.words("frame", vec![call])?))
}

fn find(given: &Given<'_>, run: Run<'_>) -> Result<Ended, String> {
    let mut words = vec![given.needed("what", plain)?];
    match given.all.get("limit") {
        None | Some(Value::Null) => {}
        Some(limit) => {
            let limit = limit.as_u64().ok_or("`limit` is a number from 0")?;
            words.insert(0, format!("--limit={limit}"));
        }
    }
    Ok(run(&given.words("find", words)?))
}

fn source(given: &Given<'_>, run: Run<'_>) -> Result<Ended, String> {
    let mut words = Vec::new();
    words.extend(given.text("test", plain)?.map(|test| format!("--test={test}")));
    words.extend(given.text("beside", places::history)?.map(|beside| format!("--beside={beside}")));
    words.push(given.needed("file", places::file)?);
    Ok(run(&given.words("source", words)?))
}

fn compare(given: &Given<'_>, run: Run<'_>) -> Result<Ended, String> {
    let failed = given.needed("failed", places::history)?;
    let mut words = Vec::new();
    words.extend(given.text("passed", places::history)?);
    words.push(failed);
    Ok(run(&given.words("compare", words)?))
}

/// Runs the tests; of a run that failed the answer and the suspects.
fn run_tests(given: &Given<'_>, run: Run<'_>) -> Result<Ended, String> {
    let texts = |value: &Value| value.as_str().map(str::to_owned).ok_or("`args` is a list of texts");
    let args = match given.all.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(args)) => args.iter().map(texts).collect::<Result<Vec<_>, _>>()?,
        Some(_) => return Err("`args` is a list of texts".to_owned()),
    };
    let args = cargo_args::checked(&args, &given.project)?;
    let newest = |run: Run<'_>| {
        let listed = run(&["runs".to_owned(), "--format=json".to_owned()]).out;
        let runs = listed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        runs.filter_map(|line| line.get("run")?.as_str().map(str::to_owned)).next_back()
    };
    let before = newest(run);
    let done = run(&[vec!["test".to_owned()], args].concat());
    let name = newest(run).filter(|name| Some(name) != before.as_ref());
    let Some(name) = name.filter(|_| done.code != 0) else {
        let what = if done.code == 0 {
            "nothing failed"
        } else {
            "not run to an end that was recorded; cargo printed"
        };
        let printed =
            if done.code == 0 { end_of(&done.out, TAIL) } else { end_of(&done.notes, ANSWER - NOTES) };
        return Ok(Ended {
            code: 0,
            out: format!("exit code {}: {what}\n{printed}", done.code),
            notes: String::new(),
        });
    };
    let answer = run(&["answer".to_owned(), "--budget=5000".to_owned(), name.clone()]);
    let suspects = run(&["suspects".to_owned(), "--limit=5".to_owned(), "--budget=2000".to_owned(), name]);
    let next = "next: xhist_frame (the call that failed), xhist_find, xhist_source, xhist_compare\n";
    Ok(Ended {
        code: 0,
        out: format!("exit code {}\n{}{}{next}", done.code, answer.out, suspects.out),
        notes: String::new(),
    })
}

/// The last whole lines of a text.
fn end_of(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    match from {
        0 => text,
        _ => text[from..].split_once('\n').map_or(&text[from..], |(_, lines)| lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(name: &str, arguments: Value) -> (String, bool) {
        let mut run = |words: &[String]| Ended { code: 0, out: words.join("|"), notes: String::new() };
        call(&json!({ "name": name, "arguments": arguments }), &mut run).unwrap()
    }

    #[test]
    fn each_tool_is_a_command() {
        for (name, arguments, words) in [
            ("xhist_frame", json!({}), "frame|--budget=7167|"),
            (
                "xhist_frame",
                json!({"call": "f#1", "source": "last", "thread": "main"}),
                "frame|--budget=7167|--thread=main|f#1|last",
            ),
            ("xhist_find", json!({"what": "x=1", "limit": 3}), "find|--budget=7167|--limit=3|x=1"),
            (
                "xhist_source",
                json!({"file": "src/lib.rs:1-9", "test": "a"}),
                "source|--budget=7167|--test=a|src/lib.rs:1-9",
            ),
            (
                "xhist_compare",
                json!({"failed": "last::a", "passed": "prev::a"}),
                "compare|--budget=7167|prev::a|last::a",
            ),
        ] {
            assert_eq!(words_of(name, arguments), (words.to_owned(), false));
        }
    }

    #[test]
    fn a_command_that_fails_is_answered_with_what_the_tool_takes() {
        let mut run = |_: &[String]| Ended { code: 3, out: String::new(), notes: "no such run\n".to_owned() };
        let (text, is_error) =
            call(&json!({ "name": "xhist_compare", "arguments": { "failed": "last" } }), &mut run).unwrap();
        assert!(is_error && text.starts_with("no such run\nxhist_compare takes failed (string): "), "{text}");
    }

    #[test]
    fn what_is_wrong_is_answered_with_what_the_tool_takes() {
        for (name, arguments, why) in [
            ("xhist_find", json!({}), "`what` is missing"),
            ("xhist_find", json!({"what": 3}), "`what` is a text"),
            ("xhist_find", json!({"what": "f", "source": "/etc/passwd"}), "outside of the project"),
            ("xhist_run", json!({"args": ["--config", "x"]}), "`--config` is refused"),
            ("xhist_run", json!({"args": "x"}), "list of texts"),
            ("xhist_frame", json!({"other": 1}), "not known"),
            ("xhist_source", json!([]), "is an object"),
        ] {
            let (text, is_error) = words_of(name, arguments);
            assert!(is_error && text.contains(why) && text.contains(&format!("{name} takes ")), "{text}");
        }
        assert!(
            call(&json!({ "name": "none" }), &mut |_| unreachable!())
                .unwrap_err()
                .contains("xhist_run, xhist_frame")
        );
    }

    #[test]
    fn an_answer_is_bounded_and_acts_on_no_terminal() {
        let long = Ended { code: 0, out: "\u{1b}[31mé\n".repeat(9000), notes: "note\n".repeat(9000) };
        let text = text(&long);
        assert!(
            text.len() <= ANSWER && !text.contains('\u{1b}') && text.ends_with("... more\n"),
            "{}",
            text.len()
        );
        assert_eq!(end_of("one\ntwo\nthree\n", 9), "three\n");
    }
}
