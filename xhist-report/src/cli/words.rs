//! The words of a command line before they are parsed: which of them are values of `--thread` and `-d`, and which the source.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::live::link;

/// The words as clap reads them.
pub fn prepared(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    with_dictionary(with_command(joined(words)))
}

/// An option whose value may be left out.
const OPTION: &str = "--thread";

/// Reports that were formats of the history: the command of each.
const COMMANDS: [(&str, &[&str]); 9] = [
    ("calls", &["calls"]),
    ("calls-json", &["calls", "--format", "json"]),
    ("qspy", &["qspy"]),
    ("traceinfo", &["traceinfo"]),
    ("lcov", &["coverage"]),
    ("html", &["page"]),
    ("perfetto", &["export", "perfetto"]),
    ("folded", &["export", "folded"]),
    ("codetracer", &["export", "codetracer"]),
];

/// The same words, with the name of a report behind `--format` as its command.
fn with_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_format = |word: &OsString| word == "--format";
    let Some(at) = words.iter().position(is_format) else { return words };
    let is_named = |(name, _): &&(&str, &[&str])| words.get(at + 1).is_some_and(|word| word == name);
    let Some((_, command)) = COMMANDS.iter().find(is_named) else { return words };
    words.drain(at..at + 2);
    // The command may be there already.
    if words.get(1).is_some_and(|word| word == command[0]) {
        words.remove(1);
    }
    words.splice(1..1, command.iter().map(OsString::from));
    words
}

/// The same words, with `-d FILE` as one: `-d` needs no file, and a source may follow it, so a file of dictionaries is known by
/// its name.
fn with_dictionary(words: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word == "-d" || word == "--dictionaries";
    let is_file = |word: &OsString| Path::new(word).extension().is_some_and(|end| end == "dic");
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    for word in words {
        match joined.last_mut().filter(|last| is_option(last) && is_file(&word)) {
            Some(option) => {
                option.push("=");
                option.push(word);
            }
            None => joined.push(word),
        }
    }
    joined
}

/// The same words, with `--thread NAME` as one. A link, `-` and a file behind `--thread` are sources. A file without a dot and a slash
/// in its name may have the name of a thread: it is the source only if no other word may be one.
fn joined(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let words: Vec<OsString> = words.into_iter().collect();
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut joined = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let word = &words[at];
        at += 1;
        match words.get(at).filter(|_| at < end && word == OPTION) {
            Some(value) if is_thread(value, &words, at) => {
                let mut option = OsString::from("--thread=");
                option.push(value);
                joined.push(option);
                at += 1;
            }
            _ => joined.push(word.clone()),
        }
    }
    joined
}

/// Whether the word at this place names a thread.
fn is_thread(value: &OsStr, words: &[OsString], at: usize) -> bool {
    let Some(text) = value.to_str() else { return false };
    if text.starts_with('-') || text.is_empty() || link::is_link(value) {
        return false;
    }
    let is_file = |word: &OsStr| Path::new(word).is_file();
    if !is_file(value) {
        return true;
    }
    let may_be_source = |(place, word): (usize, &OsString)| {
        place > 0 && place != at && (link::is_link(word) || word == "-" || is_file(word))
    };
    !text.contains(['.', '/']) && words.iter().enumerate().any(may_be_source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_behind_format_is_a_command() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (typed, meant) in [
            ("r a.xhist --format calls", "r calls a.xhist"),
            ("r --format calls-json a", "r calls --format json a"),
            ("r --format perfetto -o b a", "r export perfetto -o b a"),
            ("r --format json a", "r --format json a"),
            ("r coverage --format lcov a", "r coverage a"),
            ("r export --format folded a", "r export folded a"),
            ("r a --format", "r a --format"),
        ] {
            assert_eq!(with_command(words(typed)), words(meant));
        }
    }

    #[test]
    fn a_file_of_dictionaries_is_the_value_of_its_option() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (typed, meant) in [
            ("r qspy -d a.dic b.bin", "r qspy -d=a.dic b.bin"),
            ("r qspy -d b.bin", "r qspy -d b.bin"),
            ("r qspy b.bin -d", "r qspy b.bin -d"),
            ("r qspy -d=a.dic c.dic", "r qspy -d=a.dic c.dic"),
        ] {
            assert_eq!(with_dictionary(words(typed)), words(meant));
        }
    }

    #[test]
    fn the_word_behind_thread_is_its_value_unless_it_is_a_source() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(path("dump"), "").unwrap();
        let dump = path("dump");
        let joined = |words: &[&str]| {
            let all = std::iter::once("xhist-report").chain(words.iter().copied()).map(OsString::from);
            let all = joined(all).into_iter().skip(1).map(|word| word.into_string().unwrap());
            all.collect::<Vec<_>>()
        };
        assert_eq!(joined(&["--thread", "main", "a.bin"]), ["--thread=main", "a.bin"]);
        assert_eq!(joined(&["a.bin", "--thread"]), ["a.bin", "--thread"]);
        assert_eq!(joined(&["--thread", "--time"]), ["--thread", "--time"]);
        assert_eq!(joined(&["--thread", "-"]), ["--thread", "-"]);
        assert_eq!(joined(&["--thread", "tcp://h:1"]), ["--thread", "tcp://h:1"]);
        assert_eq!(joined(&["--thread", &dump]), ["--thread", &dump]);
        assert_eq!(joined(&["--thread", &dump, &dump]), ["--thread", &dump, &dump]);
        assert_eq!(joined(&["--", "--thread", "x"]), ["--", "--thread", "x"]);
    }
}
