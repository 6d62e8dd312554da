//! What a map knows of the statements in a line: their function, whether they wait, and their text.

use std::collections::HashMap;
use std::io;

use super::rounds::loops_that_go_on;
use crate::model::{Names, Ring, Span, TaskPlace};
use crate::notes::Notes;
use crate::options::ReadOptions;
use crate::program::map::Maps;
use crate::program::text::SourceText;

/// Most lines of a statement whose text is searched.
const MOST_LINES: u32 = 200;

/// Macros that do not leave the body around them.
const QUIET_MACROS: [&str; 6] = ["select", "join", "try_join", "format", "vec", "matches"];

/// The statements that start in a line.
#[derive(Clone, Debug)]
pub struct LineFacts {
    /// Path of the function of the first one; empty if the map has none.
    pub function: String,
    /// One of them contains an `.await` of its own body, outside of the statements inside it.
    pub awaits: bool,
    /// Last line of the longest one.
    end_line: u32,
}

/// A line of a ring's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinePlace {
    /// File id.
    pub file: u16,
    /// Line in the file.
    pub line: u32,
}

/// Looks lines up in maps and sources.
#[derive(Debug)]
pub struct LineLookup {
    text: SourceText,
    /// By number of the map and file id.
    files: HashMap<(usize, u16), HashMap<u32, LineFacts>>,
}

impl LineLookup {
    /// Looks where these options say.
    pub fn new(options: &ReadOptions) -> LineLookup {
        LineLookup { text: SourceText::new(options), files: HashMap::new() }
    }

    /// The line of a recorded statement.
    pub fn place(ring: &Ring, (file, line): (u16, u16), maps: &Maps) -> LinePlace {
        let place = maps.of(ring).1.place(file, line);
        LinePlace { file: place.file, line: place.line }
    }

    /// What the map knows of a line.
    pub fn facts(&mut self, ring: &Ring, place: LinePlace, maps: &Maps) -> Option<&LineFacts> {
        let (map, names) = maps.of(ring);
        let lines = self.files.entry((map, place.file)).or_insert_with(|| facts_of(names, place.file));
        lines.get(&place.line)
    }

    /// Whether the statements that start in a line reach to this line of the same file.
    pub fn reaches(&mut self, ring: &Ring, place: LinePlace, to: LinePlace, maps: &Maps) -> bool {
        let end = self.facts(ring, place, maps).map_or(0, |facts| facts.end_line);
        place.file == to.file && (place.line..=end).contains(&to.line)
    }

    /// How often the statements that start in a line call this function in their own text.
    pub fn count_calls(ring: &Ring, place: LinePlace, function: &str, maps: &Maps) -> usize {
        let names = maps.of(ring).1;
        let Some(code) = names.code(place.file) else { return 0 };
        let statements = names.statements(place.file).iter().zip(&code.statements);
        let in_line = statements.filter(|(span, _)| span.line == place.line);
        let calls = names.call_names();
        let called = in_line.flat_map(|(_, known)| calls.of(&known.calls));
        let named = called.filter_map(|call| calls.names().get(call.name as usize));
        named.filter(|name| means(name, function)).count()
    }

    /// The `while` whose head may wait for its next round, if a task ran this line last.
    pub fn waiting_loop(&mut self, ring: &Ring, place: LinePlace, maps: &Maps) -> Option<LinePlace> {
        let names = maps.of(ring).1;
        let (code, spans) = (names.code(place.file)?, names.statements(place.file));
        let statements = spans.iter().zip(&code.statements);
        let in_line = statements.filter(|(span, _)| span.line == place.line);
        let mut loops = in_line.flat_map(|(span, known)| loops_that_go_on(code, spans, span, known.jump));
        let waits = loops.find(|(around, first)| {
            let head = around.line..(*first).min(around.line.saturating_add(MOST_LINES));
            let line = |line| self.line(ring, place.file, line, maps).unwrap_or_default().to_owned();
            let head: String = head.map(line).collect();
            occurrences("while", &head) > 0 && head.contains(".await")
        });
        waits.map(|(around, _)| LinePlace { line: around.line, ..place })
    }

