//! Reads `--format history` from a pipe: the paper's listing, and nothing else may be in it.

use std::path::Path;

/// A listed statement, or another record where `line` is 0 and `path` the text of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// File as the map names it.
    pub path: String,
    /// Line in it, from 1.
    pub line: u32,
    /// The thread's name, where the listing has this column.
    pub thread: String,
}

/// A history, oldest first.
#[derive(Clone, Debug)]
pub struct Listing(pub Vec<Entry>);

impl Listing {
    /// Reads a listing. Fails when a line is not an entry or the numbers do not count from 1.
    #[track_caller]
    pub fn parse(text: &str) -> Listing {
        // A loop's further rounds have a line of their own, without a number.
        let lines = text.lines().filter(|line| !line.starts_with("... line"));
        let entries = lines.enumerate().map(|(index, line)| {
            let (number, rest) =
                line.split_once(' ').unwrap_or_else(|| panic!("no line of a listing: {line:?}"));
            assert_eq!(number, (index + 1).to_string(), "numbers count from 1: {line:?}");
            let (subject, thread) = rest.split_once('\t').unwrap_or((rest, ""));
            let is_path = |path: &str| !path.is_empty() && (!path.contains(' ') || path.ends_with(".rs"));
            let place = subject.rsplit_once(':').filter(|(path, _)| is_path(path));
            let (path, line) = match place.and_then(|(path, line)| Some((path, line.parse().ok()?))) {
                Some(place) => place,
                None => (subject, 0),
            };
            Entry { path: path.to_owned(), line, thread: thread.to_owned() }
        });
        Listing(entries.collect())
    }

    /// Fails when there is anything but statements.
    #[track_caller]
    pub fn only_statements(self) -> Listing {
        let other = self.0.iter().find(|entry| entry.line == 0);
        assert_eq!(other, None, "only statements");
        self
    }

    /// `file:line` of every statement.
    pub fn places(&self) -> Vec<String> {
        self.statements().map(|entry| format!("{}:{}", entry.path, entry.line)).collect()
    }

    /// Every statement.
    pub fn statements(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.0.iter().filter(|entry| entry.line != 0)
    }

    /// `file:line` of the newest statement.
    #[track_caller]
    pub fn last(&self) -> String {
        let last = self.statements().next_back().expect("a statement");
        format!("{}:{}", last.path, last.line)
    }
}

/// The line of a source file that holds this text, exactly once; a text with `//` ends its line.
#[track_caller]
pub fn line_of(file: &Path, text: &str) -> u32 {
    let source = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let holds = |line: &str| if text.contains("//") { line.ends_with(text) } else { line.contains(text) };
    let lines = source.lines().enumerate().filter(|(_, line)| holds(line));
    let lines: Vec<usize> = lines.map(|(index, _)| index + 1).collect();
    assert_eq!(lines.len(), 1, "{text:?} is once in {}", file.display());
    u32::try_from(lines[0]).expect("a line number")
}
