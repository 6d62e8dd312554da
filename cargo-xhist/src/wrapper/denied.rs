//! Lints that the user's sources deny.
//!
//! The shadow is compiled with every lint as a warning at most, because an inserted call may break one. So its warnings only
//! hint at an error. The check of the user's sources decides.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::Command;

use serde_json::Value;

/// How the compiler begins the note about a level that an attribute sets.
const BY_ATTRIBUTE: &str = "the lint level is defined here";
/// How it ends the note about a level that is the default.
const BY_DEFAULT: &str = "on by default";
/// How it counts its errors. This error has no code, as lints have.
const COUNT: &str = "aborting due to ";

/// What is known of the lints that a compilation denies.
pub(super) struct Denied {
    /// Whether an argument denies one.
    by_argument: bool,
    /// Those that the compiler denies by default. It is asked when one of them may be there.
    by_default: Option<BTreeSet<String>>,
}

impl Denied {
    pub(super) fn new(args: &[OsString]) -> Denied {
        let denies = |arg: &OsString| {
            let arg = arg.to_string_lossy();
            ["-D", "-F", "--deny", "--forbid"].iter().any(|option| arg.starts_with(option))
        };
        Denied { by_argument: args.iter().any(denies), by_default: None }
    }

    /// Whether this warning about the shadow may be an error about the user's sources.
    pub(super) fn may_have(&mut self, warning: &Value, compiler: &mut Command) -> bool {
        let Some(lint) = warning["code"]["code"].as_str().filter(|_| warning["level"] == "warning") else {
            return false;
        };
        let notes = warning["children"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_set = |note: &Value| note["message"] == BY_ATTRIBUTE && !says_warn(note);
        let is_default =
            |note: &Value| note["message"].as_str().is_some_and(|text| text.ends_with(BY_DEFAULT));
        self.by_argument
            || notes.iter().any(is_set)
            || notes.iter().any(is_default)
                && self.by_default.get_or_insert_with(|| denied_by_default(compiler)).contains(lint)
    }
}

/// Whether the line of an attribute shows its level. Of a long list only the line of the lint is shown.
fn says_warn(note: &Value) -> bool {
    note["spans"].to_string().contains("warn(")
}

/// Whether this error comes from a lint, or counts such errors.
pub(super) fn is_of_lint(error: &Value) -> bool {
    match error["code"]["code"].as_str() {
        Some(code) => !code.starts_with('E'),
        None => error["message"].as_str().is_some_and(|text| text.starts_with(COUNT)),
    }
}

/// The lints that this compiler denies by default.
fn denied_by_default(compiler: &mut Command) -> BTreeSet<String> {
    let help = compiler.args(["-W", "help"]).output().map(|output| output.stdout).unwrap_or_default();
    named_in(&String::from_utf8_lossy(&help))
}

/// A line of the help has the name of a lint, its level, and what it finds.
fn named_in(help: &str) -> BTreeSet<String> {
    let mut rows =
        help.lines().map(str::split_whitespace).filter_map(|mut words| words.next().zip(words.next()));
    let denied = rows.by_ref().filter(|(_, level)| *level == "deny");
    denied.map(|(name, _)| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn warning(lint: &str, note: Value) -> Value {
        json!({"level": "warning", "code": {"code": lint}, "children": [note]})
    }

    fn by_attribute(line: &str) -> Value {
        json!({"message": BY_ATTRIBUTE, "spans": [{"text": [{"text": line}]}]})
    }

    fn may_have(args: &str, warning: &Value) -> bool {
        let args: Vec<OsString> = args.split_whitespace().map(OsString::from).collect();
        Denied::new(&args).may_have(warning, &mut Command::new("rustc"))
    }

    #[test]
    fn a_warning_may_be_denied_by_an_attribute_an_argument_or_the_compiler() {
        assert!(may_have("", &warning("unused", by_attribute("#![deny(warnings)]"))));
        assert!(may_have("", &warning("unused", by_attribute("    unused,"))), "a line of a long list");
        assert!(!may_have("", &warning("unused", by_attribute("#![warn(unused)]"))));

        let default = |lint| warning(lint, json!({"message": format!("`#[warn({lint})]` on by default")}));
        assert!(may_have("", &default("overflowing_literals")));
        assert!(!may_have("", &default("dead_code")));
        for args in ["-D warnings", "-Dwarnings", "--forbid=unsafe_code", "--deny unused", "-Funused"] {
            assert!(may_have(args, &default("dead_code")), "{args}");
        }
        assert!(!may_have("-D warnings", &json!({"level": "warning", "code": null, "children": []})));
    }

    #[test]
    fn only_lints_and_their_number_are_errors_of_lints() {
        let error = |code: Value, message: &str| json!({"level": "error", "code": code, "message": message});
        assert!(is_of_lint(&error(json!({"code": "dead_code"}), "field `a` is never read")));
        assert!(is_of_lint(&error(Value::Null, "aborting due to 2 previous errors; 1 warning emitted")));
        assert!(!is_of_lint(&error(json!({"code": "E0308"}), "mismatched types")));
        assert!(!is_of_lint(&error(Value::Null, "not on this system")));
    }
}
