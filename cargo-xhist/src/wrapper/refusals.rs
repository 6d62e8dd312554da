//! Compilers that refuse a call in the rules of a macro.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use qs_core::inserted::{GIVEN, IN_RULES};
use serde_json::{Value, json};

/// Runs a compiler. When it refuses a call in the rules of one of these macros, the name becomes a file in `directory`, and the
/// compiler's errors are not printed: the build is repeated.
pub(crate) fn run(
    command: &mut Command,
    recorded: &BTreeSet<String>,
    directory: &Path,
) -> io::Result<ExitStatus> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    let (mut errors, mut refused) = (Vec::new(), BTreeSet::new());
    let mut stderr = io::stderr();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        match error(&line) {
            // Cargo waits for all other lines, such as those that name finished files.
            None => stderr.write_all(&line)?,
            Some(error) => {
                refused.extend(macros(&error).into_iter().filter(|name| recorded.contains(name)));
                errors.extend_from_slice(&line);
            }
        }
        line.clear();
    }
    if refused.is_empty() {
        stderr.write_all(&errors)?;
    } else {
        std::fs::create_dir_all(directory)?;
        refused.iter().try_for_each(|name| std::fs::write(directory.join(name), ""))?;
        writeln!(stderr, "{}", announcement(&reason(&refused)))?;
    }
    child.wait()
}

/// The error in a line of the compiler, or its advice at the end.
fn error(line: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(line).ok()?;
    ["error", "failure-note"].contains(&message["level"].as_str()?).then_some(message)
}

/// Why the build is repeated.
fn reason(refused: &BTreeSet<String>) -> String {
    let names = refused.iter().map(|name| format!("`{name}!`")).collect::<Vec<_>>().join(", ");
    format!("the compiler takes no calls in the rules of {names}, so these are not recorded")
}

/// The message in place of the compiler's. Cargo prints it, and takes it for the reason of the failure.
pub(super) fn announcement(reason: &str) -> Value {
    let message = format!("xhist: {reason}; building again\n");
    json!({
        "$message_type": "diagnostic", "message": message, "rendered": message, "level": "error",
        "code": null, "spans": [], "children": [],
    })
}

/// The macros whose expansions an error is in, if it is about an inserted call.
fn macros(error: &Value) -> Vec<String> {
    let spans = || error["spans"].as_array().into_iter().flatten();
    let is_ours = |span: &Value| {
        span["is_primary"] == true
            && span["text"].as_array().into_iter().flatten().any(|line| names_recorder(line).unwrap_or(false))
    };
    if !spans().any(is_ours) {
        return Vec::new();
    }
    let mut names = Vec::new();
    for span in spans() {
        let mut expansion = &span["expansion"];
        while let Some(path) = expansion["macro_decl_name"].as_str() {
            names.push(path.rsplit("::").next().unwrap_or(path).trim_end_matches('!').to_owned());
            expansion = &expansion["span"]["expansion"];
        }
    }
    names
}

/// Whether the marked part of a line is an inserted call, or begins one.
fn names_recorder(line: &Value) -> Option<bool> {
    let column = |name: &str| usize::try_from(line[name].as_u64()?.checked_sub(1)?).ok();
    let (start, end) = (column("highlight_start")?, column("highlight_end")?);
    let text = line["text"].as_str()?;
    let marked: String = text.chars().skip(start).take(end.saturating_sub(start)).collect();
    let behind: String = text.chars().skip(start).collect();
    Some(marked.contains(GIVEN) || behind.trim_start_matches(['{', ' ']).starts_with(IN_RULES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_macros_around_an_inserted_call_are_refused() {
        let span = |text: &str, start: usize| {
            let inner =
                json!({"expansion": {"macro_decl_name": "$crate::outer!", "span": {"expansion": null}}});
            json!({
                "is_primary": true, "text": [{"text": text, "highlight_start": start, "highlight_end": start + 6}],
                "expansion": {"macro_decl_name": "inner!", "span": inner},
            })
        };
        let call = "  $crate::__xhist_rt::e(0x1_0001_0201);f()";
        let found = |span: Value| macros(&json!({"message": "expected an item", "spans": [span]}));
        assert_eq!(found(span(call, 3)), ["inner", "outer"]);
        assert_eq!(found(span(call, 40)), [""; 0], "the user's own code");
    }
}
