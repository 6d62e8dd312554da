//! Proves an instrumented text before anybody sees it: without what was inserted it is the original, byte for byte and
//! token for token, and no line moved.

use crate::refusal::Refusal;
use crate::strip;
use crate::text::{LineIndex, TokenPrint};

/// Compares the result with the original, whose tokens have the fingerprint `tokens`.
///
/// Bytes alone do not tell a name from two halves of it: no call may stand within a token.
pub(crate) fn prove(original: &[u8], tokens: TokenPrint, result: &[u8]) -> Result<(), Refusal> {
    let (stripped, print) = strip::take_out(result, tokens.start)
        .map_err(|left| defect(original, 0, &format!("could not be undone ({left})")))?;
    if stripped != original {
        let same = stripped.iter().zip(original).take_while(|(a, b)| a == b).count();
        return Err(defect(original, same, "could not be undone exactly"));
    }
    if print != tokens {
        return Err(defect(original, 0, "would change the code around the calls"));
    }
    let newlines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count();
    if newlines(original) != newlines(result) {
        return Err(defect(original, 0, "would move lines"));
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
        assert_eq!(against("fn f() { x() }", "fn f() { ::xhist_rt::s::<1,1,9>();x() }"), "");
        assert_eq!(against("fn f() { || x }", "fn f() { || {::xhist_rt::a::<1,1,9>();x/*xh*/} }"), "");
        assert_eq!(against("", ""), "");
    }

    #[test]
    fn calls_in_comments_strings_and_words_are_not() {
        for (original, result) in [
            ("fn f() {} // x", "fn f() {} // ::xhist_rt::s::<1,1,9>();x"),
            ("fn f() { \"x\" }", "fn f() { \"::xhist_rt::s::<1,1,9>();x\" }"),
            ("fn f() { xy() }", "fn f() { x::xhist_rt::s::<1,1,9>();y() }"),
            ("fn f() { 'x' }", "fn f() { '::xhist_rt::s::<1,1,9>();x' }"),
            ("/* x */", "/* ::xhist_rt::s::<1,1,9>();x */"),
        ] {
            assert!(!against(original, result).is_empty(), "{result}");
        }
    }

    #[test]
    fn every_other_difference_is_found() {
        assert!(
            against("fn f() { x() }", "fn f() { ::xhist_rt::s::<1,1,9>();y() }")
                .starts_with("1:10: could not")
        );
        assert!(against("fn f() {}", "fn f() {").contains("could not"));
        assert!(against("fn f() {}", "fn f() {}}").contains("could not"));
        let lines = "fn f() { /*xh*/#[cfg(a)]\n ::xhist_rt::c::<1,1,9>();x() }";
        assert!(!against("fn f() { x() }", lines).is_empty());
    }
}
