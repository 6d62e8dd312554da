//! Proves an instrumented text before anybody sees it: without what was inserted it is the original, byte for byte and
//! token for token, and no line moved.

use crate::refusal::Refusal;
use crate::strip::Inserted;
use crate::text::{Lexer, LineIndex, TokenPrint};

/// Compares the result with the original, whose tokens have the fingerprint `tokens`.
///
/// Bytes alone do not tell a call in the code from one in a comment or a string, nor a name from two halves of it.
pub(crate) fn prove(original: &[u8], tokens: TokenPrint, result: &[u8]) -> Result<(), Refusal> {
    let mut rest = original;
    let mut kept = 0;
    let mut print = TokenPrint::new(tokens.start);
    let mut lexer = Lexer::new(result, tokens.start).peekable();
    let end = result.len()..result.len();
    for range in Inserted::new(result).chain(std::iter::once(end)) {
        let between = &result[kept..range.start];
        let Some(behind) = rest.strip_prefix(between) else {
            let same = between.iter().zip(rest).take_while(|(a, b)| a == b).count();
            return Err(defect(original, original.len() - rest.len() + same, "could not be undone exactly"));
        };
        let inserted_before = kept - (original.len() - rest.len());
        while let Some((_, token)) = lexer.next_if(|(_, token)| token.start < range.start) {
            // One that reaches into the insertion is as long as none of the original's.
            print.see(&(token.start - inserted_before..token.end - inserted_before));
        }
        while lexer.next_if(|(_, token)| token.start < range.end && token.end <= range.end).is_some() {}
        if result[range.clone()].contains(&b'\n') {
            return Err(defect(original, original.len() - behind.len(), "would move lines"));
        }
        (rest, kept) = (behind, range.end);
    }
    if !rest.is_empty() {
        return Err(defect(original, original.len() - rest.len(), "could not be undone exactly"));
    }
    if print != tokens {
        return Err(defect(original, 0, "would change the code around the calls"));
    }
    Ok(())
}

fn defect(original: &[u8], at: usize, what: &str) -> Refusal {
    let place = LineIndex::new(original, 0).position(at.min(original.len()));
    Refusal::new(place, format!("{what} (a defect of this tool, please report it); left alone"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyze};

    /// The reason against this result.
    fn against(original: &str, result: &str) -> String {
        let tokens = analyze(original.as_bytes(), &Options::default()).unwrap().tokens;
        prove(original.as_bytes(), tokens, result.as_bytes())
            .map_or_else(|r| r.to_string(), |()| String::new())
    }

    #[test]
    fn calls_in_the_code_are_proved() {
        assert_eq!(against("fn f() { x() }", "fn f() { ::xhist_rt::s(1,1);x() }"), "");
        assert_eq!(against("fn f() { || x }", "fn f() { || {::xhist_rt::a(1,1);x/*xh*/} }"), "");
        assert_eq!(against("", ""), "");
    }

    #[test]
    fn calls_in_comments_strings_and_words_are_not() {
        for (original, result) in [
            ("fn f() {} // x", "fn f() {} // ::xhist_rt::s(1,1);x"),
            ("fn f() { \"x\" }", "fn f() { \"::xhist_rt::s(1,1);x\" }"),
            ("fn f() { xy() }", "fn f() { x::xhist_rt::s(1,1);y() }"),
            ("fn f() { 'x' }", "fn f() { '::xhist_rt::s(1,1);x' }"),
            ("/* x */", "/* ::xhist_rt::s(1,1);x */"),
        ] {
            assert!(against(original, result).contains("change the code"), "{result}");
        }
    }

    #[test]
    fn every_other_difference_is_found() {
        assert!(
            against("fn f() { x() }", "fn f() { ::xhist_rt::s(1,1);y() }").starts_with("1:10: could not")
        );
        assert!(against("fn f() {}", "fn f() {").contains("could not"));
        assert!(against("fn f() {}", "fn f() {}}").contains("could not"));
        let lines = "fn f() { /*xh*/#[cfg(a)]\n ::xhist_rt::c(1,1);x() }";
        assert!(!against("fn f() { x() }", lines).is_empty());
    }
}
