//! The source texts and the values of the statements that an answer lists.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use super::answer_rows::{MOST_TEXT, Sources};
use xhist_history::answer::{Code, ListedStatement, Row};
use xhist_history::model::{Names, ShownValue, shortened, values_line};
use xhist_history::notes::Notes;
use xhist_history::program::text::SourceText;
use xhist_history::program::tokens::without_comments;

/// Lines of a statement's text that are read.
const TEXT_LINES: u32 = 30;
/// Characters of the first line that need no more to be understood.
const LONG_ENOUGH: usize = 60;
/// Characters of the arguments of a call whose beginning has no lines.
const MOST_ARGUMENTS: usize = 80;
/// Lines of an open statement that are always shown.
const SHORT: usize = 3;

/// The first lines of a statement as one line, up to the block that it opens, and the number of the last one. `is_open`: all of
/// a few lines, or those that there is room for.
fn in_one_line(whole: &str, is_open: bool) -> (String, u32) {
    // A comment at the end of a line would hide the next line.
    let whole = if whole.contains('\n') { without_comments(whole) } else { whole.to_owned() };
    let lines: Vec<&str> = whole.lines().map(str::trim).collect();
    let head = lines.iter().position(|line| line.ends_with('{')).map_or(lines.len(), |last| last + 1);
    let is_short = is_open && head <= SHORT;
    let (mut text, mut last) = (String::new(), 1);
    for (number, line) in (1..).zip(&lines[..head]).filter(|(_, line)| !line.is_empty()) {
        let is_full = match is_open {
            true => text.chars().count() + line.chars().count() >= MOST_TEXT,
            false => text.chars().count() > LONG_ENOUGH,
        };
        if is_full && !text.is_empty() && !is_short {
            break;
        }
        if !text.is_empty() && !text.ends_with('(') && !line.starts_with([')', '.', '?']) {
            text.push(' ');
        }
        text.push_str(line);
        last = number;
    }
    (text, last)
}

/// The texts and files of the statements in a ring.
pub(super) struct RingSources<'s, 'n> {
    text: &'s mut SourceText,
    map: usize,
    names: &'n Names,
    /// Values by the time of their statement; and those of first rounds.
    pub(super) values: HashMap<u64, Vec<ShownValue>>,
    pub(super) first_values: HashMap<u64, Vec<ShownValue>>,
    /// Arguments of calls whose beginning has no lines, by the time of their first statement.
    pub(super) arguments: HashMap<u64, Vec<ShownValue>>,
    /// Characters of the values in a line.
    pub(super) most_values: usize,
}

impl<'s, 'n> RingSources<'s, 'n> {
    pub(super) fn new(text: &'s mut SourceText, (map, names): (usize, &'n Names)) -> RingSources<'s, 'n> {
        let (values, first_values, arguments) = (HashMap::new(), HashMap::new(), HashMap::new());
        RingSources { text, map, names, values, first_values, arguments, most_values: usize::MAX }
    }
}

impl RingSources<'_, '_> {
    pub(super) fn line(&mut self, file: u16, line: u32) -> Option<&str> {
        // A missing file is no news: the places are there without it.
        let mut nowhere = io::sink();
        self.text.line((self.map, self.names), file, line, &mut Notes::new(&mut nowhere))
    }

    /// All lines of a statement.
    pub(super) fn whole(&mut self, code: &Code, statement: ListedStatement) -> Option<String> {
        let (file, span) = code.place(statement);
        let (first, last) = (span.line, span.end_line);
        let mut text = self.line(file, first)?.to_owned();
        for line in first + 1..=last.min(first.saturating_add(TEXT_LINES)) {
            text.push('\n');
            text.push_str(self.line(file, line).unwrap_or_default());
        }
        Some(text)
    }
}

impl Sources for RingSources<'_, '_> {
    fn text(&mut self, code: &Code, statement: ListedStatement, is_open: bool) -> Option<(String, u32)> {
        let whole = self.whole(code, statement)?;
        let first = code.place(statement).1.line;
        let (text, lines) = in_one_line(&whole, is_open);
        Some((text, first + lines - 1))
    }

    fn values(&mut self, row: &Row) -> String {
        if let Some(arguments) = row.entry.and_then(|(_, run)| self.arguments.get(&run)) {
            let most = self.most_values.min(MOST_ARGUMENTS);
            return format!("  {}", shortened(&values_line(arguments), most));
        }
        let of = |known: &HashMap<u64, Vec<ShownValue>>, runs: &[u64]| {
            let values = runs.iter().filter_map(|run| known.get(run)).flatten();
            values.cloned().collect::<Vec<_>>()
        };
        let newest = of(&self.values, &row.runs);
        let mut first = of(&self.first_values, &row.firsts);
        // What did not change is written once.
        first.retain(|first| {
            !newest.iter().any(|value| (&value.name, &value.text) == (&first.name, &first.text))
        });
        let of = |values: &[ShownValue]| shortened(&values_line(values), self.most_values);
        match (newest.is_empty(), first.is_empty()) {
            (true, _) => String::new(),
            (false, true) => format!("  {}", of(&newest)),
            (false, false) => format!("  {}; first {}", of(&newest), of(&first)),
        }
    }

    fn file(&mut self, code: &Code, statement: ListedStatement) -> Option<PathBuf> {
        let (file, span) = code.place(statement);
        self.line(file, span.line)?;
        self.text.file(self.map, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::ReadOptions;
    use xhist_history::answer::RowKind;

    #[test]
    fn values_take_the_room_that_there_is() {
        let (mut text, names) = (SourceText::new(&ReadOptions::default()), Names::default());
        let mut sources = RingSources::new(&mut text, (0, &names));
        let value =
            ShownValue { name: "total".into(), text: "x".repeat(100), is_here: true, ..Default::default() };
        sources.values.insert(7, vec![value]);
        let row = Row { runs: vec![7], ..Row::new(0, 1, RowKind::Overwritten) };
        assert_eq!(sources.values(&row), format!("  total = {}", "x".repeat(100)));
        sources.most_values = 10;
        assert_eq!(sources.values(&row), "  total = xx…");
    }

    #[test]
    fn open_statements_have_all_of_a_few_lines_or_those_that_there_is_room_for() {
        let call =
            "match search(\n    &self.reverse, // a comment\n    text.len(),\n) {\n    Some(_) => 1,\n}";
        let whole = "match search(&self.reverse, text.len(),) {";
        assert_eq!(in_one_line(call, false), (whole.to_owned(), 4));
        assert_eq!(in_one_line(call, true), (whole.to_owned(), 4));
        let long = |lines: usize| vec!["x".repeat(MOST_TEXT / 2 + 8); lines].join("\n");
        let last = |lines, is_open| in_one_line(&long(lines), is_open).1;
        assert_eq!([1, 2, 3, 4].map(|lines| last(lines, true)), [1, 2, 3, 1]);
        assert_eq!([1, 2, 3, 4].map(|lines| last(lines, false)), [1, 1, 1, 1]);
    }
}
