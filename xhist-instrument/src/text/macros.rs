//! Finds `macro_rules!` definitions without parsing.

use super::lexer::{Kind, Lexer};

/// A `macro_rules!` definition.
#[derive(Debug, PartialEq)]
pub(crate) struct MacroDefinition<'t> {
    pub name: &'t str,
    /// What stands between the outermost brackets.
    pub rules: &'t str,
    /// Other crates may import it.
    pub exported: bool,
}

/// All of a text. Definitions inside definitions are not looked for.
pub(crate) fn macro_definitions(text: &str) -> Vec<MacroDefinition<'_>> {
    let mut found = Vec::new();
    // Most files have none.
    let Some(first) = memchr::memmem::find(text.as_bytes(), b"macro_rules") else { return found };
    // A lexer that starts in a comment or string would take it for code.
    let mut tokens = Lexer::new(text.as_bytes(), 0).filter(|(kind, _)| *kind != Kind::Comment);
    let mut exported = false;
    while let Some((kind, word)) = tokens.next() {
        exported |= kind == Kind::Word && &text[word.clone()] == "macro_export";
        if word.start < first || &text[word] != "macro_rules" {
            continue;
        }
        let exported = std::mem::take(&mut exported);
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
            found.push(MacroDefinition { name: &text[name], rules: &text[open.end..close.start], exported });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_with_their_rules() {
        let text = "// macro_rules! no { }\n#[macro_export]\nmacro_rules! a { (x) => { \"}\" }; }\nfn f() {}\nmacro_rules! b(() => (););";
        let a = MacroDefinition { name: "a", rules: " (x) => { \"}\" }; ", exported: true };
        let b = MacroDefinition { name: "b", rules: "() => ();", exported: false };
        assert_eq!(macro_definitions(text), [a, b]);
        assert_eq!(macro_definitions("macro_rules! a { (x"), []);
        assert_eq!(macro_definitions("macro_rules ! $name { }"), []);
    }
}
