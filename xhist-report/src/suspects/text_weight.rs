//! How likely a line is a mistake by its text alone: lines that compare or compute more than those that only declare or end.

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

/// From 0 to 1.
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
    let code = text.split("//").next().unwrap_or_default();
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let has_number = code
        .bytes()
        .zip(code.bytes().skip(1))
        .any(|(before, byte)| byte.is_ascii_digit() && !before.is_ascii_alphanumeric() && before != b'_');
    match (has(&OPERATORS) || has(&SPACED), has(&CHOICES) || has_number || code.contains('!')) {
        (true, _) => 1.0,
        (false, true) => 0.8,
        (false, false) => 0.5,
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
}
