//! The words of a command line before they are parsed: which of them is the value of `--thread`, and which the source.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::source;

/// An option whose value may be left out.
const OPTION: &str = "--thread";

/// The same words, with `--thread NAME` as one. A link, `-` and a file behind `--thread` are sources. A file without a dot and a slash
/// in its name may have the name of a thread: it is the source only if no other word may be one.
pub fn joined(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
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
    if text.starts_with('-') || text.is_empty() || source::is_link(value) {
        return false;
    }
    let is_file = |word: &OsStr| Path::new(word).is_file();
    if !is_file(value) {
        return true;
    }
    let may_be_source = |(place, word): (usize, &OsString)| {
        place > 0 && place != at && (source::is_link(word) || word == "-" || is_file(word))
    };
    !text.contains(['.', '/']) && words.iter().enumerate().any(may_be_source)
}

#[cfg(test)]
mod tests {
    use super::*;

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
