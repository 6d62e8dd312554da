//! Commands that messages show to be typed next. They begin as the user's own command did: `xhist-report`, or `cargo xhist`,
//! of which this crate is a part.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

use qs_core::shown::{Quoted, QuotedPath};

/// A cargo command with the same words.
const CARGO: &str = "cargo xhist";
const OWN: &str = "xhist-report";
/// The report that `xhist-report` prints without a word for it.
const HISTORY: &str = "history";

/// The commands that only `cargo xhist` has, each with what it does.
pub type CargoCommands = &'static [(&'static str, &'static str)];

static CARGO_COMMANDS: OnceLock<CargoCommands> = OnceLock::new();

/// From now on, messages show commands of `cargo xhist`, which has these beside those of this crate.
pub fn use_cargo(commands: CargoCommands) {
    let _ = CARGO_COMMANDS.set(commands);
}

/// Whether this crate is a part of `cargo xhist`.
pub fn is_cargo() -> bool {
    CARGO_COMMANDS.get().is_some()
}

/// The commands that only `cargo xhist` has.
pub fn cargo_commands() -> CargoCommands {
    CARGO_COMMANDS.get().copied().unwrap_or_default()
}

/// The program as the user calls it.
pub fn program() -> &'static str {
    if is_cargo() { CARGO } else { OWN }
}

/// What each note and error begins with.
pub fn prefix() -> &'static str {
    if is_cargo() { "xhist: " } else { "xhist-report: " }
}

/// A whole command: `answer RUN`, or `history RING` for the statements themselves.
pub fn command(words: impl AsRef<str>) -> String {
    let words = words.as_ref();
    match words.strip_prefix(HISTORY).filter(|_| !is_cargo()) {
        Some(rest) => format!("{OWN}{rest}"),
        None => format!("{} {words}", program()),
    }
}

/// The variable of a command that the server for agents starts.
pub const SERVER: &str = "XHIST_SERVER";

/// Whether the server for agents started this command: its answers name tools to call, and no commands to type.
pub fn is_server() -> bool {
    std::env::var_os(SERVER).is_some()
}

/// A command that the server for agents has as a tool of this name, with its arguments in their order, and then options: each
/// has a name there. In an answer of the server it is the call of that tool.
pub fn tool(
    (words, tool): (&str, &str),
    arguments: &[(&str, &str)],
    options: &[(&'static str, String)],
) -> String {
    if !is_server() {
        let arguments = arguments.iter().map(|(_, word)| format!(" {}", quoted(word)));
        let options = options.iter().map(|(name, word)| format!(" --{name}={}", quoted(word)));
        return command(format!("{words}{}", arguments.chain(options).collect::<String>()));
    }
    let options = options.iter().map(|(name, word)| (*name, word.as_str()));
    let arguments: serde_json::Map<String, serde_json::Value> =
        arguments.iter().copied().chain(options).map(|(name, word)| (name.to_owned(), word.into())).collect();
    format!("{tool} {}", serde_json::Value::from(arguments))
}

/// A text whose examples begin with `xhist-report`, with the user's own command in its place. `is_command`: whether a word is a
/// command and not a source.
pub fn examples(text: &str, is_command: impl Fn(&str) -> bool) -> String {
    let mut parts = text.split(OWN);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let word = part.trim_start_matches(' ').split([' ', '`', '\n', ',']).next().unwrap_or_default();
        let history = if is_command(word) { "" } else { " history" };
        shown.push_str(CARGO);
        shown.push_str(history);
        shown.push_str(part);
    }
    shown
}

/// A path as one word of a command, relative to the working directory when it is below it. It is no option.
pub fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(here).unwrap_or(path);
    QuotedPath(path.as_os_str().as_encoded_bytes()).to_string()
}

/// Quotes a path as one word for a shell.
pub fn quoted(path: impl AsRef<OsStr>) -> String {
    Quoted(path.as_ref().as_encoded_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_those_of_cargo() {
        let text = "Examples:\n  xhist-report answer   what failed\n  xhist-report dump.bin --last 2\n  cat a | xhist-report\n";
        assert_eq!(
            examples(text, |word| word == "answer"),
            "Examples:\n  cargo xhist answer   what failed\n  cargo xhist history dump.bin --last 2\n  cat a | cargo xhist history\n"
        );
    }

    #[test]
    fn the_history_needs_no_word() {
        assert_eq!(command("history a.xhist"), "xhist-report a.xhist");
        assert_eq!(command("history"), "xhist-report");
        assert_eq!(command("answer a.xhist"), "xhist-report answer a.xhist");
    }
}
