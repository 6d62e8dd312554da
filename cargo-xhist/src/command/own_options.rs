//! The options of `cargo xhist` itself: separates them from cargo's and parses them.
//!
//! Cargo's options pass through in any order and place, and the list of them is cargo's. So clap sees only our own: a
//! table of their names, which comes from the same struct, picks them out.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use crate::error::{Error, UsageError};
use xhist_instrument::Settings;

/// See the module.
#[derive(Clone, Debug, Default, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct OwnOptions {
    /// Record these dependencies too (`all`: every one that a program is made of).
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) deps: Vec<String>,

    /// Annotate failures and suspects for GitHub. Any other value is cargo's.
    #[arg(skip)]
    pub(crate) github: bool,

    /// Print the answer as JSON behind cargo's messages, which are JSON as well.
    #[arg(skip)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,

    /// Cargo's own option: ours goes below that directory.
    #[arg(long, hide = true)]
    pub(crate) target_dir: Option<PathBuf>,
}

/// Settings that only manifests and `xhist-instrument` have: cargo has an `--exclude` of its own.
const NOT_OURS: [&str; 3] = ["include", "exclude", "thin"];

/// The names of our options, with their hyphens, and whether each has a value.
static NAMES: LazyLock<Vec<(String, bool)>> = LazyLock::new(|| {
    let command = command();
    let ours = command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg.get_action())));
    let ours = ours.filter(|(name, _)| !NOT_OURS.contains(name));
    ours.map(|(name, action)| (format!("--{name}"), action.takes_values())).collect()
});

fn command() -> clap::Command {
    // As with cargo, the last of several values counts.
    let command = OwnOptions::command().args_override_self(true);
    NOT_OURS.iter().fold(command, |command, name| command.mut_arg(name, |arg| arg.hide(true)))
}

/// Whether this is one of our options, with its value in the next word.
pub(crate) fn wants_value(word: &OsStr) -> bool {
    NAMES.iter().any(|(name, has_value)| *has_value && word == &**name)
}

/// Parses our options among these words, and returns the other words.
pub(crate) fn split(words: &[OsString]) -> Result<(OwnOptions, Vec<OsString>), Error> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let (mut github, mut json) = (false, false);
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        json |= format_of(word, words.peek().copied()).is_some_and(|format| format.starts_with(JSON));
        if word == MESSAGE_FORMAT && words.next_if(|value| *value == GITHUB).is_some() || is_github(word) {
            github = true;
        } else if wants_value(word) {
            // Joined, a value may start with a hyphen. If it is missing, clap reports that.
            let mut joined = word.clone();
            if let Some(value) = words.next() {
                joined.push("=");
                joined.push(value);
            }
            own.push(joined);
        } else if is_ours(word) {
            own.push(word.clone());
        } else {
            if let Some(meant) = ours_meant(word) {
                let word = word.display();
                let text = format!("cargo has no option `{word}`; did you mean `{meant}` of cargo xhist?");
                return Err(UsageError::Option(format!("{text}\n\nSee `cargo xhist --help`.")).into());
            }
            others.push(word.clone());
        }
    }
    let matches = command().try_get_matches_from(own).map_err(|error| usage(&error))?;
    let mut own = OwnOptions::from_arg_matches(&matches).map_err(|error| usage(&error))?;
    (own.github, own.json) = (github, json);
    own.deps.iter_mut().for_each(|name| *name = name.trim().to_owned());
    own.deps.retain(|name| !name.is_empty());
    Ok((own, others))
}

/// Cargo's option, and its value that is ours.
const MESSAGE_FORMAT: &str = "--message-format";
const GITHUB: &str = "github";

/// What begins the values of cargo for machines.
const JSON: &str = "json";

/// The format of messages that a word asks for, perhaps with the next one.
fn format_of<'w>(word: &'w OsStr, next: Option<&'w OsString>) -> Option<&'w str> {
    match word.to_str()?.strip_prefix(MESSAGE_FORMAT)? {
        "" => next?.to_str(),
        joined => joined.strip_prefix('='),
    }
}

/// These words of nextest without `--message-format json`: it has no such format, so that is ours alone.
pub(crate) fn without_json(words: Vec<OsString>) -> Vec<OsString> {
    let mut others = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if format_of(&word, words.peek()) != Some(JSON) {
            others.push(word);
        } else if word == MESSAGE_FORMAT {
            words.next();
        }
    }
    others
}

/// Both in one word.
fn is_github(word: &OsStr) -> bool {
    word.to_str().and_then(|word| word.split_once('=')) == Some((MESSAGE_FORMAT, GITHUB))
}

/// Whether a word is one of our options, alone or joined with its value by `=`.
fn is_ours(word: &OsStr) -> bool {
    let word = word.as_encoded_bytes();
    let rest = |name: &str| word.strip_prefix(name.as_bytes());
    NAMES.iter().filter_map(|(name, _)| rest(name)).any(|rest| rest.is_empty() || rest.starts_with(b"="))
}

/// Our option that this word, which is another, probably means: without this, cargo would refuse it only after all was
/// prepared, and suggest one of its own.
fn ours_meant(word: &OsStr) -> Option<&'static str> {
    let name = word.to_str()?.strip_prefix("--")?;
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    let ours = NAMES.iter().map(|(ours, _)| ours.as_str());
    let meant = xhist_report::cli::meant(name, ours.clone().map(|ours| &ours[2..]))?;
    ours.into_iter().find(|ours| &ours[2..] == meant)
}

