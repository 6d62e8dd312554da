//! Compilers that refuse a call because its function has lost the keyword `const`, or a call in the rules of a macro.

use std::collections::BTreeSet;

use qs_core::inserted::{self, GIVEN, IN_RULES};
use serde_json::{Value, json};

/// The compiler's code for a call in a const context of a function that is not const.
const CODE: &str = "E0015";

/// The functions and macros that a warning or an error of the compiler refuses.
pub(super) fn refused(diagnostic: &Value) -> Vec<String> {
    if !["error", "failure-note"].contains(&diagnostic["level"].as_str().unwrap_or_default()) {
        return Vec::new();
    }
    function(diagnostic).map(str::to_owned).into_iter().chain(macros(diagnostic)).collect()
}

/// Why the build is repeated.
pub(super) fn reason(refused: &BTreeSet<String>) -> String {
    let listed = |is_macro: bool| {
        let names = refused.iter().filter(|name| name.ends_with('!') == is_macro);
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let reason = match (listed(false).as_str(), listed(true).as_str()) {
        (functions, "") => format!("a constant needs {functions} as `const fn`"),
        ("", macros) => format!("the compiler takes no calls in the rules of {macros}"),
        (functions, macros) => format!(
            "a constant needs {functions} as `const fn`, and the compiler takes no calls in the rules of {macros}"
        ),
    };
    format!("{reason}, so these are not recorded")
}

/// The message in place of the compiler's. Cargo prints it, and takes it for the reason of the failure.
pub(super) fn announcement(reason: &str) -> Value {
    let message = format!("xhist: {reason}; building again\n");
    json!({
        "$message_type": "diagnostic", "message": message, "rendered": message, "level": "error",
        "code": null, "spans": [], "children": [],
    })
}

/// The function that an error refuses.
fn function(error: &Value) -> Option<&str> {
    let message = error["message"].as_str().filter(|_| error["code"]["code"] == CODE)?;
    let (_, behind) = message.split_once('`')?;
    let path = behind.split_once('`')?.0;
    // `A::<T>::name`, `name::<T>` and `<A as B>::name`: the last name outside of brackets.
    let (mut depth, mut start, mut name) = (0, 0, None);
    for (at, char) in path.char_indices().chain([(path.len(), ':')]) {
        match char {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 && !is_name(char) {
            name = path.get(start..at).filter(|name| name.chars().all(is_name) && !name.is_empty()).or(name);
            start = at + char.len_utf8();
        }
    }
    name
}

/// The macros whose expansions an error is in, if it is about an inserted call.
fn macros(error: &Value) -> Vec<String> {
    let spans = || error["spans"].as_array().into_iter().flatten();
    let is_ours = |span: &Value| {
        span["is_primary"] == true
            && span["text"].as_array().into_iter().flatten().any(|line| names_recorder(line).unwrap_or(false))
    };
    // Rules of another crate are shown from its own sources, without our calls.
    let is_refused = || function(error).is_some_and(|name| inserted::recording(name.as_bytes()).is_some());
    if !is_refused() && !spans().any(is_ours) {
        return Vec::new();
    }
    let mut names = Vec::new();
    for span in spans() {
        let mut expansion = &span["expansion"];
        while let Some(path) = expansion["macro_decl_name"].as_str() {
            names.push(path.rsplit("::").next().unwrap_or(path).to_owned());
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

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refused_function_is_the_last_name() {
        for (path, name) in [
            ("f", "f"),
            ("m::f", "f"),
            ("A::new", "new"),
            ("A::<T>::new", "new"),
            ("A::<B<C>>::new", "new"),
            ("f::<u8>", "f"),
            ("<A as B>::name", "name"),
            ("<A<B> as C>::name::<D>", "name"),
        ] {
            let text = format!("cannot call non-const function `{path}` in constants");
            let line = json!({"message": text, "code": {"code": CODE}, "level": "error"});
            assert_eq!(refused(&line), [name], "{path}");
            let warning = json!({"message": text, "code": {"code": CODE}, "level": "warning"});
            assert_eq!(refused(&warning), [""; 0]);
            let other = json!({"message": text, "code": {"code": "E0001"}, "level": "error"});
            assert_eq!(function(&other), None);
        }
    }

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
        let found = |message: &str, span: Value| {
            macros(&json!({"message": message, "code": {"code": CODE}, "spans": [span]}))
        };
        assert_eq!(found("expected an item", span(call, 3)), ["inner!", "outer!"]);
        assert_eq!(found("wrong type", span(call, 40)), [""; 0], "the user's own code");
        // The rules of another crate: the text is that of its sources.
        let refused = "cannot call non-const function `xhist_rt::el` in constants";
        assert_eq!(found(refused, span("  f()", 3)), ["inner!", "outer!"]);
        assert_eq!(found("cannot call non-const function `f`", span("  f()", 3)), [""; 0]);
    }
}
