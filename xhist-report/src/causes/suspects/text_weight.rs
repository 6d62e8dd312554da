//! How likely a line is a mistake by its text alone: lines that compare or compute more than those that only declare or end.

use super::maker_text::code_of;

/// Two-character operators.
const OPERATORS: [&str; 16] =
    ["==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<", ">>", ".."];
/// Operators with a space on either side, which types and references do not have.
const SPACED: [&str; 10] = [" + ", " - ", " * ", " / ", " % ", " < ", " > ", " & ", " | ", " ^ "];
/// Calls that choose or count.
const CHOICES: [&str; 12] = [
    "min(",
    "max(",
    "saturating_",
    "wrapping_",
    "checked_",
    ".len()",
    "is_empty(",
    "true",
    "false",
    ".abs",
    ".rev(",
    "skip(",
];
/// Lines that begin so open a block and do nothing else.
const OPENINGS: [&str; 4] = ["unsafe {", "{", "loop {", "else {"];
/// Lines that begin so end with a result.
const ENDINGS: [&str; 7] = ["Ok(())", "None", "Some(self)", "self", "break", "continue", "return;"];
/// Checks of the programmer's own.
const CHECKS: [&str; 5] = ["debug_assert", "assert", "panic!", "unreachable!", "unimplemented!"];

/// The weight of a line that only calls or names something.
pub const CALLS: f64 = 0.5;

/// What panics because of the value that a call returned.
const CHECKED: [&str; 5] = ["assert", ".unwrap()", ".unwrap_err()", ".expect(", ".expect_err("];

/// Whether a line that panicked only checks a value.
pub fn only_checks(text: &str) -> bool {
    CHECKED.iter().any(|check| text.contains(check))
}

/// What the text of a line says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextEvidence {
    /// How likely the line is a mistake, from 0 to 1.
    pub weight: f64,
    /// It panics because it checks something.
    pub is_check: bool,
}

impl TextEvidence {
    /// The evidence of a line; without its text it says nothing.
    pub fn of(text: Option<&str>) -> TextEvidence {
        let is_check = text.is_some_and(|text| CHECKS.iter().any(|check| text.contains(check)));
        TextEvidence { weight: text.map_or(0.5, text_weight), is_check }
    }
}

/// Whether an arm or a branch of a line only returns a constant: a literal, or a path of names.
fn is_constant(code: &str) -> bool {
    let result = code.rsplit("=>").next().unwrap_or(code).trim().trim_end_matches([',', ';']);
    let result = result.strip_prefix("return ").unwrap_or(result);
    let of_constant = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.');
    let is_quoted = |quote: char| result.len() > 1 && result.starts_with(quote) && result.ends_with(quote);
    let is_constant = |first: char| first.is_ascii_digit() || first.is_ascii_uppercase();
    is_quoted('"') || is_quoted('\'') || result.starts_with(is_constant) && result.bytes().all(of_constant)
}

/// How likely a line is a mistake by its text, from 0 to 1.
pub fn text_weight(text: &str) -> f64 {
    let text = text.trim();
    let is_opening = OPENINGS.contains(&text) || text.is_empty();
    let begins = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    if is_opening {
        return 0.0;
    }
    if begins(&CHECKS) {
        return 0.2;
    }
    if ENDINGS.contains(&text.trim_end_matches([';', ','])) {
        return 0.3;
    }
    let code = code_of(text);
    if is_constant(code) {
        return 0.3;
    }
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let has_number = code
        .bytes()
        .zip(code.bytes().skip(1))
        .any(|(before, byte)| byte.is_ascii_digit() && !before.is_ascii_alphanumeric() && before != b'_');
    match (has(&OPERATORS) || has(&SPACED), has(&CHOICES) || has_number || code.contains('!')) {
        (true, _) => 1.0,
        (false, true) => 0.8,
        (false, false) => CALLS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_compute_weigh_more_than_those_that_open_a_block() {
        let weights =
            ["while len < *len_ptr {", "let x = f(1);", "let x = f(y);", "None", "unsafe {"].map(text_weight);
        assert!(weights.is_sorted_by(|one, other| one > other), "{weights:?}");
    }

    #[test]
    fn arms_that_return_a_constant_yield_to_lines_that_compute() {
        for constant in
            ["10", "0x1F => 7,", "'a' => Kind::Word,", "return 3;", "_ => \"text\",", "Some(b'-') => 1.5,"]
        {
            assert_eq!(text_weight(constant), 0.3, "{constant}");
        }
        for computed in
            ["x => x as u8,", "_ => f(1),", "10 + x", "return x + 1;", "Kind::Word(x + 1)", "A[1] - 2"]
        {
            assert!(text_weight(computed) >= 0.5, "{computed}");
        }
    }
}
