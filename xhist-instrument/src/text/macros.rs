//! Finds `macro_rules!` definitions without parsing.

use super::lexer::{Kind, Lexer};

/// Names and rules: what stands between the outermost brackets. Definitions inside definitions are not looked for.
pub(crate) fn macro_definitions(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    // Most files have none.
    let Some(first) = memchr::memmem::find(text.as_bytes(), b"macro_rules") else { return found };
    // A lexer that starts in a comment or string would take it for code.
    let mut tokens = Lexer::new(text.as_bytes(), 0).filter(|(kind, _)| *kind != Kind::Comment);
    while let Some((_, word)) = tokens.next() {
        if word.start < first || &text[word] != "macro_rules" {
            continue;
        }
        let (Some((Kind::Mark(b'!'), _)), Some((Kind::Word, name)), Some((Kind::Open(_), open))) =
            (tokens.next(), tokens.next(), tokens.next())
        else {
            continue;
        };
        let mut depth = 1;
        let close = tokens.by_ref().find(|(kind, _)| {
            match kind {
                Kind::Open(_) => depth += 1,
                Kind::Close => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        if let Some((_, close)) = close {
            found.push((&text[name], &text[open.end..close.start]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_with_their_rules() {
        let text = "// macro_rules! no { }\nmacro_rules! a { (x) => { \"}\" }; }\nfn f() {}\nmacro_rules! b(() => (););";
        assert_eq!(macro_definitions(text), [("a", " (x) => { \"}\" }; "), ("b", "() => ();")]);
        assert_eq!(macro_definitions("macro_rules! a { (x"), []);
        assert_eq!(macro_definitions("macro_rules ! $name { }"), []);
    }
}