/// Clap's message, without the prefix that the caller adds and the hint at clap's own help.
pub(crate) fn usage(error: &clap::Error) -> Error {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    UsageError::Option(text.split("\n\nFor more information").next().unwrap_or(text).trim_end().to_owned())
        .into()
}

/// Our options as the help lists them.
pub(crate) fn help() -> String {
    let text = command().help_template("{options}").render_help().to_string();
    text.trim_end().lines().map(wrapped).collect()
}

/// A line, broken between words where it gets too long.
fn wrapped(line: &str) -> String {
    const WIDTH: usize = 110;
    let indent = line.len() - line.trim_start().len();
    let (mut text, mut column) = (" ".repeat(indent), indent);
    for (index, word) in line.split_whitespace().enumerate() {
        let is_first = index == 0;
        if !is_first && column + word.len() >= WIDTH {
            text += &format!("\n{:indent$}{word}", "");
            column = indent + word.len();
        } else {
            text += &format!("{}{word}", if is_first { "" } else { " " });
            column += word.len() + usize::from(!is_first);
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_instrument::When;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn every_own_option_is_taken_and_the_last_single_value_wins() {
        let line =
            "--when before -q --deps a,,b --when=after x --exclude y --stop-at=a.rs:1 --stop-at -b.rs:2";
        let (own, others) = split(&words(line)).expect("it is valid");
        assert_eq!((own.settings.when, own.deps), (Some(When::After), vec!["a".into(), "b".into()]));
        assert_eq!(own.settings.stop_at, ["a.rs:1", "-b.rs:2"]);
        assert_eq!(others, words("-q x --exclude y"));
    }

    #[test]
    fn of_the_formats_of_messages_one_is_ours() {
        for (line, is_ours, rest) in [
            ("--message-format github -q", true, "-q"),
            ("-q --message-format=github", true, "-q"),
            ("--message-format json", false, "--message-format json"),
            ("--message-format=short -q", false, "--message-format=short -q"),
        ] {
            let (own, others) = split(&words(line)).expect("it is valid");
            assert_eq!((own.github, others), (is_ours, words(rest)), "{line}");
        }
    }

    #[test]
    fn json_is_for_cargo_and_for_us() {
        for (line, is_json, rest, of_nextest) in [
            ("--message-format json -q", true, "--message-format json -q", "-q"),
            ("-q --message-format=json", true, "-q --message-format=json", "-q"),
            (
                "--message-format=json-render-diagnostics -q",
                true,
                "--message-format=json-render-diagnostics -q",
                "--message-format=json-render-diagnostics -q",
            ),
            (
                "--message-format libtest-json",
                false,
                "--message-format libtest-json",
                "--message-format libtest-json",
            ),
            ("--message-formats json", false, "--message-formats json", "--message-formats json"),
        ] {
            let (own, others) = split(&words(line)).expect("it is valid");
            assert_eq!((own.json, &others), (is_json, &words(rest)), "{line}");
            assert_eq!(without_json(others), words(of_nextest), "{line}");
        }
    }

    #[test]
    fn errors_name_the_option_and_what_it_takes() {
        let message = |line| split(&words(line)).expect_err("it is invalid").to_string();
        assert!(message("--detail --release").contains("invalid value '--release' for '--detail <DETAIL>'"));
        assert!(message("--stop-at").starts_with("a value is required for '--stop-at <FILE:LINE"));
    }

    #[test]
    fn a_typo_in_our_option_is_an_error_before_cargo_starts() {
        for (line, meant) in [
            ("--dep", "--deps"),
            ("-q --dpes=all", "--deps"),
            ("--stopat a.rs:1", "--stop-at"),
            ("--value **", "--values"),
            ("--when-at before --whne after", "--when"),
        ] {
            let message = split(&words(line)).expect_err("it is a typo").to_string();
            assert!(message.contains(&format!("did you mean `{meant}`")), "{line}: {message}");
        }
        // Options of cargo and of nextest, and words that are no options.
        let cargos = "--all --all-features --all-targets --archive-file --artifact-dir --bench --benches --bin --bins \
             --build-plan --cargo-profile --color --compile-time-deps --config --doc --example --examples --exclude \
             --fail-fast --features --final-status-level --frozen --future-incompat-report --help \
             --ignore-rust-version --jobs --keep-going --lib --list --locked --lockfile-path --manifest-path \
             --max-fail --message-format --no-capture --no-default-features --no-fail-fast --no-run --no-tests \
             --offline --out-dir --package --partition --profile --quiet --release --retries --run-ignored \
             --status-level --target --test --test-threads --tests --timings --tool-config-file --unit-graph \
             --verbose --version --workspace deps whne";
        let cargos: Vec<OsString> = cargos.split_whitespace().map(OsString::from).collect();
        assert_eq!(split(&cargos).expect("they are cargo's").1, cargos);
    }

    #[test]
    fn the_help_lists_our_options_and_no_others() {
        let help = help();
        let listed = |name: &str| help.lines().any(|line| line.trim_start().starts_with(name));
        assert!(["--deps", "--detail", "--when", "--stop-at", "--start-at"].iter().all(|name| listed(name)));
        assert!(!["--include", "--exclude", "--thin", "--target-dir"].iter().any(|name| listed(name)));
    }
}
