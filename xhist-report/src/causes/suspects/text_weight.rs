//! How likely a line is a mistake by its text alone: lines that compare or compute more than those that only declare or end.

use super::maker_text::{FIELD, names};

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
const CALLS: f64 = 0.5;

/// What panics because of the value that a call returned.
const CHECKED: [&str; 5] = ["assert", ".unwrap()", ".unwrap_err()", ".expect(", ".expect_err("];

/// Whether a line that panicked only checks a value.
pub fn only_checks(text: &str) -> bool {
    CHECKED.iter().any(|check| text.contains(check))
}

/// A line without the comment at its end.
pub fn code_of(text: &str) -> &str {
    text.split("//").next().unwrap_or_default().trim()
}

/// What the text of a line says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextEvidence {
    /// How likely the line is a mistake, from 0 to 1.
    pub weight: f64,
    /// It panics because it checks something.
    pub is_check: bool,
    /// It is all that its function does, and only passes on what that has.
    pub passes_on: bool,
}

impl TextEvidence {
    /// The evidence of a line; without its text it says nothing.
    pub fn of(text: Option<&str>) -> TextEvidence {
        let is_check = text.is_some_and(|text| CHECKS.iter().any(|check| text.contains(check)));
        TextEvidence { weight: text.map_or(0.5, text_weight), is_check, passes_on: false }
    }
}

/// Lines of a signature that are read.
const SIGNATURE: usize = 12;

/// The signature of a function: these are its lines upwards from the one where its body begins.
pub fn signature(lines: impl Iterator<Item = String>) -> String {
    let mut signature = String::new();
    for line in lines.take(SIGNATURE) {
        let code = code_of(&line);
        signature = format!("{code} {signature}");
        if code.starts_with("fn ") || code.contains(" fn ") {
            break;
        }
    }
    signature
}

/// Whether a statement, with which a function of this signature ends at once, only passes its parameters on, in their order, or
/// returns what it has: it neither computes nor chooses, and names no constant.
pub fn only_passes_on(signature: &str, text: &str) -> bool {
    let mut passed = names(text);
    passed.retain(|name| !name.starts_with(FIELD));
    text_weight(text) == CALLS && passed == parameters(signature)
}

/// The names of the parameters in a signature, but for `self`.
fn parameters(signature: &str) -> Vec<String> {
    // Behind the brackets of the generic ones.
    let mut depth = 0;
    let mut before = ' ';
    let mut begin = None;
    let mut parameters = Vec::new();
    for (at, char) in signature.char_indices() {
        match char {
            '(' if depth == 0 && begin.is_none() => begin = Some(at + 1),
            ',' | ')' if depth == 0 => {
                let Some(first) = begin else { continue };
                let name = signature[first..at].split(':').next().unwrap_or_default().trim();
                let name = name.rsplit([' ', '&']).next().unwrap_or_default();
                parameters.extend(Some(name.to_owned()).filter(|name| !name.is_empty() && name != "self"));
                if char == ')' {
                    break;
                }
                begin = Some(at + 1);
            }
            '(' | '[' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        before = char;
    }
    parameters
}

/// Whether a function with this signature takes `&self`.
pub fn only_reads(signature: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let mut words = signature.match_indices("self").map(|(at, word)| (at, at + word.len()));
    let Some((at, _)) = words
        .find(|(at, end)| !signature[..*at].ends_with(is_part) && !signature[*end..].starts_with(is_part))
    else {
        return false;
    };
    let before = signature[..at].trim_end();
    let reference = match before.rsplit_once('\'') {
        Some((before, lifetime)) if !lifetime.is_empty() && lifetime.chars().all(is_part) => before,
        _ => before,
    };
    reference.strip_suffix('&').is_some_and(|before| before.trim_end().ends_with('('))
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

/// From 0 to 1.
fn text_weight(text: &str) -> f64 {
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
    fn a_reader_takes_a_shared_reference_to_itself() {
        let reads = |text: &str| only_reads(&signature(text.lines().rev().map(str::to_owned)));
        for reader in [
            "pub fn len(&self) -> usize {",
            "fn get<'a>(&'a self, at: usize) -> &'a T {",
            "fn map<F: Fn(&T) -> U>(\n    &self, // as it is\n    f: F,\n) {",
        ] {
            assert!(reads(reader), "{reader}");
        }
        for other in [
            "fn push(&mut self, t: T) {",
            "fn into(self) -> U {",
            "fn of(text: &str) -> Self {",
            "fn of(other: &Self) -> Self {\n  self::f(&self)",
            "fn f(a: &mut A, self_: &A) {",
            "",
        ] {
            assert!(!reads(other), "{other}");
        }
    }

    #[test]
    fn a_function_may_only_pass_its_parameters_on() {
        let of_lines = |text: &str| signature(text.lines().rev().map(str::to_owned));
        let dash = of_lines(
            "}\npub fn dash<'a, F: Fn(u8) -> T>(\n    inner: impl Iterator<Item = A> + 'a, // all\n    mut at: f64,\n) -> B {",
        );
        assert_eq!(parameters(&dash), ["inner", "at"]);
        assert!(only_passes_on(&dash, "dash_impl(inner, at)"));
        for other in [
            "dash_impl(at, inner)",
            "dash_impl(inner, 0, at)",
            "dash_impl(inner)",
            "dash_impl(inner, at + at)",
        ] {
            assert!(!only_passes_on(&dash, other), "{other}");
        }
        let len = of_lines("fn len(&self) -> usize {");
        assert!(only_passes_on(&len, "self.parts.range.clone()"));
        assert!(!only_passes_on(&len, "self.parts.len()"), "it counts");
        assert!(!only_passes_on(&len, "Part { at: 0 }"), "it makes something");
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
