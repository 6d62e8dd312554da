//! Is the text of the repository plain English? Words that hide who does what are listed.

use std::path::Path;

use walkdir::WalkDir;
use xhist_tests::structure::CRATES;
use xhist_tests::{Case, Tree, repository};

pub const CASES: &[Case] = &[
    Case::new("vague_words_of_the_repository_are_listed", listed),
    Case::new("vague_words_are_found_in_text_and_in_names", found),
];

/// Words and phrases that a plain word replaces. They are found in comments, strings and names alike.
const VAGUE: &[(&str, &str)] = &[
    ("tell", "print, report, show, record, write, encode, send, detect, count, declare, warn"),
    ("tells", "prints, reports, shows, ..."),
    ("told", "printed, reported, shown, ..."),
    ("telling", "printing, reporting, showing, ..."),
    ("tellings", "reports"),
    ("teller", "the thing that prints, reports, ..."),
    ("untold", "not reported"),
    ("so many", "N, that many"),
    ("so much", "N bytes, that much"),
    ("so long", "for N seconds, that long"),
    ("manieth", "the number"),
    ("stand", "is, appears"),
    ("stands", "is, appears"),
    ("is none", "is not one"),
    ("are none", "are not any"),
    ("none of ours", "not ours"),
    ("anew", "again, from scratch"),
    ("nobody", "no thread, no reader, nothing"),
    ("somebody", "a thread, the user"),
    ("whoever", "the thread, the caller, the user"),
    ("whichever", "any"),
    ("heed", "apply"),
    ("heeds", "applies"),
    ("heeded", "applied"),
    ("of before", "previous"),
    ("at length", "on the slow path"),
    ("shortly", "on the fast path"),
    ("bear in mind", "remember"),
    ("be it", "whether"),
    ("by now", "(nothing)"),
    ("had better", "should"),
    ("all the same", "nevertheless"),
];

/// `is no RING`: say `is not a RING`.
const NOT_A: &[&str] = &[
    "ring",
    "frame",
    "record",
    "kind",
    "statement",
    "name",
    "number",
    "reason",
    "flake",
    "loss",
    "text",
    "type",
    "link",
    "source",
    "path",
    "file",
    "place",
    "word",
    "loop",
    "thread",
];

/// What is ours beside the crates: the folders and files at the root that people write.
const PARTS: &[&str] = &[
    "xhist-fleet",
    "tests",
    "samples",
    "fuzz",
    "docs",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    ".ci",
];

/// The words of a line in lower case; those of a name are words as well.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for char in line.chars() {
        let begins = char.is_uppercase() && before.is_lowercase();
        if begins || !char.is_alphanumeric() {
            words.push(String::new());
        }
        if char.is_alphanumeric() {
            words.last_mut().expect("a word").extend(char.to_lowercase());
        }
        before = char;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a phrase is in a text, with spaces between its words: `is none`, but not `is_none()`.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_part = |char: Option<char>| char.is_some_and(|char| char.is_alphanumeric() || char == '_');
    text.match_indices(phrase).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + phrase.len()..].chars().next())
    })
}

/// The vague words of a line, each with what to write instead.
fn vague(line: &str) -> Vec<String> {
    let words = words(line);
    let text = line.to_lowercase();
    let mut found = Vec::new();
    for (phrase, instead) in VAGUE.iter().filter(|(phrase, _)| phrase.contains(' ')) {
        if has_phrase(&text, phrase) {
            found.push(format!("`{phrase}` ({instead})"));
        }
    }
    for at in 0..words.len() {
        for (word, instead) in VAGUE.iter().filter(|(word, _)| words[at] == *word) {
            found.push(format!("`{word}` ({instead})"));
        }
        if let [is, no, noun, ..] = &words[at..]
            && is == "is"
            && no == "no"
            && NOT_A.contains(&noun.as_str())
        {
            found.push(format!("`is no {noun}` (is not a {noun})"));
        }
    }
    found
}

/// Texts that people write here: no build output, nothing that was recorded.
fn is_text(path: &Path) -> bool {
    let is_recorded =
        path.iter().any(|part| ["target", "seeds", "corpus", "expected"].iter().any(|name| part == *name));
    let ending = path.extension().unwrap_or_default();
    let is_own = path.ends_with("tests/it/english.rs") || path.ends_with("out.rs");
    !is_recorded
        && !is_own
        && (["rs", "md", "toml", "tsv"].iter().any(|known| ending == *known) || path.ends_with("run"))
}

/// Prints the vague words of all parts. They are a failure with `XHIST_TESTS_ENGLISH=1` only, as in `.ci/run`: the first
/// change of a stranger should not fail for a word.
fn listed() {
    let found: Vec<String> =
        CRATES.iter().chain(PARTS).flat_map(|part| vague_in(&repository().join(part))).collect();
    let list = found.join("\n");
    let is_strict = std::env::var_os("XHIST_TESTS_ENGLISH").is_some_and(|value| value == "1");
    assert!(found.is_empty() || !is_strict, "{} vague words:\n{list}", found.len());
    if !found.is_empty() {
        eprintln!("warning: {} vague words; plain ones are in brackets:\n{list}", found.len());
    }
}

/// The vague words in the texts of a folder, or of a file, each with its place.
fn vague_in(root: &Path) -> Vec<String> {
    let entries = WalkDir::new(root).sort_by_file_name().into_iter().map(|entry| entry.expect("an entry"));
    let mut found = Vec::new();
    for file in entries.filter(|entry| entry.file_type().is_file() && is_text(entry.path())) {
        let Ok(text) = std::fs::read_to_string(file.path()) else { continue };
        let name = file.path().strip_prefix(repository()).unwrap_or(file.path()).display().to_string();
        for (number, line) in (1..).zip(text.lines()) {
            found.extend(vague(line).into_iter().map(|word| format!("{name}:{number}: {word}")));
        }
    }
    found
}

fn found() {
    let tree = Tree::empty("english");
    tree.write("a.md", "# Plain\n\nIt is told.\n");
    tree.write("target/b.md", "It is told.\n");
    let listed = vague_in(tree.path());
    assert!(matches!(&listed[..], [line] if line.contains("a.md:3: `told`")), "{listed:?}");
    for line in
        ["// It is told.", "fn last_told() {}", "struct ToldTwice;", "it is no\tring", "So many of them"]
    {
        assert_eq!(vague(line).len(), 1, "{line}");
    }
    for line in
        ["// It is printed, to a stranger.", "// It is not a ring.", "if it.is_none() {", "at += length;"]
    {
        assert!(vague(line).is_empty(), "{line}");
    }
}