    /// Whether a task that is dropped while it is parked in this line was cancelled there. It was not where its body may
    /// end without another statement: behind its last statement, by `?`, by `return`, or by a macro.
    pub fn is_left_by_statements_only(&mut self, ring: &Ring, place: LinePlace, maps: &Maps) -> bool {
        let names = maps.of(ring).1;
        let Some((code, spans)) = names.code(place.file).map(|code| (code, names.statements(place.file)))
        else {
            return false;
        };
        let in_line = |span: &&Span| span.line == place.line;
        let awaiting =
            spans.iter().zip(&code.statements).filter(|(span, known)| known.awaits && in_line(span));
        let Ok([at]) = <[&Span; 1]>::try_from(awaiting.map(|(span, _)| span).take(2).collect::<Vec<_>>())
        else {
            return false;
        };
        let body = |span: &Span| {
            let around = code.bodies.iter().map(|body| body.span).filter(|body| body.contains(span));
            around.max_by_key(|body| (body.line, body.col))
        };
        let Some(own) = body(at) else { return false };
        let is_beside = |span: &&Span| own.contains(span) && body(span) == Some(own);
        let beside: Vec<&Span> = spans.iter().filter(is_beside).collect();
        // What follows the outermost statement around the `.await` runs next at the latest.
        let outermost =
            beside.iter().filter(|span| span.contains(at)).min_by_key(|span| (span.line, span.col));
        let outermost = outermost.map_or(*at, |span| **span);
        let follows = |span: &&&Span| (span.line, span.col) >= (outermost.end_line, outermost.end_col);
        if beside.iter().find(follows).is_none() {
            return false;
        }
        let mut lines = place.line..=outermost.end_line.min(place.line.saturating_add(MOST_LINES));
        lines.all(|line| {
            let text = self.line(ring, place.file, line, maps);
            text.is_some_and(|text| !may_leave(text))
        })
    }

    fn line(&mut self, ring: &Ring, file: u16, line: u32, maps: &Maps) -> Option<&str> {
        // The listing reports missing sources if it shows any.
        self.text.line(maps.of(ring), file, line, &mut Notes::new(&mut io::sink()))
    }

    /// A line as a user reads it.
    pub fn named(&mut self, ring: &Ring, place: LinePlace, maps: &Maps) -> TaskPlace {
        let function = self.facts(ring, place, maps).map_or_else(String::new, |facts| facts.function.clone());
        let source = self.line(ring, place.file, place.line, maps).map(str::to_owned);
        let path = maps.of(ring).1.shown_path(place.file).map(str::to_owned);
        TaskPlace { path, line: place.line, function, source }
    }
}

fn facts_of(names: &Names, file: u16) -> HashMap<u32, LineFacts> {
    let mut lines: HashMap<u32, LineFacts> = HashMap::new();
    for (statement, span) in names.described(file).zip(names.statements(file)) {
        let new =
            || LineFacts { function: statement.function.to_owned(), awaits: false, end_line: span.line };
        let facts = lines.entry(statement.line).or_insert_with(new);
        facts.awaits |= statement.awaits;
        facts.end_line = facts.end_line.max(span.end_line);
    }
    lines
}

/// Whether this text may leave its body. Only macros that are known do not.
fn may_leave(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('!') {
        let name = rest[..at].rsplit(|char: char| !is_part(char)).next().unwrap_or_default();
        if !name.is_empty() && !QUIET_MACROS.contains(&name) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    text.contains('?') || occurrences("return", text) > 0
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// How often a text has this word as a whole identifier.
fn occurrences(word: &str, text: &str) -> usize {
    let is_whole =
        |at: usize| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part);
    text.match_indices(word).filter(|(at, _)| is_whole(*at)).count()
}

/// Whether a call, as the map writes it, may mean this function. A function without a type is no method.
fn means(call: &str, function: &str) -> bool {
    let call = call.trim_start_matches(['*', '&']);
    let (of, word) = function.rsplit_once("::").unwrap_or(("", function));
    match call.strip_prefix('.') {
        Some(method) => method == word && !of.is_empty(),
        None => call.rsplit("::").next() == Some(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_whole_identifier() {
        assert_eq!(occurrences("return", "return a.returns(return_it)"), 1);
        assert_eq!(occurrences("while", "'a: while meanwhile(é) {"), 1);
    }

    #[test]
    fn a_function_without_a_type_is_no_method() {
        assert!(means("transfer", "transfer") && means("*bank::transfer", "transfer"));
        assert!(means(".transfer", "Store::transfer") && means("&Self::transfer", "Store::transfer"));
        assert!(!means(".transfer", "transfer") && !means("transfers", "transfer"));
    }

    #[test]
    fn question_marks_returns_and_unknown_macros_leave_a_body() {
        for text in ["a.await?;", "return a.await;", "b(bail!(c)).await"] {
            assert!(may_leave(text), "{text}");
        }
        for text in
            ["a.returns().await;", "if !a.await != b {", "tokio::select! {", "b(&format!(\"c\")).await"]
        {
            assert!(!may_leave(text), "{text}");
        }
    }
}
