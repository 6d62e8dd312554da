//! Detects that a source changed since its map was made, by the places of statements.

use qs_core::map::numbers::LINES_PER_ID;

use crate::model::Span;
use crate::program::text::plain::lines_of_calls;

/// Longest line whose columns are checked: longer ones would take too long.
const LONG_LINE: usize = 4096;

/// The line of the first statement that is not where the map has it; `None` if all are in place.
///
/// A statement has to start at the start of a word and to end at the end of one: shifted lines soon break that.
pub fn first_moved_line(text: &str, statements: &[Span]) -> Option<u32> {
    let lines: Vec<&str> = text.lines().collect();
    let line = |number: u32| lines.get((number as usize).checked_sub(1)?).copied();
    let is_in_place = |span: &Span| match (line(span.line), line(span.end_line)) {
        (Some(first), Some(last)) => is_in_place(span, first, last),
        _ => false,
    };
    statements.iter().find(|span| !is_in_place(span)).map(|span| span.line)
}

/// Whether the text was instrumented in place.
pub fn is_instrumented(text: &str) -> bool {
    lines_of_calls(text).next().is_some()
}

fn is_in_place(span: &Span, first: &str, last: &str) -> bool {
    if is_instrumented(first) {
        // Instrumented in place: columns moved, but the calls have the line numbers.
        let recorded = span.line.saturating_sub(1) % LINES_PER_ID + 1;
        return lines_of_calls(first).chain(lines_of_calls(last)).any(|line| line == recorded);
    }
    let is_empty = (span.end_line, span.end_col) <= (span.line, span.col);
    starts_at(first, span.col) && (is_empty || is_instrumented(last) || ends_at(last, span.end_col))
}

fn starts_at(line: &str, col: u32) -> bool {
    around(line, col).is_none_or(|(before, at)| {
        at.is_some_and(|at| !at.is_whitespace() && (!is_word(at) || !before.is_some_and(is_word)))
    })
}

fn ends_at(line: &str, col: u32) -> bool {
    around(line, col).is_none_or(|(last, next)| {
        last.is_some_and(|last| {
            let goes_on = next.is_some_and(|next| is_word(next) || matches!(next, '.' | ':' | '('));
            !last.is_whitespace() && (matches!(last, ';' | '}') || !goes_on)
        })
    })
}

/// The characters before and at a column, from 1; `None` if the line is too long.
fn around(line: &str, col: u32) -> Option<(Option<char>, Option<char>)> {
    if line.len() > LONG_LINE {
        return None;
    }
    let mut chars = line.trim_start_matches('\u{feff}').chars();
    let before = (col as usize).checked_sub(2).and_then(|index| chars.nth(index));
    let is_past_the_end = col > 1 && before.is_none();
    Some((before, if is_past_the_end { None } else { chars.next() }))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn main() {\n    let wörd = f(1);\n    match x { 1 => g(), _ => {} }\n    h()\n}\n";

    fn span(line: u32, col: u32, end_col: u32) -> Span {
        Span { line, col, end_line: line, end_col }
    }

    fn spans() -> Vec<Span> {
        vec![span(2, 5, 21), span(3, 5, 34), span(3, 20, 23), span(4, 5, 8)]
    }

    #[test]
    fn statements_in_place_are_accepted() {
        assert_eq!(first_moved_line(TEXT, &spans()), None);
        assert_eq!(first_moved_line(&TEXT.replace('\n', "\r\n"), &spans()), None);
        assert_eq!(first_moved_line(&TEXT.replace("f(1)", "f(2)"), &spans()), None);
        assert_eq!(first_moved_line("\u{feff}f();", &[span(1, 1, 5)]), None);
    }

    #[test]
    fn an_edit_that_moves_a_statement_is_seen() {
        assert_eq!(first_moved_line(&TEXT.replace("    match", "\n    match"), &spans()), Some(3));
        assert_eq!(first_moved_line(&format!("use a::b;\n{TEXT}"), &spans()), Some(2));
        assert_eq!(first_moved_line(&TEXT.replace("wörd", "w"), &spans()), Some(2));
        assert_eq!(first_moved_line(&TEXT.replace("    h()\n", ""), &spans()), Some(4));
        assert_eq!(first_moved_line("", &spans()), Some(2));
        let nowhere = Span { line: 0, col: 0, end_line: 0, end_col: 0 };
        assert_eq!(first_moved_line(TEXT, &[nowhere]), Some(0));
    }

    #[test]
    fn in_an_instrumented_text_the_calls_decide() {
        let text = TEXT
            .replace("let", "::xhist_rt::s(0x1_0002_0a01);let")
            .replace("h()", "::xhist_rt::s(0x1_0004_0a01);h()");
        let statements = [span(2, 5, 21), span(4, 5, 8)];
        assert_eq!(first_moved_line(&text, &statements), None);
        assert_eq!(first_moved_line(&text.replace("    match", "\n    match"), &statements), Some(4));
        // A call before the attributes of its statement, and one in the middle of it.
        let apart = "/*xh*/#[a] ::xhist_rt::c(0x1_0001_0a01);#[a]\nlet x =\n    f(|| {::xhist_rt::a(0x1_0003_0a01);1/*xh*/});";
        let wide = Span { line: 2, col: 1, end_line: 3, end_col: 13 };
        assert_eq!(first_moved_line(apart, &[wide, span(3, 10, 11)]), None);
        let far = format!("{}::xhist_rt::s(0x2_0001_0a01);f();", "\n".repeat(65_535));
        assert_eq!(first_moved_line(&far, &[span(65_536, 1, 5)]), None);
        // A call of the user's own does not count.
        assert_eq!(first_moved_line("xhist_rt::init();", &[span(1, 1, 18)]), None);
    }
}
