//! The colours of Rust source, line by line: keywords and comments.

use crate::view::row::RowRole;

const KEYWORDS: &[&str] = &[
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "false", "fn",
    "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self",
    "Self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while",
];

/// The parts of a line. Strings and comments of several lines are not known.
pub fn spans(text: &str) -> Vec<(RowRole, String)> {
    let comment = comment(text);
    let mut spans: Vec<(RowRole, String)> = Vec::new();
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let mut rest = &text[..comment];
    while !rest.is_empty() {
        let starts_word = rest.starts_with(is_word);
        let end = rest.find(|char| is_word(char) != starts_word).unwrap_or(rest.len());
        let role = if KEYWORDS.contains(&&rest[..end]) { RowRole::Keyword } else { RowRole::Plain };
        match spans.last_mut() {
            Some((last, text)) if *last == role => text.push_str(&rest[..end]),
            _ => spans.push((role, rest[..end].to_owned())),
        }
        rest = &rest[end..];
    }
    spans.push((RowRole::Comment, text[comment..].to_owned()));
    spans
}

/// Where the comment of a line starts.
fn comment(text: &str) -> usize {
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, char) in text.char_indices() {
        match char {
            '"' if !is_escaped => in_string = !in_string,
            '/' if !in_string && text[at..].starts_with("//") => return at,
            _ => {}
        }
        is_escaped = char == '\\' && !is_escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_comments_are_found() {
        let line = "    let url = \"http://a\"; // if";
        let found = spans(line);
        let text = |role| {
            found.iter().filter(|(of, _)| *of == role).map(|(_, text)| text.as_str()).collect::<String>()
        };
        assert_eq!((text(RowRole::Keyword).as_str(), text(RowRole::Comment).as_str()), ("let", "// if"));
        assert_eq!(found.iter().map(|(_, text)| text.len()).sum::<usize>(), line.len());
    }
}
