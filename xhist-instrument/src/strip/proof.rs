//! Proves an instrumented text before it is written: without the insertions it is the original, byte for byte and
//! token for token, and no line moved.

use crate::refusal::{ProofFailure, Refusal};
use crate::strip;
use crate::text::{LineIndex, TokenFingerprint};

/// Compares the result with the original, whose tokens have the fingerprint `tokens`.
///
/// Equal bytes are not enough: a call inside a name would go unnoticed. Equal tokens prove that no call splits a
/// token.
pub(crate) fn prove(original: &[u8], tokens: TokenFingerprint, result: &[u8]) -> Result<(), Refusal> {
    let (stripped, fingerprint) = strip::strip_for_proof(result, tokens.start)
        .map_err(|refusal| failure(original, 0, ProofFailure::NotStripped(Box::new(refusal))))?;
    if stripped != original {
        let same = stripped.iter().zip(original).take_while(|(a, b)| a == b).count();
        return Err(failure(original, same, ProofFailure::OtherBytes));
    }
    if fingerprint != tokens {
        return Err(failure(original, 0, ProofFailure::OtherTokens));
    }
    let newlines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count();
    if newlines(original) != newlines(result) {
        return Err(failure(original, 0, ProofFailure::MovedLines));
    }
    Ok(())
}

fn failure(original: &[u8], at: usize, failure: ProofFailure) -> Refusal {
    let place = LineIndex::new(original, 0).position(at.min(original.len()));
    Refusal::new(place, failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyze};

    /// The reason to refuse this result; empty when it is proved.
    fn against(original: &str, result: &str) -> String {
        let tokens = analyze(original.as_bytes(), &Options::default()).unwrap().tokens;
        prove(original.as_bytes(), tokens, result.as_bytes())
            .map_or_else(|r| r.to_string(), |()| String::new())
    }

    #[test]
    fn calls_in_the_code_are_proved() {
        assert_eq!(against("fn f() { x() }", "fn f() { ::xhist_rt::s(0x1_0001_0a01);x() }"), "");
        assert_eq!(against("fn f() { || x }", "fn f() { || {::xhist_rt::a(0x1_0001_0a01);x/*xh*/} }"), "");
        assert_eq!(against("", ""), "");
    }

    #[test]
    fn calls_in_comments_strings_and_words_are_refused() {
        for (original, result) in [
            ("fn f() {} // x", "fn f() {} // ::xhist_rt::s(0x1_0001_0a01);x"),
            ("fn f() { \"x\" }", "fn f() { \"::xhist_rt::s(0x1_0001_0a01);x\" }"),
            ("fn f() { xy() }", "fn f() { x::xhist_rt::s(0x1_0001_0a01);y() }"),
            ("fn f() { 'x' }", "fn f() { '::xhist_rt::s(0x1_0001_0a01);x' }"),
            ("/* x */", "/* ::xhist_rt::s(0x1_0001_0a01);x */"),
        ] {
            assert!(!against(original, result).is_empty(), "{result}");
        }
    }

    #[test]
    fn every_other_difference_is_found() {
        assert!(
            against("fn f() { x() }", "fn f() { ::xhist_rt::s(0x1_0001_0a01);y() }")
                .starts_with("1:10: could not")
        );
        assert!(against("fn f() {}", "fn f() {").contains("could not"));
        assert!(against("fn f() {}", "fn f() {}}").contains("could not"));
        let lines = "fn f() { /*xh*/#[cfg(a)]\n ::xhist_rt::c(0x1_0001_0a01);x() }";
        assert!(!against("fn f() { x() }", lines).is_empty());
    }
}
